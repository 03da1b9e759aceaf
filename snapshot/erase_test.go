package snapshot_test

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

type erasing = snapshot.Builder[string, []int]

// net is what an edit has changed, in order.
func netOf(e *snapshot.Editor[string, []int]) (all []string) {
	for _, c := range (erasing{}).Net(e, nil) {
		old, had := c.Old()
		is, has := c.New()
		all = append(all, fmt.Sprint(c, " ", old, had, " ", is, has))
	}
	slices.Sort(all)
	return all
}

func TestEraseIsToldByNet(t *testing.T) {
	m := must(snapshot.Collect(snapshot.Options[[]int]{}, maps.All(map[string][]int{"a": {1}, "b": {2}, "c": {3}})))
	for name, c := range map[string]struct {
		edit func(e *snapshot.Editor[string, []int])
		want []string
	}{
		"what is there":       {func(e *snapshot.Editor[string, []int]) { erasing{}.Erase(e, "a") }, []string{`erased "a" [1] true [] false`}},
		"what is not there":   {func(e *snapshot.Editor[string, []int]) { erasing{}.Erase(e, "z") }, []string{`erased "z" [] false [] false`}},
		"twice":               {func(e *snapshot.Editor[string, []int]) { erasing{}.Erase(e, "a"); erasing{}.Erase(e, "a") }, []string{`erased "a" [1] true [] false`}},
		"and set again":       {func(e *snapshot.Editor[string, []int]) { erasing{}.Erase(e, "a"); e.Set("a", []int{9}) }, []string{`erased "a" [1] true [9] true`}},
		"and another is set":  {func(e *snapshot.Editor[string, []int]) { e.Set("b", []int{9}); erasing{}.Erase(e, "a") }, []string{`changed "b" [2] true [9] true`, `erased "a" [1] true [] false`}},
		"what is of the edit": {func(e *snapshot.Editor[string, []int]) { e.Set("z", []int{9}); erasing{}.Erase(e, "z") }, []string{`erased "z" [] false [] false`}},
		"all is cleared": {func(e *snapshot.Editor[string, []int]) { erasing{}.Erase(e, "a"); e.Clear() },
			[]string{`erased "a" [1] true [] false`, `removed "b" [2] true [] false`, `removed "c" [3] true [] false`}},
	} {
		t.Run(name, func(t *testing.T) {
			e := m.Edit()
			require.False(t, erasing{}.Erases(e))
			c.edit(e)
			require.True(t, erasing{}.Erases(e))
			require.Equal(t, c.want, netOf(e))
			for _, change := range (erasing{}).Net(e, nil) {
				_, had := erasing{}.Forget(change).Old()
				require.False(t, had)
			}
		})
	}
	require.Equal(t, 3, m.Len(), "versions stay as they are")
}

// A key that cannot be stored cannot be erased either.
func TestEraseOfNoKey(t *testing.T) {
	f := snapshot.New[any](snapshot.Options[int]{}).Edit()
	snapshot.Builder[any, int]{}.Erase(f, math.NaN())
	require.ErrorIs(t, f.Err(), snapshot.ErrKey)
}

// What tells that a row was erased does not keep it, though keys of rows lie in them.
func TestWhatIsErasedIsNotKept(t *testing.T) {
	m := must(snapshot.Collect(snapshot.Options[*parcelled]{Immutable: true}, maps.All(map[string]*parcelled{"a": {}, "b": {n: [4]int{2}}})))
	v, _ := m.Get("a")
	p := weak.Make(v)
	e := m.Edit()
	for key := range m.Keys() {
		if key == "a" {
			snapshot.Builder[string, *parcelled]{}.Erase(e, key)
		}
	}
	changes := snapshot.Builder[string, *parcelled]{}.Net(e, nil)
	m = e.Seal()
	v, e = nil, nil
	for i, c := range changes {
		changes[i] = snapshot.Builder[string, *parcelled]{}.Forget(c)
	}
	require.Eventually(t, func() bool { runtime.GC(); return p.Value() == nil }, time.Minute, time.Millisecond)
	require.Equal(t, `[erased "a"]`, fmt.Sprint(changes))
	runtime.KeepAlive(m)
}

// A parcelled is too large to be among the tiny objects, which keep one another.
type parcelled struct{ n [4]int }

// A version that is made anew keeps its number, and rows that are put keep their revisions.
func TestRemake(t *testing.T) {
	b := snapshot.Builder[string, int]{}
	var m *snapshot.Map[string, int]
	for i := range 4 {
		e := m.Edit()
		e.Set(fmt.Sprint(i%3), i)
		m = e.Seal()
	}
	e := b.Remake(m, m.Version())
	e.Delete("0")
	is := e.Seal()
	require.Equal(t, m.Version(), is.Version())
	require.Equal(t, map[string]int{"1": 1, "2": 2}, maps.Collect(is.All()))
	row, _ := m.Row("0")
	e = b.Remake(is, is.Version())
	b.PutRow(e, row)
	is = e.Seal()
	require.EqualValues(t, 4, is.Revision("0"))
	require.Empty(t, slices.Collect(is.Diff(m)), "it is the same row")
	require.Panics(t, func() {
		other := snapshot.New[string](snapshot.Options[int]{})
		b.PutRow(other.Edit(), row)
	})
	none, _ := m.Row("none")
	require.Equal(t, snapshot.Added, b.Between(none, row).Kind)
	require.Equal(t, snapshot.Removed, b.Between(row, none).Kind)
	require.Equal(t, snapshot.Changed, b.Between(row, row).Kind)
}
