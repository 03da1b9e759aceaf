package value

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type account struct {
	Name    string
	secret  string
	Skipped int `json:"-"`
}

func as[T any](t *testing.T, in any) T {
	t.Helper()
	v, err := Freeze(in)
	require.NoError(t, err)
	out, err := As[T](v)
	require.NoError(t, err)
	return out
}

// A T is as good as a *T, with the fields that JSON does not show.
func TestAsPassesPointersOver(t *testing.T) {
	a := account{"n", "s", 3}
	pa := &a
	require.Equal(t, a, as[account](t, &a))
	require.Equal(t, &a, as[*account](t, a))
	require.Equal(t, a, as[account](t, &pa))
	require.Equal(t, &pa, as[**account](t, a))
	require.NotSame(t, pa, as[*account](t, pa))
	require.Equal(t, []account{a, a}, as[[]account](t, []*account{&a, &a}))
	require.Equal(t, []*account{&a}, as[[]*account](t, []account{a}))
	require.Equal(t, []*account{&a}, as[[]*account](t, []any{a}))
	require.Equal(t, [1]account{a}, as[[1]account](t, []any{&a}))
	require.Equal(t, map[string]account{"k": a}, as[map[string]account](t, map[string]*account{"k": &a}))
	require.Equal(t, map[string]*account{"k": &a}, as[map[string]*account](t, map[string]any{"k": a}))
	require.Equal(t, map[string][]account{"k": {a}}, as[map[string][]account](t, map[string]any{"k": []any{&a}}))
	require.Equal(t, map[int]account{-3: a}, as[map[int]account](t, map[int]*account{-3: &a}))
	require.Equal(t, map[uint8]*account{3: &a}, as[map[uint8]*account](t, map[uint8]account{3: a}))
	// A nil is the zero value, alone.
	require.Equal(t, []account{a, {}}, as[[]account](t, []*account{&a, nil}))
	require.Equal(t, [2]account{{}, a}, as[[2]account](t, [2]*account{nil, &a}))
	require.Equal(t, map[int]account{1: a, 2: {}}, as[map[int]account](t, map[int]*account{1: &a, 2: nil}))
	require.Equal(t, []account{a, {}}, as[[]account](t, []any{a, nil}))
	require.Equal(t, []*account{&a, nil}, as[[]*account](t, []any{a, nil}))
	require.Equal(t, []json.RawMessage{[]byte("null"), []byte("1")}, as[[]json.RawMessage](t, []any{nil, 1}))
	require.Equal(t, map[loud]point{"QUIET": {1, 2}}, as[map[loud]point](t, map[loud]*point{"quiet": {1, 2}}))
	// What is not the same type is made of JSON, nil too.
	require.Equal(t, []*account{nil}, as[[]*account](t, []any{nil}))
	require.Nil(t, as[*account](t, (*account)(nil)))
	require.Zero(t, as[account](t, (*account)(nil)))
	type public struct{ Name string }
	require.Equal(t, public{"n"}, as[public](t, &a))
	require.Equal(t, map[string]any{"Name": "n"}, as[map[string]any](t, a))
	require.Equal(t, []int64{1, 2}, as[[]int64](t, []int{1, 2}))
	require.Equal(t, [3]int{1, 2, 0}, as[[3]int](t, []int{1, 2}))
	require.Equal(t, []any{1.0}, as[[]any](t, []int{1}))
	type pointer *pointer
	require.Nil(t, as[*pointer](t, pointer(nil)))
}
