package lists

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[PointView](),
		shape.Of[ItemView](),
		shape.Of[FlatView](),
		shape.Of[ItemsView](),
		shape.Of[NestedView](),
		shape.Of[PointersView](),
		shape.Of[NamedView](),
		shape.Of[LooseView](),
	}
}
