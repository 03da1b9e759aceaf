package cow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A witness is a hook that takes down everything it is told.
type witness struct {
	mu      sync.Mutex
	starts  []hook.Update
	updates []hook.Update
	parents []any // what the contexts had
	commits []hook.Update
	feeds   []hook.Feed
	sweeps  []hook.Removal
	erases  []hook.Removal
	sinks   []hook.Sink

	does func(u hook.Update) // at the end of an update, once it is taken down
}

type parent struct{}
type span struct{}

func take[E any](w *witness, all *[]E, e E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*all = append(*all, e)
}

func (w *witness) OnUpdateStart(ctx context.Context, u hook.Update) context.Context {
	take(w, &w.starts, u)
	return context.WithValue(ctx, span{}, w)
}

func (w *witness) OnUpdateEnd(ctx context.Context, u hook.Update) {
	take(w, &w.updates, u)
	if ctx.Value(span{}) == nil {
		panic("the context is not that of a start")
	}
	take(w, &w.parents, ctx.Value(parent{}))
	if w.does != nil {
		w.does(u)
	}
}

func (w *witness) OnApplied(u hook.Update)                    { take(w, &w.commits, u) }
func (w *witness) OnCompacted(_ context.Context, f hook.Feed) { take(w, &w.feeds, f) }
func (w *witness) OnSwept(_ context.Context, r hook.Removal)  { take(w, &w.sweeps, r) }
func (w *witness) OnErased(_ context.Context, r hook.Removal) { take(w, &w.erases, r) }
func (w *witness) OnSinkChanged(s hook.Sink)                  { take(w, &w.sinks, s) }
func (w *witness) last(t *testing.T) hook.Update {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotEmpty(t, w.updates)
	require.Len(t, w.starts, len(w.updates), "each has begun")
	return w.updates[len(w.updates)-1]
}

// await waits until f is true of what was taken down.
func (w *witness) await(t *testing.T, f func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return f()
	}, time.Minute, time.Millisecond)
}

func TestHooksAreToldOfUpdates(t *testing.T) {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	jobs := cow.NewTable[int](&db, "jobs", cow.Options[int]{})
	w := new(witness)
	remove := db.AddHook(w)

	_, err := users.Set("a", "Ada")
	require.NoError(t, err)
	u := w.last(t)
	require.Equal(t, uint64(1), u.Version)
	require.Equal(t, 1, u.Attempts)
	require.NoError(t, u.Err)
	require.Positive(t, u.Run)
	require.Zero(t, u.Sink)
	tables := u.Tables()
	require.Len(t, tables, 1)
	require.Equal(t, "users", tables[0].Name)
	require.Equal(t, 1, tables[0].Rows)
	require.Positive(t, tables[0].Bytes)

	ctx := context.WithValue(t.Context(), parent{}, "request")
	require.NoError(t, db.UpdateContext(ctx, func(tx *cow.Tx) error {
		users.Edit(tx).Delete("a")
		for i := range 10 {
			jobs.Edit(tx).Set(i, i)
		}
		return nil
	}))
	require.Equal(t, "request", w.parents[len(w.parents)-1], "a span has its parent")
	tables = w.last(t).Tables()
	require.Len(t, tables, 2)
	require.Equal(t, hook.Table{Name: "users", Rows: 1}, tables[0], "a row that was removed takes nothing")
	require.Equal(t, "jobs", tables[1].Name)
	require.Equal(t, 10, tables[1].Rows)
	first := w.updates[0]
	require.Equal(t, 1, first.Tables()[0].Rows, "of that version, however old")

	// Nothing changed, an error, a panic, runtime.Goexit, a context that has ended.
	require.NoError(t, db.Update(func(*cow.Tx) error { return nil }))
	require.Equal(t, hook.Update{Attempts: 1}, still(w.last(t)))
	failed := errors.New("failed")
	require.ErrorIs(t, db.Update(func(tx *cow.Tx) error { users.Edit(tx).Set("b", "Bob"); return failed }), failed)
	require.Equal(t, hook.Update{Attempts: 1, Err: failed}, still(w.last(t)))
	require.Panics(t, func() { _ = db.Update(func(*cow.Tx) error { panic("x") }) })
	require.Equal(t, hook.Update{Attempts: 1, Err: hook.ErrPanicked}, still(w.last(t)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = db.Update(func(*cow.Tx) error { runtime.Goexit(); return nil })
	}()
	<-ended
	require.Equal(t, hook.Update{Attempts: 1, Err: hook.ErrPanicked}, still(w.last(t)))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, db.UpdateContext(gone, func(*cow.Tx) error { return nil }), context.Canceled)
	require.Equal(t, hook.Update{Err: context.Canceled}, still(w.last(t)))

	// What is deferred runs before the end; if it panics, the version is there all the same.
	require.Panics(t, func() {
		_ = db.Update(func(tx *cow.Tx) error {
			users.Edit(tx).Set("c", "Cleo")
			tx.Defer(func() { panic("x") })
			return nil
		})
	})
	require.Equal(t, hook.Update{Version: 3, Attempts: 1, Err: hook.ErrPanicked}, still(w.last(t)))

	n := len(w.updates)
	remove()
	remove()
	_, _ = users.Set("d", "Dan")
	require.Len(t, w.updates, n)
}

