//go:build linux

package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A secret is text that is nowhere else.
const secret = "xyzzy-the-secret"

func fileHas(t *testing.T, path, text string) bool {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return bytes.Contains(b, []byte(text))
}

// After Compact no byte of the file is of what was erased, while all else keeps its past: in the
// tables, the log, pins, and what the last transaction has replaced.
func TestErasedIsGoneFromTheFile(t *testing.T) {
	for _, retain := range []cow.Retention{{}, {Versions: 20}, forever} {
		for _, o := range []bolt.Options{{}, {Sync: bolt.Every(time.Millisecond)}} {
			path := temp(t)
			s := open(t, path, o, retain)
			for i := range 400 {
				require.NoError(t, s.add([]string{"k", "a", "b"}[i%3], i, fmt.Sprint(secret, i)[:len(secret)*(1-min(i%3, 1))]))
				if i%100 == 50 {
					require.NoError(t, s.db.Pin(fmt.Sprint(i), s.db.Load().Version()))
				}
			}
			oldest := oldestOf(&s.db)
			_, err := s.db.Erase(context.Background(), func(tx *cow.Tx) error { s.jobs.Erase(tx, "k"); return nil })
			require.NoError(t, err)
			want := map[uint64]contents{}
			for v := range s.db.Versions() {
				at, err := s.db.At(v)
				require.NoError(t, err)
				want[v] = s.at(at)
				require.NotContains(t, want[v].jobs, "k")
			}
			require.NoError(t, s.db.Close())
			info, err := bolt.Check(path)
			require.NoError(t, err)
			require.True(t, info.Erased)

			s = open(t, path, o, retain)
			require.LessOrEqual(t, oldestOf(&s.db), oldest+1)
			for v := range s.db.Versions() {
				at, err := s.db.At(v)
				require.NoError(t, err)
				require.Equal(t, want[v], s.at(at), "version %d", v)
			}
			for name, at := range s.db.Pins() {
				require.NotContains(t, s.at(at).jobs, "k", name)
				require.Len(t, s.at(at).jobs, 2)
			}
			require.NoError(t, s.db.Close())
			require.NoError(t, bolt.Compact(path))
			require.False(t, fileHas(t, path, secret))
			info, err = bolt.Check(path)
			require.NoError(t, err)
			require.False(t, info.Erased)
			require.Len(t, info.Pins, 4)
		}
	}
}

// What is erased in one transaction with commits that are not on disk yet is not on disk.
func TestErasedBeforeItIsOnDisk(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	release := bolt.Pause(s.file)
	done := make(chan error, 3)
	for i := range 2 {
		go func() { done <- s.add(fmt.Sprint("k", i), i, []string{"written", secret}[i]) }()
		require.Eventually(t, func() bool { return bolt.Waiting(s.file) == i+1 }, time.Minute, time.Millisecond)
	}
	go func() {
		_, err := s.db.Erase(context.Background(), func(tx *cow.Tx) error {
			s.jobs.Erase(tx, "k0")
			s.jobs.Erase(tx, "k1")
			return nil
		})
		done <- err
	}()
	require.Eventually(t, func() bool { return bolt.Waiting(s.file) == 3 }, time.Minute, time.Millisecond)
	release()
	for range 3 {
		require.NoError(t, <-done)
	}
	require.NoError(t, s.db.Close())
	require.False(t, fileHas(t, path, secret))
	s = open(t, path, bolt.Options{}, forever)
	require.EqualValues(t, 3, s.db.Load().Version())
	for v := range s.db.Versions() {
		at, err := s.db.At(v)
		require.NoError(t, err)
		require.Empty(t, s.at(at).jobs)
	}
}

// eraseChild writes many versions of a key, erases it, and begins again.
func eraseChild(path string) {
	s := newShop()
	s.db.Retain(forever)
	if err := s.open(path, bolt.Options{Sync: bolt.Every(20 * time.Millisecond)}); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	for round := 0; ; round++ {
		for i := range 200 {
			if err := s.add([]string{"k", "a"}[i%2], i, strings.Repeat(secret, 4)); err != nil {
				fmt.Println("error", err)
			}
		}
		_, err := s.db.Erase(context.Background(), func(tx *cow.Tx) error { s.jobs.Erase(tx, "k"); return nil })
		if err != nil {
			fmt.Println("error", err)
		}
	}
}

// Killed at any point, all of it is done or nothing: where a version has erased a key, none before
// has it, and where none has, all of those before have it that had.
func TestKilledWhileErasing(t *testing.T) {
	for round := range times(5, 60) {
		path := temp(t)
		runChild(t, "erase "+path, time.Duration(60+37*round%400)*time.Millisecond)
		s := open(t, path, bolt.Options{}, forever)
		erased := uint64(0)
		for c, err := range s.db.Commits(0) {
			require.NoError(t, err)
			for change := range s.jobs.Rows(c) {
				if change.Kind == cow.Erased {
					erased = c.Version()
				}
			}
		}
		for v := range s.db.Versions() {
			at, err := s.db.At(v)
			require.NoError(t, err)
			require.Equal(t, v > erased, s.jobs.In(at).Has("k"), "version %d, erased in %d", v, erased)
			require.Equal(t, v >= 2, s.jobs.In(at).Has("a"))
		}
		require.NoError(t, s.db.Close())
		_, err := bolt.Check(path)
		require.NoError(t, err)
	}
}
