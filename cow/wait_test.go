package cow_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// In a synctest bubble, "blocked" is a fact: synctest.Wait returns when every
// goroutine is, and a bubble that leaves one behind fails.

// waiter is a Wait in a goroutine of its own.
type waiter struct {
	done    atomic.Bool
	version uint64
	err     error
}

func startWait(ctx context.Context, s subject[int], after uint64) *waiter {
	w := new(waiter)
	go func() {
		w.version, w.err = s.wait(ctx, after)
		w.done.Store(true)
	}()
	return w
}

// bubbles runs f in a bubble, for a table alone in its DB and for one beside another.
func bubbles(t *testing.T, f func(t *testing.T, s subject[int])) {
	t.Run("alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, aloneSubject(cow.Options[int]{})) })
	})
	t.Run("DB", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, tableSubject(cow.Options[int]{})) })
	})
}

func TestWaitEndsWhenThereIsAVersionAbove(t *testing.T) {
	bubbles(t, func(t *testing.T, s subject[int]) {
		const n = 100
		var waiters []*waiter
		for version := 1; version <= n; version++ {
			for range 3 {
				waiters = append(waiters, startWait(t.Context(), s, uint64(version-1)))
			}
			synctest.Wait()
			for i, w := range waiters {
				require.Equal(t, i/3 < version-1, w.done.Load(), "after %d, at version %d", i/3, version-1)
			}
			_, err := s.wait(t.Context(), uint64(version))
			require.ErrorIs(t, err, cow.ErrUnpublished, "nobody waits for what may never come")
			s.set(t, "a", version)
		}
		synctest.Wait()
		for i, w := range waiters {
			require.True(t, w.done.Load())
			require.NoError(t, w.err)
			require.Equal(t, uint64(i/3+1), w.version, "the snapshot that there was")
		}
	})
}

func TestWaitSleepsThroughUpdatesThatPublishNothing(t *testing.T) {
	bubbles(t, func(t *testing.T, s subject[int]) {
		w := startWait(t.Context(), s, 0)
		synctest.Wait()
		s.do(t, func(e *cow.Editor[string, int]) { e.Set("a", 1); e.Delete("a") })
		for ending := range endings {
			fails(t, s, ending, func(e *cow.Editor[string, int]) { e.Set("a", 1) })
		}
		synctest.Wait()
		require.False(t, w.done.Load())
		s.set(t, "a", 1)
		synctest.Wait()
		require.True(t, w.done.Load())
		require.Equal(t, uint64(1), w.version)
	})
}

func TestWaitForAVersionThatIsThereReturnsAtOnce(t *testing.T) {
	bubbles(t, func(t *testing.T, s subject[int]) {
		s.set(t, "a", 1)
		s.set(t, "a", 2)
		for after := range uint64(2) {
			version, err := s.wait(t.Context(), after)
			require.NoError(t, err)
			require.Equal(t, uint64(2), version)
		}
		// Even if there would be no time to wait.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		version, err := s.wait(ctx, 1)
		require.NoError(t, err)
		require.Equal(t, uint64(2), version)
	})
}

func TestWaitReturnsTheCauseOfItsContext(t *testing.T) {
	bubbles(t, func(t *testing.T, s subject[int]) {
		s.set(t, "a", 1)
		canceled, cancel := context.WithCancelCause(t.Context())
		w := startWait(canceled, s, 1)
		other := startWait(t.Context(), s, 1)
		synctest.Wait()
		require.False(t, w.done.Load())
		cancel(errTest)
		synctest.Wait()
		require.True(t, w.done.Load())
		require.Same(t, errTest, w.err)
		require.Zero(t, w.version, "no snapshot")
		require.False(t, other.done.Load())

		_, err := s.wait(canceled, 1)
		require.Same(t, errTest, err)

		begin := time.Now()
		timeout, cancelTimeout := context.WithTimeout(t.Context(), time.Hour)
		defer cancelTimeout()
		_, err = s.wait(timeout, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Hour, time.Since(begin))

		s.set(t, "a", 2)
		synctest.Wait()
		require.True(t, other.done.Load())
		require.NoError(t, other.err)
	})
}

func TestWaitReturnsTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[int]{})
		var db cow.DB
		table := cow.NewTable[string](&db, "t", cow.Options[int]{})
		time.AfterFunc(time.Second, func() { s.Set("a", 1) })
		m, err := s.Wait(t.Context(), 0)
		require.NoError(t, err)
		require.Same(t, s.Load(), m)
		v, _ := m.Get("a")
		require.Equal(t, 1, v)
		time.AfterFunc(time.Second, func() {
			_ = db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 2); return nil })
		})
		snap, err := db.Wait(t.Context(), 0)
		require.NoError(t, err)
		require.Same(t, db.Load(), snap)
		v, _ = table.In(snap).Get("a")
		require.Equal(t, 2, v)

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errTest)
		m, err = s.Wait(ctx, 1)
		require.Nil(t, m)
		require.Same(t, errTest, err)
		snap, err = db.Wait(ctx, 1)
		require.Nil(t, snap)
		require.Same(t, errTest, err)
	})
}

func TestWaitStartsNoGoroutine(t *testing.T) {
	bubbles(t, func(t *testing.T, s subject[int]) {
		before := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(t.Context())
		const n = 50
		for range n {
			startWait(ctx, s, 0)
		}
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), before+n)
		cancel() // the bubble sees that none is left
	})
}

// Each version is published when the last waiter has just seen the one before,
// while others are about to wait. A wake-up that is lost is a deadlock.
func TestNoWakeUpIsLost(t *testing.T) {
	noDeadlock(t)
	rounds := uint64(20_000)
	if raceEnabled {
		rounds = uint64(inShort(800, 3000))
	}
	for _, waiters := range []int{1, 2, 7} {
		if t.Failed() {
			return
		}
		forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
			var seen atomic.Uint64 // the sum over waiters
			var all sync.WaitGroup
			defer all.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range waiters {
				all.Go(func() {
					for v := uint64(0); v < rounds && ctx.Err() == nil; v++ {
						got, err := s.wait(ctx, v)
						if err == nil && got != v+1 {
							t.Errorf("after %d: %d", v, got)
						}
						seen.Add(1)
					}
				})
			}
			for v := range rounds + 1 {
				for seen.Load() < v*uint64(waiters) { // for ever if a wake-up was lost
					runtime.Gosched()
				}
				if v < rounds {
					s.set(t, "a", 1)
				}
			}
		})
	}
}

func TestWaitersComeAndGo(t *testing.T) {
	noDeadlock(t)
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		rounds := 300
		together(8, func(i int) {
			for range rounds {
				if i == 0 {
					if err := s.update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); return nil }); err != nil {
						t.Error(err)
					}
					runtime.Gosched()
					continue
				}
				after := s.version()
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*10*time.Microsecond)
				version, err := s.wait(ctx, after)
				cancel()
				if err == nil && version <= after || err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %d: %d, %v", after, version, err)
				}
			}
		})
	})
}

// It panics as well when another goroutine begins to wait at the same moment.
func TestAWaitInsideAnUpdatePanicsAmongOthers(t *testing.T) {
	noDeadlock(t)
	for range inShort(800, 4000) {
		s := cow.NewOne[string](cow.Options[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		var ready atomic.Int32
		together := func() {
			for ready.Add(1); ready.Load() < 2; {
				runtime.Gosched()
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			together()
			_, _ = s.Wait(ctx, 0)
		}()
		require.NoError(t, s.Update(func(*cow.Editor[string, int]) error {
			together()
			requireNested(t, "a Wait", func() { _, _ = s.Wait(ctx, 0) })
			return nil
		}))
		cancel()
		<-done
	}
}
