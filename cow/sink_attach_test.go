package cow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// These tests hold what a DB begins with, and what it makes of commits and contents
// that come from elsewhere, good and bad.

// aSink is a sink.Sink that takes everything.
type aSink struct{}

func (aSink) Room(context.Context, int) error { return nil }
func (aSink) Propose(*sink.Commit) error      { return nil }
func (aSink) Trim(uint64)                     {}
func (aSink) Close() error                    { return nil }

// rowsOf returns an iterator over rows.
func rowsOf(list ...sink.Row) iter.Seq2[sink.Row, error] {
	return func(yield func(sink.Row, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func row(key, value string, revision uint64) sink.Row {
	return sink.Row{Key: []byte(key), Value: []byte(value), Revision: revision}
}

func TestAttachGoesOnFromWhatThereIs(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	require.NoError(t, c.set("a", 1))
	id := c.db.Lineage().ID
	c.attach(t, cowtest.SinkOptions{})
	require.Equal(t, id, c.db.Lineage().ID)
	second := c.begin(t, "b", 2)
	p := c.sink.Pending()[0]
	require.Equal(t, id, p.Lineage)
	require.EqualValues(t, 2, p.Version)
	require.Equal(t, []sink.Row{{Key: []byte("b"), Value: []byte("2"), Revision: 2}}, p.Rows)
	c.sink.Ack(1)
	require.NoError(t, <-second)
	require.Equal(t, map[string]int{"a": 1, "b": 2}, collect(c.t.In(c.db.Load())))
}

func TestAttachTwice(t *testing.T) {
	c := newCounts().attach(t, cowtest.SinkOptions{})
	l := sink.For(&c.db)
	require.ErrorIs(t, l.Attach(aSink{}, l.Contents(), nil), sink.ErrAttached)
	first := c.begin(t, "a", 1)
	c.sink.Ack(1)
	require.NoError(t, <-first)
}

// A log that has no version yet has a lineage, whose it was to begin with.
func TestADBAtVersion0TakesAnotherLineage(t *testing.T) {
	noDeadlock(t)
	a := newCounts().attach(t, cowtest.SinkOptions{})
	b := newCounts().attach(t, cowtest.SinkOptions{Of: a.sink})
	require.Equal(t, a.db.Lineage(), b.db.Lineage())
	first := a.begin(t, "a", 1)
	commits := a.sink.Ack(1)
	require.NoError(t, <-first)
	require.NoError(t, b.sink.Rebase(commits...))
	require.Equal(t, 1, b.get("a"))

	// With all commits as the past of version 0.
	d := newCounts()
	d.db.Retain(cow.Retention{Versions: 10})
	d.attach(t, cowtest.SinkOptions{
		Contents: sink.Contents{Lineage: a.db.Lineage().ID},
		Past:     commits,
	})
	require.Equal(t, a.db.Lineage(), d.db.Lineage())
	require.Equal(t, 1, d.get("a"))
	for c, err := range d.db.Resume(t.Context(), a.db.Cursor(0)) {
		require.NoError(t, err)
		require.Equal(t, a.db.Cursor(1), c.Cursor())
		break
	}

	// One that has a version does not.
	e := newCounts()
	require.NoError(t, e.set("a", 1))
	l := sink.For(&e.db)
	require.ErrorIs(t, l.Attach(aSink{}, a.sink.Contents(), nil), sink.ErrLineage)
	err := l.Attach(aSink{}, sink.Contents{Lineage: e.db.Lineage().ID}, nil)
	require.ErrorIs(t, err, sink.ErrBehind)
}

func TestAttachWithAnErrorLeavesTheDBAsItWas(t *testing.T) {
	mine := func(c *counts) sink.Contents { return sink.For(&c.db).Contents() }
	next := func(c *counts, rows ...sink.Row) sink.Contents {
		d := mine(c)
		d.Version++
		d.Rows = func(yield func(sink.Row, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
		return d
	}
	past := func(commits ...*sink.Commit) iter.Seq2[*sink.Commit, error] {
		return func(yield func(*sink.Commit, error) bool) {
			for _, c := range commits {
				if !yield(c, nil) {
					return
				}
			}
			yield(nil, errTest)
		}
	}
	for name, attach := range map[string]func(c *counts) error{
		"a row that cannot be decoded": func(c *counts) error {
			return sink.For(&c.db).Attach(aSink{}, next(c, row("a", "{", 2)), nil)
		},
		"a row that is gone": func(c *counts) error {
			return sink.For(&c.db).Attach(aSink{}, next(c, sink.Row{Key: []byte("a"), Removed: true}), nil)
		},
		"a row of no table": func(c *counts) error {
			return sink.For(&c.db).Attach(aSink{}, next(c, sink.Row{Table: 2, Key: []byte("a"), Value: []byte("1")}), nil)
		},
		"a row of no table, below": func(c *counts) error {
			return sink.For(&c.db).Attach(aSink{}, next(c, sink.Row{Table: -1, Key: []byte("a"), Value: []byte("1")}), nil)
		},
		"rows that cannot be read": func(c *counts) error {
			d := next(c)
			d.Rows = func(yield func(sink.Row, error) bool) { yield(sink.Row{}, errTest) }
			err := sink.For(&c.db).Attach(aSink{}, d, nil)
			require.ErrorIs(t, err, errTest)
			return err
		},
		"a past that cannot be read": func(c *counts) error {
			err := sink.For(&c.db).Attach(aSink{}, mine(c), past())
			require.ErrorIs(t, err, errTest)
			return err
		},
		"a past with a gap": func(c *counts) error {
			err := sink.For(&c.db).Attach(aSink{}, mine(c), past(&sink.Commit{Lineage: c.db.Lineage().ID, Version: 3}))
			require.ErrorIs(t, err, sink.ErrGap)
			return err
		},
		"a past of another lineage": func(c *counts) error {
			err := sink.For(&c.db).Attach(aSink{}, mine(c), past(&sink.Commit{Lineage: "other", Version: 2}))
			require.ErrorIs(t, err, sink.ErrLineage)
			return err
		},
		"an index function that panics": func(c *counts) error {
			err := sink.For(&c.db).Attach(aSink{}, next(c, row("a", "666", 2)), nil)
			require.ErrorIs(t, err, errTest)
			return err
		},
		"an index that refuses": func(c *counts) error {
			err := sink.For(&c.db).Attach(aSink{}, next(c, row("a", "1", 2), row("b", "1", 2)), nil)
			var is *cow.IndexError
			require.ErrorAs(t, err, &is)
			return err
		},
		"a version that is too large": func(c *counts) error {
			d := next(c, row("a", "1", 1))
			d.Version = math.MaxUint64
			return sink.For(&c.db).Attach(aSink{}, d, nil)
		},
		"Goexit": func(c *counts) error {
			var err error
			exits(func() {
				err = errors.New("it did not return")
				err = sink.For(&c.db).Attach(aSink{}, next(c, row("a", "667", 2)), nil)
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			c := newCounts()
			_, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) {
				v := r.Value()
				switch v {
				case 666:
					panic(errTest)
				case 667:
					runtime.Goexit()
				}
				add(v)
			}, cow.IndexOptions[string]{Unique: true})
			require.NoError(t, err)
			require.NoError(t, c.set("a", 1))
			before, lineage := c.db.Load(), c.db.Lineage()
			require.Error(t, attach(c))
			require.Same(t, before, c.db.Load())
			require.Equal(t, lineage, c.db.Lineage())
			require.NoError(t, c.set("a", 2)) // without a sink
			cow.NewTable[string](&c.db, "later", cow.Options[int]{Codec: jsonCodec[int]{}})
			require.NoError(t, c.db.Close())
			c.attach(t, cowtest.SinkOptions{})
			require.Equal(t, 2, c.get("a"))
		})
	}
}

// Those who write while a sink is attached wait, and go on without one if that fails.
func TestUpdatesDuringAttach(t *testing.T) {
	for name, fails := range map[string]error{"that fails": errTest, "that succeeds": nil} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			c := newCounts()
			require.NoError(t, c.set("a", 1))
			l := sink.For(&c.db)
			contents := l.Contents()
			contents.Version++
			begun, leave := make(chan struct{}), make(chan struct{})
			contents.Rows = func(yield func(sink.Row, error) bool) {
				close(begun)
				<-leave
				yield(row("a", "5", 2), fails)
			}
			attached := outcome(func() error { return l.Attach(aSink{}, contents, nil) })
			<-begun
			ctx, end := context.WithCancel(t.Context())
			update := outcome(func() error {
				return c.db.UpdateContext(ctx, func(tx *cow.Tx) error {
					return c.t.Edit(tx).Modify("a", func(v *int) error { *v++; return nil })
				})
			})
			requireNone(t, update)
			close(leave)
			require.Equal(t, fails != nil, <-attached != nil)
			if fails == nil {
				requireNone(t, update) // nobody acknowledges it
				l.Ack(3)
				require.NoError(t, <-update)
				require.Equal(t, 6, c.get("a"))
			} else {
				require.NoError(t, <-update)
				require.Equal(t, 2, c.get("a"))
			}
			end()
		})
	}
}

// An update of one table that began to queue when there was no sink yet is proposed to the one
// that has come first.
func TestASinkThatComesBeforeAnUpdate(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	begun, leave := make(chan struct{}), make(chan struct{})
	first := outcome(func() error {
		return c.t.Update(func(e *cow.Editor[string, int]) error {
			close(begun)
			<-leave // and change nothing, so that the sink begins with what there is
			return nil
		})
	})
	<-begun
	attached := outcome(func() error { c.attach(t, cowtest.SinkOptions{}); return nil })
	requireNone(t, attached)
	var updates []<-chan error
	for i := range 4 {
		updates = append(updates, outcome(func() error { return errOf(c.t.Set(strconv.Itoa(i), i)) }))
	}
	requireNone(t, updates[0])
	close(leave)
	require.NoError(t, <-first)
	require.NoError(t, <-attached)
	for v := c.db.Load().Version(); v < 4; v++ { // what came before the sink is published already
		_, err := c.sink.Await(t.Context(), 1)
		require.NoError(t, err)
		c.sink.Ack(1)
	}
	for _, update := range updates {
		require.NoError(t, <-update)
	}
	require.Equal(t, 4, c.t.Len())
}

// What is said while a sink is attached counts.
func TestCloseDuringAttach(t *testing.T) {
	for name, end := range map[string]func(l sink.DB, db *cow.DB){
		"Close": func(_ sink.DB, db *cow.DB) { require.NoError(t, db.Close()) },
		"Fail":  func(l sink.DB, _ *cow.DB) { l.Fail(cow.ErrClosed) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounts()
			l := sink.For(&c.db)
			contents := l.Contents()
			require.NoError(t, l.Attach(aSink{}, contents, func(yield func(*sink.Commit, error) bool) { end(l, &c.db) }))
			require.ErrorIs(t, c.set("a", 1), cow.ErrClosed)
		})
	}
}

