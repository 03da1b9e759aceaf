package snapshot_test

import (
	"errors"
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// testMerges merges two lines into each other, round after round, under keys of
// all lengths: what one merge brought, the next must know for the same write.
func testMerges[V any](t *testing.T, of func(n int) V) {
	var keys []string
	for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 32, 33, 48, 49, 64, 65, 96, 97, 127, 128, 129, 300} {
		keys = append(keys, strings.Repeat("k", n))
	}
	no := func(c snapshot.Conflict[string, V]) (v V, keep bool, err error) {
		return v, false, errors.New("conflict: " + c.Key)
	}
	base := snapshot.New[string](snapshot.Options[V]{})
	sides := [2]*snapshot.Map[string, V]{base, base}
	want := map[string]V{}
	for round := range 12 {
		from, into := round/2%2, 1-round/2%2
		// The sides change different keys, and each all of them in turn.
		for side := range sides {
			e := sides[side].Edit()
			for i, k := range keys {
				if i%2 == (side+round)%2 {
					if (i+round)%5 == 0 {
						e.Delete(k)
						delete(want, k)
					} else {
						e.Set(k, of(100*round+i))
						want[k] = of(100*round + i)
					}
				}
			}
			sides[side] = e.Seal()
		}
		// There and back, so that both sides are equal.
		for range 2 {
			before := sides[into]
			e := before.Edit()
			require.NoError(t, e.Merge(base, sides[from], no), "round %d", round)
			base, sides[into] = sides[from], e.Seal()
			runtime.GC()
			for c := range sides[into].Diff(before) {
				if c.Kind != snapshot.Removed {
					require.Equal(t, sides[into].Version(), sides[into].Revision(c.Key))
				}
			}
			from, into = into, from
		}
		for _, m := range sides {
			require.Equal(t, want, maps.Collect(m.All()))
			require.Equal(t, len(want), m.Len())
			for k := range want {
				row, ok := m.Row(k)
				require.True(t, ok)
				require.Equal(t, k, row.Key())
				require.LessOrEqual(t, row.Revision(), m.Version())
			}
		}
		e := sides[0].Edit()
		require.NoError(t, e.Merge(base, sides[1], no))
		require.Same(t, sides[0], e.Seal(), "nothing is left to merge")
	}
}

func TestMergesGoOnUnderKeysOfAnyLength(t *testing.T) {
	t.Run("no pointers", func(t *testing.T) { testMerges(t, func(n int) int { return n }) })
	t.Run("empty", func(t *testing.T) { testMerges(t, func(int) struct{} { return struct{}{} }) })
	t.Run("cloned", func(t *testing.T) { testMerges(t, func(n int) []int { return []int{n, n} }) })
	t.Run("pointers", func(t *testing.T) { testMerges(t, func(n int) any { return strings.Repeat("v", n) }) })
}

func TestAMergeWithAnErrorEndsThere(t *testing.T) {
	base := snapshot.New[int](snapshot.Options[int]{})
	change := func(m *snapshot.Map[int, int], v int) *snapshot.Map[int, int] {
		e := m.Edit()
		for k := range 10 {
			e.Set(k, v)
		}
		return e.Seal()
	}
	ours, theirs := change(base, 1), change(base, 2)
	stop := errors.New("stop")
	asked := 0
	err := ours.Edit().Merge(base, theirs, func(snapshot.Conflict[int, int]) (int, bool, error) {
		if asked++; asked == 3 {
			return 0, true, stop
		}
		return 0, false, nil
	})
	require.Equal(t, stop, err)
	require.Equal(t, 3, asked)
	for _, v := range ours.All() {
		require.Equal(t, 1, v)
	}
}

func TestAMergeOfNothing(t *testing.T) {
	var none *snapshot.Map[int, int]
	some := must(snapshot.Collect(snapshot.Options[int]{}, maps.All(map[int]int{1: 1})))
	e := some.Edit()
	require.NoError(t, e.Merge(none, none, nil))
	require.NoError(t, e.Merge(some, some, nil))
	require.NoError(t, e.Merge(some, none, nil))
	require.Equal(t, 0, e.Seal().Len())
}

