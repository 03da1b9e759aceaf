package snapshot_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// strangers are a map that clones, one that shares and one that marks what it
// gives out, with the same keys.
func strangers() (cloning, sharing, marking *snapshot.Map[string, []int]) {
	all := func(n int) map[string][]int { return map[string][]int{"k": {n}, string(rune('a' + n)): {n}} }
	return must(snapshot.Collect(snapshot.Options[[]int]{}, maps.All(all(1)))),
		must(snapshot.Collect(snapshot.Options[[]int]{Immutable: true}, maps.All(all(2)))),
		must(snapshot.Collect(snapshot.Options[[]int]{Clone: func(v []int) []int { return slices.Concat(v, v) }}, maps.All(all(3))))
}

func TestADiffOfStrangersKeepsToTheOptionsOfEach(t *testing.T) {
	cloning, sharing, marking := strangers()
	same := func(m *snapshot.Map[string, []int], key string, v []int) {
		t.Helper()
		stored, ok := m.Shared().Get(key)
		require.True(t, ok)
		switch m {
		case sharing:
			require.Same(t, &stored[0], &v[0])
		case marking:
			require.Len(t, v, 2*len(stored))
		default:
			require.Equal(t, stored, v)
			require.NotSame(t, &stored[0], &v[0])
		}
	}
	all := []*snapshot.Map[string, []int]{cloning, sharing, marking}
	for _, older := range all {
		for _, newer := range all {
			n := 0
			for c := range newer.Diff(older) {
				n++
				old, new := c.Rows()
				if v, ok := c.Old(); ok {
					same(older, c.Key, v)
					same(older, c.Key, old.Value())
				}
				if v, ok := c.New(); ok {
					same(newer, c.Key, v)
					same(newer, c.Key, new.Value())
				}
			}
			if newer != older {
				require.Equal(t, 3, n)
			}
		}
	}
}

func TestAMergeOfStrangersPanicsBeforeItBegins(t *testing.T) {
	cloning, sharing, marking := strangers()
	empty := snapshot.New[string](snapshot.Options[[]int]{Immutable: true})
	const message = "snapshot: Merge of a map with other Options: merge what was derived from the same map"
	for _, m := range [][2]*snapshot.Map[string, []int]{
		{sharing, sharing}, {cloning, sharing}, {sharing, cloning}, {nil, marking}, {marking, nil}, {empty, cloning},
		{cloning, empty},
	} {
		e := cloning.Edit()
		require.PanicsWithValue(t, message, func() {
			_ = e.Merge(m[0], m[1], func(snapshot.Conflict[string, []int]) ([]int, bool, error) {
				t.Error("asked")
				return nil, false, errors.New("asked")
			})
		})
		require.Same(t, cloning, e.Seal())
	}
	var zero snapshot.Map[string, []int]
	e := cloning.Edit()
	require.NoError(t, e.Merge(&zero, nil, nil))
	require.NoError(t, e.Merge(nil, &zero, nil))
	require.Same(t, cloning, e.Seal())
}

func TestARewindOfStrangersPanics(t *testing.T) {
	cloning, sharing, _ := strangers()
	for _, m := range []*snapshot.Map[string, []int]{cloning, sharing} {
		require.PanicsWithValue(t, "snapshot: Rewind by a change of a map with other Options", func() {
			snapshot.Builder[string, []int]{}.Rewind(m, 0, func(yield func(snapshot.Change[string, []int]) bool) {
				for c := range cloning.Diff(sharing) {
					if c.Kind == snapshot.Changed {
						yield(c) // one value of each map
						return
					}
				}
			})
		})
	}
}

// must returns v, which was made without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
