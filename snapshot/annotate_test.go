package snapshot

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

type counts = map[string]int

func collect(m counts) *Map[string, int] { return must(Collect(Options[int]{}, maps.All(m))) }

func requireAnnotation(t *testing.T, m *Map[string, int], x any, to *Map[string, int]) {
	t.Helper()
	gotX, gotTo := m.annotation()
	require.Equal(t, x, gotX)
	require.Same(t, to, gotTo)
}

// plus returns m with one key more.
func plus(m *Map[string, int], key string, v int) *Map[string, int] {
	e := m.Edit()
	e.Set(key, v)
	return e.Seal()
}

func TestAnnotationIsOfTheNearestAncestor(t *testing.T) {
	m := collect(counts{"a": 1})
	requireAnnotation(t, m, nil, nil)
	one := m.annotate("one")
	requireAnnotation(t, m, nil, nil)
	requireAnnotation(t, one, "one", one)
	child := plus(one, "b", 2)
	grandchild := plus(child, "c", 3)
	requireAnnotation(t, child, "one", one)
	requireAnnotation(t, grandchild, "one", one)
	requireAnnotation(t, plus(m, "b", 2), nil, nil)

	two := grandchild.annotate("two")
	requireAnnotation(t, two, "two", two)
	requireAnnotation(t, plus(two, "d", 4), "two", two)
	requireAnnotation(t, plus(grandchild, "d", 4), "one", one)
	again := two.annotate("again")
	requireAnnotation(t, again, "again", again)
	requireAnnotation(t, two, "two", two)
	e := two.Edit()
	e.Clear()
	requireAnnotation(t, e.Seal(), "two", two)
}

func TestAnnotateToNothing(t *testing.T) {
	for name, m := range map[string]*Map[string, int]{"nil": nil, "zero": new(Map[string, int]), "empty": New[string](Options[int]{})} {
		requireAnnotation(t, m, nil, nil)
		a := m.annotate(name)
		requireAnnotation(t, a, name, a)
		require.Zero(t, a.Len())
		require.Zero(t, a.Version())
		b := plus(a, "a", 1)
		requireAnnotation(t, b, name, a)
		require.Equal(t, counts{"a": 1}, maps.Collect(b.All()))
	}
}

func TestAnnotateChangesNothingElse(t *testing.T) {
	m := must(Collect(Options[[]int]{}, maps.All(map[string][]int{"a": {1}, "b": {2}})))
	a := m.annotate(7)
	require.Equal(t, m.Version(), a.Version())
	require.Equal(t, m.Len(), a.Len())
	require.Equal(t, maps.Collect(m.All()), maps.Collect(a.All()))
	for range a.Diff(m) {
		require.Fail(t, "they are equal")
	}
	v, _ := a.Get("a")
	v[0] = 9
	v, _ = a.Get("a")
	require.Equal(t, []int{1}, v, "values stay isolated")
	row, ok := m.Row("a")
	require.True(t, ok)
	same, ok := a.Row("a")
	require.True(t, ok)
	require.True(t, row == same, "the same write")
	e := a.Edit()
	e.Set("a", []int{3})
	n := e.Seal()
	require.Equal(t, uint64(2), n.Version())
	other, _ := n.Row("a")
	require.False(t, row == other)
	same, _ = n.Row("b")
	row, _ = m.Row("b")
	require.True(t, row == same, "what was not written is the same row")
}

func TestOneLineTakesWhatAnyOfItIsolated(t *testing.T) {
	m := must(Collect(Options[[]int]{}, maps.All(map[string][]int{"a": {1}})))
	a := m.annotate("x")
	e := a.Edit()
	e.Set("b", []int{2})
	derived := e.Seal()
	line := []*Map[string, []int]{m, a, derived, derived.annotate("y")}
	for _, from := range line {
		for _, to := range line {
			i := must(from.isolate("", []int{5}))
			e := to.Edit()
			e.put("c", i)
			b := Builder[string, []int]{}.Bulk(from)
			require.NoError(t, b.Add("d", []int{6}))
			require.NoError(t, b.Add("e", nil))
			e.putBulk(b)
			require.Equal(t, to.Len()+3, e.Seal().Len())
		}
	}
	stranger := New[string](Options[[]int]{}).annotate("x")
	require.PanicsWithValue(t, putPanic, func() { a.Edit().put("c", must(stranger.isolate("", nil))) })
}

