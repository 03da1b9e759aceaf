package value

import (
	"encoding/json"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type chained struct {
	N    int
	next *chained
}

// What JSON does not show may go on for as long as it likes.
func TestHiddenChainsOfAnyLength(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 50_000
	}
	var first *chained
	for i := range n {
		first = &chained{i, first}
	}
	v, err := Freeze(map[string]any{"a": first})
	require.NoError(t, err)
	require.Greater(t, v.Size(), int64(n)*int64(unsafe.Sizeof(chained{})))
	length := 0
	for c := v.Key("a").Any().(*chained); c != nil; c = c.next {
		require.Equal(t, n-1-length, c.N)
		length++
	}
	require.Equal(t, n, length)
}

// A value of a few parts may show as more than there is memory for.
func TestAFewPartsAgainAndAgain(t *testing.T) {
	var list, dict any = "leaf", "leaf"
	p := &linkedPair{}
	type both struct{ Left, Right any }
	type omitting struct {
		Left, Right any `json:",omitempty"`
	}
	var pointers, partly any = p, "leaf"
	for range 64 {
		list = []any{list, list}
		dict = map[string]any{"a": dict, "b": dict}
		pointers = &both{pointers, pointers}
		partly = &omitting{partly, partly}
	}
	all64 := []any{list, pointers, dict, partly, []any{partly}}
	if testing.Short() {
		all64 = all64[:1] // each of a million parts
	}
	for _, v := range all64 {
		_, err := Freeze(v)
		require.ErrorIs(t, err, ErrTooDeep)
	}
	// Many parts may have one in common.
	shared := map[string]any{"n": 1}
	n := 100_000
	if testing.Short() {
		n = 5_000
	}
	all := make([]any, n)
	for i := range all {
		all[i] = []any{i, shared}
	}
	v, err := Freeze(all)
	require.NoError(t, err)
	require.Equal(t, len(all), v.Len())
}

func TestNilInterfacesComeBack(t *testing.T) {
	type s struct {
		A any
		E error
	}
	v := mustFreeze(t, s{})
	require.Equal(t, s{}, v.Any())
	require.Nil(t, v.Key("E").Any())
	require.Equal(t, []error{nil}, mustFreeze(t, []error{nil}).Any())
	require.Equal(t, map[string]error{"a": nil}, mustFreeze(t, map[string]error{"a": nil}).Any())
	x, err := As[any](mustFreeze(t, 5))
	require.NoError(t, err)
	require.Equal(t, 5, x)
}

func TestPointersToNothingComeBack(t *testing.T) {
	var s []int
	require.Equal(t, &s, mustFreeze(t, &s).Any())
	p := &s
	require.Equal(t, &p, mustFreeze(t, &p).Any())
	r := json.RawMessage("null")
	require.Equal(t, &r, mustFreeze(t, &r).Any())
	type in struct{ P *[]int }
	require.Equal(t, in{&s}, mustFreeze(t, in{&s}).Any())
	require.Equal(t, in{}, mustFreeze(t, in{}).Any())
	five := mustFreeze(t, 5)
	require.Equal(t, 5, mustFreeze(t, &five).Any())
}

func TestNumbersOfMarshalersAreExact(t *testing.T) {
	v := mustFreeze(t, json.RawMessage(`{"id":9007199254740993,"f":1.5}`))
	require.EqualValues(t, int64(9007199254740993), v.Key("id").Int())
	require.Equal(t, 1.5, v.Key("f").Float())
	text, err := mustFreeze(t, []float32{0.1}).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, "[0.1]", string(text))
	text, err = mustFreeze(t, struct{ time.Time }{time.Unix(0, 0).UTC()}).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `"1970-01-01T00:00:00Z"`, string(text))
}

func TestAPartOfASliceIsNoCycle(t *testing.T) {
	a := []any{1, nil}
	a[1] = a[:1]
	var v any = a
	for range 60 {
		v = []any{v}
	}
	mustFreeze(t, v)
}
