package cow_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// heap returns how many bytes are in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// requireGone requires that what p points to is collected.
func requireGone[T any](t *testing.T, p weak.Pointer[T], what string) {
	t.Helper()
	until(t, func() bool { runtime.GC(); return p.Value() == nil }, what+" is let go")
}

// A snapshot keeps its rows alive, and not the DB, its other versions, its history
// or its watches. So does a fork.
func TestASnapshotKeepsItsOwnVersionAliveAndNoMore(t *testing.T) {
	type row = []int
	fill := func() (*cow.DB, *cow.Table[int, row], weak.Pointer[snapshot.Map[int, row]]) {
		db := new(cow.DB)
		table := cow.NewTable[int](db, "t", cow.Options[row]{})
		set := func() {
			require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set(0, nil); return nil }))
		}
		set()
		// The index is built from the rows of a version that is then replaced.
		older := weak.Make(table.In(db.Load()))
		_, err := cow.NewMultiIndex(table, "i", func(cow.Row[int, row], func(int)) {}, cow.IndexOptions[int]{})
		require.NoError(t, err)
		set()
		return db, table, older
	}
	more := func(db *cow.DB, table *cow.Table[int, row]) weak.Pointer[cow.Snapshot] {
		db.Retain(cow.Retention{Versions: 10})
		for i := range 10 {
			require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set(i, make(row, 1<<13)); return nil }))
		}
		return weak.Make(db.Load())
	}
	var kept []any
	var older []weak.Pointer[snapshot.Map[int, row]]
	var dbs []weak.Pointer[cow.DB]
	var newest []weak.Pointer[cow.Snapshot]
	for _, keep := range []func(db *cow.DB) any{
		func(db *cow.DB) any { return db.Load() },
		func(db *cow.DB) any { return db.Fork(db.Load()) },
		func(db *cow.DB) any { return db.Fork(nil) },
		func(db *cow.DB) any { f := db.Fork(db.Load()); return f.Fork(f.Load()) },
	} {
		db, table, indexed := fill()
		kept = append(kept, keep(db))
		older = append(older, indexed)
		newest = append(newest, more(db, table))
		dbs = append(dbs, weak.Make(db))
	}
	for i := range dbs {
		requireGone(t, dbs[i], "the DB")
		requireGone(t, newest[i], "its newest snapshot")
		requireGone(t, older[i], "the map that the index was made for")
	}
	runtime.KeepAlive(kept)
}

// A commit that somebody holds does not keep the DB alive either.
func TestACommitKeepsItsRowsAliveAndNoMore(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	s.Retain(cow.Retention{Versions: 10})
	s.Set("a", 1)
	var c *cow.Commit
	for c = range s.Changes(t.Context(), 0) {
		break
	}
	p := weak.Make(s.Table)
	s.Table = nil
	requireGone(t, p, "the Table")
	require.Equal(t, uint64(1), c.Version())
}

// A commit that history drops is collected with the values in it, however many go
// at once.
func TestDroppedCommitsAreCollected(t *testing.T) {
	const versions = 100
	for _, keep := range []int{versions - 2, versions - 10, versions / 2, 1} {
		t.Run(fmt.Sprint(versions-keep, " of ", versions), func(t *testing.T) {
			s := cow.NewOne[string](cow.Options[*[8]int]{Immutable: true})
			s.Retain(cow.Retention{Versions: versions})
			var values []weak.Pointer[[8]int] // by version, from 1
			for range versions {
				v := new([8]int)
				values = append(values, weak.Make(v))
				s.Set("k", v)
			}
			s.Retain(cow.Retention{Versions: keep})
			// The oldest commit that is left has the value that it replaced.
			gone := versions - keep - 1
			for _, v := range values[:gone] {
				requireGone(t, v, "a value of a dropped commit")
			}
			for _, v := range values[gone:] {
				require.NotNil(t, v.Value(), "a value of a retained version")
			}
			runtime.KeepAlive(s)
		})
	}
}

// Whole snapshots that stand between commits count, with their indexes.
func TestBytesCountsAllThatHistoryHoldsBack(t *testing.T) {
	if raceEnabled {
		t.Skip("the detector's own memory counts")
	}
	for _, indexed := range []bool{false, true} {
		s := cow.NewOne[string](cow.Options[int]{})
		const n = 20_000
		s.Replace(func(yield func(string, int) bool) {
			for i := range n {
				if !yield(strconv.Itoa(i), i) {
					return
				}
			}
		})
		if indexed {
			_, err := cow.NewMultiIndex(s.Table, "i", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{})
			require.NoError(t, err)
		}
		write := func(times int) {
			x := uint32(1)
			for range times {
				x = x*1664525 + 1013904223
				s.Set(strconv.Itoa(int(x>>8)%n), int(x))
			}
		}
		write(n)
		before := heap()
		const limit = 8 << 20
		s.Retain(cow.Retention{Bytes: limit})
		write(100_000)
		held, counted := heap()-before, s.Stats().HeldBytes
		require.LessOrEqual(t, counted, limit)
		require.Greater(t, counted, limit*9/10)
		require.InDelta(t, limit, held, limit/4, "indexed: %v; held on the heap, with a limit of %d", indexed, limit)
		runtime.KeepAlive(s)
	}
}
