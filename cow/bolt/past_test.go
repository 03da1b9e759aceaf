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
	for i := range 200 {
		require.NoError(t, s.add(fmt.Sprint(i%7), i, "x"))
	}
	s.db.Retain(cow.Retention{})
	for i := range 6 {
		require.NoError(t, s.add(fmt.Sprint(i), -i, "y"))
		want, v := s.now(), s.db.Load().Version()
		require.NoError(t, s.db.Close())
		info, err := bolt.Check(path)
		require.NoError(t, err)
		require.Equal(t, v, info.Version)
		require.LessOrEqual(t, info.Oldest, v)
		s = open(t, path, bolt.Options{}, forever) // which keeps what is left
		require.Equal(t, want, s.now())
		s.db.Retain(cow.Retention{})
	}
	info, err := bolt.Check(path)
	require.ErrorIs(t, err, bolt.ErrLocked)
	require.Nil(t, info)
	require.NoError(t, s.db.Close())
	info, err = bolt.Check(path)
	require.NoError(t, err)
	require.Equal(t, info.Version, info.Oldest)
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
