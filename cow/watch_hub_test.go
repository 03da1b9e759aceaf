package cow

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// requireEmpty requires that nobody is registered with a hub.
func (h *hub[K, V]) requireEmpty(t *testing.T) {
	t.Helper()
	require.Empty(t, h.whole)
	require.Empty(t, h.keys)
	require.Empty(t, h.indexes)
	require.Empty(t, h.late)
	require.Equal(t, int64(0), h.waiting.Load())
}

func TestAWatchLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New[int](Options[int]{})
		db := new(DB)
		table := NewTable[int](db, "a", Options[int]{})
		byValue := func(v int, add func(int)) { add(v) }
		x, err := NewMultiIndex(s, "value", byValue, IndexOptions[int]{})
		require.NoError(t, err)
		y, err := NewMultiIndex(table, "value", byValue, IndexOptions[int]{})
		require.NoError(t, err)
		nan := 0.0
		nan /= nan
		floats := New[any](Options[int]{})
		for round := range 3 {
			ctx, end := context.WithCancel(t.Context())
			since, at := s.Load(), db.Load()
			for range 5 {
				for _, of := range [][]Watched[int, int]{
					nil, {s.OnKeys(1, 2, 2)}, {x.OnKeys(1, 2, 1)}, {s.OnKeys(1), s.OnKeys(1, 3), x.OnKeys(1), x.OnKeys(2, 1), x.OnKeys()},
				} {
					go func() { _, _ = s.Watch(ctx, since, of...) }()
				}
				for _, of := range [][]Watched[int, int]{
					nil, {table.OnKeys(1, 2)}, {y.OnKeys(1, 2)}, {y.OnKeys(1), table.OnKeys(1), y.OnKeys(1)},
				} {
					go func() { _, _ = table.Watch(ctx, at, of...) }()
				}
				go func() { _, _ = floats.Watch(ctx, floats.Load(), floats.OnKeys(nan, 1.0, nan)) }()
			}
			synctest.Wait()
			require.Equal(t, 20, s.Stats().Waiting)
			require.Len(t, s.hub.Load().keys, 3)
			require.Len(t, s.hub.Load().whole, 5)
			if round == 0 { // signals of no commit end no watch
				h := s.hub.Load()
				h.mu.Lock()
				h.whole.signal()
				for _, cs := range h.keys {
					cs.signal()
					cs.signal()
				}
				for _, x := range h.indexes {
					for _, cs := range x.all(nil) {
						cs.signal()
					}
				}
				h.mu.Unlock()
				synctest.Wait()
				require.Equal(t, 20, s.Stats().Waiting)
			}
			if round == 1 { // some return, the rest is told to
				s.Set(2, 2)
				require.NoError(t, db.Update(func(tx *Tx) error { table.Edit(tx).Set(2, 2); return nil }))
				synctest.Wait()
				require.Equal(t, 0, s.Stats().Waiting)
			}
			end()
			synctest.Wait()
			require.Equal(t, 0, s.Stats().Waiting+db.Stats().Waiting+floats.Stats().Waiting)
			s.hub.Load().requireEmpty(t)
			floats.hub.Load().requireEmpty(t)
			h, ok := db.hubs.Load(table.def.index)
			require.True(t, ok)
			h.(*hub[int, int]).requireEmpty(t)
		}
	})
}

// Whoever is woken must find what it was woken for: the swap comes first.
func TestPublicationSwapsBeforeItWakes(t *testing.T) {
	s := New[int](Options[int]{})
	for _, logged := range []bool{false, true} {
		if logged {
			s.Retain(Retention{Versions: 3})
		}
		woken := 0
		wake := func(newer, older *snapshot.Map[int, int]) {
			require.Same(t, newer, s.Load())
			require.Equal(t, newer.Version(), older.Version()+1)
			woken++
		}
		s.watches.Store(&wake)
		s.Set(1, 1)
		s.Delete(1)
		require.Equal(t, 2, woken)
	}
}
