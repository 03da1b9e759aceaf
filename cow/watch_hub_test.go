package cow

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// requireNoWatch requires that nobody is registered with the hub of a table, if it has one.
func requireNoWatch[K comparable, V any](t *testing.T, table *Table[K, V]) {
	t.Helper()
	if h := table.def.state(table.db).hub.Load(); h != nil {
		require.True(t, h.IsEmpty())
	}
}

func TestAWatchLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewOne[int](Options[int]{})
		db := new(DB)
		table := NewTable[int](db, "a", Options[int]{})
		byValue := func(r Row[int, int], add func(int)) { add(r.Value()) }
		x, err := NewMultiIndex(s.Table, "value", byValue, IndexOptions[int]{})
		require.NoError(t, err)
		y, err := NewMultiIndex(table, "value", byValue, IndexOptions[int]{})
		require.NoError(t, err)
		nan := 0.0
		nan /= nan
		floats := NewOne[any](Options[int]{})
		for round := range 3 {
			ctx, end := context.WithCancel(t.Context())
			since, at := s.Load(), db.Load()
			for range 5 {
				for _, of := range [][]Watched{
					nil, {s.OnKeys(1, 2, 2)}, {x.OnKeys(1, 2, 1)}, {s.OnKeys(1), s.OnKeys(1, 3), x.OnKeys(1), x.OnKeys(2, 1), x.OnKeys()},
				} {
					go func() { _, _ = s.Watch(ctx, since, of...) }()
				}
				for _, of := range [][]Watched{
					nil, {table.OnKeys(1, 2)}, {y.OnKeys(1, 2)}, {y.OnKeys(1), table.OnKeys(1), y.OnKeys(1)},
				} {
					go func() { _, _ = db.Watch(ctx, at, of...) }()
				}
				go func() { _, _ = floats.Watch(ctx, floats.Load(), floats.OnKeys(nan, 1.0, nan)) }()
			}
			synctest.Wait()
			require.Equal(t, 20, s.Stats().Waiting)
			if round == 1 { // some return, the rest is told to
				s.Set(2, 2)
				require.NoError(t, db.Update(func(tx *Tx) error { table.Edit(tx).Set(2, 2); return nil }))
				synctest.Wait()
				require.Equal(t, 0, s.Stats().Waiting)
			}
			end()
			synctest.Wait()
			require.Equal(t, 0, s.Stats().Waiting+db.Stats().Waiting+floats.Stats().Waiting)
			requireNoWatch(t, s.Table)
			requireNoWatch(t, table)
			requireNoWatch(t, floats.Table)
		}
	})
}
