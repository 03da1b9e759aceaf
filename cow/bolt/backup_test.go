package bolt_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A backup that stands still holds up no write, however much the file grows, nor makes it
// grow; and has what the file had when it began, though every page is written over.
func TestABackupThatStandsStill(t *testing.T) {
	for _, retain := range []cow.Retention{{}, {Versions: 20}} {
		path := temp(t)
		s := open(t, path, bolt.Options{}, retain)
		write := func(n, size int) {
			for range n {
				require.NoError(t, s.add(fmt.Sprint(rand.IntN(40)), rand.IntN(1000), strings.Repeat("x", rand.IntN(size))))
			}
		}
		write(300, 5000)
		want, wanted := s.now(), s.db.Load().Version()
		var runs []func() error
		var copies []*os.File
		for range 2 {
			f, err := os.Create(temp(t))
			require.NoError(t, err)
			defer f.Close()
			run, err := bolt.CopyTo(s.file, f)
			require.NoError(t, err)
			runs, copies = append(runs, run), append(copies, f)
		}
		before, err := os.Stat(path)
		require.NoError(t, err)
		write(600, 5000)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), 2*before.Size(), "what is replaced is not used again")
		write(5, times(2, 8)<<20) // it is mapped anew, more than once
		for i, run := range runs {
			require.NoError(t, run())
			b, err := os.ReadFile(copies[i].Name())
			require.NoError(t, err)
			version, _, err := bolt.Scan(b)
			require.NoError(t, err)
			require.Equal(t, wanted, version)
			is := open(t, copies[i].Name(), bolt.Options{}, retain)
			require.Equal(t, want, is.now())
			require.NoError(t, is.add("more", 1))
			require.NoError(t, is.db.Close())
			_, err = bolt.Check(copies[i].Name())
			require.NoError(t, err)
		}
		require.NoError(t, s.db.Close())
		_, err = bolt.Check(path)
		require.NoError(t, err)
	}
}

// A backup that is made while others write over what it copies is of one version.
func TestBackupFileWhileWritesGoOn(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	done, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.add(fmt.Sprint(i%50), i, strings.Repeat("x", i%7*2000)); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 5 {
		before := s.db.Load().Version()
		at := temp(t)
		version, err := s.file.BackupFile(at)
		require.NoError(t, err)
		require.GreaterOrEqual(t, version, before)
		requireAlone(t, at)
		is := open(t, at, bolt.Options{}, forever)
		require.Equal(t, version, is.db.Load().Version())
		// What is in the file may be about to be published.
		require.Eventually(t, func() bool { return s.db.Load().Version() >= version }, time.Minute, time.Millisecond)
		was, err := s.db.At(version)
		require.NoError(t, err)
		require.Equal(t, s.at(was), is.now())
		require.True(t, is.file.Renewed())
	}
	close(stop)
	<-done
}

// A backup that fails leaves nothing, and harms nothing.
func TestABackupThatFails(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{Mode: 0o640})
	require.NoError(t, s.add("a", 1))
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o600))
	for _, at := range []string{there, path} {
		_, err := s.file.BackupFile(at)
		require.ErrorIs(t, err, fs.ErrExist)
	}
	_, err := s.file.BackupFile(filepath.Join(dir, "no", "db"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	b, err := os.ReadFile(there)
	require.NoError(t, err)
	require.Equal(t, "mine", string(b))
	requireAlone(t, there)

	pipe, w := io.Pipe()
	require.NoError(t, pipe.CloseWithError(errTest))
	_, err = s.file.Backup(w)
	require.ErrorIs(t, err, errTest)
	requireAlone(t, path)

	good := filepath.Join(t.TempDir(), "good")
	_, err = s.file.BackupFile(good)
	require.NoError(t, err)
	info, err := os.Stat(good)
	require.NoError(t, err)
	was, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, was.Mode(), info.Mode())

	require.NoError(t, s.add("b", 1))
	require.NoError(t, s.db.Close())
	for _, err := range []error{
		func() error { _, err := s.file.Backup(&bytes.Buffer{}); return err }(),
		func() error { _, err := s.file.BackupFile(good + "2"); return err }(),
	} {
		require.ErrorIs(t, err, cow.ErrClosed)
	}
	requireAlone(t, path)
	requireAlone(t, good)
}

// Nor does Close wait for a backup.
func TestCloseWhileABackupIsMade(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1, strings.Repeat("x", 1<<20)))
	f, err := os.Create(temp(t))
	require.NoError(t, err)
	defer f.Close()
	run, err := bolt.CopyTo(s.file, f)
	require.NoError(t, err)
	require.NoError(t, s.db.Close())
	require.ErrorIs(t, run(), os.ErrClosed)
	open(t, path, bolt.Options{})
}

// The space of an open file is what Check says of it when it is closed: it grows with what is
// deleted, Compact gives it back, and a closed file has none.
func TestSpace(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1, strings.Repeat("x", 1<<20)))
	size, before, err := s.file.Space()
	require.NoError(t, err)
	require.Greater(t, size, uint64(1<<20))
	_, err = s.jobs.Delete("a")
	require.NoError(t, err)
	require.NoError(t, s.add("b", 1)) // what one transaction frees is free for the next
	size, free, err := s.file.Space()
	require.NoError(t, err)
	require.Greater(t, free, before+1<<20)
	require.Less(t, free, size)
	require.NoError(t, s.db.Close())
	_, _, err = s.file.Space()
	require.ErrorIs(t, err, cow.ErrClosed)
	require.ErrorContains(t, err, path)

	require.NoError(t, bolt.Compact(path))
	s = open(t, path, bolt.Options{})
	defer s.db.Close()
	small, free, err := s.file.Space()
	require.NoError(t, err)
	require.Less(t, small, size-1<<20)
	require.NoError(t, s.db.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.Equal(t, info.Free, free)
}

// A backup is verified: one of a file that is damaged while it is open says so, and which file it
// is. After a write has failed, the error says why there is none.
func TestABackupOfADamagedFile(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	for i := range 100 {
		require.NoError(t, s.add(fmt.Sprint("k", i), i, strings.Repeat("x", 100)))
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	at := bytes.LastIndex(b, []byte(strings.Repeat("x", 50)))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	for ; at > 0; at = bytes.LastIndex(b[:at], []byte(strings.Repeat("x", 100))) { // some are in free pages
		_, err = f.WriteAt([]byte("y"), int64(at))
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	require.NoError(t, os.Chtimes(path, time.Time{}, info.ModTime()))
	backup := temp(t)
	_, err = s.file.BackupFile(backup)
	require.ErrorIs(t, err, bolt.ErrDamaged)
	require.ErrorContains(t, err, path+", which is open")
	_, err = os.Stat(backup)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, s.add("more", 1), bolt.ErrChanged)
	_ = s.db.Close()
	for _, err := range []error{second(s.file.BackupFile(backup)), second(s.file.Backup(io.Discard))} {
		require.ErrorIs(t, err, cow.ErrClosed)
		require.ErrorIs(t, err, bolt.ErrChanged)
	}
	_, _, err = s.file.Space()
	require.ErrorIs(t, err, cow.ErrClosed)
	require.ErrorIs(t, err, bolt.ErrChanged)
}

func second(_ uint64, err error) error { return err }
