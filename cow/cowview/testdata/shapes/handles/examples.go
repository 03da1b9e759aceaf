package handles

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[FuncsView](),
		shape.Of[ChansView](),
		shape.Of[ServiceView](),
		shape.Of[NestedView](),
	}
}