func TestTablesThatCannotBeStored(t *testing.T) {
	var db cow.DB
	cow.NewTable[string](&db, "fine", cow.Options[int]{Codec: jsonCodec[int]{}})
	cow.NewTable[string](&db, "bare", cow.Options[int]{})
	l := sink.For(&db)
	const text = `cow: table "bare" cannot be stored: it has no codec: set Options.Codec, or make it by NewDerived if it follows from other tables`
	require.EqualError(t, l.Attach(aSink{}, l.Contents(), nil), text)
	_, err := l.Tables()
	require.EqualError(t, err, text)
	for _, err := range l.Contents().Rows {
		require.EqualError(t, err, text)
	}
	// See also TestKeysThatCannotBeStored.
}

func TestNoTableComesAfterAttach(t *testing.T) {
	c := newCounts().attach(t, cowtest.SinkOptions{})
	require.PanicsWithValue(t, `cow: table "late" comes too late: make all tables before the DB is made durable or replicated`, func() {
		cow.NewTable[string](&c.db, "late", cow.Options[int]{Codec: jsonCodec[int]{}})
	})
}

// The tables of a DB are those of its forks: none comes while one of them has a sink.
func TestNoTableComesWhileAForkHasASink(t *testing.T) {
	c := newCounts()
	fork := c.db.Fork(nil)
	err := sink.For(&c.db).Attach(aSink{}, sink.For(&c.db).Contents(), func(yield func(*sink.Commit, error) bool) {
		cowtest.Attach(t, fork, cowtest.SinkOptions{})
		yield(nil, errTest)
	})
	require.ErrorIs(t, err, errTest)
	for _, db := range []*cow.DB{&c.db, fork} {
		require.PanicsWithValue(t, `cow: table "late" comes too late: make all tables before the DB is made durable or replicated`, func() {
			cow.NewTable[string](db, "late", cow.Options[int]{})
		})
	}
}

