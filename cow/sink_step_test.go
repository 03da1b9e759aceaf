package cow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// These tests go the way of an update through a sink, one step after the other.

func TestAProposalIsPublishedWhenItIsAcknowledged(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	first := c.begin(t, "a", 1)
	second := c.begin(t, "a", 2)
	require.Zero(t, c.db.Load().Version())
	requireNone(t, first)

	acked := c.sink.Ack(1)
	require.Len(t, acked, 1)
	require.NoError(t, <-first)
	require.Equal(t, 1, c.get("a"))
	requireNone(t, second)

	c.sink.Ack(5)
	require.NoError(t, <-second)
	require.Equal(t, 2, c.get("a"))
	require.EqualValues(t, 2, c.db.Load().Version())
}

// requireNone requires that nothing comes for a while.
func requireNone(t *testing.T, c <-chan error) {
	t.Helper()
	select {
	case err := <-c:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(soon):
	}
}

func TestARefusalIsOfOneProposal(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{Propose: func(p *sink.Commit) error {
		if len(p.Rows) > 1 {
			return errTest
		}
		return nil
	}})
	first := c.begin(t, "a", 1)
	require.ErrorIs(t, c.db.Update(func(tx *cow.Tx) error {
		c.t.Edit(tx).Set("b", 1)
		c.t.Edit(tx).Set("c", 1)
		return nil
	}), errTest)
	second := c.begin(t, "a", 2)
	c.sink.Ack(2)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.Equal(t, map[string]int{"a": 2}, collect(c.t.In(c.db.Load())))
	require.EqualValues(t, 2, c.db.Load().Version())
}

