package cow_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// requireHeld requires that db comes to name exactly these versions, and returns what it says of them.
func requireHeld(t *testing.T, db *cow.DB, versions ...uint64) (held []cow.HeldSnapshot) {
	t.Helper()
	var is []uint64
	for range 200 { // what a collection tells comes a little later
		runtime.GC()
		held, is = db.Stats().HeldSnapshots, nil
		for _, h := range held {
			is = append(is, h.Version)
		}
		if slices.Equal(is, versions) {
			return held
		}
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, versions, is)
	return nil
}

// Snapshots that readers hold are named, and no others: whether they hold them whole or a map.
func TestHeldSnapshotsAreNamed(t *testing.T) {
	for name, load := range map[string]func(t *cow.Table[int, string]) any{
		"a snapshot": func(t *cow.Table[int, string]) any { return t.DB().Load() },
		"a map":      func(t *cow.Table[int, string]) any { return t.Load() },
	} {
		t.Run(name, func(t *testing.T) {
			users := cow.New[int](cow.Options[string]{})
			db := users.DB()
			set := func() {
				_, err := users.Set(int(db.Load().Version()%10), "x")
				require.NoError(t, err)
			}
			before := time.Now()
			set()
			require.Nil(t, db.Stats().HeldSnapshots, "it is off")
			db.TrackSnapshots(true)
			db.TrackSnapshots(true)
			held := make(map[uint64]any)
			for db.Load().Version() < 240 {
				switch v := db.Load().Version(); v {
				case 10, 120, 239:
					held[v] = load(users)
				}
				set()
			}
			all := requireHeld(t, db, 10, 120, 239)
			for i, rows := range []int{10, 10, 1} {
				require.Equal(t, rows, all[i].Rows)
				require.Positive(t, all[i].Bytes)
				require.False(t, all[i].Published.Before(before))
				require.False(t, all[i].Replaced.Before(all[i].Published))
				before = all[i].Replaced
			}
			delete(held, 120)
			requireHeld(t, db, 10, 239)
			delete(held, 10)
			set()
			all = requireHeld(t, db, 239)
			require.Equal(t, 2, all[0].Rows)
			runtime.KeepAlive(held)
			clear(held)
			requireHeld(t, db)
			db.TrackSnapshots(false)
			require.Nil(t, db.Stats().HeldSnapshots)
		})
	}
}

// Until garbage is collected all versions are there, and yet nobody holds them.
func TestVersionsThatNobodyHoldsAreNotNamed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	users := cow.New[int](cow.Options[int]{})
	users.DB().TrackSnapshots(true)
	for i := range 100 {
		_, err := users.Set(1, i)
		require.NoError(t, err)
		require.Empty(t, users.DB().Stats().HeldSnapshots)
	}
}

// A version that stays for another reason is not a reader's.
func TestHeldSnapshotsAreThoseOfReaders(t *testing.T) {
	var db cow.DB
	users := cow.NewTable[int](&db, "users", cow.Options[int]{})
	jobs := cow.NewTable[int](&db, "jobs", cow.Options[int]{})
	_, err := cow.NewIndex(users, "by value", func(r cow.Row[int, int]) int { return r.Value() }, cow.IndexOptions[int]{})
	require.NoError(t, err)
	_, err = cow.NewDerived(&db, "copies", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[int, int]) error {
		for c := range users.Changes(tx) {
			if v, ok := c.New(); ok {
				e.Set(c.Key, v)
			}
		}
		return nil
	})
	require.NoError(t, err)
	db.TrackSnapshots(true)
	db.Retain(cow.Retention{Versions: 50})
	var snapshot *cow.Snapshot
	var of *cow.Map[int, int]
	for i := range 100 {
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			users.Edit(tx).Set(i%5, i)
			if i%3 == 0 {
				jobs.Edit(tx).Set(i%5, i)
			}
			return nil
		}))
		switch db.Load().Version() {
		case 20, 70:
			require.NoError(t, db.Pin(fmt.Sprint(i), db.Load().Version()))
		case 30:
			snapshot = db.Load()
		case 41:
			of = jobs.Load() // of version 40, until 43
		}
	}
	var stop sync.WaitGroup
	stop.Go(func() {
		for range db.Changes(t.Context(), 90) {
			break
		}
	})
	stop.Wait()
	held := requireHeld(t, &db, 30, 42)
	require.Equal(t, 5+5+5, held[0].Rows)
	require.Equal(t, 5, held[1].Rows, "of one table")
	runtime.KeepAlive(snapshot)
	requireHeld(t, &db, 42)
	runtime.KeepAlive(of)
	requireHeld(t, &db)
}

// Only the oldest are named, while readers and writers go on.
func TestTheOldestHeldSnapshotsAreNamed(t *testing.T) {
	users := cow.New[int](cow.Options[int]{})
	db := users.DB()
	db.TrackSnapshots(true)
	var held []*cow.Snapshot
	for i := range 40 {
		held = append(held, db.Load())
		_, err := users.Set(1, i)
		require.NoError(t, err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					_, _ = users.Set(2, i)
					_ = db.Stats().HeldSnapshots
				}
			}
		})
	}
	var first []uint64
	for i := range 16 {
		first = append(first, uint64(i))
	}
	requireHeld(t, db, first...)
	close(stop)
	all.Wait()
	runtime.KeepAlive(held)
}

// BenchmarkSetTracked is what a commit costs where snapshots are tracked.
func BenchmarkSetTracked(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("tracked=%t", on), func(b *testing.B) {
			t := cow.New[int](cow.Options[int]{})
			for i := range 1000 {
				_, _ = t.Set(i, i)
			}
			t.DB().TrackSnapshots(on)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				_, _ = t.Set(i%1000, i)
				i += 7919
			}
		})
	}
}
