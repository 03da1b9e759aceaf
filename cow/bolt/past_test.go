package bolt_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

func TestThePastSurvives(t *testing.T) {
	path := temp(t)
	states := map[uint64]contents{}
	times := map[uint64]time.Time{}
	for round := range 4 {
		s := open(t, path, bolt.Options{}, forever)
		for v, want := range states {
			at, err := s.db.At(v)
			require.NoError(t, err)
			require.Equal(t, want, s.at(at))
		}
		n := 0
		for v, at := range s.db.Versions() {
			n++
			if want, ok := times[v]; ok {
				require.True(t, at.Equal(want), "version %d: %v and not %v", v, at, want)
				as, err := s.db.AsOf(want.Round(0))
				require.NoError(t, err)
				require.Equal(t, v, as.Version())
			}
		}
		require.Equal(t, round*10+1, n)
		for i := range 10 {
			require.NoError(t, s.add(fmt.Sprint(i%4), round+i, "x"))
			states[s.db.Load().Version()] = s.now()
		}
		for v, at := range s.db.Versions() {
			if v > 0 {
				times[v] = at
			}
		}
		require.NoError(t, s.db.Close())
	}
}

func TestAFeedGoesOnAfterARestart(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	cursor := s.db.Cursor(0) // of a new file
	next := uint64(1)
	for range 4 {
		for i := range 5 {
			require.NoError(t, s.add("a", i))
		}
		require.NoError(t, s.db.Close())
		s = open(t, path, bolt.Options{}, forever)
		n := 0
		for c, err := range s.db.Resume(t.Context(), cursor) {
			require.NoError(t, err)
			require.Equal(t, next, c.Version())
			for change := range s.jobs.Rows(c) {
				is, ok := change.New()
				require.True(t, ok)
				require.Equal(t, int(next-1)%5, is.N)
			}
			next, cursor = next+1, c.Cursor()
			if n++; n == 5 {
				break
			}
		}
	}
	require.NoError(t, s.db.Close())

	s = open(t, filepath.Join(t.TempDir(), "other"), bolt.Options{}, forever)
	for _, err := range s.db.Resume(t.Context(), cursor) {
		require.ErrorIs(t, err, cow.ErrLineage)
	}
}

// What the DB no longer keeps goes out of the file, and no more than that.
func TestThePastIsTrimmed(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, cow.Retention{Versions: 16})
	for i := range 300 {
		require.NoError(t, s.add(fmt.Sprint(i%7), i, "x"))
	}
	want := s.now()
	require.NoError(t, s.db.Close())

	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.EqualValues(t, 300, info.Version)
	require.LessOrEqual(t, info.Oldest, uint64(284))
	require.Greater(t, info.Oldest, uint64(280))

	s = open(t, path, bolt.Options{}, forever)
	require.Equal(t, want, s.now())
	_, err = s.db.At(info.Oldest)
	require.NoError(t, err)
	_, err = s.db.At(info.Oldest - 1)
	require.ErrorIs(t, err, cow.ErrCompacted)
	s.db.Retain(cow.Retention{})
	require.NoError(t, s.add("last", 1))
	require.NoError(t, s.add("last", 2)) // the first may still have found the past there
	want = s.now()
	require.NoError(t, s.db.Close())
	info, err = bolt.Check(path)
	require.NoError(t, err)
	require.EqualValues(t, 302, info.Oldest)

	s = open(t, path, bolt.Options{})
	require.Equal(t, want, s.now())
}

// A log that is too long for one transaction is folded in steps, and commits are not
// applied before those that are older.
func TestALongPastIsForgottenInSteps(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	together(16, func(w int) {
		for i := range 40 {
			if err := s.add(fmt.Sprint(i%7), w+i, "x"); err != nil {
				t.Error(err)
			}
		}
	})
	s.db.Retain(cow.Retention{})
	last := uint64(0)
	for i := range 6 {
		require.NoError(t, s.add(fmt.Sprint(i), -i, "y"))
		copied := fmt.Sprint(path, i)
		copyFile(t, path, copied)
		info, err := bolt.Check(copied)
		require.NoError(t, err)
		require.Equal(t, s.db.Load().Version(), info.Version)
		require.LessOrEqual(t, info.Oldest, last+256)
		require.True(t, info.Oldest > last || i == 0 || last > 640)
		last = info.Oldest
		require.Equal(t, s.now(), open(t, copied, bolt.Options{}, forever).now())
	}
	require.Equal(t, s.db.Load().Version(), last)
	info, err := bolt.Check(path)
	require.ErrorIs(t, err, bolt.ErrLocked)
	require.Nil(t, info)
}

// Commits that need not be kept are taken out of the log together, and at last by Close.
func TestThePastIsTrimmedTogether(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, cow.Retention{Versions: 10})
	oldest := func(path string) uint64 {
		info, err := bolt.Check(path)
		require.NoError(t, err)
		return info.Oldest
	}
	for i := range 330 {
		require.NoError(t, s.add(fmt.Sprint(i%7), i, "x"))
		if i == 250 || i == 329 {
			copyFile(t, path, path+"copy")
			require.EqualValues(t, i/256*256, oldest(path+"copy"))
		}
	}
	require.NoError(t, s.db.Close())
	require.EqualValues(t, 320, oldest(path))
}

// Watches and waits of the process go on over what is written.
func TestAFeedWhileItIsWritten(t *testing.T) {
	s := open(t, temp(t), bolt.Options{Sync: bolt.Every(time.Millisecond)}, forever)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	const n = 200
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if err := s.add("a", i); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	next := uint64(1)
	for c, err := range s.db.Changes(ctx, 0) {
		require.NoError(t, err)
		require.Equal(t, next, c.Version())
		if next++; next > n {
			break
		}
	}
	require.NoError(t, <-done)
}

// What a DB forgets goes from its file when it is closed, even if nothing else was written.
func TestThePastIsTrimmedWithoutAWrite(t *testing.T) {
	for _, forget := range []func(t *testing.T, s *shop){
		func(t *testing.T, s *shop) { require.NoError(t, s.db.Compact(s.db.Load().Version())) },
		func(_ *testing.T, s *shop) { s.db.Retain(cow.Retention{}) },
	} {
		path := temp(t)
		s := open(t, path, bolt.Options{}, forever)
		for i := range 300 {
			require.NoError(t, s.add("k", i))
		}
		want := s.now()
		require.NoError(t, s.db.Close())
		s = open(t, path, bolt.Options{}, forever)
		require.NoError(t, s.db.Close())
		info, err := bolt.Check(path)
		require.NoError(t, err)
		require.EqualValues(t, 300, info.Commits, "it is as it was")

		s = open(t, path, bolt.Options{}, forever)
		forget(t, s)
		require.NoError(t, s.db.Close())
		info, err = bolt.Check(path)
		require.NoError(t, err)
		require.Zero(t, info.Commits)
		require.EqualValues(t, 300, info.Oldest)
		s = open(t, path, bolt.Options{})
		require.Equal(t, want, s.now())
		require.NoError(t, s.db.Close())
	}
}
