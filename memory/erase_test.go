package memory

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// What is erased is in no version that can be had, and in no memory either.
func TestErasedIsGone(t *testing.T) {
	m := New(Options{})
	m.Retain(cow.Retention{Versions: 100})
	s := m.Space("user", "42")
	for i := range 5 {
		require.NoError(t, errOf(s.PutItem("k", Item{Value: fmt.Sprint("a secret ", i), Vector: []float32{float32(i), 1}})))
		require.NoError(t, errOf(s.Put("other", i)))
	}
	cursor := m.Cursor(m.Load().Version())
	rows := []weak.Pointer[entry]{weak.Make(s.Load().lookup("k"))}
	old, err := m.At(9)
	require.NoError(t, err)
	rows = append(rows, weak.Make(old.Space("user", "42").lookup("k")))
	old = Snapshot{}

	report, err := s.Erase("k")
	require.NoError(t, err)
	require.Zero(t, report)
	now := m.Load().Version()
	require.Equal(t, uint64(11), now)
	for v := range now {
		_, err := m.At(v)
		require.ErrorIs(t, err, ErrCompacted)
	}
	for _, err := range m.Resume(context.Background(), cursor) {
		require.ErrorIs(t, err, ErrCompacted)
	}
	hits, err := s.SearchText("secret", SearchOptions{})
	require.NoError(t, err)
	require.Empty(t, hits)
	hits, err = s.Search([]float32{4, 1}, SearchOptions{})
	require.NoError(t, err)
	require.Empty(t, hits)
	v, _ := s.Get("other")
	require.Equal(t, 4, mustAs[int](t, v))
	require.Eventually(t, func() bool {
		runtime.GC()
		return rows[0].Value() == nil && rows[1].Value() == nil
	}, time.Minute, time.Millisecond)

	// What is written from now on is kept as before.
	require.NoError(t, errOf(s.Put("other", 5)))
	was, err := m.At(now)
	require.NoError(t, err)
	require.Equal(t, 1, was.Len())
}

func mustAs[T any](t testing.TB, v Value) T {
	t.Helper()
	x, err := As[T](v)
	require.NoError(t, err)
	return x
}

func TestEraseReportsWhoStillHasIt(t *testing.T) {
	m := New(Options{})
	m.Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("k", 1)))
	require.NoError(t, m.Pin("with", 1))
	require.NoError(t, m.Pin("without", 0))
	has := m.Fork(m.Load())
	never := m.Fork(Snapshot{})
	pinned, past, deleted := m.Fork(m.Load()), m.Fork(m.Load()), has.Fork(has.Load())
	require.NoError(t, pinned.Pin("p", 1))
	past.Retain(cow.Retention{Versions: 5})
	for _, f := range []*Memory{pinned, past, deleted} {
		require.NoError(t, errOf(f.Space("s").Delete("k")))
	}
	require.NoError(t, errOf(past.Space("s").Put("other", 1)))

	report, err := s.Erase("k")
	require.NoError(t, err)
	require.Equal(t, []string{"with"}, report.Pins)
	require.Equal(t, []*Memory{has, pinned, past}, report.Forks)

	for _, f := range report.Forks {
		f.Unpin("p")
		_, err := f.Space("s").Erase("k")
		require.NoError(t, err)
	}
	require.True(t, m.Unpin("with"))
	report, err = s.Erase("k") // which is not there any more
	require.NoError(t, err)
	require.Zero(t, report)
	runtime.KeepAlive([]*Memory{never, deleted})

	// A fork that brings it back is found from the other side.
	require.NoError(t, errOf(s.Put("k", 2)))
	report, err = has.Space("s").Erase("k")
	require.NoError(t, err)
	require.Equal(t, []*Memory{m}, report.Forks)
}

// The family does not keep its members alive, nor grow by those that are gone.
func TestFamilyLetsGo(t *testing.T) {
	m := New(Options{})
	for range 1000 {
		m.Fork(m.Load())
		if len(m.family.members) > 500 {
			runtime.GC()
		}
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		n := 0
		for range m.family.all() {
			n++
		}
		return n == 1
	}, time.Minute, time.Millisecond)
	f := m.Fork(m.Load())
	for range 1000 {
		m.Fork(m.Load())
	}
	runtime.KeepAlive(f)
	require.Less(t, len(m.family.members), 2048)
}

// What is cleared or has expired, but is still there to be removed, is erased too.
func TestEraseOfWhatIsGoneAlready(t *testing.T) {
	m := New(Options{})
	s := m.Space("s")
	for i := range 2 * purgeAtOnce * 3 {
		require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
	}
	_, err := s.Clear()
	require.NoError(t, err)
	left := func() (name string) {
		for name = range m.entries.In(m.db.Load()).Keys() {
		}
		return name
	}()
	require.NotEmpty(t, left)
	_, key := split(left)
	_, err = s.Erase(key)
	require.NoError(t, err)
	require.False(t, m.entries.In(m.db.Load()).Has(left))
	require.Zero(t, m.Load().Len())
	require.Zero(t, s.Len())
}
