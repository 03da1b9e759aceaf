package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

func TestCheckFindsWhatHandsOutElements(t *testing.T) {
	require.NoError(t, view.Check[pointView]())
	require.NoError(t, view.Check[view.Slice[string]]())
	require.NoError(t, view.Check[view.Map[string, int]]())
	require.NoError(t, view.Check[view.Pointer[int]]())
	require.NoError(t, view.Check[view.SlicePointers[point, pointView]]())
	require.NoError(t, view.Check[view.MapPointers[int, point, pointView]]())
	require.NoError(t, view.Check[view.PointerViews[point, pointView]]())
	require.NoError(t, view.Check[view.SliceViews[any, view.Cloned[any]]]())
	require.NoError(t, view.Check[view.Bytes]())

	require.ErrorContains(t, view.Check[view.Slice[*point]](), "a view.Slice hands out a *view_test.point as it is")
	require.Error(t, view.Check[view.Map[string, []int]]())
	require.Error(t, view.Check[view.Map[*int, string]]())
	require.Error(t, view.Check[view.Pointer[[]int]]())
	require.Error(t, view.Check[view.SliceViews[[]*int, view.Slice[*int]]]())
	require.Error(t, view.Check[view.SlicePointers[[]*int, view.Slice[*int]]]())
	require.Error(t, view.Check[view.MapViews[int, []*int, view.Slice[*int]]]())
	require.Error(t, view.Check[view.MapViews[*int, []int, view.Slice[int]]]())
	require.Error(t, view.Check[view.MapPointers[int, []*int, view.Slice[*int]]]())
	require.Error(t, view.Check[view.MapPointers[any, []int, view.Slice[int]]]())
	require.Error(t, view.Check[view.PointerViews[[]*int, view.Slice[*int]]]())
}
