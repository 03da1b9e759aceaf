package dynamic

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[AnyView](),
		shape.Of[ErrorsView](),
		shape.Of[MethodsView](),
		shape.Of[MixedView](),
	}
}