func TestWhatCannotBeEncodedIsTheErrorOfItsUpdate(t *testing.T) {
	noDeadlock(t)
	var db cow.DB
	floats := cow.NewTable[string](&db, "floats", cow.Options[any]{Codec: jsonCodec[any]{}})
	sink := cowtest.Attach(t, &db, cowtest.SinkOptions{})
	set := func(k string, v any) error {
		return db.Update(func(tx *cow.Tx) error { floats.Edit(tx).Set(k, v); return nil })
	}
	require.ErrorContains(t, set("1", math.Inf(1)), `cow: table "floats": 1: json: unsupported value: +Inf`)
	// See also TestAKeyThatIsNotEqualToItselfIsNotStored.
	err := outcome(func() error { return set("1", 1) })
	_, waited := sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	sink.Ack(1)
	require.NoError(t, <-err)
}

func TestWhatComesFromElsewhereAndCannotBe(t *testing.T) {
	commit := func(c *counts, rows ...sink.Row) *sink.Commit {
		return &sink.Commit{Lineage: c.db.Lineage().ID, Version: c.db.Load().Version() + 1, Time: time.Now(), Rows: rows}
	}
	var is *cow.IndexError
	for name, rebase := range map[string]func(t *testing.T, c *counts) error{
		"a gap": func(t *testing.T, c *counts) error {
			d := commit(c)
			d.Version++
			err := c.sink.Rebase(d)
			require.ErrorIs(t, err, sink.ErrGap)
			return err
		},
		"a version that is there": func(t *testing.T, c *counts) error {
			d := commit(c)
			d.Version--
			err := c.sink.Rebase(d)
			require.ErrorIs(t, err, sink.ErrGap)
			return err
		},
		"another lineage": func(t *testing.T, c *counts) error {
			d := commit(c)
			d.Lineage = "another"
			err := c.sink.Rebase(d)
			require.ErrorIs(t, err, sink.ErrLineage)
			return err
		},
		"the second of two": func(t *testing.T, c *counts) error {
			return c.sink.Rebase(commit(c, row("b", "2", 2)), commit(c))
		},
		"a row that cannot be decoded": func(t *testing.T, c *counts) error {
			return c.sink.Rebase(commit(c, row("b", "{", 2)))
		},
		"a row of no table": func(t *testing.T, c *counts) error {
			return c.sink.Rebase(commit(c, sink.Row{Table: 7}))
		},
		"an index that refuses": func(t *testing.T, c *counts) error {
			err := c.sink.Rebase(commit(c, row("b", "1", 2)))
			require.ErrorAs(t, err, &is)
			return err
		},
		"an index function that panics": func(t *testing.T, c *counts) error {
			err := c.sink.Rebase(commit(c, row("b", "666", 2)))
			require.ErrorIs(t, err, errTest)
			return err
		},
		"an index function that exits": func(t *testing.T, c *counts) (err error) {
			exits(func() {
				err = errTest
				err = c.sink.Rebase(commit(c, row("b", "667", 2)))
			})
			return err
		},
		"a derived table that panics": func(t *testing.T, c *counts) error {
			err := c.sink.Rebase(commit(c, row("b", "668", 2)))
			require.ErrorIs(t, err, errTest)
			return err
		},
		"a derived table that has an error": func(t *testing.T, c *counts) error {
			err := c.sink.Rebase(commit(c, row("b", "669", 2)))
			require.ErrorIs(t, err, errTest)
			return err
		},
		"contents of before": func(t *testing.T, c *counts) error {
			d := c.sink.Contents()
			d.Version--
			err := c.sink.Reset(d)
			require.ErrorIs(t, err, sink.ErrBehind)
			return err
		},
		"contents of another lineage": func(t *testing.T, c *counts) error {
			d := c.sink.Contents()
			d.Lineage = restored
			err := c.sink.Reset(d)
			require.ErrorIs(t, err, sink.ErrLineage)
			return err
		},
		"contents that an index refuses": func(t *testing.T, c *counts) error {
			d := c.sink.Contents()
			d.Version++
			d.Rows = rowsOf(row("a", "1", 1), row("b", "1", 1))
			err := c.sink.Reset(d)
			require.ErrorAs(t, err, &is)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			c := newCounts()
			_, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) {
				v := r.Value()
				switch v {
				case 666:
					panic(errTest)
				case 667:
					runtime.Goexit()
				}
				add(v)
			}, cow.IndexOptions[string]{Unique: true})
			require.NoError(t, err)
			_, _ = cow.NewDerived(&c.db, "derived", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
				switch n, _ := c.t.Edit(tx).Get("b"); n {
				case 668:
					panic(errTest)
				case 669:
					return errTest
				}
				return nil
			})
			c.attach(t, cowtest.SinkOptions{})
			first := c.begin(t, "a", 1)
			c.sink.Ack(1)
			require.NoError(t, <-first)

			before := c.db.Load()
			second := c.begin(t, "b", 3)
			failed := rebase(t, c)
			require.Error(t, failed)
			is := <-second
			require.ErrorContains(t, is, "cow: writes have failed: ")
			if name != "an index function that exits" {
				require.ErrorIs(t, is, failed)
			}
			require.Equal(t, is, c.set("b", 4))
			require.Same(t, before, c.db.Load(), "all or nothing")
			require.Equal(t, 1, c.get("a"))
		})
	}
}