// still returns an Update without what differs from run to run.
func still(u hook.Update) hook.Update {
	u.Wait, u.Run, u.Sink, u.Tables = 0, 0, 0, nil
	return u
}

func TestHooksAreToldOfTransactions(t *testing.T) {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	w := new(witness)
	db.AddHook(w)

	tx := db.Begin()
	require.Equal(t, []hook.Update{{Transaction: true}}, w.starts)
	require.Empty(t, w.updates)
	users.Edit(tx).Set("a", "Ada")
	require.NoError(t, tx.Commit())
	u := w.last(t)
	require.Equal(t, hook.Update{Transaction: true, Version: 1, Attempts: 1}, still(u))
	require.Equal(t, 1, u.Tables()[0].Rows)
	require.Error(t, tx.Commit())
	require.Len(t, w.updates, 1, "it has ended once")

	db.Begin().Abort()
	require.Equal(t, hook.Update{Transaction: true, Attempts: 1, Err: hook.ErrAborted}, still(w.last(t)))

	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), parent{}, "request"))
	cancel()
	_, err := db.BeginContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, hook.Update{Transaction: true, Err: context.Canceled}, still(w.last(t)))
	require.Equal(t, "request", w.parents[len(w.parents)-1])

	db.Begin() // and nobody ends it
	require.Eventually(t, func() bool { runtime.GC(); return db.Stats().Dropped == 1 }, time.Minute, time.Millisecond)
	w.await(t, func() bool { return len(w.updates) == 4 })
	require.ErrorIs(t, w.last(t).Err, hook.ErrAborted)
}

// How long an update waits, runs and is with the sink is told apart.
func TestWhatAnUpdateWaitsFor(t *testing.T) {
	c := newCounts().attach(t, cowtest.SinkOptions{})
	w := new(witness)
	c.db.AddHook(w)
	const long = 20 * time.Millisecond
	running := make(chan struct{})
	first := outcome(func() error {
		return c.db.Update(func(tx *cow.Tx) error {
			close(running)
			time.Sleep(long)
			c.t.Edit(tx).Set("a", 1)
			return nil
		})
	})
	<-running
	second := outcome(func() error { return c.set("b", 2) })
	_, err := c.sink.Await(t.Context(), 2)
	require.NoError(t, err)
	time.Sleep(long)
	c.sink.Ack(2)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.Len(t, w.updates, 2)
	for _, u := range w.updates {
		require.GreaterOrEqual(t, u.Sink, long)
		if u.Version == 1 {
			require.GreaterOrEqual(t, u.Run, long)
		}
	}
}

// So it is without a sink, and behind a transaction.
func TestHowLongAnUpdateWaits(t *testing.T) {
	const long = 20 * time.Millisecond
	for _, begin := range []bool{false, true} {
		c := newCounts()
		w := new(witness)
		c.db.AddHook(w)
		require.NoError(t, c.set("a", 0))
		running := make(chan struct{})
		var first <-chan error
		if begin {
			tx := c.db.Begin()
			close(running)
			first = outcome(func() error { time.Sleep(long); c.t.Edit(tx).Set("a", 1); return tx.Commit() })
		} else {
			first = outcome(func() error {
				return c.db.Update(func(tx *cow.Tx) error {
					close(running)
					time.Sleep(2 * long)
					c.t.Edit(tx).Set("a", 1)
					return nil
				})
			})
			<-running
		}
		second := outcome(func() error { return c.set("b", 2) })
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		require.Len(t, w.updates, 3)
		require.Zero(t, w.updates[0].Wait, "its place was free")
		for _, u := range w.updates {
			require.Zero(t, u.Sink)
			if u.Version == 2 {
				require.GreaterOrEqual(t, u.Run, long)
			}
		}
	}
}

