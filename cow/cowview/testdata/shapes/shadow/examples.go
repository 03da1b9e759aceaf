package shadow

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[ProfileView](shape.Hidden(func(v ProfileView) map[string]any {
			return map[string]any{"hidden": v.hidden()}
		})),
	}
}