func TestResetToContentsAndPast(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	x, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	c.db.Retain(cow.Retention{Versions: 10})
	c.attach(t, cowtest.SinkOptions{})
	for i, key := range []string{"a", "b"} {
		err := c.begin(t, key, i)
		c.sink.Ack(1)
		require.NoError(t, <-err)
	}
	kept, _ := c.t.In(c.db.Load()).Row("a")

	// Elsewhere it goes on.
	r := newCounts().attach(t, cowtest.SinkOptions{Of: c.sink})
	var contents sink.Contents
	var past []*sink.Commit
	for i, f := range []func(tx *cow.Tx){
		func(tx *cow.Tx) { r.t.Edit(tx).Set("b", 5) },
		func(tx *cow.Tx) { r.t.Edit(tx).Delete("b"); r.u.Edit(tx).Set("u", 1) },
		func(tx *cow.Tx) { r.t.Edit(tx).Set("c", 6) },
		func(tx *cow.Tx) { r.t.Edit(tx).Set("c", 7) },
	} {
		err := outcome(func() error { return r.db.Update(func(tx *cow.Tx) error { f(tx); return nil }) })
		_, waited := r.sink.Await(t.Context(), 1)
		require.NoError(t, waited)
		acked := r.sink.Ack(1)
		require.NoError(t, <-err)
		switch {
		case i == 1:
			contents = r.sink.Contents()
		case i > 1:
			past = append(past, acked...)
		}
	}

	woken := make(chan struct{})
	since := c.db.Load()
	go func() { defer close(woken); _, _ = c.db.Watch(t.Context(), since, c.t.OnKeys("c")) }()
	ctx, end := context.WithCancel(t.Context())
	asleep := make(chan struct{})
	go func() { defer close(asleep); _, _ = c.db.Watch(ctx, since, c.t.OnKeys("a")) }()
	superseded := c.begin(t, "mine", 1)
	require.NoError(t, c.sink.Reset(contents, past...))
	requireClosed(t, woken, "a watch was not woken")
	requireOpen(t, asleep, "what is the same wakes nobody")
	end()
	<-asleep

	m := c.t.In(c.db.Load())
	require.EqualValues(t, 6, c.db.Load().Version())
	require.Equal(t, collect(r.t.In(r.db.Load())), collect(m))
	require.Equal(t, collect(r.u.In(r.db.Load())), collect(c.u.In(c.db.Load())))
	for key := range m.Keys() {
		require.Equal(t, r.t.In(r.db.Load()).Revision(key), m.Revision(key), key)
	}
	is, _ := m.Row("a")
	require.True(t, kept == is, "a row that was there stays")
	require.Equal(t, 1, x.In(m).Equal(7).Len())
	require.Zero(t, x.In(m).Equal(1).Len())

	var versions []uint64
	var times []time.Time
	for v, at := range c.db.Versions() {
		versions, times = append(versions, v), append(times, at)
	}
	require.Equal(t, []uint64{4, 5, 6}, versions)
	require.True(t, slices.IsSortedFunc(times, time.Time.Compare))
	require.True(t, times[1].Equal(past[0].Time) && times[2].Equal(past[1].Time))
	at5, err := c.db.At(5)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 0, "c": 6}, collect(c.t.In(at5)))
	_, err = c.db.At(3)
	require.ErrorIs(t, err, cow.ErrCompacted)
	require.EqualValues(t, 4, c.sink.Trimmed())

	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	require.EqualValues(t, 7, c.sink.Ack(1)[0].Version)
	require.NoError(t, <-superseded)
	require.Equal(t, 1, c.get("mine"))
}