func TestHooksAreToldOfSinks(t *testing.T) {
	c := newCounts()
	w := new(witness)
	c.db.AddHook(w)
	require.Equal(t, hook.State(""), c.db.Stats().Sink.State)
	c.attach(t, cowtest.SinkOptions{})
	require.Equal(t, hook.Connected, c.db.Stats().Sink.State)
	require.WithinDuration(t, time.Now(), c.db.Stats().Sink.Since, time.Minute)
	w.await(t, func() bool { return len(w.sinks) == 1 })
	require.Empty(t, w.commits, "what it began with is nobody's commit")

	// Others' commits come first: the update runs again, and what they did is told.
	mine := c.begin(t, "a", 1)
	theirs := c.elsewhere(t, func(r *counts, tx *cow.Tx) { r.t.Edit(tx).Set("b", 7); r.u.Edit(tx).Set("b", 7) })
	require.NoError(t, c.sink.Rebase(theirs...))
	_, err := c.sink.Await(t.Context(), 1)
	require.NoError(t, err)
	c.sink.Ack(1)
	require.NoError(t, <-mine)
	require.Equal(t, hook.Update{Version: 2, Attempts: 2}, still(w.last(t)))
	w.await(t, func() bool { return len(w.commits) == 1 })
	require.Equal(t, uint64(1), w.commits[0].Version)
	require.Len(t, w.commits[0].Tables(), 2)

	no := errors.New("no room")
	refused := c.begin(t, "a", 3)
	c.sink.Refuse(1, no)
	require.ErrorIs(t, <-refused, no)
	require.ErrorIs(t, w.last(t).Err, no)
	require.Equal(t, hook.Refused, c.db.Stats().Sink.State)
	require.ErrorIs(t, c.db.Stats().Sink.Err, no)
	taken := c.begin(t, "a", 3)
	c.sink.Ack(1)
	require.NoError(t, <-taken)
	require.Equal(t, hook.Connected, c.db.Stats().Sink.State)
	require.NoError(t, c.db.Stats().Sink.Err)

	broken := errors.New("broken")
	c.sink.Fail(broken)
	require.ErrorIs(t, c.set("a", 4), broken)
	require.ErrorIs(t, w.last(t).Err, broken)
	line := sink.For(&c.db)
	line.State(hook.Retrying, no) // too late
	require.NoError(t, c.db.Close())
	line.State(hook.Retrying, no)
	w.await(t, func() bool { return len(w.sinks) == 5 })
	var states []string
	for _, s := range w.sinks {
		states = append(states, string(s.State))
	}
	require.Equal(t, []string{"connected", "refused", "connected", "failed", "closed"}, states)
}

func TestHooksAreToldOfWhatGoes(t *testing.T) {
	var db cow.DB
	rows := cow.NewTable[string](&db, "rows", cow.Options[int]{Expires: func(v int) time.Time { return time.Unix(int64(v), 0) }})
	w := new(witness)
	db.AddHook(w)
	db.Retain(cow.Retention{Versions: 10})

	_, err := db.Sweep(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.sweeps, "it found nothing")
	_, err = rows.Set("a", int(time.Now().Add(-time.Second).Unix()))
	require.NoError(t, err)
	_, err = db.Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, w.sweeps, 1)
	require.Equal(t, 1, w.sweeps[0].Rows)

	_, err = rows.Set("b", int(time.Now().Add(time.Hour).Unix()))
	require.NoError(t, err)
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { rows.Erase(tx, "b"); return nil })
	require.NoError(t, err)
	require.Len(t, w.erases, 1)
	require.Equal(t, 1, w.erases[0].Rows)
	failed := errors.New("failed")
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { return failed })
	require.ErrorIs(t, err, failed)
	require.ErrorIs(t, w.erases[1].Err, failed)

	// A feed that is too slow, and one that is not.
	for c, err := range db.Changes(t.Context(), 0) {
		if err != nil {
			require.ErrorIs(t, err, cow.ErrCompacted)
			break
		}
		require.Equal(t, uint64(1), c.Version())
		feeds := db.Stats().Feeds
		require.Len(t, feeds, 1)
		require.Equal(t, uint64(0), feeds[0].Version, "its consumer is at it")
		require.Equal(t, db.Load().Version(), feeds[0].Latest)
		require.Empty(t, w.feeds)
		require.NoError(t, db.Compact(db.Load().Version()))
	}
	require.Len(t, w.feeds, 1)
	require.Equal(t, uint64(1), w.feeds[0].Version)
	require.Equal(t, db.Load().Version(), w.feeds[0].Latest)
	require.Empty(t, db.Stats().Feeds)
}

