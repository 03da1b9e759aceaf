package cow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// One watch waits for things of several tables, and a channel for select does so without a
// goroutine.
func TestAWatchOfSeveralTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(cow.DB)
		a, b := cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[int](db, "b", cow.Options[string]{})
		c := cow.NewTable[string](db, "c", cow.Options[int]{})
		byValue := mustIndex(cow.NewMultiIndex(a, "value", itself[int], cow.IndexOptions[string]{}))
		for what, commit := range map[string]func(tx *cow.Tx){
			"a key":    func(tx *cow.Tx) { a.Edit(tx).Set("x", 1) },
			"a range":  func(tx *cow.Tx) { a.Edit(tx).Set("y", 55) },
			"a table":  func(tx *cow.Tx) { b.Edit(tx).Set(1, "") },
			"another":  func(tx *cow.Tx) { a.Edit(tx).Set("z", 1); c.Edit(tx).Set("z", 55) },
			"nothing":  func(tx *cow.Tx) {},
			"together": func(tx *cow.Tx) { a.Edit(tx).Set("x", 55); b.Edit(tx).Set(2, "") },
		} {
			since := db.Load()
			all := []cow.Watched{a.OnKeys("x"), byValue.OnRange(byValue.In(nil).From(50).To(60)), b.OnAll()}
			changed, stop := db.Notify(since, all...)
			ctx, end := context.WithCancel(t.Context())
			watched := make(chan *cow.Snapshot, 1)
			go func() { s, _ := db.Watch(ctx, since, all...); watched <- s }()
			anything, stop2 := db.Notify(since)
			synctest.Wait()
			require.False(t, isClosed(changed))
			require.NoError(t, db.Update(func(tx *cow.Tx) error { commit(tx); return nil }))
			synctest.Wait()
			wakes := what != "another" && what != "nothing"
			require.Equal(t, wakes, isClosed(changed), what)
			require.Equal(t, what != "nothing", isClosed(anything), what)
			end()
			require.Equal(t, wakes, (<-watched) != nil, what)
			stop()
			stop()
			stop2()
			changed, _ = db.Notify(since, all...)
			require.Equal(t, wakes, isClosed(changed), "it is closed at once")
		}
		require.Zero(t, db.Stats().Waiting)
	})
}

// Whatever is registered when, no channel misses a commit, and one that was stopped is not
// closed.
func TestNotifyAgainstAModel(t *testing.T) {
	noDeadlock(t)
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	rng := rand.New(rand.NewPCG(1, 5))
	db := new(cow.DB)
	a, b := cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[string](db, "b", cow.Options[int]{})
	x := mustIndex(cow.NewMultiIndex(a, "x", itself[int], cow.IndexOptions[string]{}))
	type entry struct {
		changed <-chan struct{}
		stop    func()
		differs func(newer *cow.Snapshot) bool
		stopped bool
		clears  int // before
	}
	clears := 0
	key := func() string { return fmt.Sprint(rng.IntN(20)) }
	rowDiffers := func(of *cow.Table[string, int], k string, newer, older *cow.Snapshot) bool {
		is, _ := of.In(newer).Row(k)
		was, _ := of.In(older).Row(k)
		return is != was
	}
	under := func(s *cow.Snapshot, i int) (all []cow.Row[string, int]) {
		for _, row := range x.In(a.In(s)).Equal(i).All() {
			all = append(all, row)
		}
		return all
	}
	var open []*entry
	for range rounds {
		switch rng.IntN(3) {
		case 0:
			since, k, l, i := db.Load(), key(), key(), rng.IntN(5)
			e := &entry{clears: clears, differs: func(newer *cow.Snapshot) bool {
				return rowDiffers(a, k, newer, since) || rowDiffers(b, l, newer, since) || !equalRows(under(newer, i), under(since, i))
			}}
			e.changed, e.stop = db.Notify(since, a.OnKeys(k), b.OnKeys(l), x.OnKeys(i))
			open = append(open, e)
		case 1:
			if len(open) > 0 {
				e := open[rng.IntN(len(open))]
				e.stop()
				e.stopped = true
			}
		default:
			require.NoError(t, db.Update(func(tx *cow.Tx) error {
				for range rng.IntN(3) {
					of := []*cow.Table[string, int]{a, b}[rng.IntN(2)].Edit(tx)
					switch rng.IntN(30) {
					case 0:
						of.Clear()
						clears++
					case 1, 2, 3, 4:
						of.Delete(key())
					default:
						of.Set(key(), rng.IntN(5))
					}
				}
				return nil
			}))
		}
		now := db.Load()
		left := open[:0]
		for _, e := range open {
			is := isClosed(e.changed)
			if !e.stopped && (e.clears == clears || !is) { // a Clear asks all who watch an index
				require.Equal(t, e.differs(now), is, "nothing else goes on, so that it is exact")
			}
			if is || e.stopped {
				e.stop()
				continue
			}
			left = append(left, e)
		}
		open = left
	}
}

func equalRows(a, b []cow.Row[string, int]) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// A channel that commits race with is closed.
func TestNotifyWhileOthersCommit(t *testing.T) {
	noDeadlock(t)
	s := cow.New[string](cow.Options[int]{})
	db := s.DB()
	for i := range 300 {
		since := db.Load()
		var changed <-chan struct{}
		var stop func()
		together(2, func(n int) {
			if n == 0 {
				changed, stop = db.Notify(since, s.OnKeys("a"))
			} else {
				_, _ = s.Set("a", i)
			}
		})
		<-changed
		stop()
	}
	require.Panics(t, func() { db.Notify(cow.New[string](cow.Options[int]{}).DB().Load()) })
}
