package memory

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/cowstore/cowstore/memory/internal/keep"

	"github.com/cowstore/cowstore/memory/internal/tuple"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A vector that was deleted, and is erased from the past, is in the memory of no index.
func TestErasedVectorIsGone(t *testing.T) {
	m := New(Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	vector := func(x float32) []float32 { return []float32{x, 1, 1, 1, 1, 1, 1, 1} }
	for i := range 20 {
		require.NoError(t, errOf(s.PutVector(fmt.Sprint(i), vector(float32(i)), nil)))
	}
	require.NoError(t, errOf(s.PutVector("k", vector(-1), nil)))
	p := weak.Make(&s.Load().lookup("k").Vector()[0])
	require.NoError(t, errOf(s.Delete("k")))
	require.NoError(t, errOf(s.PutVector("more", vector(-2), nil)))
	_, err := s.Erase(t.Context(), "k")
	require.NoError(t, err)
	require.Eventually(t, func() bool { runtime.GC(); return p.Value() == nil }, time.Minute, time.Millisecond)
	require.NoError(t, m.CheckDerived())
	require.Equal(t, 21, s.Len())
}

func TestEraseReportsWhoStillHasIt(t *testing.T) {
	m := New(Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("k", 1)))
	require.NoError(t, m.DB().Pin("with", 1))
	require.NoError(t, m.DB().Pin("without", 0))
	has := m.Fork(m.Load())
	never := m.Fork(Snapshot{})
	pinned, past, deleted := m.Fork(m.Load()), m.Fork(m.Load()), has.Fork(has.Load())
	require.NoError(t, pinned.DB().Pin("p", 1))
	past.DB().Retain(cow.Retention{Versions: 5})
	for _, f := range []*Memory{pinned, past, deleted} {
		require.NoError(t, errOf(f.Space("s").Delete("k")))
	}
	require.NoError(t, errOf(past.Space("s").Put("other", 1)))

	others, err := s.Erase(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, []*cow.DB{has.DB(), pinned.DB(), past.DB()}, others)
	for _, pin := range m.DB().Pins() {
		require.Zero(t, m.In(pin).Len())
	}
	for _, db := range others {
		_, err = m.Of(db).Space("s").Erase(t.Context(), "k") // in some it is in a pin or the past alone
		require.NoError(t, err)
	}
	_, err = s.Erase(t.Context(), "k") // which is nowhere any more
	require.ErrorIs(t, err, ErrNotFound)
	runtime.KeepAlive([]*Memory{never, deleted})

	// A fork that brings it back is found from the other side.
	require.NoError(t, errOf(s.Put("k", 2)))
	require.NoError(t, errOf(has.Space("s").Put("k", 3)))
	others, err = has.Space("s").Erase(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, []*cow.DB{m.DB()}, others)
}

// Erase of what is nowhere changes nothing: not the entries, no version, no past of anybody.
func TestEraseOfWhatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{})
		m.DB().Retain(cow.Retention{Versions: 1000})
		s := m.Space("user")
		require.NoError(t, errOf(s.PutItem("k", Item{Value: "right", Vector: []float32{1}})))
		rev, err := s.Put("k", "wrong")
		require.NoError(t, err)
		require.NoError(t, errOf(s.PutItem("old", Item{Value: 1, TTL: time.Second})))
		require.NoError(t, m.DB().Pin("p", rev))
		require.NoError(t, m.Batch(func(b *Batch) error {
			for i := range 2 * keep.ClearAtOnce {
				require.NoError(t, b.Space("cleared").Put(fmt.Sprint(i), i))
			}
			return nil
		}))
		_, err = m.Space("cleared").Clear()
		require.NoError(t, err)
		time.Sleep(2 * time.Second) // "old" is there to be swept, and rows of "cleared" to be purged
		fork := m.Fork(m.Load())
		fork.DB().Retain(cow.Retention{Versions: 10})

		before := versions(m)
		for _, of := range []Space{s, m.Space(), m.Space("use", "r"), m.Space("user", "k"), m.Space("cleared"), m.Space("nowhere"), m.Space(make([]string, 200)...)} {
			for _, key := range []string{"", "typo", "K", "k\x00", "rk"} {
				e, err := of.Erase(t.Context(), key)
				require.ErrorIs(t, err, ErrNotFound)
				var where *KeyError
				require.ErrorAs(t, err, &where)
				require.Equal(t, key, where.Key)
				require.Zero(t, e)
			}
		}
		require.Equal(t, before, versions(m))
		require.NoError(t, m.Undo(t.Context(), rev), "everybody's past is there")
		v, _ := s.Get("k")
		require.Equal(t, "right", v.String())
	})
}

