package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// filledSpaces returns a Memory with so many entries in each of two spaces, one below the
// other, with text and vectors.
func filledSpaces(t *testing.T, n int) *memory.Memory {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 1000})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for _, e := range []*memory.Editor{b.Space("a"), b.Space("a", "b"), b.Space("c")} {
			for i := range n {
				if err := e.PutItem(fmt.Sprintf("%04d", i), memory.Item{Value: fmt.Sprint("word ", i), Vector: []float32{1, float32(i)}}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return m
}

func requireEmpty(t *testing.T, s memory.SpaceSnapshot) {
	t.Helper()
	require.Zero(t, s.Len())
	require.Empty(t, keys(s))
	_, ok := s.Get("0007")
	require.False(t, ok)
	_, ok = s.Entry("0007")
	require.False(t, ok)
	_, ok = s.Vector("0007")
	require.False(t, ok)
	require.Empty(t, hitKeys(s.Search(memory.Query{Text: "word"})))
	require.Empty(t, hitKeys(s.Search(memory.Query{Vector: []float32{1, 2}})))
	require.Empty(t, hitKeys(s.Search(memory.Query{Text: "word", Vector: []float32{1, 2}})))
}

func TestALargeSpaceIsClearedInSteps(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 400
	}
	m := filledSpaces(t, n)
	before := m.Load()
	s := m.Space("a")
	rows := m.DB().Load().Len()
	require.Equal(t, n, count(s.Clear()))
	requireEmpty(t, s.Load())
	require.Equal(t, 2*n, m.Load().Len())
	require.Equal(t, [][]string{{"a", "b"}, {"c"}}, spaces(m.Load(), memory.SpacesOptions{}))
	require.NoError(t, m.CheckDerived())
	require.Equal(t, n, before.Space("a").Len())
	require.Greater(t, m.DB().Load().Len(), rows-200, "it is the few rows that the write itself removes")

	require.Zero(t, count(s.Clear()))
	require.NoError(t, errOf(s.Insert("0007", "another word")))
	require.Equal(t, []string{"0007"}, hitKeys(s.Search(memory.Query{Text: "word"})))
	require.ErrorIs(t, errOf(s.SetIf("0008", 1, 1)), memory.ErrRevision)
	require.NoError(t, errOf(s.SetIf("0008", 0, "set")))
	require.Equal(t, []string{"0007", "0008"}, keys(s.Load()))
	require.NoError(t, m.CheckDerived())

	require.Equal(t, n+2, count(s.Space().ClearAll()))
	require.Zero(t, m.Space("a", "b").Len())
	require.Equal(t, n, m.Load().Len())
	require.NoError(t, m.CheckDerived())
	require.Zero(t, count(m.Sweep(t.Context())))
	require.NoError(t, m.CheckDerived())
	require.Less(t, m.DB().Load().Len(), n+20)
	requireEmpty(t, s.Load())
	require.Equal(t, n, m.Space("c").Len())
}

// A batch may clear what it wrote, and a space with those below it, in any order.
func TestClearWithinABatch(t *testing.T) {
	const n = 300
	for name, f := range map[string]func(b *memory.Batch){
		"own, then below": func(b *memory.Batch) {
			require.Equal(t, n+1, b.Space("a").Clear())
			require.Equal(t, n, b.Space("a").ClearAll())
		},
		"below, then own": func(b *memory.Batch) {
			require.Equal(t, 2*n+1, b.Space("a").ClearAll())
			require.Zero(t, b.Space("a").Clear())
		},
		"all": func(b *memory.Batch) {
			require.Equal(t, 3*n+1, b.Space().ClearAll())
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := filledSpaces(t, n)
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				require.NoError(t, b.Space("a").Put("new", "word"))
				require.NoError(t, b.Space("a").Put("0007", "word"))
				f(b)
				_, ok := b.Space("a").Get("0007")
				require.False(t, ok)
				return b.Space("a", "b").PutItem("after", memory.Item{Value: "word", Vector: []float32{1, 2, 3}})
			}))
			require.NoError(t, m.CheckDerived())
			requireEmpty(t, m.Load().Space("a"))
			require.Equal(t, []string{"after"}, hitKeys(m.Space("a", "b").Search(memory.Query{Text: "word"})))
			require.Zero(t, count(m.Sweep(t.Context())))
			require.NoError(t, m.CheckDerived())
			require.Equal(t, []string{"after"}, keys(m.Space("a", "b").Load()))
		})
	}
}

