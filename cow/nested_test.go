package cow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// deep calls f below n frames.
//
//go:noinline
func deep(n int, f func()) {
	if n > 0 {
		deep(n-1, f)
		return
	}
	f()
}

// The depth of the stack makes no difference, above the update or below it.
func TestAnUpdateInsideAnUpdateIsSeenAtAnyDepth(t *testing.T) {
	noDeadlock(t)
	for _, above := range []int{0, 45, 60, 500, 20_000} {
		for _, below := range []int{0, 45, 60, 500, 20_000} {
			t.Run(fmt.Sprint(above, " above, ", below, " below"), func(t *testing.T) {
				forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
					deep(above, func() {
						s.do(t, func(*cow.Editor[string, int]) {
							deep(below, func() { requireNested(t, "an update", func() { s.set(t, "a", 1) }) })
						})
					})
					s.set(t, "a", 2)
					s.requireContent(t, 1, map[string]int{"a": 2})
				})
			})
		}
	}
}

// busy runs f while an update of another goroutine is running, which goes on for a
// little while.
func busy(t *testing.T, s subject[int], f func()) {
	t.Helper()
	in, out := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(out)
		_ = s.update(func(*cow.Editor[string, int]) error {
			close(in)
			time.Sleep(soon / 4)
			return nil
		})
	}()
	<-in
	f()
	<-out
}

// The frames of an update that has ended are still there while deferred functions
// run. They count for nothing.
func TestADeferredUpdateAfterAnUpdateThatPanicked(t *testing.T) {
	after := map[string]func(t *testing.T, s subject[int]){
		"update": func(t *testing.T, s subject[int]) { s.set(t, "failed", 1) },
		"update while another is running": func(t *testing.T, s subject[int]) {
			busy(t, s, func() { s.set(t, "failed", 1) })
		},
		"Wait": func(t *testing.T, s subject[int]) {
			ctx, end := context.WithTimeout(t.Context(), soon/4)
			defer end()
			_, err := s.wait(ctx, s.version())
			require.ErrorIs(t, err, context.DeadlineExceeded)
			s.set(t, "failed", 1)
		},
		"update inside an update": func(t *testing.T, s subject[int]) {
			s.do(t, func(e *cow.Editor[string, int]) {
				e.Set("failed", 1)
				requireNested(t, "an update", func() { s.set(t, "a", 1) })
			})
		},
	}
	ends := map[string]func(t *testing.T, update func(f func()), after func()){
		"panic, recovered": func(t *testing.T, update func(f func()), after func()) {
			defer after()
			defer func() { require.Equal(t, "boom", recover()) }()
			update(func() { panic("boom") })
		},
		"panic, recovered first": func(t *testing.T, update func(f func()), after func()) {
			defer func() { require.Equal(t, "boom", recover()); after() }()
			update(func() { panic("boom") })
		},
		"panic, recovered later": func(t *testing.T, update func(f func()), after func()) {
			defer func() { require.Equal(t, "boom", recover()) }()
			defer after()
			update(func() { panic("boom") })
		},
		"panic of a deferred function": func(t *testing.T, update func(f func()), after func()) {
			defer func() { require.Equal(t, "again", recover()); after() }()
			update(func() {
				defer func() { panic("again") }()
				panic("boom")
			})
		},
		"Goexit": func(t *testing.T, update func(f func()), after func()) {
			exits(func() {
				defer after()
				update(runtime.Goexit)
			})
		},
	}
	for name, after := range after {
		for end, run := range ends {
			t.Run(name+" after "+end, func(t *testing.T) {
				forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
					noDeadlock(t)
					for range 3 { // dead frames of several updates, and of 40 lines
						run(t, func(f func()) {
							_ = s.update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); f(); return nil })
						}, func() { after(t, s) })
					}
					s.requireContent(t, 3, map[string]int{"failed": 1})
				})
			})
		}
	}
}

// A deferred function of the update itself still runs inside it.
func TestADeferredUpdateInsideAnUpdateThatPanicsIsInsideIt(t *testing.T) {
	noDeadlock(t)
	s := aloneSubject(cow.Options[int]{})
	require.Equal(t, "boom", panicOf(func() {
		_ = s.update(func(*cow.Editor[string, int]) error {
			defer func() { requireNested(t, "an update", func() { s.set(t, "a", 1) }) }()
			panic("boom")
		})
	}))
	s.set(t, "a", 1)
}

func TestDeferredUpdatesUnderContention(t *testing.T) {
	s := aloneSubject(cow.Options[int]{})
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.set(t, "other", 1)
				}
			}
		})
	}
	for i := range 500 {
		func() {
			defer func() {
				require.Equal(t, "boom", recover())
				s.set(t, "failed", i)
			}()
			_ = s.update(func(*cow.Editor[string, int]) error { panic("boom") })
		}()
	}
	close(stop)
	others.Wait()
	v, _ := s.load().Get("failed")
	require.Equal(t, 499, v)
}

// What an update saw of itself before it failed is nothing that a later one wrote.
func TestARevisionThatWasNeverPublishedMatchesNothing(t *testing.T) {
	boom := errors.New("boom")
	s := cow.NewOne[string](cow.Options[string]{})
	x := cow.NewOrder(s.Table, "order")
	s.Set("k", "1")
	var seen []uint64
	require.ErrorIs(t, s.Update(func(e *cow.Editor[string, string]) error {
		e.Set("k", "2")
		seen = append(seen, e.Revision("k"))
		row, _ := x.During(e).Get("k")
		seen = append(seen, row.Revision())
		for _, row := range x.During(e).All() {
			seen = append(seen, row.Revision())
		}
		require.Equal(t, uint64(2), e.Version())
		require.ErrorIs(t, e.SetIf("k", e.Revision("k"), "3"), cow.ErrRevision)
		return boom
	}), boom)
	require.Len(t, seen, 3)
	s.Set("k", "3")
	require.Equal(t, uint64(2), s.Load().Revision("k"))
	for _, rev := range seen {
		require.ErrorIs(t, errOf(s.SetIf("k", rev, "99")), cow.ErrRevision)
		require.ErrorIs(t, errOf(s.DeleteIf("k", rev)), cow.ErrRevision)
	}
	require.NoError(t, errOf(s.SetIf("k", 2, "4")))
}
