package kinds

import "github.com/cowstore/cowstore/cow/cowview/internal/shape"

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[SlicesView](),
		shape.Of[MapsView](shape.Tree),
		shape.Of[PointersView](),
		shape.Of[OthersView](shape.Hidden(func(v OthersView) map[string]any {
			return map[string]any{"private": v.private()}
		})),
		shape.Of[EmbedsView](shape.Hidden(func(v EmbedsView) map[string]any {
			return map[string]any{"fmtStringer": v.fmtStringer()}
		})),
		shape.Of[OwnView](shape.Tree),
		shape.Of[OwnPtrView](shape.Tree),
		shape.Of[OwnersView](shape.Tree),
		shape.Of[ListView[[]string, int]](shape.Skipped("ListView[[]string,int].Sum")),
		shape.Of[SingleView](shape.Tree),
		shape.Of[TwiceView](),
		shape.Of[PartsView](),
	}
}