// versions returns the versions that are kept.
func versions(m *Memory) []uint64 {
	var all []uint64
	for v := range m.DB().Versions() {
		all = append(all, v)
	}
	return all
}

// What was deleted before is erased from the past, which stays from there on.
func TestEraseOfWhatThePastHas(t *testing.T) {
	m := New(Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("k", "a secret")))
	require.NoError(t, errOf(s.Delete("k")))
	require.NoError(t, errOf(s.PutVector("k", []float32{1}, nil)))
	deleted, err := s.Delete("k")
	require.NoError(t, err)
	rev, err := s.Put("other", 1)
	require.NoError(t, err)

	before := versions(m)
	_, err = s.Erase(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, append(before, rev+1), versions(m))
	require.ErrorIs(t, m.Undo(t.Context(), deleted), ErrNothingToUndo)
	require.NoError(t, m.Undo(t.Context(), rev))
	for c, err := range m.Changes(t.Context(), 0) {
		require.NoError(t, err)
		require.Equal(t, "other", c.Key)
		break
	}
	_, err = s.Erase(t.Context(), "k")
	require.ErrorIs(t, err, ErrNotFound)
}

// Beside writers that trim the past, and others that erase the same, Erase of what is there
// does it once, and of what is not takes nothing.
func TestEraseBesideWriters(t *testing.T) {
	m := New(Options{})
	m.DB().Retain(cow.Retention{Versions: 3})
	stop := make(chan struct{})
	var writers, erasers sync.WaitGroup
	writers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _ = m.Space("x").Put("k", i)
			}
		}
	})
	for i := range 100 {
		key := fmt.Sprint(i)
		require.NoError(t, errOf(m.Space("s").Put(key, i)))
		var done atomic.Int64
		for range 2 {
			erasers.Go(func() {
				_, err := m.Space("s").Erase(t.Context(), key)
				if err == nil {
					done.Add(1)
				} else if !errors.Is(err, ErrNotFound) {
					t.Errorf("erase: %v", err)
				}
				if _, err := m.Space("s").Erase(t.Context(), "typo"); !errors.Is(err, ErrNotFound) {
					t.Errorf("erase of nothing: %v", err)
				}
			})
		}
		erasers.Wait()
		require.Positive(t, done.Load())
		require.False(t, m.keeps(tuple.Name(m.Space("s").path, key)))
	}
	close(stop)
	writers.Wait()
}

// What is cleared or has expired, but is still there to be removed, is erased too.
func TestEraseOfWhatIsGoneAlready(t *testing.T) {
	m := New(Options{})
	s := m.Space("s")
	for i := range 2 * keep.PurgeAtOnce * 3 {
		require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
	}
	_, err := s.Clear()
	require.NoError(t, err)
	left := func() (name string) {
		for name = range tablesOf(m).Entries.In(m.db.Load()).Keys() {
		}
		return name
	}()
	require.NotEmpty(t, left)
	_, key := tuple.Split(left)
	_, err = s.Erase(t.Context(), key)
	require.NoError(t, err)
	require.False(t, tablesOf(m).Entries.In(m.db.Load()).Has(left))
	require.Zero(t, m.Load().Len())
	require.Zero(t, s.Len())
}