func TestDiffAndRewindGoThroughAnnotations(t *testing.T) {
	m := collect(counts{"a": 1, "b": 2})
	a := m.annotate("x")
	e := a.Edit()
	e.Set("a", 10)
	e.Delete("b")
	e.Set("c", 3)
	n := e.Seal()
	for _, newer := range []*Map[string, int]{n, n.annotate("y")} {
		for _, older := range []*Map[string, int]{m, a} {
			var changes []Change[string, int]
			kinds := make(map[string]Kind)
			for c := range newer.Diff(older) {
				changes = append(changes, c)
				kinds[c.Key] = c.Kind
			}
			require.Equal(t, map[string]Kind{"a": Changed, "b": Removed, "c": Added}, kinds)
			back := newer.rewind(older.Version(), func(yield func(Change[string, int]) bool) {
				for _, c := range changes {
					if !yield(c) {
						return
					}
				}
			})
			require.Equal(t, maps.Collect(m.All()), maps.Collect(back.All()))
			require.Equal(t, older.Version(), back.Version())
			for range back.Diff(older) {
				require.Fail(t, "the same entries")
			}
			x, to := newer.annotation()
			requireAnnotation(t, back, x, to)
		}
	}
}

func TestAnEditorsMapIsAsItIsNow(t *testing.T) {
	base := collect(counts{"a": 1})
	e := base.Edit()
	require.Same(t, base, e.Map(), "nothing is changed yet")
	e.Set("b", 2)
	one := e.Map()
	require.Same(t, one, e.Map())
	require.Equal(t, e.Version(), one.Version())
	e.Set("b", 3)
	e.Delete("a")
	two := e.Map()
	e.Clear()
	three := e.Map()
	e.Set("d", 4)
	last := e.Seal()
	require.Equal(t, counts{"a": 1}, maps.Collect(base.All()))
	require.Equal(t, counts{"a": 1, "b": 2}, maps.Collect(one.All()))
	require.Equal(t, counts{"b": 3}, maps.Collect(two.All()))
	require.Zero(t, three.Len())
	require.Equal(t, counts{"d": 4}, maps.Collect(last.All()))
	for _, m := range []*Map[string, int]{one, two, three, last} {
		checkTree(t, m)
	}
	require.PanicsWithValue(t, latePanic, func() { e.Map() })
	require.PanicsWithValue(t, latePanic, func() { e.annotate(1) })
}

func TestAnEditorAnnotatesInPassing(t *testing.T) {
	base := collect(counts{"a": 1}).annotate("base")
	e := base.Edit()
	require.NotSame(t, base, e.annotate("early"))
	require.Same(t, base, e.Seal(), "an annotation is no change")

	e = base.Edit()
	e.Set("b", 2)
	requireAnnotation(t, e.Map(), "base", base)
	at := e.annotate("x")
	require.Same(t, at, e.Map())
	requireAnnotation(t, at, "x", at)
	require.Same(t, at, e.Seal(), "nothing has changed since")

	e = base.Edit()
	e.Set("b", 2)
	at = e.annotate("x")
	e.Set("c", 3)
	n := e.Seal()
	requireAnnotation(t, n, "x", at)
	require.Equal(t, counts{"a": 1, "b": 2}, maps.Collect(at.All()))
	require.Equal(t, counts{"a": 1, "b": 2, "c": 3}, maps.Collect(n.All()))
	require.Equal(t, n.Version(), at.Version())

	// What comes and goes is no change, annotated or not.
	e = base.Edit()
	e.Set("b", 2)
	e.annotate("x")
	e.Delete("b")
	e.annotate("y")
	require.Same(t, base, e.Seal())
}
