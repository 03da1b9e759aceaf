package cow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/snapshot"
)

func TestATransactionIsCommittedOrAborted(t *testing.T) {
	noDeadlock(t)
	db := new(cow.DB)
	cowtest.NoTx(t, db)
	a, b := cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[int](db, "b", cow.Options[string]{})
	db.Retain(cow.Retention{Versions: 10})
	tx := db.Begin()
	require.EqualValues(t, 1, tx.Version())
	a.Edit(tx).Set("x", 1)
	b.Edit(tx).Set(1, "x")
	require.Zero(t, db.Load().Version())
	n, ok := a.During(tx).Get("x")
	require.True(t, ok)
	require.Equal(t, 1, n)
	require.NoError(t, tx.Commit())
	require.EqualValues(t, 1, db.Load().Version())

	tx = db.Begin()
	a.Edit(tx).Set("x", 2)
	tx.Abort()
	tx.Abort()
	n, _ = a.Get("x")
	require.Equal(t, 1, n)
	require.EqualValues(t, 1, db.Load().Version())
	require.ErrorIs(t, tx.Commit(), cow.ErrTxEnded)

	require.Equal(t, "cow: Defer of nil: give it a function", panicOf(func() {
		tx := db.Begin()
		defer tx.Abort()
		tx.Defer(nil)
	}))
	require.Equal(t, "cow: Commit of the zero Tx: make one with Begin", panicOf(func() { _ = new(cow.Tx).Commit() }))

	tx = db.Begin()
	require.NoError(t, tx.Commit(), "nothing was changed")
	require.EqualValues(t, 1, db.Load().Version())
	require.ErrorIs(t, tx.Commit(), cow.ErrTxEnded)
	tx.Abort()
	const late = "cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort"
	for _, verb := range []func(){
		func() { a.Edit(tx) }, func() { a.During(tx) }, func() { a.Changes(tx) }, func() { tx.Defer(func() {}) },
	} {
		require.Equal(t, late, panicOf(verb))
	}
	var commits []string
	for c := range db.Commits(0) {
		commits = append(commits, c.String())
	}
	require.Equal(t, []string{"commit 1 (2 changes)"}, commits)
	_ = db.Update(func(tx *cow.Tx) error {
		require.Contains(t, panicOf(func() { _ = tx.Commit() }), "Commit of the Tx of an Update, which ends by itself: return nil from its function")
		require.Contains(t, panicOf(tx.Abort), "return an error from its function")
		return nil
	})
}

// What a program keeps of what it assigned is severed when the transaction is committed, as
// it is at the end of an update.
func TestWhatATransactionAssignedIsSevered(t *testing.T) {
	s := cow.New[string](cow.Options[[]int]{})
	_, err := s.Set("a", []int{1})
	require.NoError(t, err)
	tx := s.DB().Begin()
	var kept *[]int
	mine := []int{2}
	require.NoError(t, s.Edit(tx).Modify("a", func(v *[]int) error { *v = mine; kept = v; return nil }))
	mine[0] = 3
	require.NoError(t, tx.Commit())
	mine[0], (*kept)[0] = 4, 5
	got, _ := s.Get("a")
	require.Equal(t, []int{2}, got)
}

// A place of a transaction is its own, for each key, and goes with it.
func TestWhatIsLocal(t *testing.T) {
	s := cow.New[string](cow.Options[int]{})
	type key struct{ name string }
	tx := s.DB().Begin()
	a, b := tx.Local(key{"a"}), tx.Local(key{"b"})
	require.Nil(t, *a)
	*a = 1
	require.Nil(t, *b)
	require.Same(t, a, tx.Local(key{"a"}))
	require.Nil(t, *tx.Local("a"), "of another type")
	require.Panics(t, func() { tx.Local(nil) })
	require.NoError(t, tx.Commit())
	require.Panics(t, func() { tx.Local(key{"a"}) })
	for range 2 {
		require.NoError(t, s.DB().Update(func(tx *cow.Tx) error {
			require.Nil(t, *tx.Local(key{"a"}))
			*tx.Local(key{"a"}) = 2
			return nil
		}))
	}
}

