package own

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[DocView](shape.Tree),
		shape.Of[UsesView](shape.Tree),
		shape.Of[BufferView](shape.Tree),
	}
}
