package readonly

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[AccountView](),
		shape.Of[TeamView](shape.Skipped("TeamView.Sum")),
	}
}