func TestAContextThatEnds(t *testing.T) {
	ended := func() (context.Context, context.CancelCauseFunc) { return context.WithCancelCause(t.Context()) }

	t.Run("before anything", func(t *testing.T) {
		c := newCounts().attach(t, cowtest.SinkOptions{Room: func(context.Context, int) error {
			t.Error("the sink was asked for room")
			return nil
		}})
		ctx, end := ended()
		end(errTest)
		requireEnded(t, c, c.db.UpdateContext(ctx, notCalled(t)))
	})
	t.Run("in Room", func(t *testing.T) {
		ctx, end := ended()
		c := newCounts().attach(t, cowtest.SinkOptions{Room: func(ctx context.Context, _ int) error {
			end(errTest)
			<-ctx.Done()
			return ctx.Err() // which says less than its cause
		}})
		requireEnded(t, c, c.db.UpdateContext(ctx, notCalled(t)))
	})
	t.Run("while it waits for its turn", func(t *testing.T) {
		noDeadlock(t)
		ctx, end := ended()
		asked := make(chan struct{})
		var once sync.Once
		c := newCounts()
		inside, leave := make(chan struct{}), make(chan struct{})
		c.attach(t, cowtest.SinkOptions{Room: func(ctx context.Context, _ int) error {
			if ctx.Done() != nil {
				once.Do(func() { close(asked) })
			}
			return nil
		}})
		slow := outcome(func() error {
			return c.db.Update(func(*cow.Tx) error { close(inside); <-leave; return nil })
		})
		<-inside
		err := outcome(func() error { return c.db.UpdateContext(ctx, notCalled(t)) })
		<-asked
		end(errTest)
		close(leave)
		require.NoError(t, <-slow)
		requireEnded(t, c, <-err)
	})
	t.Run("while updates are held back", func(t *testing.T) {
		noDeadlock(t)
		c := newCounts().attach(t, cowtest.SinkOptions{})
		first := c.begin(t, "a", 1)
		made := outcome(c.index)
		waitHeld(t, c)
		ctx, end := ended()
		err := outcome(func() error { return c.db.UpdateContext(ctx, notCalled(t)) })
		requireNone(t, err)
		end(errTest)
		requireEnded(t, c, <-err)
		c.sink.Ack(1)
		require.NoError(t, <-first)
		require.NoError(t, <-made)
	})
	t.Run("in its function", func(t *testing.T) {
		ctx, end := ended()
		c := newCounts().attach(t, cowtest.SinkOptions{})
		requireEnded(t, c, c.db.UpdateContext(ctx, func(tx *cow.Tx) error {
			c.t.Edit(tx).Set("a", 1)
			end(errTest)
			return nil
		}))
	})
	t.Run("after it was proposed", func(t *testing.T) {
		noDeadlock(t)
		ctx, end := ended()
		c := newCounts().attach(t, cowtest.SinkOptions{})
		err := outcome(func() error {
			return c.db.UpdateContext(ctx, func(tx *cow.Tx) error { c.t.Edit(tx).Set("a", 1); return nil })
		})
		_, waited := c.sink.Await(t.Context(), 1)
		require.NoError(t, waited)
		end(errTest)
		is := <-err
		require.ErrorIs(t, is, errTest)
		require.ErrorIs(t, is, cow.ErrUnknownOutcome)
		c.sink.Ack(1) // a proposal is never taken back
		require.Equal(t, 1, c.get("a"))
	})
	t.Run("when it has only looked", func(t *testing.T) {
		noDeadlock(t)
		ctx, end := ended()
		c := newCounts().attach(t, cowtest.SinkOptions{})
		first := c.begin(t, "a", 1)
		looked := make(chan struct{})
		err := outcome(func() error {
			return c.db.UpdateContext(ctx, func(tx *cow.Tx) error { close(looked); return nil })
		})
		<-looked
		requireNone(t, err)
		end(errTest)
		is := <-err
		require.ErrorIs(t, is, errTest)
		require.NotErrorIs(t, is, cow.ErrUnknownOutcome, "it proposed nothing")
		c.sink.Ack(1)
		require.NoError(t, <-first)
	})
	t.Run("after it was superseded", func(t *testing.T) {
		noDeadlock(t)
		ctx, end := ended()
		c := newCounts()
		c.attach(t, cowtest.SinkOptions{Room: func(ctx context.Context, attempt int) error {
			if attempt > 0 {
				end(errTest)
			}
			return nil
		}})
		runs := 0
		err := outcome(func() error {
			return c.db.UpdateContext(ctx, func(tx *cow.Tx) error { runs++; c.t.Edit(tx).Set("a", 1); return nil })
		})
		_, waited := c.sink.Await(t.Context(), 1)
		require.NoError(t, waited)
		require.NoError(t, c.sink.Rebase())
		requireEnded(t, c, <-err)
		require.Equal(t, 1, runs)
	})
	t.Run("when its fate is known already", func(t *testing.T) {
		// The answer that is known counts, and not the context.
		for range 20 {
			ctx, end := ended()
			c := newCounts()
			c.attach(t, cowtest.SinkOptions{})
			err := outcome(func() error {
				return c.db.UpdateContext(&lateContext{ctx, func() { c.sink.Ack(1); end(errTest) }},
					func(tx *cow.Tx) error { c.t.Edit(tx).Set("a", 1); return nil })
			})
			require.NoError(t, <-err)
		}
	})
}

// A lateContext is a context that calls before each time that somebody is about to
// wait for its end.
type lateContext struct {
	context.Context
	before func()
}

func (c *lateContext) Done() <-chan struct{} { c.before(); return c.Context.Done() }

// notCalled is an update function that must not be called.
func notCalled(t *testing.T) func(*cow.Tx) error {
	return func(*cow.Tx) error { t.Error("the function was called"); return nil }
}

// requireEnded requires that an update ended by its context without a proposal.
func requireEnded(t *testing.T, c *counts, err error) {
	t.Helper()
	require.ErrorIs(t, err, errTest)
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	for _, p := range c.sink.Pending() {
		require.EqualValues(t, 1, p.Version, "it was proposed all the same")
	}
}

