package other

import "github.com/cowstore/cowstore/cow/cowview/internal/shape"

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[ConfigView](shape.Hidden(func(v ConfigView) map[string]any {
			return map[string]any{"state": v.state()}
		})),
		shape.Of[BoxView[map[string][]int]](),
	}
}
