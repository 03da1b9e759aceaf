package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// exported is all that a Memory shows.
func exported(t testing.TB, m *memory.Memory) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	return b.String()
}

// refusesUndo checks that an Undo is refused, and does nothing.
func refusesUndo(t testing.TB, m *memory.Memory, version uint64, want error) {
	t.Helper()
	is, before := m.Load().Version(), exported(t, m)
	require.ErrorIs(t, m.Undo(t.Context(), version), want)
	require.Equal(t, is, m.Load().Version())
	require.Equal(t, before, exported(t, m))
}

// Whatever a write did is undone once. Again it is an error, until the undo is undone.
func TestEachWriteIsUndoneOnce(t *testing.T) {
	put := func(s memory.Space) error { return errOf(s.Put("new", 1)) }
	for name, write := range map[string]func(m *memory.Memory, s memory.Space) error{
		"add":           func(_ *memory.Memory, s memory.Space) error { return put(s) },
		"put":           func(_ *memory.Memory, s memory.Space) error { return errOf(s.Put("k", "other")) },
		"put the same":  func(_ *memory.Memory, s memory.Space) error { return errOf(s.Put("k", "one")) },
		"item":          func(_ *memory.Memory, s memory.Space) error { return errOf(s.PutItem("k", memory.Item{Value: 7})) },
		"vector":        func(_ *memory.Memory, s memory.Space) error { return errOf(s.PutVector("k", []float32{0, 1}, nil)) },
		"delete":        func(_ *memory.Memory, s memory.Space) error { return errOf(s.Delete("k")) },
		"delete vector": func(_ *memory.Memory, s memory.Space) error { return errOf(s.DeleteVector("k")) },
		"take":          func(_ *memory.Memory, s memory.Space) error { _, _, err := s.Take("k"); return err },
		"modify": func(_ *memory.Memory, s memory.Space) error {
			return errOf(s.Modify("k", func(memory.Value) (any, error) { return "modified", nil }))
		},
		"clear":     func(_ *memory.Memory, s memory.Space) error { _, err := s.Clear(); return err },
		"clear all": func(_ *memory.Memory, s memory.Space) error { _, err := s.ClearAll(); return err },
		"clear many": func(m *memory.Memory, _ memory.Space) error {
			_, err := m.Space("many").Clear()
			return err
		},
		"evict": func(m *memory.Memory, _ memory.Space) error { return put(m.Space("full")) },
		"import": func(m *memory.Memory, _ memory.Space) error {
			_, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"k","value":2}`))
			return err
		},
		"batch": func(m *memory.Memory, _ memory.Space) error {
			return m.Batch(func(b *memory.Batch) error {
				b.Space("s").Delete("k")
				return errors.Join(b.Space("s").Put("new", 1), b.Space("elsewhere").Put("new", 1))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			m.DB().Retain(cow.Retention{Versions: 1000})
			s := m.Space("s")
			require.NoError(t, errOf(s.PutItem("k", memory.Item{Value: "one", Vector: []float32{1, 0}, Metadata: map[string]any{"a": 1}, TTL: time.Hour})))
			require.NoError(t, errOf(m.Space("s", "below").Put("k", 1)))
			require.NoError(t, errOf(m.Space("full").Configure(memory.SpaceOptions{MaxEntries: 1})))
			require.NoError(t, errOf(m.Space("full").Put("old", 1)))
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				for i := range 200 {
					require.NoError(t, b.Space("many").Put(fmt.Sprint(i), i))
				}
				return nil
			}))
			before := exported(t, m)
			require.NoError(t, write(m, s))
			rev, after := m.Load().Version(), exported(t, m)
			require.NotEqual(t, before, after)
			require.NoError(t, errOf(m.Space("later").Put("k", 1)))
			require.NoError(t, errOf(m.Space("later").Delete("k")))

			undo := func(version uint64, want string) uint64 {
				require.NoError(t, m.Undo(t.Context(), version))
				undone := m.Load().Version()
				require.Equal(t, want, exported(t, m))
				refusesUndo(t, m, version, memory.ErrNothingToUndo)
				return undone
			}
			undone := undo(rev, before)
			again := undo(undone, after)
			undo(rev, before) // which was done again
			refusesUndo(t, m, again, memory.ErrNothingToUndo)
			require.NoError(t, m.CheckDerived())
		})
	}
}

// What an Undo cannot do is an error that says why, and nothing happens.
func TestUndoOfWhatCannotBeUndone(t *testing.T) {
	db := new(cow.DB)
	m := memory.On(db, memory.Options{})
	other := cow.NewTable[string](db, "other", cow.Options[int]{})
	m.DB().Retain(cow.Retention{Versions: 10})
	s := m.Space("s")
	refusesUndo(t, m, 0, cow.ErrUnpublished)
	refusesUndo(t, m, 1, cow.ErrUnpublished)
	rev, err := s.Put("k", 1)
	require.NoError(t, err)
	refusesUndo(t, m, rev+1, cow.ErrUnpublished)

	configured, err := s.Configure(memory.SpaceOptions{TTL: memory.Never})
	require.NoError(t, err)
	refusesUndo(t, m, configured, memory.ErrNothingToUndo)
	require.NoError(t, db.Update(func(tx *cow.Tx) error { other.Edit(tx).Set("k", 1); return nil }))
	refusesUndo(t, m, m.Load().Version(), memory.ErrNothingToUndo)
	nothing := m.Load().Version() // the last version: Delete of what is not there makes none
	require.NoError(t, errOf(s.Delete("none")))
	require.Equal(t, nothing, m.Load().Version())

	for name, since := range map[string]func() error{
		"put":        func() error { return errOf(s.Put("k", 2)) },
		"the same":   func() error { return errOf(s.Put("k", 1)) },
		"a vector":   func() error { return errOf(s.PutVector("k", []float32{1}, nil)) },
		"put again":  func() error { return errors.Join(errOf(s.Delete("k")), errOf(s.Put("k", 1))) },
		"as it was":  func() error { return errOf(s.Put("k", 0)) },
		"in a batch": func() error { return m.Batch(func(b *memory.Batch) error { return b.Space("s").Put("k", 3) }) },
	} {
		require.NoError(t, errOf(s.Put("k", 0)), name)
		rev, err := s.Put("k", 1)
		require.NoError(t, err)
		require.NoError(t, since())
		refusesUndo(t, m, rev, cow.ErrConflict)
	}
	// Part of it was changed since, or is undone: all or nothing.
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		return errors.Join(b.Space("s").Put("a", 1), b.Space("s").Put("b", 1))
	}))
	both := m.Load().Version()
	require.NoError(t, errOf(s.Put("a", 2)))
	refusesUndo(t, m, both, cow.ErrConflict)
	require.NoError(t, errOf(s.Delete("a")))
	require.NoError(t, m.Undo(t.Context(), both), "a is as it was, b is left to be undone")
	require.Equal(t, []string{"k"}, keys(s.Load()))
	refusesUndo(t, m, both, memory.ErrNothingToUndo)
	put, err := s.Put("erased", 1)
	require.NoError(t, err)
	_, err = s.Erase(t.Context(), "erased")
	require.NoError(t, err)
	refusesUndo(t, m, put, memory.ErrNothingToUndo)
	refusesUndo(t, m, m.Load().Version(), memory.ErrNothingToUndo)
	for range 20 {
		require.NoError(t, errOf(s.Put("k", 1)))
	}
	refusesUndo(t, m, both, cow.ErrCompacted)
}

// What has expired meanwhile does not come back, so that there may be nothing to undo.
func TestUndoOfWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 100})
		s := m.Space("s")
		put := func(key string) {
			require.NoError(t, errOf(s.PutItem(key, memory.Item{Value: 1, TTL: time.Second})))
		}
		put("deleted")
		deleted, err := s.Delete("deleted")
		require.NoError(t, err)
		put("replaced")
		replaced, err := s.PutItem("replaced", memory.Item{Value: 2, TTL: memory.Never})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		refusesUndo(t, m, deleted, memory.ErrNothingToUndo)
		require.NoError(t, m.Undo(t.Context(), replaced))
		require.Zero(t, s.Len())
		refusesUndo(t, m, deleted, memory.ErrNothingToUndo)
		put("swept")
		time.Sleep(2 * time.Second)
		_, err = m.Sweep(t.Context())
		require.NoError(t, err)
		refusesUndo(t, m, m.Load().Version(), memory.ErrNothingToUndo)
	})
}

// Of any number of clients that undo one write at once, one does it.
func TestOneOfManyUndoes(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10_000})
	s := m.Space("s")
	for i := range quicker(300) {
		require.NoError(t, errOf(s.Put("k", i)))
		rev, err := s.Put("k", -1)
		require.NoError(t, err)
		var done atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				switch err := m.Undo(t.Context(), rev); {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, memory.ErrNothingToUndo):
					t.Errorf("undo: %v", err)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, done.Load())
		require.Equal(t, rev+1, m.Load().Version())
		v, _ := s.Get("k")
		require.EqualValues(t, i, v.Int())
	}
}

// What Embed did since to an entry does not keep its write from being undone, nor a merge.
func TestUndoOfWhatWasEmbeddedSince(t *testing.T) {
	m := memory.New(memory.Options{Embed: func(_ context.Context, texts []string) (all [][]float32, err error) {
		for range texts {
			all = append(all, []float32{1, 2})
		}
		return all, nil
	}})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("notes")
	embed := func() {
		t.Helper()
		n, err := m.EmbedMissing(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.NoError(t, errOf(s.Put("a", "first")))
	embed()
	first, _ := s.Entry("a")
	rev, err := s.Put("a", "second")
	require.NoError(t, err)
	embed()
	require.NoError(t, m.Undo(t.Context(), rev))
	is, _ := s.Entry("a")
	require.Equal(t, "first", is.Value.String())
	require.Equal(t, first.Dim, is.Dim)
	require.True(t, is.Embedded)

	rev, err = s.Put("b", "inserted")
	require.NoError(t, err)
	embed()
	require.NoError(t, m.Undo(t.Context(), rev))
	require.False(t, s.Contains("b"))

	// What somebody wrote is a conflict, whatever else Embed did.
	rev, err = s.Put("b", "inserted")
	require.NoError(t, err)
	require.NoError(t, errOf(s.Keep("b", true)))
	embed()
	require.ErrorIs(t, m.Undo(t.Context(), rev), cow.ErrConflict)
	rev, err = s.Put("b", "twice")
	require.NoError(t, err)
	require.NoError(t, errOf(s.Put("b", "twice")))
	embed()
	require.ErrorIs(t, m.Undo(t.Context(), rev), cow.ErrConflict)

	// What is undone already is so with a vector too.
	for _, when := range []string{"never", "before", "after", "both"} {
		require.NoError(t, errOf(s.PutItem("c", memory.Item{Value: "first", Metadata: map[string]any{"a": 1}})))
		rev, err = s.Put("c", "second")
		require.NoError(t, err)
		if when == "before" || when == "both" {
			embed()
		}
		require.NoError(t, m.Undo(t.Context(), rev))
		if when == "after" || when == "both" {
			embed()
		}
		was, _ := s.Entry("c")
		require.ErrorIs(t, m.Undo(t.Context(), rev), memory.ErrNothingToUndo, when)
		is, _ := s.Entry("c")
		require.Equal(t, was.Revision, is.Revision)
		require.NoError(t, errOf(s.Delete("c")))
	}

	// Of two sides, the one that wrote has its way.
	for ours := range 2 {
		require.NoError(t, errOf(s.Put("c", fmt.Sprint("before", ours))))
		base := m.Load()
		sides := []*memory.Memory{m.Fork(base), m}
		n, err := sides[ours].EmbedMissing(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, errOf(sides[1-ours].Space("notes").Put("c", "after")))
		_, err = m.Merge(t.Context(), base, sides[0].Load(), nil)
		require.NoError(t, err)
		is, _ := s.Entry("c")
		require.Equal(t, "after", is.Value.String())
		require.Zero(t, is.Dim)
		embed()
	}

	// Of two sides that have one write, it is the one with a vector.
	for embedded := range 2 {
		require.NoError(t, errOf(s.Put("d", "before")))
		base := m.Load()
		fork := m.Fork(base)
		require.NoError(t, errOf(s.Put("d", "after")))
		_, err = fork.Merge(t.Context(), base, m.Load(), nil)
		require.NoError(t, err)
		n, err := []*memory.Memory{fork, m}[embedded].EmbedMissing(t.Context())
		require.NoError(t, err)
		require.Positive(t, n)
		_, err = m.Merge(t.Context(), base, fork.Load(), nil)
		require.NoError(t, err)
		is, _ := s.Entry("d")
		require.Equal(t, []any{"after", 2, true}, []any{is.Value.String(), is.Dim, is.Embedded})
	}
}

// What has expired since is not there to be undone, whether it is swept or not.
func TestUndoOfWhatHasExpiredSince(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := memory.New(memory.Options{})
			m.DB().Retain(cow.Retention{Versions: 1000})
			s := m.Space("s")
			require.NoError(t, errOf(s.Put("a", 1)))
			require.NoError(t, errOf(s.Put("b", 1)))
			var both uint64
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				both = b.Version()
				if err := b.Space("s").PutItem("a", memory.Item{Value: 2, TTL: time.Second}); err != nil {
					return err
				}
				return b.Space("s").Put("b", 2)
			}))
			require.NoError(t, errOf(s.Put("c", 1)))
			one, err := s.PutItem("c", memory.Item{Value: 2, TTL: time.Second})
			require.NoError(t, err)
			time.Sleep(time.Second)
			if sweep {
				_, err := m.Sweep(t.Context())
				require.NoError(t, err)
			}
			before := m.Load().Version()
			require.ErrorIs(t, m.Undo(t.Context(), one), memory.ErrNothingToUndo)
			require.Equal(t, before, m.Load().Version())
			require.NoError(t, m.Undo(t.Context(), both), "the other entry is there")
			require.Equal(t, []string{"b"}, keys(s.Load()))
			v, _ := s.Get("b")
			require.Equal(t, "1", fmt.Sprint(v))
		})
	}
}
