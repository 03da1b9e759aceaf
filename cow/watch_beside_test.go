package cow_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// Commits come from elsewhere too, beside an update that makes a version of the same number:
// a watch is woken by that which is published.

// stopIn adds an index whose function stops, once, when stop says so.
func stopIn(t *testing.T, table *cow.Table[string, int]) (stop *atomic.Bool, stopped, goOn chan struct{}) {
	stop, stopped, goOn = new(atomic.Bool), make(chan struct{}), make(chan struct{})
	_, err := cow.NewIndex(table, "slow", func(r cow.Row[string, int]) int {
		if stop.CompareAndSwap(true, false) {
			close(stopped)
			<-goOn
		}
		return r.Value()
	}, cow.IndexOptions[string]{})
	require.NoError(t, err)
	return stop, stopped, goOn
}

func requireWoken(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		require.FailNow(t, "the watch is not woken")
	}
}

func TestAWatchBesideARestore(t *testing.T) {
	var source, db cow.DB
	a := cow.NewTable[string](&db, "a", cow.Options[int]{})
	b := cow.NewTable[string](&db, "b", cow.Options[int]{})
	stop, stopped, goOn := stopIn(t, b)
	changed, end := db.Notify(nil, a.OnKeys("y"))
	defer end()
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		_, err := db.Watch(context.Background(), nil, a.OnKeys("y"))
		assert.NoError(t, err)
	}()
	for db.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	updated := make(chan error)
	go func() {
		updated <- db.Update(func(tx *cow.Tx) error { a.Edit(tx).Set("y", 1); b.Edit(tx).Set("y", 1); return nil })
	}()
	<-stopped
	restored := make(chan error)
	go func() {
		restored <- db.Restore(source.Cursor(1), time.Now(), func(tx *cow.Tx) error { return a.Restore(tx, "x", 1, 1) })
	}()
	time.Sleep(5 * time.Millisecond) // likely enough for it to have looked for watches
	close(goOn)
	require.NoError(t, <-updated)
	<-restored // nil or ErrNotEmpty
	require.True(t, a.Has("y"))
	requireWoken(t, changed)
	requireWoken(t, woken)
}

func TestAWatchBesideARebase(t *testing.T) {
	tables := func(db *cow.DB) (a, b *cow.Table[string, int]) {
		o := cow.Options[int]{Codec: cow.Versioned[int]{}}
		return cow.NewTable[string](db, "a", o), cow.NewTable[string](db, "b", o)
	}
	var leader, follower cow.DB
	la, lb := tables(&leader)
	a, b := tables(&follower)
	stop, stopped, goOn := stopIn(t, b)
	from := cowtest.Attach(t, &leader, cowtest.SinkOptions{})
	to := cowtest.Attach(t, &follower, cowtest.SinkOptions{Of: from})
	led := make(chan error)
	go func() {
		led <- leader.Update(func(tx *cow.Tx) error { la.Edit(tx).Set("x", 1); lb.Edit(tx).Set("x", 1); return nil })
	}()
	_, err := from.Await(t.Context(), 1)
	require.NoError(t, err)
	theirs := from.Ack(1)
	require.NoError(t, <-led)

	changed, end := follower.Notify(follower.Load(), a.OnKeys("x"))
	defer end()
	tx := follower.Begin()
	a.Edit(tx).Set("y", 1)
	stop.Store(true)
	rebased := make(chan error)
	go func() { rebased <- to.Rebase(theirs...) }()
	<-stopped
	require.ErrorIs(t, tx.Commit(), cow.ErrSuperseded)
	close(goOn)
	require.NoError(t, <-rebased)
	require.True(t, a.Has("x"))
	requireWoken(t, changed)
}

func TestAWatchOfEverything(t *testing.T) {
	var db cow.DB
	early, end := db.Notify(nil)
	defer end()
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		_, err := db.Watch(context.Background(), nil)
		assert.NoError(t, err)
	}()
	for db.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	late := cow.NewTable[string](&db, "late", cow.Options[int]{}) // which is watched too
	seen := db.Load()
	next, endNext := db.Notify(seen)
	defer endNext()
	_, err := cow.NewIndex(late, "x", cow.Row[string, int].Value, cow.IndexOptions[string]{})
	require.NoError(t, err)
	select {
	case <-early:
		require.FailNow(t, "nothing differs yet")
	case <-next:
		require.FailNow(t, "an index is no row")
	default:
	}
	_, err = late.Set("a", 1)
	require.NoError(t, err)
	requireWoken(t, early)
	requireWoken(t, next)
	requireWoken(t, woken)
}

// What publishes no version closes nothing, and neither does what was left by an update that
// failed, nor a row that came and went in one update.
func TestNotifyIsNotClosedWithoutACommit(t *testing.T) {
	var db cow.DB
	a := cow.NewTable[string](&db, "a", cow.Options[int]{})
	b := cow.NewTable[string](&db, "b", cow.Options[int]{})
	_, err := cow.NewIndex(b, "unique", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	b.Set("x", 1)
	a.Set("x", 1)
	changed, end := db.Notify(db.Load(), a.OnKeys("watched"))
	defer end()
	all, endAll := db.Notify(db.Load(), a.OnAll())
	defer endAll()
	b.Set("y", 2) // after which nobody is late
	require.ErrorIs(t, db.Update(func(tx *cow.Tx) error {
		a.Edit(tx).Set("watched", 1)
		b.Edit(tx).Set("z", 1)
		return nil
	}), cow.ErrExists)
	_, err = cow.NewIndex(a, "x", cow.Row[string, int].Value, cow.IndexOptions[string]{})
	require.NoError(t, err)
	select {
	case <-all:
		require.FailNow(t, "nothing was published")
	default:
	}
	b.Set("w", 3)
	require.NoError(t, a.Update(func(e *cow.Editor[string, int]) error {
		e.Set("watched", 1)
		e.Delete("watched")
		e.Set("other", 1)
		return nil
	}))
	requireWoken(t, all)
	select {
	case <-changed:
		require.FailNow(t, "it does not concern the key")
	default:
	}
	a.Set("watched", 1)
	requireWoken(t, changed)
}

// A Clear closes what is of rows that were there, or come in the same update, and nothing else.
func TestNotifyBesideAClear(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	x, err := cow.NewIndex(s.Table, "value", cow.Row[string, int].Value, cow.IndexOptions[string]{})
	require.NoError(t, err)
	for _, begin := range []func(){func() { s.Set("a", 1) }, func() { s.Clear() }} {
		begin()
		seen := s.DB().Load()
		was := s.Has("a")
		of := map[int]<-chan struct{}{}
		for i := range 5 {
			c, end := s.DB().Notify(seen, x.OnKeys(i))
			defer end()
			of[i] = c
		}
		part, end := s.DB().Notify(seen, x.OnRange(x.In(nil).From(2).To(2000)))
		defer end()
		s.Set("after which nobody is late", -1)
		require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
			e.Clear()
			e.Set("b", 3)
			return nil
		}))
		for i, c := range of {
			select {
			case <-c:
				require.True(t, i == 1 && was || i == 3, "nothing came to %d or left it", i)
			default:
				require.False(t, i == 1 && was || i == 3, "of %d", i)
			}
		}
		requireWoken(t, part)
	}
}

func TestWatchOfNilPanics(t *testing.T) {
	var db cow.DB
	require.PanicsWithValue(t, "cow: Watch for nil: make it with OnKeys, OnRange or OnAll", func() { db.Notify(nil, nil) })
}