// The contents of a version are of its time, and not of when somebody asked.
func TestTheTimeOfContents(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	first, second := c.begin(t, "a", 1), c.begin(t, "a", 2)
	commits := c.sink.Ack(1)
	require.NoError(t, <-first)
	contents := c.sink.Contents()
	require.EqualValues(t, 1, contents.Version)
	require.True(t, contents.Time.Equal(commits[0].Time), "%v %v", contents.Time, commits[0].Time)
	past := c.sink.Ack(1)
	require.NoError(t, <-second)

	r := newCounts()
	r.db.Retain(cow.Retention{Versions: 5})
	r.attach(t, cowtest.SinkOptions{Contents: contents, Past: past})
	for v, at := range r.db.Versions() {
		require.True(t, at.Equal([]time.Time{{}, commits[0].Time, past[0].Time}[v]), v)
	}
}

// Times never go back, whatever a log says.
func TestTimesOfWhatComesFromElsewhereNeverGoBack(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	c.db.Retain(cow.Retention{Versions: 10})
	c.attach(t, cowtest.SinkOptions{})
	first := c.begin(t, "a", 1)
	c.sink.Ack(1)
	require.NoError(t, <-first)
	long := time.Now().Add(-time.Hour)
	commit := func(version uint64) *sink.Commit {
		return &sink.Commit{Lineage: c.db.Lineage().ID, Version: version, Time: long, Rows: []sink.Row{row("b", "2", version)}}
	}
	require.NoError(t, c.sink.Rebase(commit(2)))
	contents := c.sink.Contents()
	contents.Time = long
	require.NoError(t, c.sink.Reset(contents, commit(3)))
	last := time.Time{}
	for v, at := range c.db.Versions() {
		require.False(t, at.Before(last), v)
		last = at
	}
	contents.Version, contents.Rows = 5, rowsOf()
	require.NoError(t, c.sink.Reset(contents, commit(6)))
	for v, at := range c.db.Versions() {
		require.False(t, at.Before(last), v)
		last = at
	}
}