func TestWhatIsDeferred(t *testing.T) {
	noDeadlock(t)
	s := cow.New[string](cow.Options[int]{})
	db := s.DB()
	var called []string
	say := func(what string) func() {
		return func() { called = append(called, fmt.Sprint(what, " at ", db.Load().Version())) }
	}
	begin := func() *cow.Tx {
		called = nil
		tx := db.Begin()
		tx.Defer(say("first"))
		tx.Defer(say("second"))
		return tx
	}
	tx := begin()
	s.Edit(tx).Set("a", 1)
	require.Empty(t, called)
	require.NoError(t, tx.Commit())
	require.Equal(t, []string{"second at 1", "first at 1"}, called)
	tx = begin()
	s.Edit(tx).Set("a", 1)
	tx.Abort()
	require.Empty(t, called)
	require.NoError(t, begin().Commit())
	require.Len(t, called, 2, "it has succeeded, with nothing to publish")

	called = nil
	update := func(err error) error {
		return db.Update(func(tx *cow.Tx) error {
			s.Edit(tx).Set("a", 2)
			tx.Defer(say("update"))
			tx.Defer(func() { _, _ = s.Set("b", 1) }) // the writer's place is free
			return err
		})
	}
	require.NoError(t, update(nil))
	require.Equal(t, []string{"update at 3"}, called)
	called = nil
	require.ErrorIs(t, update(errTest), errTest)
	require.Empty(t, called)

	tx = db.Begin()
	tx.Defer(say("after a panic"))
	tx.Defer(func() { panic(errTest) })
	require.Equal(t, errTest, panicOf(func() { _ = tx.Commit() }))
	require.Equal(t, []string{"after a panic at 3"}, called)
	_, err := s.Set("a", 3)
	require.NoError(t, err)
}

func TestChangesOfATransaction(t *testing.T) {
	s := cow.New[string](cow.Options[int]{})
	other := cow.NewTable[string](s.DB(), "other", cow.Options[int]{})
	for _, k := range []string{"a", "b", "c"} {
		_, err := s.Set(k, 1)
		require.NoError(t, err)
	}
	tx := s.DB().Begin()
	defer tx.Abort()
	changes := func(of *cow.Table[string, int]) map[string]snapshot.Kind {
		all := make(map[string]snapshot.Kind)
		for c := range of.Changes(tx) {
			all[c.Key] = c.Kind
		}
		return all
	}
	require.Empty(t, changes(s))
	e := s.Edit(tx)
	e.Set("a", 2)
	e.Set("d", 1)
	e.Set("e", 1)
	e.Delete("e")
	e.Delete("b")
	want := map[string]snapshot.Kind{"a": cow.Changed, "d": cow.Added, "b": cow.Removed}
	require.Equal(t, want, changes(s))
	require.Empty(t, changes(other))
	e.Clear()
	require.Equal(t, map[string]snapshot.Kind{"a": cow.Removed, "b": cow.Removed, "c": cow.Removed}, changes(s))
	for c := range s.Changes(tx) {
		e.Set(c.Key, 5) // it is of what there was
	}
	require.Len(t, changes(s), 3)
	require.NoError(t, tx.Commit())
}

// A transaction that cannot be committed has ended all the same.
func TestACommitThatFails(t *testing.T) {
	noDeadlock(t)
	db := new(cow.DB)
	cowtest.NoTx(t, db)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	panics := false
	mustIndex(cow.NewMultiIndex(table, "u", func(r cow.Row[string, int], add func(int)) {
		if panics {
			panic(errTest)
		}
		add(r.Value())
	}, cow.IndexOptions[string]{Unique: true}))
	begin := func() *cow.Tx {
		tx := db.Begin()
		table.Edit(tx).Set("a", 1)
		table.Edit(tx).Set("b", 1)
		return tx
	}
	tx := begin()
	require.ErrorAs(t, tx.Commit(), new(*cow.IndexError))
	require.ErrorIs(t, tx.Commit(), cow.ErrTxEnded)
	panics = true
	tx = begin()
	require.Equal(t, errTest, panicOf(func() { _ = tx.Commit() }))
	tx.Abort()
	panics = false
	require.Zero(t, db.Load().Version())
	_, err := table.Set("a", 1)
	require.NoError(t, err)

	ctx, end := context.WithCancelCause(t.Context())
	tx, err = db.BeginContext(ctx)
	require.NoError(t, err)
	table.Edit(tx).Set("c", 3)
	end(errTest)
	require.ErrorIs(t, tx.Commit(), errTest)
	require.False(t, table.Has("c"))
	_, err = db.BeginContext(ctx)
	require.ErrorIs(t, err, errTest)
}

