package cow_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// These tests hold that to look and then to write is one step: nobody brings
// back what somebody else deleted, and nothing is written to a value that is
// gone.

func TestADeletedKeyIsNotBroughtBack(t *testing.T) {
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		s.set(t, "k", []int{1})
		m := s.load()
		v, ok := m.Get("k")
		rev := m.Revision("k")
		require.True(t, ok)
		require.Equal(t, uint64(1), rev)
		s.do(t, func(e *cow.Editor[string, []int]) { require.True(t, e.Delete("k")) })
		deleted := s.load()

		try := func() {
			t.Helper()
			v[0]++
			require.ErrorIs(t, s.update(func(e *cow.Editor[string, []int]) error { return e.SetIf("k", rev, v) }), cow.ErrRevision)
			require.ErrorIs(t, s.update(func(e *cow.Editor[string, []int]) error { return e.DeleteIf("k", rev) }), cow.ErrRevision)
		}
		try()
		require.ErrorIs(t, s.update(func(e *cow.Editor[string, []int]) error {
			return e.Modify("k", func(*[]int) error { t.Error("called"); return nil })
		}), cow.ErrNotFound)
		require.Zero(t, s.load().Len())
		require.Same(t, deleted, s.load())

		// Nor is it taken for another one that came in its place.
		s.set(t, "k", []int{7})
		require.Equal(t, uint64(3), s.load().Revision("k"))
		try()
		s.requireContent(t, 3, map[string][]int{"k": {7}})
		s.do(t, func(e *cow.Editor[string, []int]) { e.Delete("k"); e.Set("k", []int{8}) })
		try()
		s.requireContent(t, 4, map[string][]int{"k": {8}})
		require.NoError(t, s.update(func(e *cow.Editor[string, []int]) error { return e.SetIf("k", 4, []int{9}) }))
		s.requireContent(t, 5, map[string][]int{"k": {9}})
	})
	t.Run("one-key verbs", func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[[]int]{})
		s.Set("k", []int{1})
		v, _ := s.Get("k")
		rev := s.Load().Revision("k")
		require.True(t, hasDeleted(s.Delete("k")))
		require.ErrorIs(t, errOf(s.SetIf("k", rev, v)), cow.ErrRevision)
		require.ErrorIs(t, errOf(s.DeleteIf("k", rev)), cow.ErrRevision)
		require.ErrorIs(t, errOf(s.Modify("k", func(*[]int) error { t.Error("called"); return nil })), cow.ErrNotFound)
		require.Zero(t, s.Load().Len())
		require.Equal(t, uint64(2), s.Load().Version())
	})
}

// Whatever was written to a value is in what Take returned, or still in the
// store: nothing is written to one that was taken, and nothing is there twice.
func TestEveryWriteIsInExactlyOneValue(t *testing.T) {
	noDeadlock(t)
	const goroutines, each, keys = 8, 3000, 4
	type session struct{ touches []int }
	s := cow.NewOne[string](cow.Options[*session]{})
	var mu sync.Mutex
	var succeeded []int
	var taken []*session
	var inserted atomic.Int64
	together(goroutines, func(g int) {
		random := rand.New(rand.NewPCG(1, uint64(g)))
		var mine []int
		var got []*session
		for i := range each {
			key := fmt.Sprint(random.IntN(keys))
			switch id := g*each + i; random.IntN(6) {
			case 0:
				if errOf(s.Insert(key, &session{})) == nil {
					inserted.Add(1)
				}
			case 1:
				if v, ok, _ := s.Take(key); ok {
					got = append(got, v)
				}
			case 2: // the loop of an optimist
				m := s.Load()
				if v, ok := m.Get(key); ok {
					v.touches = append(v.touches, id)
					runtime.Gosched()
					if errOf(s.SetIf(key, m.Revision(key), v)) == nil {
						mine = append(mine, id)
					}
				}
			default:
				if errOf(s.Modify(key, func(v **session) error {
					(*v).touches = append((*v).touches, id)
					if i%50 == 0 {
						runtime.Gosched()
					}
					return nil
				})) == nil {
					mine = append(mine, id)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		succeeded = append(succeeded, mine...)
		taken = append(taken, got...)
	})
	values := taken
	for _, v := range s.Load().All() {
		values = append(values, v)
	}
	require.Len(t, values, int(inserted.Load()), "values were lost or came twice")
	var found []int
	for _, v := range values {
		found = append(found, v.touches...)
	}
	slices.Sort(found)
	slices.Sort(succeeded)
	require.NotEmpty(t, succeeded)
	require.Equal(t, succeeded, found)
}

// A handle in a store of immutable values is the very same one for everybody,
// and whoever takes it is the only one who does.
func TestHandlesAreClosedOnceByWhoTookThem(t *testing.T) {
	noDeadlock(t)
	const goroutines, each, keys = 8, 3000, 4
	type handle struct {
		key    string
		closed atomic.Int32
		stored atomic.Bool
	}
	s := cow.NewOne[string](cow.Options[*handle]{Immutable: true})
	var mu sync.Mutex
	var all []*handle
	together(goroutines, func(g int) {
		random := rand.New(rand.NewPCG(2, uint64(g)))
		var mine []*handle
		for range each {
			key := fmt.Sprint(random.IntN(keys))
			switch random.IntN(3) {
			case 0:
				h := &handle{key: key}
				if errOf(s.Insert(key, h)) == nil {
					h.stored.Store(true)
					mine = append(mine, h)
				}
			case 1:
				if h, ok, _ := s.Take(key); ok {
					h.closed.Add(1)
				}
			case 2:
				if h, ok := s.Get(key); ok && h.key != key {
					t.Error("another key's handle")
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, mine...)
	})
	live := map[*handle]bool{}
	for key, h := range s.Load().All() {
		require.Equal(t, key, h.key)
		live[h] = true
		same, _ := s.Load().Shared().Get(key)
		require.Same(t, h, same)
	}
	open := 0
	for _, h := range all {
		require.True(t, h.stored.Load())
		if live[h] {
			open++
			require.Zero(t, h.closed.Load(), "closed while in the store")
		} else {
			require.Equal(t, int32(1), h.closed.Load(), "not closed exactly once")
		}
	}
	require.Equal(t, len(live), open, "a handle that nobody stored")
}
