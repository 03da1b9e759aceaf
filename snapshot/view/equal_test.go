package view_test

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/view"
)

type pairOfAny struct{ a, B any }

func equal(a, b any) bool { return view.Equal(view.To(&a), view.To(&b)) }

func TestEqualIsReflectDeepEqual(t *testing.T) {
	nan := math.NaN()
	shared, f, ch := []any{nan}, func() {}, make(chan int)
	values := []any{
		nil, 1, int64(1), "x", nan, shared, []any{nan}, []any{1}, []any{1, 2}, []any(nil), []any{},
		[]int(nil), []int{}, []int{1}, []byte("x"), []byte(nil), []byte{}, map[string]any(nil),
		map[string]any{}, map[string]any{"a": 1}, map[string]any{"b": 1}, map[string]any{"a": nil},
		map[float64]int{nan: 1}, f, (func())(nil), ch, (chan int)(nil), new(int), new(int), (*int)(nil),
		pairOfAny{1, 2}, pairOfAny{2, 1}, &pairOfAny{1, shared}, &pairOfAny{1, []any{nan}}, [2]any{1, 2}, [2]any{1, 1},
		struct{ f func() }{f}, struct{ m map[any]any }{map[any]any{pairOfAny{1, 2}: shared}},
		errors.New("a"), errors.New("b"), time.Unix(1, 2), time.Unix(1, 3), big.NewInt(1 << 40), complex(1, 2), uint8(3),
		reflect.TypeFor[int](), struct{ a, b []any }{shared, shared}, struct{ a, b []any }{shared, []any{nan}},
	}
	for i, a := range values {
		for j, b := range values {
			require.Equal(t, reflect.DeepEqual(a, b), equal(a, b), "%d and %d: %#v and %#v", i, j, a, b)
		}
	}
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for _, typ := range snapshottest.Types() {
		for seed := range seeds {
			a, b, c := snapshottest.Graph(typ, seed).Interface(), snapshottest.Graph(typ, seed).Interface(), snapshottest.Graph(typ, seed+1).Interface()
			require.Equal(t, reflect.DeepEqual(a, b), equal(a, b), "%v, seed %d", typ, seed)
			require.Equal(t, reflect.DeepEqual(a, c), equal(a, c), "%v, seed %d", typ, seed)
		}
	}
}

func rings(n int) *ring {
	first := &ring{}
	last := first
	for range n - 1 {
		last.Next = &ring{}
		last = last.Next
	}
	last.Next = first
	return first
}

// There are ten million pairs of nodes of two rings of which one is a node longer, and to
// compare them one in another takes as many levels.
func TestEqualOfRingsAndOfWhatIsShared(t *testing.T) {
	require.True(t, equal(rings(3000), rings(3001)))
	straight := &ring{}
	for range 100_000 {
		straight = &ring{straight}
	}
	require.False(t, equal(rings(1), straight))
	for _, of := range []func(any) any{
		func(v any) any { return []any{v, v} },
		func(v any) any { return pairOfAny{v, v} },
		func(v any) any { return map[string]any{"a": v, "b": v} },
	} {
		var a, b any
		for range 200 {
			a, b = of(a), of(b)
		}
		require.True(t, equal(a, b))
		require.False(t, equal(a, of(b)))
	}
}
