package view_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// otherView is another view of a point.
type otherView struct{}

func (otherView) ViewOf(view.Ref[point]) otherView { return otherView{} }

// A conversion, which any package can write, would get at what a view does not show.
func TestViewsCannotBeConvertedToOneAnother(t *testing.T) {
	for _, types := range [][]reflect.Type{
		{
			reflect.TypeFor[view.Slice[point]](),
			reflect.TypeFor[view.SliceViews[point, pointView]](),
			reflect.TypeFor[view.SliceViews[point, otherView]](),
		},
		{reflect.TypeFor[view.Slice[*point]](), reflect.TypeFor[view.SlicePointers[point, pointView]]()},
		{reflect.TypeFor[view.SlicePointers[point, otherView]](), reflect.TypeFor[view.SlicePointers[point, pointView]]()},
		{reflect.TypeFor[view.Slice[byte]](), reflect.TypeFor[view.Bytes]()},
		{
			reflect.TypeFor[view.Map[int, point]](),
			reflect.TypeFor[view.MapViews[int, point, pointView]](),
			reflect.TypeFor[view.MapViews[int, point, otherView]](),
		},
		{reflect.TypeFor[view.Map[int, *point]](), reflect.TypeFor[view.MapPointers[int, point, pointView]]()},
		{reflect.TypeFor[view.MapPointers[int, point, otherView]](), reflect.TypeFor[view.MapPointers[int, point, pointView]]()},
		{
			reflect.TypeFor[view.Ref[point]](),
			reflect.TypeFor[view.Pointer[point]](),
			reflect.TypeFor[view.PointerViews[point, pointView]](),
			reflect.TypeFor[view.PointerViews[point, otherView]](),
			reflect.TypeFor[view.Cloned[point]](),
		},
	} {
		for i, a := range types {
			for _, b := range types[:i] {
				require.False(t, a.ConvertibleTo(b), "%v to %v", a, b)
			}
		}
	}
}

func TestViewsAreNoLargerThanWhatTheyShow(t *testing.T) {
	require.Equal(t, reflect.TypeFor[[]point]().Size(), reflect.TypeFor[view.SliceViews[point, pointView]]().Size())
	require.Equal(t, reflect.TypeFor[[]*point]().Size(), reflect.TypeFor[view.SlicePointers[point, pointView]]().Size())
	require.Equal(t, reflect.TypeFor[*point]().Size(), reflect.TypeFor[view.MapViews[int, point, pointView]]().Size())
	require.Equal(t, reflect.TypeFor[*point]().Size(), reflect.TypeFor[view.MapPointers[int, point, pointView]]().Size())
	require.Equal(t, reflect.TypeFor[*point]().Size(), reflect.TypeFor[view.PointerViews[point, pointView]]().Size())
}