func TestWhatIsClearedInTheFeed(t *testing.T) {
	m := filledSpaces(t, 100)
	since := m.Load().Version()
	require.Equal(t, 100, count(m.Space("a").Clear()))
	require.NoError(t, errOf(m.Space("a").Put("0007", 1)))
	require.Equal(t, 101, count(m.Space("a").ClearAll()))
	require.Zero(t, count(m.Sweep(t.Context())))
	require.NoError(t, errOf(m.Space("end").Put("k", 1)))
	var got []string
	for c, err := range m.Changes(t.Context(), since) {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%v%v%v%v", c.Kind, c.Space, c.Key, c.Below))
		if c.Key == "k" {
			break
		}
	}
	require.Equal(t, []string{"cleared[a]false", "added[a]0007false", "cleared[a]true", "added[end]kfalse"}, got)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for c, err := range m.Space("a", "b").Changes(ctx, since) {
		require.NoError(t, err)
		require.Equal(t, memory.Cleared, c.Kind)
		require.Equal(t, since+3, c.Version)
		break
	}
}

func TestWatchWakesForAClear(t *testing.T) {
	for _, key := range [][]string{nil, {"0007"}} {
		m := filledSpaces(t, 100)
		woken := make(chan error, 1)
		since := m.Load()
		go func() {
			_, err := m.Space("a", "b").Watch(t.Context(), since, key...)
			woken <- err
		}()
		require.Equal(t, 200, count(m.Space("a").ClearAll()))
		require.NoError(t, <-woken)
	}
}

// A Clear is merged, undone and exported like any other change.
func TestClearAndMerge(t *testing.T) {
	m := filledSpaces(t, 100)
	base := m.Load()
	fork := m.Fork(base)
	require.Equal(t, 100, count(fork.Space("a").Clear()))
	require.NoError(t, errOf(m.Space("a").Put("0007", "ours")))
	require.NoError(t, errOf(m.Space("a").Put("new", "ours")))
	_, err := m.Merge(t.Context(), base, fork.Load(), nil)
	require.ErrorIs(t, err, cow.ErrConflict)
	_, err = m.Merge(t.Context(), base, fork.Load(), func(c memory.Conflict) (memory.Entry, error) { return c.Ours, nil })
	require.NoError(t, err)
	require.Equal(t, []string{"0007", "new"}, keys(m.Space("a").Load()))
	require.NoError(t, m.CheckDerived())

	before := m.Load()
	require.Equal(t, 202, count(m.Space().ClearAll()))
	after := m.Load()
	var b strings.Builder
	require.NoError(t, after.Export(&b))
	require.Equal(t, 0, strings.Count(b.String(), `"key"`))
	_, err = m.Merge(t.Context(), after, before, nil)
	require.NoError(t, err)
	require.NoError(t, m.CheckDerived())
	require.Equal(t, 202, m.Load().Len())
	require.Equal(t, 100, len(hitKeys(m.Space("c").Search(memory.Query{Text: "word", K: 1000}))))
	past, err := m.At(after.Version())
	require.NoError(t, err)
	require.Zero(t, past.Len())
	require.Zero(t, count(m.Sweep(t.Context())))
	require.NoError(t, m.CheckDerived())
}

// A space that differs by a zero byte is not below.
func TestClearAllIsNotForASpaceWithAZeroByte(t *testing.T) {
	m := filledSpaces(t, 100)
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		require.NoError(t, b.Space("a\x00b").Put("k", "word"))
		require.Equal(t, 200, b.Space("a").ClearAll())
		return nil
	}))
	require.Equal(t, []string{"k"}, keys(m.Space("a\x00b").Load()))
	require.NoError(t, m.CheckDerived())
}

