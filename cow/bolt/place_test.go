package bolt_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// What is made beside a file, or takes its place, is where the file is, and not where a
// link to it is.
func TestAFileBehindALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "away", "db"), filepath.Join(dir, "link")
	require.NoError(t, os.Mkdir(filepath.Dir(real), 0o700))
	if err := os.Symlink(filepath.Join("away", "db"), link); err != nil {
		t.Skip(err)
	}
	s := open(t, link, bolt.Options{}) // which leads nowhere yet
	require.FileExists(t, real)
	require.NoError(t, s.add("a", 1))
	want := s.now()
	require.ErrorIs(t, newShop().open(real, bolt.Options{}), bolt.ErrLocked)
	require.NoError(t, s.db.Close())

	was, err := os.Stat(real)
	require.NoError(t, err)
	require.NoError(t, bolt.Compact(link))
	is, err := os.Stat(real)
	require.NoError(t, err)
	require.False(t, os.SameFile(was, is), "it is another file")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Mode().Type())
	s = open(t, link, bolt.Options{})
	require.Equal(t, want, s.now())
	require.NoError(t, s.db.Close())

	around := filepath.Join(dir, "around")
	require.NoError(t, os.Symlink("around", around))
	require.Error(t, newShop().open(around, bolt.Options{}))
}

// A relative path is of the directory in which Open was called.
func TestBackupAfterTheDirectoryHasChanged(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := open(t, "db", bolt.Options{})
	require.NoError(t, s.add("a", 1))
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	require.NoError(t, os.Mkdir("db.cowbolt-1", 0o700)) // whatever is there
	var b bytes.Buffer
	version, err := s.file.Backup(&b)
	require.NoError(t, err)
	require.EqualValues(t, 1, version)
	require.NoError(t, s.db.Close())
	_, err = s.file.Backup(&b)
	require.ErrorIs(t, err, cow.ErrClosed)
	requireAlone(t, filepath.Join(dir, "db"))
}

// An Open that fails leaves no file that only it has made.
func TestOpenLeavesNoFileThatItCannotUse(t *testing.T) {
	one, other := temp(t), temp(t)
	s := open(t, one, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.ErrorIs(t, s.open(other, bolt.Options{}), bolt.ErrNotEmpty)
	require.NoFileExists(t, other)
	require.NoError(t, s.add("b", 1), "it goes on in the first")
	require.NoError(t, s.db.Close())
	require.ErrorIs(t, s.open(other, bolt.Options{}), bolt.ErrNotEmpty)
	require.NoFileExists(t, other)
	require.ErrorIs(t, s.open(one, bolt.Options{}), bolt.ErrNotEmpty)
	require.FileExists(t, one)
}

// Runtime.Goexit in a function that Open calls, as of a test that fails there, unlocks the file.
func TestGoexitUnlocksTheFile(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	want := s.now()
	require.NoError(t, s.db.Close())
	s = newShop()
	together(1, func(int) {
		_ = s.open(path, bolt.Options{Progress: func(uint64, uint64) { runtime.Goexit() }})
		t.Error("it came back")
	})
	require.Zero(t, s.db.Load().Version())
	require.NoError(t, s.open(path, bolt.Options{}), "the DB is as it was, too")
	require.Equal(t, want, s.now())
	require.NoError(t, s.db.Close())
}
