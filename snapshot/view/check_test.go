//lint:file-ignore SA1019 Deprecated types are values like any other.

package view_test

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// pointError is an error that only this package can write to.
type pointError struct{ at int }

func (e *pointError) Error() string { return fmt.Sprint("point ", e.at) }

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

	// What nobody can modify, and what somebody can.
	require.NoError(t, view.Check[view.Slice[*time.Location]]())
	require.NoError(t, view.Check[view.Map[string, time.Time]]())
	require.NoError(t, view.Check[view.Map[netip.Addr, *base64.Encoding]]())
	require.Error(t, view.Check[view.Slice[*unicode.RangeTable]]())
	require.Error(t, view.Check[view.Pointer[unicode.RangeTable]]())
	require.Error(t, view.Check[view.Map[string, *regexp.Regexp]]())
	require.Error(t, view.Check[view.Slice[regexp.Regexp]]())
	require.Error(t, view.Check[view.Map[string, *crc32.Table]]())
	require.Error(t, view.Check[view.Slice[*http.ProtocolError]]())
	require.Error(t, view.Check[view.Slice[*pointError]]())
	require.Error(t, view.Check[view.Slice[slog.Attr]]())
	require.Error(t, view.Check[view.Pointer[slog.Value]]())
	require.NoError(t, view.Check[view.SliceViews[*regexp.Regexp, view.Cloned[*regexp.Regexp]]]())

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