// A mark is of one line of versions: a merge by the DB would make it hide what was never
// cleared.
func TestAMergeByTheDBTakesNoMarks(t *testing.T) {
	m := filledSpaces(t, 300)
	base := m.DB().Load()
	f := m.Of(m.DB().Fork(base))
	for i := range 5 {
		require.NoError(t, errOf(f.Space("c").Put("0001", i)))
	}
	require.Equal(t, 300, count(f.Space("a").Clear()))
	require.NoError(t, errOf(f.Space("a").Put("new", 1)))
	for i := range 4 { // m comes to the version of the mark
		require.NoError(t, errOf(m.Space("a").Put("mine", i)))
	}
	_, err := m.DB().Merge(base, f.DB().Load())
	require.ErrorIs(t, err, cow.ErrConflict)
	require.ErrorContains(t, err, `memory: space ["a"]`)
	require.Equal(t, 301, m.Space("a").Len())
	require.NoError(t, m.CheckDerived())

	_, err = f.Sweep(t.Context())
	require.NoError(t, err)
	_, err = m.DB().Merge(base, f.DB().Load())
	require.NoError(t, err)
	require.Equal(t, []string{"mine", "new"}, keys(m.Space("a").Load()))
	require.NoError(t, m.CheckDerived())

	// Marks of its own it keeps.
	require.Equal(t, 300, count(m.Space("c").Clear()))
	g := m.Of(m.DB().Fork(m.DB().Load()))
	require.NoError(t, errOf(g.Space("c").Put("x", 1)))
	require.NoError(t, errOf(m.Space("b").Put("y", 1)))
	base = g.DB().Load()
	g2 := g.Of(g.DB().Fork(base))
	require.NoError(t, errOf(g2.Space("c").Put("z", 1)))
	_, err = g.DB().Merge(base, g2.DB().Load())
	require.NoError(t, err)
	require.Equal(t, []string{"x", "z"}, keys(g.Space("c").Load()))
	require.NoError(t, g.CheckDerived())
}

// What was cleared below a space before that is cleared itself, in one batch, counts once.
func TestWhatIsBelowIsClearedInTheMiddleOfABatch(t *testing.T) {
	m := memory.New(memory.Options{})
	deep := func(i int) []string { return []string{"a", "b", fmt.Sprint(i)} }
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 8 * 100 {
			if err := b.Space(deep(i%8)...).Put(fmt.Sprint(i), i); err != nil {
				return err
			}
		}
		return b.Space("c").Put("other", 1)
	}))
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 7 {
			require.Equal(t, 100, b.Space(deep(i)...).Clear())
		}
		require.Equal(t, 100, b.Space("a").ClearAll())
		return b.Space(deep(3)...).Put("last", 1)
	}))
	require.NoError(t, m.CheckDerived())
	require.Equal(t, 2, m.Load().Len())
	require.Equal(t, 1, count(m.Space("a").ClearAll()))
	require.NoError(t, m.CheckDerived())
}

// What was cleared is not evicted: it is not there.
func TestWhatWasClearedIsNotEvicted(t *testing.T) {
	m := filledSpaces(t, 900)
	since := m.Load().Version()
	require.Equal(t, 900, count(m.Space("a").Clear()))
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		b.Space("a").Configure(memory.SpaceOptions{MaxEntries: 3, All: memory.Limits{MaxEntries: 903}})
		return nil
	}))
	for i := range 10 {
		require.NoError(t, errOf(m.Space("a").Put(fmt.Sprint("z", i), i)))
		require.Equal(t, min(i+1, 3), m.Space("a").Len())
	}
	require.Equal(t, 900, m.Space("a", "b").Len())
	evicted := 0
	for c, err := range m.Changes(context.Background(), since) {
		require.NoError(t, err)
		if c.Kind == memory.Evicted {
			require.Equal(t, []string{"a"}, c.Space)
			require.Equal(t, fmt.Sprint("z", evicted), c.Key)
			evicted++
		}
		if c.Version == m.Load().Version() && c.Kind == memory.Evicted {
			break
		}
	}
	require.Equal(t, 7, evicted)
	require.NoError(t, m.CheckDerived())
}