// A hook that panics, or updates the DB, finds nothing locked, and loses nothing.
func TestAHookThatPanics(t *testing.T) {
	for _, sink := range []bool{false, true} {
		t.Run(fmt.Sprintf("sink=%v", sink), func(t *testing.T) {
			c := newCounts()
			if sink {
				c.attach(t, cowtest.SinkOptions{})
				go func() {
					for range 3 {
						if _, err := c.sink.Await(t.Context(), 1); err != nil {
							return
						}
						c.sink.Ack(1)
					}
				}()
			}
			w := &witness{does: func(hook.Update) { panic("a hook") }}
			remove := c.db.AddHook(w)
			require.PanicsWithValue(t, "a hook", func() { _ = c.set("a", 1) })
			require.Equal(t, 1, c.get("a"), "what was published stays")
			require.PanicsWithValue(t, "a hook", func() {
				tx := c.db.Begin()
				c.t.Edit(tx).Set("a", 2)
				_ = tx.Commit()
			})
			require.Equal(t, 2, c.get("a"))
			require.PanicsWithValue(t, "a hook", func() { c.db.Begin().Abort() })
			remove()
			require.NoError(t, c.set("a", 3))
		})
	}
}

// All others are told all the same: of the end of each update of which they were told the start.
func TestHooksBesideOneThatPanics(t *testing.T) {
	c := newCounts()
	var all [2]witness
	c.db.AddHook(&all[0])
	remove := c.db.AddHook(&witness{does: func(hook.Update) { panic("a hook") }})
	c.db.AddHook(&all[1])
	require.PanicsWithValue(t, "a hook", func() { _ = c.set("a", 1) })
	for i := range all {
		require.Equal(t, uint64(1), all[i].last(t).Version)
	}
	remove()
	remove = c.db.AddHook(startPanics{})
	last := new(witness)
	c.db.AddHook(last)
	require.PanicsWithValue(t, "a hook", func() { _ = c.set("a", 2) })
	for i := range all {
		require.Equal(t, hook.Update{Err: hook.ErrPanicked}, still(all[i].last(t)))
	}
	require.Empty(t, last.starts, "it had not begun")
	remove()
	require.NoError(t, c.set("a", 3))
	require.Equal(t, uint64(2), last.last(t).Version)
}

// A hook that panics in one goroutine does not make that of another tell of its own updates.
func TestAHookThatUpdatesWhileAnotherPanics(t *testing.T) {
	c := newCounts()
	w := new(witness)
	inside, panicked := make(chan struct{}), make(chan struct{})
	w.does = func(u hook.Update) {
		switch u.Version {
		case 1:
			close(inside)
			<-panicked
			require.NoError(t, c.set("told", 1))
		case 2:
			panic("a hook")
		}
	}
	c.db.AddHook(w)
	first := outcome(func() error { return c.set("a", 1) })
	<-inside
	require.PanicsWithValue(t, "a hook", func() { _ = c.set("b", 2) })
	close(panicked)
	require.NoError(t, <-first)
	require.Len(t, w.updates, 2)
	require.Equal(t, uint64(3), c.db.Load().Version())
}

// A leaver is a hook that ends the goroutine that tells it.
type leaver struct{ told atomic.Int64 }

func (l *leaver) OnApplied(hook.Update) { l.told.Add(1); runtime.Goexit() }

func TestAHookThatEndsItsGoroutine(t *testing.T) {
	c := newCounts().attach(t, cowtest.SinkOptions{})
	var l leaver
	c.db.AddHook(&l)
	for i := range 3 {
		require.NoError(t, c.sink.Rebase(c.elsewhere(t, func(r *counts, tx *cow.Tx) { r.t.Edit(tx).Set("a", i) })...))
	}
	require.Eventually(t, func() bool { return l.told.Load() == 3 }, time.Minute, time.Millisecond)
}