// In the goroutine of a transaction, what would wait for it panics; elsewhere it waits, until
// its context ends.
func TestAnOpenTransactionIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[int]{})
		x := mustIndex(cow.NewMultiIndex(s.Table, "x", itself[int], cow.IndexOptions[string]{}))
		db := s.DB()
		start := time.Now()
		tx := db.Begin()
		time.Sleep(time.Minute)
		st := db.Stats()
		require.True(t, start.Equal(st.Begun))
		require.Contains(t, strings.SplitN(st.BegunBy, "\n", 2)[0], "TestAnOpenTransactionIsKnown")
		const hint = " in the goroutine that has a transaction of the same DB open would wait for itself: use that Tx, or end it first, by Commit or Abort"
		for what, f := range map[string]func(){
			"an update":         func() { _, _ = s.Set("a", 1) },
			"a transaction":     func() { db.Begin() },
			"a Watch":           func() { _, _ = s.Watch(t.Context(), s.Load()) },
			"a Wait":            func() { _, _ = db.Wait(t.Context(), 0) },
			"dropping an index": func() { x.Drop(s.Table) },
		} {
			require.Equal(t, "cow: "+what+hint, panicOf(f))
		}
		require.Contains(t, panicOf(func() { cow.NewOrder(s.Table, "y") }), `index "y" made inside a transaction of the same DB: make it before that begins`)
		require.Contains(t, panicOf(func() { cow.NewTable[string](db, "y", cow.Options[int]{}) }), `table "y" made inside a transaction`)
		require.Contains(t, panicOf(func() {
			_, _ = cow.NewDerived(db, "y", cow.Options[int]{}, func(*cow.Tx, *cow.Editor[string, int]) error { return nil })
		}), `table "y" made inside a transaction`)

		got := make(chan error, 10)
		ctx, end := context.WithCancelCause(t.Context())
		go func() { got <- db.UpdateContext(ctx, func(tx *cow.Tx) error { return errors.New("it ran") }) }()
		go func() { _, err := db.BeginContext(ctx); got <- err }()
		synctest.Wait()
		require.Empty(t, got)
		end(errTest)
		require.ErrorIs(t, <-got, errTest)
		require.ErrorIs(t, <-got, errTest)

		// What does not change the tables does not wait: it counts from here on.
		go func() { s.Retain(cow.Retention{Versions: 10}); got <- nil }()
		require.NoError(t, <-got)

		for i := range 5 {
			go func() {
				if i%2 == 0 {
					_, _ = s.Set("a", i)
				} else {
					tx := db.Begin()
					s.Edit(tx).Set("a", i)
					_ = tx.Commit()
				}
			}()
			synctest.Wait()
		}
		s.Edit(tx).Set("first", 1)
		require.NoError(t, tx.Commit())
		synctest.Wait()
		i := 0
		for c, err := range db.Commits(1) {
			require.NoError(t, err)
			for change := range s.Rows(c) {
				n, _ := change.New()
				require.Equal(t, i, n, "they come in their order")
				i++
			}
		}
		require.Equal(t, 5, i)
		at, err := s.At(1)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"first": 1}, maps.Collect(at.All()))
		require.True(t, db.Stats().Begun.IsZero())
	})
}

// Whoever waits for a transaction is not passed by those who begin one after the other.
func TestTransactionsLeaveRoomForOthers(t *testing.T) {
	noDeadlock(t)
	s := cow.New[string](cow.Options[int]{})
	db := s.DB()
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			tx := db.Begin()
			s.Edit(tx).Set("a", 1)
			runtime.Gosched()
			_ = tx.Commit()
		}
	}()
	for range 200 {
		_, err := s.Set("b", 1)
		require.NoError(t, err)
	}
	done.Store(true)
	<-ended
}

