package plain

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[ScalarsView](),
		shape.Of[WordsView](),
		shape.Of[UnitsView](),
		shape.Of[EmptyView](),
		shape.Of[BlankView](),
		shape.Of[BlobsView](),
		shape.Of[RowView](),
	}
}