// Of what made no version it is told how long it had the writer's place, and nothing of the sink.
func TestHowLongAnUpdateRanThatFails(t *testing.T) {
	const long = 5 * time.Millisecond
	for _, sink := range []bool{false, true} {
		c := newCounts()
		if sink {
			c.attach(t, cowtest.SinkOptions{})
		}
		w := new(witness)
		c.db.AddHook(w)
		require.Panics(t, func() { _ = c.db.Update(func(*cow.Tx) error { time.Sleep(long); panic("x") }) })
		tx := c.db.Begin()
		time.Sleep(long)
		tx.Abort()
		require.NoError(t, c.db.Update(func(*cow.Tx) error { time.Sleep(long); return nil }))
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := c.db.BeginContext(ctx)
		require.NoError(t, err)
		time.Sleep(long)
		cancel()
		require.ErrorIs(t, tx.Commit(), context.Canceled)
		require.Len(t, w.updates, 4)
		for i, u := range w.updates {
			require.GreaterOrEqual(t, u.Run, long, i)
			require.Zero(t, u.Sink, i)
		}
	}
}

// Whoever is told that something begins is told that it ends, if only because it may not be.
func TestWhatMayNotBeginHasAnEnd(t *testing.T) {
	c, w := newCounts(), new(witness)
	c.db.AddHook(w)
	tx := c.db.Begin()
	require.Panics(t, func() { c.db.Begin() })
	require.Panics(t, func() { _ = c.set("a", 1) })
	tx.Abort()
	require.Len(t, w.starts, 3)
	require.Len(t, w.updates, 3)
	c.attach(t, cowtest.SinkOptions{Room: func(context.Context, int) error { panic("room") }})
	require.Panics(t, func() { c.db.Begin() })
	require.Len(t, w.updates, 4)
	require.ErrorIs(t, w.updates[3].Err, hook.ErrPanicked)
}

// An update that gives up has waited, and one that changes nothing waits for what it saw.
func TestHowLongAnUpdateWaitsThatMakesNoVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = time.Minute
		c, w := newCounts(), new(witness)
		c.db.AddHook(w)
		tx := c.db.Begin()
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		require.ErrorIs(t, <-outcome(func() error {
			return c.db.UpdateContext(ctx, func(*cow.Tx) error { return nil })
		}), context.DeadlineExceeded)
		require.Equal(t, long, w.updates[0].Wait)
		tx.Abort()

		c, w = newCounts().attach(t, cowtest.SinkOptions{}), new(witness)
		first := c.begin(t, "a", 1)
		c.db.AddHook(w)
		second := outcome(func() error { return c.db.Update(func(*cow.Tx) error { return nil }) })
		synctest.Wait()
		time.Sleep(long)
		c.sink.Ack(1)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		require.Equal(t, long, w.updates[0].Sink)
	})
}

// An endPanics is a hook that panics at the end of each update, and keeps what it is told of removals.
type endPanics struct{ removals []hook.Removal }

func (*endPanics) OnUpdateEnd(context.Context, hook.Update)     { panic("a hook") }
func (l *endPanics) OnSwept(_ context.Context, r hook.Removal)  { l.removals = append(l.removals, r) }
func (l *endPanics) OnErased(_ context.Context, r hook.Removal) { l.removals = append(l.removals, r) }

// Rows that are gone are told of, though another hook has panicked by then; not as a success.
func TestRemovalsAreToldAfterAPanic(t *testing.T) {
	var db cow.DB
	rows := cow.NewTable[string](&db, "rows", cow.Options[int]{Expires: func(v int) time.Time { return time.Unix(int64(v), 0) }})
	_, err := rows.Set("a", 1)
	require.NoError(t, err)
	_, err = rows.Set("b", math.MaxInt32)
	require.NoError(t, err)
	l := new(endPanics)
	db.AddHook(l)
	require.PanicsWithValue(t, "a hook", func() { _, _ = db.Sweep(t.Context()) })
	require.Equal(t, 1, rows.Len())
	erase := func(f func()) error {
		_, err := db.Erase(t.Context(), func(tx *cow.Tx) error { rows.Erase(tx, "b"); f(); return nil })
		return err
	}
	require.PanicsWithValue(t, "a hook", func() { _ = erase(func() { panic("a function") }) })
	require.PanicsWithValue(t, "a hook", func() { _ = erase(func() {}) })
	require.Zero(t, rows.Len())
	require.Len(t, l.removals, 3)
	for i, want := range []int{1, 0, 1} {
		require.Equal(t, want, l.removals[i].Rows)
		require.ErrorIs(t, l.removals[i].Err, hook.ErrPanicked)
	}
}

