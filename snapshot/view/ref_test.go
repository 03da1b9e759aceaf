package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// A view of a Ref that points nowhere shows nothing, and does not panic.
func TestViewsOfNowhere(t *testing.T) {
	require.True(t, view.Of[view.Slice[int]](view.Ref[[]int]{}).IsNil())
	require.Zero(t, view.Of[view.SliceViews[int, number]](view.Ref[[]int]{}).Len())
	require.Zero(t, view.Of[view.SlicePointers[int, number]](view.Ref[[]*int]{}).Len())
	require.Zero(t, view.Of[view.Map[string, int]](view.Ref[map[string]int]{}).Len())
	require.Zero(t, view.Of[view.MapViews[string, int, number]](view.Ref[map[string]int]{}).Len())
	require.Zero(t, view.Of[view.MapPointers[string, int, number]](view.Ref[map[string]*int]{}).Len())
	require.False(t, view.Of[view.Pointer[int]](view.Ref[*int]{}).Valid())
	require.False(t, view.Of[view.PointerViews[int, number]](view.Ref[*int]{}).Valid())
	require.Zero(t, view.Of[view.Bytes](view.Ref[[]byte]{}).Len())
	require.Zero(t, view.Of[view.Cloned[int]](view.Ref[int]{}).Get())
}

// A number is a view of an int.
type number struct{ ref view.Ref[int] }

func (number) ViewOf(r view.Ref[int]) number { return number{r} }
