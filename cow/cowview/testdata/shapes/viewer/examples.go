package viewer

import (
	"net/netip"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[FlatView](),
		shape.Of[RefsView](),
		shape.Of[MapsView](),
		shape.Of[SlicesView](),
		shape.Of[EmbeddingView](),
		shape.Of[IntegerView[int]](),
		shape.Of[IntegerView[uint8]](),
		shape.Of[BasicView[int]](),
		shape.Of[BasicView[Flat]](),
		shape.Of[BasicView[netip.Prefix]](),
		shape.Of[BoxesView](shape.Tree),
		shape.Of[AliasedView](),
		shape.Of[SoloView](),
	}
}