func TestPanicAndGoexitLeaveTheOutboxAsItWas(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic":  func() { panic(errTest) },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			var where string
			at := func(step string) {
				if where == step {
					leave()
				}
			}
			c := newCounts()
			_, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) {
				v := r.Value()
				if v == 7 {
					at("an index function")
				}
				add(v)
			}, cow.IndexOptions[string]{})
			require.NoError(t, err)
			c.attach(t, cowtest.SinkOptions{Room: func(_ context.Context, attempt int) error { at("Room"); return nil }})
			first := c.begin(t, "a", 1)
			for _, where = range []string{"Room", "the function", "an index function", "the second run"} {
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					runs := 0
					_ = c.db.Update(func(tx *cow.Tx) error {
						at("the function")
						c.t.Edit(tx).Set("b", 7)
						if runs++; runs == 2 {
							at("the second run")
						}
						return nil
					})
				}()
				if where == "the second run" {
					_, waited := c.sink.Await(t.Context(), 2)
					require.NoError(t, waited)
					require.NoError(t, c.sink.Rebase())
					_, waited = c.sink.Await(t.Context(), 1) // the first, again
					require.NoError(t, waited)
				}
				<-done
				where = ""
				require.Len(t, c.sink.Pending(), 1)
			}
			second := c.begin(t, "b", 2)
			c.sink.Ack(2)
			require.NoError(t, <-first)
			require.NoError(t, <-second)
			require.Equal(t, map[string]int{"a": 1, "b": 2}, collect(c.t.In(c.db.Load())))
		})
	}
}

func TestASlowUpdateHoldsUpNothingThatTheSinkSays(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	first := c.begin(t, "a", 1)
	inside, leave := make(chan struct{}), make(chan struct{})
	var bases []uint64
	slow := outcome(func() error {
		return c.db.Update(func(tx *cow.Tx) error {
			bases = append(bases, tx.Base().Version())
			if len(bases) == 1 {
				close(inside)
				<-leave
			}
			c.t.Edit(tx).Set("slow", len(bases))
			return nil
		})
	})
	<-inside
	c.sink.Ack(1)
	require.NoError(t, <-first)
	require.Equal(t, 1, c.get("a"))

	foreign := c.elsewhere(t, setting("b", 2), setting("b", 3))
	require.NoError(t, c.sink.Rebase(foreign[0]))
	require.Equal(t, 2, c.get("b"))

	o := newCounts().attach(t, cowtest.SinkOptions{Of: c.sink})
	require.NoError(t, o.sink.Rebase(foreign[1]))
	require.NoError(t, c.sink.Reset(o.sink.Contents()))
	require.Equal(t, 3, c.get("b"))

	close(leave)
	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	c.sink.Ack(1)
	require.NoError(t, <-slow)
	require.Equal(t, []uint64{1, 3}, bases)
	require.Equal(t, map[string]int{"a": 1, "b": 3, "slow": 2}, collect(c.t.In(c.db.Load())))
}

func TestASupersededRunLeavesNoTrace(t *testing.T) {
	noDeadlock(t)
	c := newCounts()
	byValue, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	c.attach(t, cowtest.SinkOptions{})
	c.db.Retain(cow.Retention{Versions: 10})
	runs := 0
	mine := outcome(func() error {
		return c.db.Update(func(tx *cow.Tx) error {
			runs++
			c.t.Edit(tx).Set("mine", runs)
			c.t.Edit(tx).Set("run "+string(rune('0'+runs)), 10*runs)
			return nil
		})
	})
	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	void := c.sink.Pending()[0]
	require.NoError(t, c.sink.Rebase(c.elsewhere(t, setting("a", 1))...)) // 1 is what mine had in the index
	require.True(t, void.Void())
	_, waited = c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	c.sink.Ack(1)
	require.NoError(t, <-mine)

	now := c.t.In(c.db.Load())
	require.Equal(t, map[string]int{"a": 1, "mine": 2, "run 2": 20}, collect(now))
	require.EqualValues(t, 1, now.Revision("a"))
	require.EqualValues(t, 2, now.Revision("mine"))
	require.Equal(t, 3, byValue.In(now).Len())
	var versions []uint64
	for v := range c.db.Versions() {
		versions = append(versions, v)
	}
	require.Equal(t, []uint64{0, 1, 2}, versions)
	at1, err := c.db.At(1)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 1}, collect(c.t.In(at1)))
}

