package anonymous

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[FlatView](),
		shape.Of[DeepView](shape.Hidden(func(v DeepView) map[string]any {
			return map[string]any{"hidden": v.hidden()}
		})),
		shape.Of[ContainedView](),
		shape.Of[AlikeView](),
	}
}
