package bolt_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// together calls f in n goroutines and waits for them.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func TestManyWriters(t *testing.T) {
	for _, mode := range []bolt.Sync{bolt.Always, bolt.Every(5 * time.Millisecond)} {
		path := temp(t)
		s := open(t, path, bolt.Options{Sync: mode, Queue: 5}, forever)
		const writers, each = 16, 20
		together(writers, func(w int) {
			for i := range each {
				if err := s.add(fmt.Sprint(w), w*i, "x"); err != nil {
					t.Error(err)
				}
			}
		})
		require.EqualValues(t, writers*each, s.db.Load().Version())
		want := s.now()
		require.NoError(t, s.db.Close())
		s = open(t, path, bolt.Options{}, forever)
		require.Equal(t, want, s.now())
		require.False(t, s.file.Renewed())
	}
}

// A file that Every left without a Close begins a new lineage, and only then.
func TestAnUncleanEndBeginsANewLineage(t *testing.T) {
	path := temp(t)
	for _, test := range []struct {
		sync    bolt.Sync
		renewed bool
	}{{bolt.Always, false}, {bolt.Every(time.Nanosecond), true}, {bolt.Always, false}} {
		s := open(t, path, bolt.Options{Sync: test.sync}, forever)
		lineage, cursor := s.db.Lineage().ID, s.db.Cursor(0)
		require.NoError(t, s.add("a", 1))
		crashed := path + "crashed"
		until := time.Now().Add(time.Minute)
		for { // until the row is on disk, which Every does not wait for
			copyFile(t, path, crashed)
			if info, err := bolt.Check(crashed); err == nil && info.Version == s.db.Load().Version() {
				require.Equal(t, test.renewed, info.Renews)
				break
			}
			require.True(t, time.Now().Before(until))
		}
		require.NoError(t, s.db.Close())

		for range 2 {
			s = open(t, crashed, bolt.Options{}, forever)
			require.Equal(t, test.renewed, s.file.Renewed())
			require.Equal(t, test.renewed, s.db.Lineage().ID != lineage)
			_, err := s.db.At(0)
			require.NoError(t, err)
			for _, err := range s.db.Resume(t.Context(), cursor) {
				if test.renewed {
					require.ErrorIs(t, err, cow.ErrLineage)
				}
				require.Equal(t, test.renewed, err != nil)
				break
			}
			lineage, cursor, test.renewed = s.db.Lineage().ID, s.db.Cursor(0), false
			require.NoError(t, s.db.Close())
		}
		s = open(t, path, bolt.Options{}, forever)
		require.False(t, s.file.Renewed(), "it was closed")
		require.NoError(t, s.db.Close())
	}
}

func TestEveryAcknowledgesBeforeItIsOnDisk(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{Sync: bolt.Every(time.Hour)})
	require.NoError(t, s.add("a", 1))
	copyFile(t, path, path+"crashed")
	info, err := bolt.Check(path + "crashed")
	require.NoError(t, err)
	require.Zero(t, info.Version)
	require.NoError(t, s.db.Close())
	info, err = bolt.Check(path)
	require.NoError(t, err)
	require.EqualValues(t, 1, info.Version)
	require.Panics(t, func() { bolt.Every(0) })
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, mode := range []bolt.Sync{bolt.Always, bolt.Every(time.Hour)} {
		path := temp(t)
		s := open(t, path, bolt.Options{Sync: mode})
		var wrong []error
		var mu sync.Mutex
		last := make([]int, 8)
		var writers sync.WaitGroup
		for w := range last {
			writers.Go(func() {
				for i := 1; ; i++ {
					if err := s.add(fmt.Sprint(w), i); err != nil {
						mu.Lock()
						wrong = append(wrong, err)
						mu.Unlock()
						return
					}
					last[w] = i
				}
			})
		}
		for s.db.Load().Version() < 20 {
			_, err := s.db.Wait(t.Context(), s.db.Load().Version())
			require.NoError(t, err)
		}
		require.NoError(t, s.db.Close())
		writers.Wait()
		for _, err := range wrong {
			require.ErrorIs(t, err, cow.ErrClosed)
		}
		require.ErrorIs(t, s.add("late", 1), cow.ErrClosed)
		require.NoError(t, s.db.Close())
		want := s.now()
		require.Equal(t, want, open(t, path, bolt.Options{}).now())
		for w, n := range last {
			require.Equal(t, n, want.jobs[fmt.Sprint(w)].N)
		}
	}
	requireGoroutines(t, before+2) // those of the shops that are open
}

// Whoever closes a DB may use its file when Close has returned, whoever else closes it.
func TestCloseIsDoneWhenItReturns(t *testing.T) {
	for range times(30, 300) {
		path := temp(t)
		s := open(t, path, bolt.Options{})
		require.NoError(t, s.add("a", 1))
		together(3, func(int) {
			if err := s.db.Close(); err != nil {
				t.Error(err)
			}
			if _, err := bolt.Check(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// requireGoroutines requires that no more than n goroutines are left.
func requireGoroutines(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > n; {
		if time.Now().After(end) {
			b := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", b[:runtime.Stack(b, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// A full queue makes updates wait, but not beyond the end of their contexts.
func TestRoomIsBoundedAndHonoursContexts(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{Queue: 1})
	release := bolt.Pause(s.file)
	first := make(chan error, 1)
	go func() { first <- s.add("a", 1) }()
	for bolt.Queued(s.file) == 0 {
		runtime.Gosched()
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errTest)
	defer stop()
	err := s.db.UpdateContext(ctx, func(*cow.Tx) error { t.Error("it was called without room"); return nil })
	require.ErrorIs(t, err, errTest)
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	third := make(chan error, 1)
	go func() { third <- s.add("b", 1) }()
	release()
	require.NoError(t, <-first)
	require.NoError(t, <-third)
}
