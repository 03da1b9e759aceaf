package generic

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[ListView[int]](),
		shape.Of[ListView[lists.Item]](),
		shape.Of[ListView[*lists.Item]](),
		shape.Of[ListView[[]string]](),
		shape.Of[ListView[any]](),
		shape.Of[PairView[string, int]](),
		shape.Of[PairView[lists.Point, lists.Item]](),
		shape.Of[PairView[int, []string]](),
		shape.Of[NumberView[int]](),
		shape.Of[NumberView[Count]](),
		shape.Of[NumberView[float64]](),
		shape.Of[OptionsView[int]](),
		shape.Of[OptionsView[[]int]](),
		shape.Of[NodeView[string]](),
		shape.Of[NodeView[map[string]int]](),
		shape.Of[NodeView[*lists.Item]](),
		shape.Of[UsesView](),
		shape.Of[SortedView[string]](),
		shape.Of[AliasedView](),
		shape.Of[EmbedsView](),
	}
}
