package cow_test

import (
	"context"
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