func TestAnAnswerSharesTheFateOfTheTipItSaw(t *testing.T) {
	for name, answer := range map[string]error{"an error": errTest, "no change": nil} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			c := newCounts().attach(t, cowtest.SinkOptions{})
			first := c.begin(t, "a", 1)
			var saw []int
			run := make(chan struct{}, 2)
			look := outcome(func() error {
				return c.db.Update(func(tx *cow.Tx) error {
					n, _ := c.t.Edit(tx).Get("a")
					saw = append(saw, n)
					run <- struct{}{}
					return answer
				})
			})
			<-run
			requireNone(t, look)
			require.NoError(t, c.sink.Rebase(c.elsewhere(t, setting("a", 5))...))
			_, waited := c.sink.Await(t.Context(), 1)
			require.NoError(t, waited)
			<-run
			c.sink.Ack(1)
			require.NoError(t, <-first)
			require.Equal(t, answer, <-look)
			require.Len(t, saw, 2)
			require.Equal(t, 1, saw[0])
		})
	}
}

// What the log did not take is the error of its updates; whatever was derived from them runs again.
func TestRefuse(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	add := func() error {
		return c.db.Update(func(tx *cow.Tx) error {
			return c.t.Edit(tx).Upsert("a", func(v *int, _ bool) error { *v++; return nil })
		})
	}
	var updates []<-chan error
	for n := range 3 {
		updates = append(updates, outcome(add))
		_, waited := c.sink.Await(t.Context(), n+1)
		require.NoError(t, waited)
	}
	saw := make(chan int, 2)
	look := outcome(func() error {
		return c.db.Update(func(tx *cow.Tx) error {
			n, _ := c.t.Edit(tx).Get("a")
			saw <- n
			return nil
		})
	})
	require.Equal(t, 3, <-saw)
	proposed := c.sink.Pending()
	c.sink.Refuse(2, errTest)
	for _, p := range proposed {
		require.True(t, p.Void())
	}
	require.Equal(t, errTest, <-updates[0])
	require.Equal(t, errTest, <-updates[1])
	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	<-saw
	c.sink.Ack(1)
	require.NoError(t, <-updates[2])
	require.NoError(t, <-look)
	require.Equal(t, 1, c.get("a"))
	require.Equal(t, uint64(1), c.db.Load().Version())
	c.sink.Refuse(1, errTest) // of nothing
	again := outcome(add)
	_, waited = c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	c.sink.Ack(1)
	require.NoError(t, <-again)
}

func TestAttemptsCountWhatWasSuperseded(t *testing.T) {
	noDeadlock(t)
	var attempts []int
	c := newCounts()
	c.attach(t, cowtest.SinkOptions{Room: func(ctx context.Context, attempt int) error {
		if ctx.Value(attemptsKey{}) != nil {
			attempts = append(attempts, attempt)
		}
		return nil
	}})
	first := c.begin(t, "a", 1)
	made := outcome(c.index)
	waitHeld(t, c)
	ctx := context.WithValue(t.Context(), attemptsKey{}, true)
	mine := outcome(func() error {
		return c.db.UpdateContext(ctx, func(tx *cow.Tx) error { c.t.Edit(tx).Set("b", 1); return nil })
	})
	requireNone(t, mine)
	c.sink.Ack(1)
	require.NoError(t, <-first)
	require.NoError(t, <-made)
	for range 2 {
		_, waited := c.sink.Await(t.Context(), 1)
		require.NoError(t, waited)
		require.NoError(t, c.sink.Rebase())
	}
	_, waited := c.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	c.sink.Ack(1)
	require.NoError(t, <-mine)
	require.Equal(t, []int{0, 1, 2}, attempts)
}

