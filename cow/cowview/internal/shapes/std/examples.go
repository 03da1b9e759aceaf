package std

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[TimesView](),
		shape.Of[NetipsView](),
		shape.Of[NetsView](),
		shape.Of[URLsView](),
		shape.Of[BigsView](),
		shape.Of[RawsView](),
		shape.Of[NullsView](),
		shape.Of[OthersView](shape.Tree),
	}
}
