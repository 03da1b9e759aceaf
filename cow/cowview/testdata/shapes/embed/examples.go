package embed

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[BaseView](),
		shape.Of[ByValueView](),
		shape.Of[ByPointerView](),
		shape.Of[LevelsView](),
		shape.Of[StampedView](),
		shape.Of[LinkedView](),
		shape.Of[ForeignView](),
		shape.Of[ForeignPointerView](),
		shape.Of[ShadowedView](),
		shape.Of[ContainersView](),
		shape.Of[InterfacesView](shape.Hidden(func(v InterfacesView) map[string]any {
			return map[string]any{"error": v.error()}
		})),
		shape.Of[TwinsView](),
	}
}