type attemptsKey struct{}

// waitHeld waits until updates are held back, given that something is pending.
func waitHeld(t *testing.T, c *counts) {
	t.Helper()
	until(t, func() bool {
		called := false
		ctx, end := context.WithCancel(t.Context())
		err := c.db.UpdateContext(endsIfWaitedFor{ctx, end}, func(*cow.Tx) error { called = true; return nil })
		require.ErrorIs(t, err, context.Canceled)
		return !called
	}, "updates are held back")
}

// endsIfWaitedFor is a context that ends when somebody waits for its end.
type endsIfWaitedFor struct {
	context.Context
	end context.CancelFunc
}

func (c endsIfWaitedFor) Done() <-chan struct{} {
	c.end()
	return c.Context.Done()
}

func TestIndexesComeAndGoBetweenProposals(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	var stop atomic.Bool
	var writers, acks sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	for i := range 4 {
		writers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				if err := c.set(string(rune('a'+i)), n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	acks.Go(func() {
		for {
			if _, err := c.sink.Await(ctx, 1); err != nil {
				return
			}
			c.sink.Ack(1) // so that there is nearly always something outstanding
		}
	})
	for range 20 {
		x, err := cow.NewMultiIndex(c.t, "x", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{})
		require.NoError(t, err)
		c.db.Retain(cow.Retention{Versions: 5})
		m := c.t.In(c.db.Load())
		require.Equal(t, m.Len(), x.In(m).Len())
		x.Drop(c.t)
	}
	stop.Store(true)
	writers.Wait()
	end()
	acks.Wait()
}

// hookedCodec calls a function before each row that it decodes.
type hookedCodec struct {
	jsonCodec[int]
	decode func()
}

func (c hookedCodec) Decode(b []byte) (int, error) {
	c.decode()
	return c.jsonCodec.Decode(b)
}

// A commit from elsewhere that was derived from a version without the index is
// derived once more.
func TestAnIndexThatComesDuringARebase(t *testing.T) {
	noDeadlock(t)
	c, db := newCounts().attach(t, cowtest.SinkOptions{}), new(cow.DB)
	var table *cow.Table[string, int]
	var x *cow.Index[string, int, int]
	decoded := 0
	table = cow.NewTable[string](db, "t", cow.Options[int]{Codec: hookedCodec{decode: func() {
		if decoded++; decoded > 1 {
			return
		}
		made := outcome(func() (err error) {
			x, err = cow.NewMultiIndex(table, "x", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{})
			return err
		})
		require.NoError(t, <-made)
	}}})
	cow.NewTable[string](db, "u", cow.Options[int]{Codec: jsonCodec[int]{}})
	sink := cowtest.Attach(t, db, cowtest.SinkOptions{Of: c.sink})
	require.NoError(t, sink.Rebase(c.elsewhere(t, setting("a", 7))...))
	require.Equal(t, 2, decoded)
	m := table.In(db.Load())
	row, ok := x.In(m).Get(7)
	require.True(t, ok)
	require.Equal(t, "a", row.Key())
}

func TestRetainWithOutstandingProposals(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{})
	first := c.begin(t, "a", 1)
	c.db.Retain(cow.Retention{Versions: 1})
	second := c.begin(t, "a", 2)
	third := c.begin(t, "a", 3)
	require.Zero(t, c.sink.Trimmed())
	c.sink.Ack(2)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.EqualValues(t, 1, c.sink.Trimmed())
	s, err := c.db.At(1)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 1}, collect(c.t.In(s)))
	_, err = c.db.At(3)
	require.ErrorIs(t, err, cow.ErrUnpublished)
	c.db.Retain(cow.Retention{})
	require.Equal(t, uint64(sink.NoPast), c.sink.Trimmed(), "whatever is published")
	c.sink.Ack(1)
	require.NoError(t, <-third)
	require.Equal(t, uint64(sink.NoPast), c.sink.Trimmed())
}