// A key that both sides removed is no conflict. One that only one side removed, and the other
// wrote, is: in either direction, even if the value is that of base.
func TestKeysThatBothSidesRemovedAreNoConflict(t *testing.T) {
	base := must(snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"a": 1, "b": 2})))
	change := func(f func(e *snapshot.Editor[string, int])) *snapshot.Map[string, int] {
		e := base.Edit()
		f(e)
		return e.Seal()
	}
	without := change(func(e *snapshot.Editor[string, int]) { e.Delete("a") })
	again := change(func(e *snapshot.Editor[string, int]) { e.Delete("a") })
	written := change(func(e *snapshot.Editor[string, int]) { e.Set("a", 1) })

	type told struct {
		v  int
		ok bool
	}
	toldOf := func(v int, ok bool) told { return told{v, ok} }
	rowOf := func(m *snapshot.Map[string, int]) snapshot.Row[string, int] { r, _ := m.Row("a"); return r }

	e := without.Edit()
	require.NoError(t, e.Merge(base, again, func(c snapshot.Conflict[string, int]) (int, bool, error) {
		t.Errorf("%v, which both removed", c)
		return 0, false, nil
	}))
	require.Same(t, without, e.Seal(), "nothing is left to merge")

	for _, sides := range [][2]*snapshot.Map[string, int]{{without, written}, {written, without}} {
		var keys []string
		e := sides[0].Edit()
		require.NoError(t, e.Merge(base, sides[1], func(c snapshot.Conflict[string, int]) (int, bool, error) {
			keys = append(keys, c.Key)
			require.Equal(t, [3]told{{1, true}, toldOf(sides[0].Get("a")), toldOf(sides[1].Get("a"))},
				[3]told{toldOf(c.Base()), toldOf(c.Ours()), toldOf(c.Theirs())})
			was, is, theirs := c.Rows()
			require.Equal(t, [3]snapshot.Row[string, int]{rowOf(base), rowOf(sides[0]), rowOf(sides[1])}, [...]snapshot.Row[string, int]{was, is, theirs})
			return 3, true, nil
		}))
		require.Equal(t, []string{"a"}, keys)
		require.Equal(t, map[string]int{"a": 3, "b": 2}, maps.Collect(e.Seal().All()))
	}
}

// counter is aligned to eight bytes also where words have four.
type counter struct{ n atomic.Int64 }

// of makes a V in place, which go vet allows for locks too.
func of[V any](f func(v *V)) (v V) {
	f(&v)
	return v
}

func asItIs[V any](v V) V { return v }

func TestMergesOfAlignedValues(t *testing.T) {
	options := snapshot.Options[counter]{Clone: asItIs[counter]}
	testMergesOfAligned(t, snapshot.New[string](options), func(n int) string { return strings.Repeat("k", n) })
	testMergesOfAligned(t, snapshot.New[int](options), func(n int) int { return n })
}

func testMergesOfAligned[K comparable](t *testing.T, base *snapshot.Map[K, counter], key func(n int) K) {
	set := func(m *snapshot.Map[K, counter], k K, n int64) *snapshot.Map[K, counter] {
		e := m.Edit()
		e.Set(k, of(func(c *counter) { c.n.Store(n) }))
		return e.Seal()
	}
	for _, n := range []int{1, 7, 16, 17, 33, 65, 127, 200} {
		k := key(n)
		ours, theirs := base, set(base, k, 1)
		from := base
		for round := range 4 {
			e := ours.Edit()
			require.NoError(t, e.Merge(from, theirs, nil), "what they wrote is known for theirs")
			ours, from = e.Seal(), theirs
			runtime.GC()
			v, ok := ours.Get(k)
			require.True(t, ok)
			require.Equal(t, int64(round+1), v.n.Load())
			theirs = set(theirs, k, int64(round+2))
		}
	}
}

// A resolver may write other keys: those that are merged later conflict with that.
func TestMergesWhoseResolverWritesOtherKeys(t *testing.T) {
	for _, n := range []int{10, 10_000} { // few, and more than are looked up one by one
		e := snapshot.New[int](snapshot.Options[int]{}).Edit()
		for k := range n {
			e.Set(k, 0)
		}
		base := e.Seal()
		e = base.Edit()
		for k := range 100 {
			e.Set(k*n/100, 1) // of ten keys, each ten times
		}
		theirs := e.Seal()
		var first int
		changed := 0
		for c := range theirs.Diff(base) {
			if changed == 0 {
				first = c.Key
			}
			changed++
		}
		e = base.Edit()
		e.Set(first, 2)
		resolved := 0
		require.NoError(t, e.Merge(base, theirs, func(c snapshot.Conflict[int, int]) (int, bool, error) {
			if resolved++; c.Key == first {
				for c := range theirs.Diff(base) {
					if c.Key != first {
						e.Set(c.Key, 3)
					}
				}
			}
			v, _ := c.Ours()
			return v, true, nil
		}))
		require.Equal(t, changed, resolved)
		sum := 0
		for k, v := range e.Seal().All() {
			if k != first {
				sum += v
			}
		}
		require.Equal(t, 3*(changed-1), sum)
	}
}
