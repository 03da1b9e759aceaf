package cow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

// A listView is what is generated for a type that is a slice of numbers.
type listView = view.Slice[int]

func TestViewsShowTheStoredValues(t *testing.T) {
	s := cow.NewOne[string](cow.Options[[]int]{})
	lists := cow.NewViews[listView](s)
	_, ok := lists.Get("a")
	require.False(t, ok)

	set(t, s, "a", []int{1, 2})
	v, ok := lists.Get("a")
	require.True(t, ok)
	require.Equal(t, []int{1, 2}, v.Clone())
	before := s.Load()

	set(t, s, "a", []int{3})
	require.Equal(t, []int{1, 2}, v.Clone(), "what is held does not change")
	was, _ := lists.In(before).Get("a")
	require.Equal(t, []int{1, 2}, was.Clone())
	now, _ := lists.Get("a")
	require.Equal(t, []int{3}, now.Clone())

	own := now.Clone()
	own[0] = 100
	now, _ = lists.Get("a")
	require.Equal(t, 3, now.At(0), "a clone is the caller's own")
}

func TestViewsDuringAnUpdate(t *testing.T) {
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		lists := cow.NewViews[listView](loaded(s.load))
		var held listView
		require.NoError(t, s.update(func(e *cow.Editor[string, []int]) error {
			e.Set("a", []int{1})
			during := lists.In(e.Map())
			held, _ = during.Get("a")
			e.Set("a", []int{2})
			require.NoError(t, e.Modify("a", func(v *[]int) error { (*v)[0]++; return nil }))
			is, _ := during.Get("a")
			require.Equal(t, 1, is.At(0), "later writes do not change it")
			is, _ = lists.In(e.Map()).Get("a")
			require.Equal(t, 3, is.At(0))
			_, ok := lists.Get("a")
			require.False(t, ok, "an update is not published before its end")
			return nil
		}))
		require.Equal(t, 1, held.At(0))
		for key, v := range lists.All() {
			require.Equal(t, "a", key)
			require.Equal(t, []int{3}, v.Clone())
		}
	})
}

// A loaded is what has a method Load.
type loaded func() *cow.Map[string, []int]

func (l loaded) Load() *cow.Map[string, []int] { return l() }

func TestViewsOfRows(t *testing.T) {
	s := cow.NewOne[string](cow.Options[[]int]{})
	lists := cow.NewViews[listView](s)
	byLen, err := cow.NewIndex(s.Table, "len", func(r cow.Row[string, []int]) int { return len(r.Value()) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	set(t, s, "a", []int{1, 2})
	base := s.Load()
	for n, row := range byLen.In(base).All() {
		require.Equal(t, n, lists.Row(row).Len())
	}

	set(t, s, "a", []int{3})
	for c := range s.Load().Diff(base) {
		was, is := c.Rows()
		require.Equal(t, 2, lists.Row(was).Len())
		require.Equal(t, 1, lists.Row(is).Len())
	}
	require.True(t, lists.Row(cow.Row[string, []int]{}).IsNil())

	theirs := base.Edit()
	theirs.Set("a", []int{4, 5, 6})
	met := 0
	require.NoError(t, s.Update(func(e *cow.Editor[string, []int]) error {
		return e.Merge(base, theirs.Seal(), func(c cow.Conflict[string, []int]) ([]int, bool, error) {
			b, o, th := c.Rows()
			require.Equal(t, []int{2, 1, 3}, []int{lists.Row(b).Len(), lists.Row(o).Len(), lists.Row(th).Len()})
			met++
			v, keep := c.Theirs()
			return v, keep, nil
		})
	}))
	require.Equal(t, 1, met)
}

func TestViewsOfPointers(t *testing.T) {
	s := cow.NewOne[string](cow.Options[*[]int]{})
	lists := cow.NewPointerViews[pointed](s)
	set(t, s, "a", &[]int{1})
	set(t, s, "nil", nil)
	v, ok := lists.Get("a")
	require.True(t, ok)
	require.Equal(t, 1, (*view.Shared(v.ref))[0])
	v, ok = lists.Get("nil")
	require.True(t, ok)
	require.False(t, v.ref.Valid())
	v, ok = lists.Get("none")
	require.False(t, ok)
	require.False(t, v.ref.Valid())

	ready, ok := cow.NewPointerViews[view.Slice[int]](s).Get("nil") // a view that no command generated
	require.True(t, ok)
	require.True(t, ready.IsNil())
}

type pointed struct{ ref view.Ref[[]int] }

func (pointed) ViewOf(r view.Ref[[]int]) pointed { return pointed{r} }

func TestViewsDoNotAllocate(t *testing.T) {
	if !inlined {
		t.Skip("an iteration allocates nothing where it is inlined")
	}
	db := new(cow.DB)
	table := cow.NewTable[string](db, "lists", cow.Options[[]int]{})
	set(t, table, "a", []int{1, 2})
	lists := cow.NewViews[listView](table)
	sum := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v, _ := lists.Get("a")
		for _, n := range v.All() {
			sum += n
		}
		v, _ = lists.In(table.Load()).Get("a")
		sum += v.Len()
	}))
	require.Positive(t, sum)
}

// set sets a key of a table.
func set[V any](t *testing.T, s interface {
	Set(key string, v V) (uint64, error)
}, key string, v V) {
	t.Helper()
	_, err := s.Set(key, v)
	require.NoError(t, err)
}

func TestViewsThatWouldLeakAreRefused(t *testing.T) {
	chains := cow.NewOne[string](cow.Options[**int]{})
	require.PanicsWithValue(t, "cow: a view.Pointer hands out a *int as it is, which can be modified: use a view of views, or of pointers",
		func() { cow.NewViews[view.Pointer[*int]](chains) })
	cow.NewViews[view.PointerViews[*int, view.Pointer[int]]](chains)
	require.PanicsWithValue(t, "cow: views of nothing: NewViews needs a Table",
		func() { cow.NewViews[view.Slice[int], string](nil) })
}