func TestFail(t *testing.T) {
	noDeadlock(t)
	blocked := make(chan struct{})
	var full atomic.Bool
	c := newCounts().attach(t, cowtest.SinkOptions{Room: func(ctx context.Context, _ int) error {
		if full.Load() {
			<-blocked
		}
		return nil
	}})
	acked := c.begin(t, "a", 1)
	c.sink.Ack(1)
	require.NoError(t, <-acked)
	first, second := c.begin(t, "a", 2), c.begin(t, "b", 2)
	pending := c.sink.Pending()
	looked := make(chan struct{})
	look := outcome(func() error {
		return c.db.Update(func(tx *cow.Tx) error { close(looked); return nil })
	})
	<-looked
	requireNone(t, look)
	c.sink.Fail(errTest)
	c.sink.Fail(errors.New("only the first counts"))
	for _, c := range []<-chan error{first, second, look} {
		require.ErrorIs(t, <-c, errTest)
	}
	require.True(t, pending[0].Void() && pending[1].Void())
	full.Store(true) // a line that has failed asks its sink for nothing
	require.ErrorIs(t, c.set("a", 3), errTest)
	require.Equal(t, map[string]int{"a": 1}, collect(c.t.In(c.db.Load())))
	require.NoError(t, c.index()) // which is no update
	close(blocked)
}

func TestClose(t *testing.T) {
	t.Run("what is not acknowledged fails", func(t *testing.T) {
		noDeadlock(t)
		closed := 0
		c := newCounts().attach(t, cowtest.SinkOptions{Close: func() error { closed++; return errTest }})
		first := c.begin(t, "a", 1)
		require.ErrorIs(t, c.db.Close(), errTest)
		require.ErrorIs(t, <-first, cow.ErrClosed)
		require.ErrorIs(t, c.db.Close(), errTest)
		require.ErrorIs(t, c.set("a", 1), cow.ErrClosed)
		require.Equal(t, 1, closed)
		require.Zero(t, c.db.Load().Version())
	})
	t.Run("what is acknowledged happens", func(t *testing.T) {
		noDeadlock(t)
		c := newCounts()
		c.attach(t, cowtest.SinkOptions{Close: func() error { c.sink.Ack(1); return nil }})
		first, second := c.begin(t, "a", 1), c.begin(t, "a", 2)
		require.NoError(t, c.db.Close())
		require.NoError(t, <-first)
		require.ErrorIs(t, <-second, cow.ErrClosed)
		require.Equal(t, 1, c.get("a"))
	})
	t.Run("what is left may have an error of its own", func(t *testing.T) {
		noDeadlock(t)
		c := newCounts()
		c.attach(t, cowtest.SinkOptions{Close: func() error { c.sink.Fail(cow.ErrUnknownOutcome); return nil }})
		first := c.begin(t, "a", 1)
		require.NoError(t, c.db.Close())
		require.ErrorIs(t, <-first, cow.ErrUnknownOutcome)
		require.ErrorIs(t, c.set("a", 1), cow.ErrClosed)
	})
	t.Run("what is left when it fails may have happened", func(t *testing.T) {
		noDeadlock(t)
		c := newCounts().attach(t, cowtest.SinkOptions{})
		first := c.begin(t, "a", 1)
		c.sink.Fail(sink.Undecided{Err: errTest})
		err := <-first
		require.ErrorIs(t, err, cow.ErrUnknownOutcome)
		require.ErrorIs(t, err, errTest)
		err = c.set("a", 1)
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	})
	t.Run("every call returns when the sink has let go, with its result", func(t *testing.T) {
		for _, result := range []error{nil, errTest} {
			synctest.Test(t, func(t *testing.T) {
				let, closed := make(chan struct{}), 0
				c := newCounts().attach(t, cowtest.SinkOptions{Close: func() error { closed++; <-let; return result }})
				results := make(chan error, 3)
				for range cap(results) {
					go func() { results <- c.db.Close() }()
				}
				synctest.Wait()
				require.Empty(t, results, "it has returned before the sink")
				close(let)
				for range cap(results) {
					require.Equal(t, result, <-results)
				}
				require.Equal(t, result, c.db.Close())
				require.Equal(t, 1, closed)
			})
		}
	})
	t.Run("a DB that has failed is closed once", func(t *testing.T) {
		for _, with := range []error{errTest, cow.ErrClosed} { // the latter of something else
			closed := 0
			c := newCounts().attach(t, cowtest.SinkOptions{Close: func() error { closed++; return nil }})
			c.sink.Fail(with)
			require.NoError(t, c.db.Close())
			require.NoError(t, c.db.Close())
			require.Equal(t, 1, closed)
			require.ErrorIs(t, c.set("a", 1), with)
		}
	})
	t.Run("a sink that is closed is left alone", func(t *testing.T) {
		var closed atomic.Bool
		c := newCounts().attach(t, cowtest.SinkOptions{
			Close: func() error { closed.Store(true); return nil },
			Room: func(context.Context, int) error {
				if closed.Load() {
					t.Error("Room after Close")
				}
				return nil
			},
		})
		first := c.begin(t, "a", 1)
		c.sink.Ack(1)
		require.NoError(t, <-first)
		c.db.Retain(cow.Retention{Versions: 10})
		require.NoError(t, c.db.Close())
		trimmed := c.sink.Trimmed()
		require.ErrorIs(t, c.set("a", 1), cow.ErrClosed)
		c.db.Retain(cow.Retention{})
		require.Equal(t, trimmed, c.sink.Trimmed(), "Trim after Close")
	})
	t.Run("in an update", func(t *testing.T) {
		noDeadlock(t)
		c := newCounts().attach(t, cowtest.SinkOptions{})
		require.ErrorIs(t, c.db.Update(func(tx *cow.Tx) error {
			c.t.Edit(tx).Set("a", 1)
			return c.db.Close()
		}), cow.ErrClosed)
	})
}

