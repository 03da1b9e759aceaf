package memory_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// With snapshots of one Memory a merge undoes what happened in between, vectors
// and text too, and nothing else.
func TestMergeUndoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 100})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("deleted", memory.Item{Value: "some words", Vector: []float32{1, 2}, Metadata: map[string]any{"n": 1}})))
		require.NoError(t, errOf(s.PutItem("changed", memory.Item{Value: "old words", Vector: []float32{3, 4}})))
		before := m.Load().Version()
		s.Delete("deleted")
		require.NoError(t, errOf(s.PutItem("changed", memory.Item{Value: "new words", Vector: []float32{5, 6}})))
		require.NoError(t, errOf(m.Space("t").PutItem("added", memory.Item{Value: "more words", Vector: []float32{7}})))
		after := m.Load().Version()
		require.NoError(t, errOf(s.PutVector("later", []float32{8, 9}, nil)))
		time.Sleep(time.Hour)
		b, err := m.At(before)
		require.NoError(t, err)
		a, err := m.At(after)
		require.NoError(t, err)
		_, err = m.Merge(t.Context(), a, b, nil)
		require.NoError(t, err)
		require.Equal(t, after+2, m.Load().Version())
		require.Equal(t, [][]string{{"s"}}, spaces(m.Load(), memory.SpacesOptions{}))
		require.Equal(t, []string{"changed", "deleted", "later"}, keys(s.Load()))
		v, _ := s.Vector("deleted")
		require.Equal(t, []float32{1, 2}, v)
		v, _ = s.Vector("changed")
		require.Equal(t, []float32{3, 4}, v)
		require.Equal(t, []string{"changed"}, hitKeys(s.Search(memory.Query{Text: "old"})))
		require.Empty(t, hitKeys(s.Search(memory.Query{Text: "new"})))
		require.Equal(t, []string{"deleted"}, hitKeys(s.Search(memory.Query{Vector: []float32{1, 2}, Filter: filter.Meta("n").Eq(1)})))
		require.NoError(t, m.CheckDerived())
	})
}

// Two vectors of different dimensions do not go together, wherever they come from.
func TestMergeOfAnotherDimensionFails(t *testing.T) {
	m := memory.New(memory.Options{})
	base := m.Load()
	f := m.Fork(base)
	require.NoError(t, errOf(f.Space("s").PutVector("a", []float32{1, 2, 3}, nil)))
	require.NoError(t, errOf(m.Space("s").PutVector("b", []float32{1, 2}, nil)))
	before := m.Load()
	_, err := m.Merge(t.Context(), base, f.Load(), nil)
	require.ErrorIs(t, err, memory.ErrDimension)
	require.True(t, before == m.Load())
	require.True(t, removed(m.Space("s").Delete("b")))
	_, err = m.Merge(t.Context(), base, f.Load(), nil)
	require.NoError(t, err)
	require.NoError(t, m.CheckDerived())
}

func TestMergeOfNothingIsNoVersion(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").Put("a", 1)))
	base := m.Load()
	f := m.Fork(base)
	next, err := m.Merge(t.Context(), base, f.Load(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, m.Load().Version())
	require.NoError(t, errOf(f.Space("s").Put("b", 1)))
	next, err = m.Merge(t.Context(), next, f.Load(), nil)
	require.NoError(t, err)
	// The same once more, and back.
	_, err = m.Merge(t.Context(), next, f.Load(), nil)
	require.NoError(t, err)
	_, err = m.Merge(t.Context(), base, f.Load(), nil)
	require.NoError(t, err, "what was merged is the same on both sides")
	require.EqualValues(t, 2, m.Load().Version())
	_, err = f.Merge(t.Context(), base, m.Load(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, keys(f.Space("s").Load()))
}

// Both removed is no conflict; a removal and a change is.
func TestMergeOfRemovals(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	for _, k := range []string{"both", "ours", "theirs"} {
		require.NoError(t, errOf(s.Put(k, 1)))
	}
	base := m.Load()
	f := m.Fork(base)
	fs := f.Space("s")
	require.True(t, removed(s.Delete("both")) && removed(s.Delete("ours")) && removed(fs.Delete("both")) && removed(fs.Delete("theirs")))
	require.NoError(t, errOf(s.Put("theirs", 2)))
	require.NoError(t, errOf(fs.Put("ours", 2)))
	_, err := m.Merge(t.Context(), base, f.Load(), nil)
	var e *memory.MergeError
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Conflicts, 2)
	for _, c := range e.Conflicts {
		require.Equal(t, []string{"s"}, c.Space)
		require.EqualValues(t, 1, c.Base.Value.Int())
		require.Equal(t, c.Key == "theirs", c.Ours.Value.Exists())
		require.Equal(t, c.Key == "ours", c.Theirs.Value.Exists())
	}
	_, err = m.Merge(t.Context(), base, f.Load(), func(c memory.Conflict) (memory.Entry, error) { return c.Theirs, nil })
	require.NoError(t, err)
	require.Equal(t, []string{"ours"}, keys(s.Load()))
	require.NoError(t, m.CheckDerived())
}

func TestMergeErrorNamesAFew(t *testing.T) {
	m := memory.New(memory.Options{})
	base := m.Load()
	f := m.Fork(base)
	fill(t, m, "s", 100)
	fill(t, f, "s", 100)
	_, err := m.Merge(t.Context(), base, f.Load(), nil)
	require.ErrorIs(t, err, cow.ErrConflict)
	require.ErrorContains(t, err, "100 in all")
	require.Less(t, len(err.Error()), 300)
	n := 0
	no := errors.New("no")
	_, err = m.Merge(t.Context(), base, f.Load(), func(memory.Conflict) (memory.Entry, error) { n++; return memory.Entry{}, no })
	require.ErrorIs(t, err, no)
	require.Equal(t, 1, n, "an error ends the merge")
}

// A fork is independent, with what its snapshot was configured to.
func TestForkIsIndependent(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10})
	m.Space("s").Configure(memory.SpaceOptions{MaxEntries: 20})
	fill(t, m, "s", 20)
	old := m.Load()
	m.Space("s").Configure(memory.SpaceOptions{})
	fill(t, m, "s", 30)
	f := m.Fork(old)
	require.Equal(t, 20, f.Space("s").Load().Options().MaxEntries)
	for i := range 100 {
		require.NoError(t, errOf(f.Space("s").Put(fmt.Sprint("x", i), i)))
		f.Space("s").Get("0019")
	}
	_, ok := f.Space("s").Get("0019")
	require.True(t, ok, "reads count there as well")
	require.Equal(t, 20, f.Space("s").Len())
	require.Equal(t, 30, m.Space("s").Len())
	_, err := f.At(0)
	require.ErrorIs(t, err, cow.ErrCompacted)
	require.NoError(t, f.CheckDerived())
	require.Zero(t, m.Fork(memory.Snapshot{}).Load().Len())
}
