package arrays

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[CellView](),
		shape.Of[FlatView](),
		shape.Of[DeepView](),
		shape.Of[InsideView](),
	}
}