// What waits to be told is not told to a hook that came later, nor to one that was removed.
func TestHooksAreToldOfTheirTimeAlone(t *testing.T) {
	c := newCounts()
	block, begun := make(chan struct{}), make(chan struct{}, 2)
	c.db.AddHook(sinkHook(func() { begun <- struct{}{}; <-block }))
	gone := new(witness)
	remove := c.db.AddHook(gone)
	c.attach(t, cowtest.SinkOptions{})
	<-begun
	c.sink.Fail(errors.New("failed"))
	remove()
	late, told := new(witness), make(chan struct{})
	c.db.AddHook(late)
	close(block)
	<-begun // of the failure, which is told in order
	c.db.AddHook(sinkHook(func() { close(told) }))
	require.NoError(t, c.db.Close())
	<-told
	require.Empty(t, gone.sinks)
	require.Len(t, late.sinks, 1)
	require.Equal(t, hook.Closed, late.sinks[0].State)
}

type sinkHook func()

func (f sinkHook) OnSinkChanged(hook.Sink) { f() }

type startPanics struct{}

func (startPanics) OnUpdateStart(context.Context, hook.Update) context.Context { panic("a hook") }

func TestAHookThatPanicsAtTheStart(t *testing.T) {
	c := newCounts()
	remove := c.db.AddHook(startPanics{})
	require.PanicsWithValue(t, "a hook", func() { _ = c.set("a", 1) })
	require.Zero(t, c.db.Load().Version(), "nothing has begun")
	require.PanicsWithValue(t, "a hook", func() { c.db.Begin() })
	remove()
	require.NoError(t, c.set("a", 1))
}

// What a hook writes is not told to it, or it would never end; what others write meanwhile is.
func TestAHookThatUpdates(t *testing.T) {
	c := newCounts()
	w := new(witness)
	w.does = func(u hook.Update) {
		err := c.u.Update(func(e *cow.Editor[string, int]) error {
			n, _ := e.Get("told")
			e.Set("told", n+1)
			return nil
		})
		require.NoError(t, err)
		tx := c.db.Begin()
		c.u.Edit(tx).Set("version", int(u.Version))
		require.NoError(t, tx.Commit())
		if u.Version == 1 {
			done := outcome(func() error { return c.set("elsewhere", 1) })
			require.NoError(t, <-done)
		}
	}
	c.db.AddHook(w)
	require.NoError(t, c.set("a", 1))
	require.Len(t, w.updates, 2)
	n, _ := c.u.Get("told")
	require.Equal(t, 2, n)
	require.Equal(t, uint64(6), c.db.Load().Version())

	w.does = func(hook.Update) { panic("a hook") }
	require.Panics(t, func() { _ = c.set("a", 2) })
	w.does = nil
	require.NoError(t, c.set("a", 3))
	require.Len(t, w.updates, 4, "who writes after a panic is not taken for a hook")
}

// A blocked is a hook that waits, where no call of the program waits for it.
type blocked struct {
	until chan struct{}
	told  atomic.Int64
	last  atomic.Uint64
}

func (b *blocked) OnApplied(u hook.Update) {
	<-b.until
	b.told.Add(1)
	b.last.Store(u.Version)
}

// A hook that blocks holds up neither commits from elsewhere nor readers and writers; what it is
// told too late is dropped, the oldest first.
func TestAHookThatBlocks(t *testing.T) {
	c := newCounts().attach(t, cowtest.SinkOptions{})
	b := &blocked{until: make(chan struct{})}
	c.db.AddHook(b)
	const n = 1500
	for i := range n {
		require.NoError(t, c.sink.Rebase(c.elsewhere(t, func(r *counts, tx *cow.Tx) { r.t.Edit(tx).Set("a", i) })...))
	}
	require.Equal(t, n-1, c.get("a"))
	close(b.until)
	require.Eventually(t, func() bool { return b.last.Load() == n }, time.Minute, time.Millisecond)
	require.InDelta(t, 1024, b.told.Load(), 1)
}

