package tags

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[TaggedView](shape.Hidden(func(v TaggedView) map[string]any {
			return map[string]any{"private": v.private()}
		})),
		shape.Of[CustomView](shape.Hidden(func(v CustomView) map[string]any {
			return map[string]any{"n": v.n()}
		})),
		shape.Of[PointerCustomView](),
		shape.Of[TextView](),
		shape.Of[UsesView](),
		shape.Of[NamedView](),
	}
}
