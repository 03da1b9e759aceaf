package pointers

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[NodeView](),
		shape.Of[ScalarsView](),
		shape.Of[ContainersView](),
		shape.Of[StructsView](),
		shape.Of[DeepView](),
	}
}