// Hooks come and go while others write: each update is told to whole, or not at all.
func TestHooksComeAndGo(t *testing.T) {
	c := newCounts()
	var all sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					_ = c.set(fmt.Sprint(i), n)
				}
			}
		})
	}
	for range 200 {
		w := new(witness)
		remove := c.db.AddHook(w)
		require.NoError(t, c.set("mine", 1))
		remove()
		w.mu.Lock()
		require.NotEmpty(t, w.updates)
		for _, u := range w.updates {
			require.NotZero(t, u.Version)
			require.NotEmpty(t, u.Tables())
		}
		w.mu.Unlock()
	}
	close(stop)
	all.Wait()
}

func TestAForkHasNoHooks(t *testing.T) {
	c := newCounts()
	w := new(witness)
	c.db.AddHook(w)
	fork := c.db.Fork(c.db.Load())
	_, err := c.t.Of(fork).Set("a", 1)
	require.NoError(t, err)
	require.Empty(t, w.updates)
}

// A silent is a hook that does nothing at each update.
type silent struct{}

func (silent) OnUpdateStart(ctx context.Context, _ hook.Update) context.Context { return ctx }
func (silent) OnUpdateEnd(context.Context, hook.Update)                         {}

// A sweeper is a hook that is told of no update.
type sweeper struct{}

func (sweeper) OnSwept(context.Context, hook.Removal) {}

// A starter is a hook that is told when updates start, and not how they end.
type starter struct{ starts *int }

func (s starter) OnUpdateStart(ctx context.Context, _ hook.Update) context.Context {
	*s.starts++
	return ctx
}

// A hook costs what it is told, and changes nothing for others.
func TestHooksOfOtherThingsCostNothing(t *testing.T) {
	c, starts := newCounts(), 0
	set := func() {
		if _, err := c.t.Set("a", 1); err != nil {
			panic(err)
		}
	}
	set()
	without := allocations(set)
	c.db.AddHook(sweeper{})
	c.db.AddHook(starter{&starts})
	if with := allocations(set); !raceEnabled { // where pools forget
		require.Equal(t, without, with)
	}
	require.Positive(t, starts)
	tx := c.db.Begin()
	w := new(witness)
	remove := c.db.AddHook(w)
	c.t.Edit(tx).Set("b", 1)
	require.NoError(t, tx.Commit())
	require.Empty(t, w.updates, "it was under way")
	set()
	require.Positive(t, w.last(t).Run)
	remove()
	set()
	require.Len(t, w.updates, 1)
}

// Whatever implements one interface of a hook is one.
func TestWhatIsAHook(t *testing.T) {
	var db cow.DB
	for _, h := range []any{
		struct{ hook.UpdateStart }{}, struct{ hook.UpdateEnd }{}, struct{ hook.Applied }{},
		struct{ hook.Compacted }{}, struct{ hook.Swept }{}, struct{ hook.Erased }{},
		struct{ hook.SinkChanged }{}, struct{ hook.Searched }{}, struct{ hook.Evicted }{},
		hook.Log(nil, 0), hook.Trace(),
	} {
		db.AddHook(h)()
	}
	for _, h := range []any{nil, "nothing", struct{}{}, hook.Update{}} {
		require.Panics(t, func() { db.AddHook(h) })
	}
}

// BenchmarkSetBesideHooks is what a hook costs that does nothing.
func BenchmarkSetBesideHooks(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		for _, hooks := range []int{0, 1} {
			b.Run(fmt.Sprintf("rows=%d/hooks=%d", n, hooks), func(b *testing.B) {
				t := cow.New[string](cow.Options[int]{})
				keys := make([]string, n)
				for i := range keys {
					keys[i] = fmt.Sprint("key-", i)
				}
				require.NoError(b, t.Update(func(e *cow.Editor[string, int]) error {
					for i, key := range keys {
						e.Set(key, i)
					}
					return nil
				}))
				for range hooks {
					t.DB().AddHook(silent{})
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					_, _ = t.Set(keys[i%n], i)
					i += 7919
				}
			})
		}
	}
}
