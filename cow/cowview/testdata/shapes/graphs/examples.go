package graphs

import "github.com/cowstore/cowstore/cow/cowview/internal/shape"

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[OneView](),
		shape.Of[TwoView](),
		shape.Of[MixedView](),
		shape.Of[InteriorView](),
		shape.Of[GridView](),
		shape.Of[TreeView](),
		shape.Of[LeadView](),
		shape.Of[SoloView](),
		shape.Of[AnyView](),
		shape.Of[AnyTwoView](),
		shape.Of[NamedView](),
		shape.Of[ConvView](),
		shape.Of[MapsView](),
		shape.Of[KeysView](),
		shape.Of[ArraysView](),
		shape.Of[GenView[int]](),
		shape.Of[GenView[[]int]](),
		shape.Of[GenView[any]](),
		shape.Of[DeepView](),
		shape.Of[PartsView](),
		shape.Of[BoolsView](),
		shape.Of[LengthsView](),
		shape.Of[ParamsView[int, int]](),
		shape.Of[ParamsView[int, string]](),
	}
}
