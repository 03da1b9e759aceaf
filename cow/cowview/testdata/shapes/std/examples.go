package std

import (
	"net/url"
	"reflect"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// cloners is for types that have methods Clone since Go 1.27, by which they are cloned.
func cloners(s *shape.Shape) {
	_, s.Tree = reflect.TypeFor[*url.URL]().MethodByName("Clone")
}

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[TimesView](),
		shape.Of[NetipsView](),
		shape.Of[NetsView](),
		shape.Of[URLsView](cloners),
		shape.Of[BigsView](),
		shape.Of[RawsView](cloners),
		shape.Of[NullsView](),
		shape.Of[OthersView](shape.Tree),
	}
}
