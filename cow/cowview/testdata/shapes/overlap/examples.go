package overlap

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[HalvesView](),
		shape.Of[RingView](),
		shape.Of[InteriorView](),
		shape.Of[SharedView](),
		shape.Of[ArenaView](),
		shape.Of[CellView](),
		shape.Of[WindowView](),
	}
}