// What was superseded or refused has no say in the times of what happens.
func TestTimesOfWhatDidNotHappen(t *testing.T) {
	noDeadlock(t)
	refused := false
	c := newCounts().attach(t, cowtest.SinkOptions{Propose: func(*sink.Commit) error {
		if refused {
			return errTest
		}
		return nil
	}})
	commits := c.elsewhere(t, setting("a", 1), setting("a", 2))
	mine := c.begin(t, "a", 3)
	require.True(t, c.sink.Pending()[0].Time.After(commits[1].Time))
	require.NoError(t, c.sink.Rebase(commits[0]))
	require.True(t, c.sink.Contents().Time.Equal(commits[0].Time))
	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	refused = true
	require.NoError(t, c.sink.Rebase())
	require.ErrorIs(t, <-mine, errTest)
	require.NoError(t, c.sink.Rebase(commits[1]))
	require.True(t, c.sink.Contents().Time.Equal(commits[1].Time))
}

// A row without a revision is not one that is not there.
func TestRowsWithoutARevisionAreRows(t *testing.T) {
	c := newCounts()
	require.NoError(t, c.set("a", 1))
	c.attach(t, cowtest.SinkOptions{})
	contents := c.sink.Contents()
	contents.Version, contents.Rows = 2, rowsOf(row("a", "1", 1), row("b", "2", 0))
	require.NoError(t, c.sink.Reset(contents))
	require.Equal(t, map[string]int{"a": 1, "b": 2}, collect(c.t.In(c.db.Load())))
	require.EqualValues(t, 2, c.t.In(c.db.Load()).Revision("b"))
}

