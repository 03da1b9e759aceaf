package cow_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

// GetMany of views, and of every kind of index, whole or not, now, before, and during an update,
// finds what Get finds.
func TestGetManyFindsWhatGetFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	rows := cow.NewOne[string](cow.Options[int]{})
	rows.Retain(cow.Retention{Versions: 100})
	index := func(name string, of func(int) int, o cow.IndexOptions[string]) *cow.Index[string, int, int] {
		x, err := cow.NewIndex(rows.Table, name, func(r cow.Row[string, int]) int { return of(r.Value()) }, o)
		require.NoError(t, err)
		return x
	}
	indexes := []*cow.Index[string, int, int]{
		index("unique", func(v int) int { return v / 1000 }, cow.IndexOptions[string]{Unique: true}),
		index("many", func(v int) int { return v % 1000 }, cow.IndexOptions[string]{}),
	}
	views := cow.NewViews[view.Cloned[int]](rows)
	requireAll := func(m *cow.Map[string, int], ranges ...cow.Range[string, int, int]) {
		keys := make([]string, 300)
		for i := range keys {
			keys[i] = fmt.Sprint(r.IntN(9000))
		}
		var want, got, seen []string
		for _, key := range keys {
			if v, ok := m.Get(key); ok {
				want = append(want, fmt.Sprint(key, v))
			}
		}
		for i, v := range m.GetMany(keys) {
			got = append(got, fmt.Sprint(keys[i], v))
		}
		for i, v := range views.In(m).GetMany(keys) {
			seen = append(seen, fmt.Sprint(keys[i], v.Get()))
		}
		require.Equal(t, want, got)
		require.Equal(t, want, seen)
		numbers := make([]int, 300)
		for _, in := range ranges {
			for i := range numbers {
				numbers[i] = r.IntN(9000)
			}
			want, got = nil, nil
			for i, n := range numbers {
				if row, ok := in.Get(n); ok {
					want = append(want, fmt.Sprint(i, row.Key(), row.Revision()))
				}
			}
			for i, row := range in.GetMany(numbers) {
				got = append(got, fmt.Sprint(i, row.Key(), row.Revision()))
				if len(got) == 250 {
					break
				}
			}
			require.Equal(t, want[:min(len(want), 250)], got)
		}
	}
	ranges := func(m *cow.Map[string, int]) (all []cow.Range[string, int, int]) {
		for _, x := range indexes {
			all = append(all, x.In(m), x.In(m).From(100).To(3000), x.In(m).Reverse(), x.In(m).Equal(7))
		}
		return all
	}
	var past []*cow.Map[string, int]
	for range 8 {
		require.NoError(t, rows.Update(func(e *cow.Editor[string, int]) error {
			for range 1500 {
				n := r.IntN(7000)
				if key := fmt.Sprint(n); r.IntN(5) == 0 {
					e.Delete(key)
				} else {
					e.Set(key, n*1000+r.IntN(1000))
				}
			}
			requireAll(e.Map(), indexes[0].During(e), indexes[1].During(e))
			return nil
		}))
		past = append(past, rows.Load())
	}
	for _, m := range past {
		requireAll(m, ranges(m)...)
	}
	for i, v := range rows.GetMany([]string{"none"}) {
		require.Fail(t, "found", "%v %v", i, v)
	}
	require.Panics(t, func() { cow.Range[string, int, int]{}.GetMany(nil) })
	require.Panics(t, func() { cow.Views[string, int, view.Cloned[int]]{}.GetMany(nil) })
}