// A transaction that was dropped is found, and holds nobody up.
func TestADroppedTransaction(t *testing.T) {
	noDeadlock(t)
	s := cow.New[string](cow.Options[int]{})
	db := s.DB()
	done := make(chan struct{})
	go func() {
		defer close(done)
		tx := db.Begin()
		s.Edit(tx).Set("a", 1)
	}()
	<-done
	until(t, func() bool { runtime.GC(); return db.Stats().Dropped == 1 }, "it is found")
	require.Contains(t, db.Stats().DroppedBy, "TestADroppedTransaction")
	began := weak.Make(s.Load())
	_, err := s.Set("b", 1)
	require.NoError(t, err)
	require.False(t, s.Has("a"))

	for range 100 { // nothing of one that ended is left to be found
		db.Begin().Abort()
		require.NoError(t, db.Begin().Commit())
	}
	for range 3 {
		runtime.GC()
	}
	require.Equal(t, 1, db.Stats().Dropped)
	requireGone(t, began, "the version that it began with")
}

// A transaction that another goroutine ends is waited for like any other, also by the goroutine
// that began it.
func TestWhileAnotherGoroutineEndsATransaction(t *testing.T) {
	noDeadlock(t)
	var db cow.DB
	a := cow.NewTable[string](&db, "a", cow.Options[int]{})
	inside, last := make(chan struct{}), make(chan struct{})
	_, err := cow.NewDerived(&db, "slow", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[string, int]) error {
		if n, _ := a.During(tx).Get("a"); n == 1 {
			close(inside)
			<-last
			time.Sleep(10 * time.Millisecond) // until the other has asked for its place
		}
		return nil
	})
	require.NoError(t, err)
	tx := db.Begin()
	a.Edit(tx).Set("a", 1)
	ended := outcome(tx.Commit)
	<-inside
	close(last)
	next := db.Begin()
	require.NoError(t, <-ended)
	a.Edit(next).Set("a", 2)
	require.NoError(t, next.Commit())
	require.Equal(t, uint64(2), db.Load().Version())
}

// A transaction that never began has ended like others.
func TestATransactionThatNeverBegan(t *testing.T) {
	var db cow.DB
	cow.NewTable[string](&db, "a", cow.Options[int]{Codec: cow.Versioned[int]{}})
	cowtest.Attach(t, &db, cowtest.SinkOptions{})
	require.NoError(t, db.Close())
	tx := db.Begin()
	require.ErrorIs(t, tx.Commit(), cow.ErrClosed)
	require.ErrorIs(t, tx.Commit(), cow.ErrTxEnded)
	tx = db.Begin()
	tx.Abort()
	require.ErrorIs(t, tx.Commit(), cow.ErrTxEnded)
}

// A context that ends in an update which changes nothing is its error, with a sink and without.
func TestAContextThatEndsBesideNoChange(t *testing.T) {
	for _, with := range []bool{false, true} {
		var db cow.DB
		cow.NewTable[string](&db, "a", cow.Options[int]{Codec: cow.Versioned[int]{}})
		if with {
			cowtest.Attach(t, &db, cowtest.SinkOptions{})
		}
		ctx, end := context.WithCancel(t.Context())
		require.ErrorIs(t, db.UpdateContext(ctx, func(tx *cow.Tx) error {
			tx.Defer(func() { require.Fail(t, "it has failed") })
			end()
			return nil
		}), context.Canceled)
	}
}

func TestWhatARestoreDefers(t *testing.T) {
	var source, db cow.DB
	a := cow.NewTable[string](&db, "a", cow.Options[int]{})
	restore := func() (called bool, err error) {
		err = db.Restore(source.Cursor(5), time.Now(), func(tx *cow.Tx) error {
			tx.Defer(func() { called = a.Has("x") })
			return a.Restore(tx, "x", 1, 1)
		})
		return called, err
	}
	called, err := restore()
	require.NoError(t, err)
	require.True(t, called)
	called, err = restore()
	require.ErrorIs(t, err, cow.ErrNotEmpty)
	require.False(t, called)
}