// So a log keeps its versions, whatever is left of what they changed.
func TestACommitWithoutRowsIsAVersion(t *testing.T) {
	c := newCounts()
	c.db.Retain(cow.Retention{Versions: 10})
	c.attach(t, cowtest.SinkOptions{})
	first := c.begin(t, "a", 1)
	c.sink.Ack(1)
	require.NoError(t, <-first)
	id := c.db.Lineage().ID
	require.NoError(t, c.sink.Rebase(&sink.Commit{Lineage: id, Version: 2}, &sink.Commit{Lineage: id, Version: 3}))
	require.EqualValues(t, 3, c.db.Load().Version())
	for version := uint64(1); version <= 3; version++ {
		s, err := c.db.At(version)
		require.NoError(t, err)
		require.Equal(t, version, s.Version())
		require.Equal(t, map[string]int{"a": 1}, collect(c.t.In(s)))
	}
	second := c.begin(t, "a", 2)
	require.EqualValues(t, 4, c.sink.Pending()[0].Version)
	c.sink.Ack(1)
	require.NoError(t, <-second)
}

// A sink cannot make a DB go on in a lineage that it could give no cursor of.
func TestASinkBringsALineage(t *testing.T) {
	for _, bad := range []string{"x", " " + restored, strings.ToLower(restored)} {
		c := newCounts()
		err := sink.For(&c.db).Attach(aSink{}, sink.Contents{Lineage: bad}, nil)
		require.ErrorContains(t, err, fmt.Sprintf("%q is not a lineage", bad))
		require.NotEqual(t, bad, c.db.Lineage().ID)
		c.attach(t, cowtest.SinkOptions{})
	}
}