func TestASinkThatPanicsWhenClosed(t *testing.T) {
	noDeadlock(t)
	c := newCounts().attach(t, cowtest.SinkOptions{Close: func() error { panic("boom") }})
	first := c.begin(t, "a", 1)
	require.Equal(t, "boom", panicOf(func() { _ = c.db.Close() }))
	require.ErrorIs(t, <-first, cow.ErrClosed)
	require.ErrorContains(t, c.db.Close(), "panicked", "it did not end as it should")
}

// A sink that sends what is not void sends nothing whose ground has gone.
func TestWhatIsNotVoidIsWithoutAGap(t *testing.T) {
	noDeadlock(t)
	const n = 200
	c := newCounts().attach(t, cowtest.SinkOptions{})
	var updates []<-chan error
	for i := range n {
		updates = append(updates, c.begin(t, fmt.Sprint(i), 1))
	}
	for range 20 {
		pending, err := c.sink.Await(t.Context(), n)
		require.NoError(t, err)
		gaps := make(chan int, 1)
		looking := make(chan struct{})
		go func() {
			close(looking)
			for !pending[0].Void() || !pending[n-1].Void() {
				if !pending[0].Void() {
					continue
				}
				left := 0
				for _, p := range pending {
					if !p.Void() {
						left++
					}
				}
				if left > 0 {
					gaps <- left
					return
				}
			}
			gaps <- 0
		}()
		<-looking
		require.NoError(t, c.sink.Rebase())
		require.Zero(t, <-gaps, "proposals that are not void follow one that is")
	}
	_, err := c.sink.Await(t.Context(), n)
	require.NoError(t, err)
	c.sink.Ack(n)
	for _, err := range updates {
		require.NoError(t, <-err)
	}
}