// Where a sink decides, commits of others may come first: then nothing happened, and the
// program begins again.
func TestATransactionThatIsSuperseded(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	cowtest.NoTx(t, &c.db)
	commit := func(tx *cow.Tx) <-chan error { return outcome(tx.Commit) }
	await := func() {
		_, err := c.sink.Await(t.Context(), 1)
		require.NoError(t, err)
	}
	deferred := 0
	tx := c.db.Begin()
	tx.Defer(func() { deferred++ })
	c.t.Edit(tx).Set("a", 1)
	err := commit(tx)
	await()
	require.Zero(t, c.db.Load().Version())
	require.Zero(t, deferred)
	next := c.db.Begin() // begins with what is proposed
	n, _ := c.t.During(next).Get("a")
	require.Equal(t, 1, n)
	next.Abort()
	c.sink.Ack(1)
	require.NoError(t, <-err)
	require.Equal(t, 1, deferred)
	require.Equal(t, 1, c.get("a"))

	foreign := c.elsewhere(t, setting("b", 2))
	open := c.db.Begin() // while others' commits come
	c.t.Edit(open).Set("c", 3)
	require.NoError(t, c.sink.Rebase(foreign...))
	require.ErrorIs(t, open.Commit(), cow.ErrSuperseded)
	require.Equal(t, 2, c.get("b"))

	foreign = c.elsewhere(t, setting("b", 4))
	proposed := c.db.Begin() // and once it is proposed
	proposed.Defer(func() { deferred++ })
	c.t.Edit(proposed).Set("c", 3)
	err = commit(proposed)
	await()
	require.NoError(t, c.sink.Rebase(foreign...))
	require.ErrorIs(t, <-err, cow.ErrSuperseded)
	require.Equal(t, 1, deferred)
	require.Equal(t, 4, c.get("b"))
	require.Zero(t, c.get("c"))

	require.NoError(t, c.db.Close())
	closed := c.db.Begin()
	c.t.Edit(closed).Set("d", 5)
	require.ErrorIs(t, closed.Commit(), cow.ErrClosed)
	closed.Abort()
	_, e := c.db.BeginContext(t.Context())
	require.ErrorIs(t, e, cow.ErrClosed)
}

// A sink is attached when no transaction is open.
func TestASinkWaitsForATransaction(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	tx := c.db.Begin()
	c.t.Edit(tx).Set("a", 1)
	attached := make(chan struct{})
	go func() { c.attach(t, cowtest.SinkOptions{}); close(attached) }()
	requireOpen(t, attached, "the sink did not wait")
	tx.Abort()
	requireClosed(t, attached, "the sink is still waiting")
	require.Zero(t, c.get("a"))
}

// Any number of goroutines commit and abort the same transaction: one of them does.
func TestOneEndsATransaction(t *testing.T) {
	noDeadlock(t)
	s := cow.New[string](cow.Options[int]{})
	for i := range 200 {
		tx := s.DB().Begin()
		s.Edit(tx).Set("a", i)
		var committed atomic.Int32
		together(4, func(n int) {
			if n%2 == 0 {
				tx.Abort()
				return
			}
			if err := tx.Commit(); err == nil {
				committed.Add(1)
			} else {
				require.ErrorIs(t, err, cow.ErrTxEnded)
			}
		})
		n, ok := s.Get("a")
		require.Equal(t, committed.Load() == 1, ok && n == i)
	}
}

// An Editor that a derived table has found in the Tx of a put stays of that put.
func TestTheEditorOfAPutIsNobodyElses(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	var seen []*cow.Editor[string, int]
	_, err := cow.NewDerived(db, "b", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[string, int]) error {
		seen = append(seen, a.Edit(tx))
		return nil
	})
	require.NoError(t, err)
	for i := range 10 {
		_, err = a.Set("a", i)
		require.NoError(t, err)
	}
	for i, e := range seen {
		require.Panics(t, func() { e.Set("b", 1) })
		require.NotContains(t, seen[:i], e)
	}
	require.Equal(t, 1, a.Len())
}
