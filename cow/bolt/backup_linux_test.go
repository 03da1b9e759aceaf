package bolt_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
)

// mount makes a file system of its own, of some MiB.
func mount(t *testing.T, size int) (dir string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", size)); err != nil {
		t.Skip("no file system can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

func roomIn(t *testing.T, dir string) uint64 {
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(dir, &s))
	return s.Bavail * uint64(s.Bsize)
}

// A backup leaves room for writes, or is not made.
func TestABackupLeavesRoom(t *testing.T) {
	made, refused := 0, 0
	for _, size := range []int{5, 6, 8, 10, 14, 24} {
		dir := mount(t, size)
		path := filepath.Join(dir, "db")
		s := open(t, path, bolt.Options{})
		for i := range 150 {
			require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("x", 20_000)))
		}
		info, err := os.Stat(path)
		require.NoError(t, err)
		for _, backup := range []func() error{
			func() error { _, err := s.file.Backup(&bytes.Buffer{}); return err },
			func() error { _, err := s.file.BackupFile(path + "2"); return err },
		} {
			free := roomIn(t, dir)
			err := backup()
			if err == nil {
				made++
				require.GreaterOrEqual(t, roomIn(t, dir), uint64(info.Size()))
				continue
			}
			refused++
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, "for writes")
			require.Less(t, free, uint64(2*info.Size()), "there was room")
			require.Equal(t, free, roomIn(t, dir))
			requireAlone(t, path)
		}
		for i := range 20 {
			require.NoError(t, s.add(fmt.Sprint("more", i), i, strings.Repeat("x", 3000)))
		}
		require.NoError(t, s.db.Close())
	}
	require.Positive(t, made)
	require.Positive(t, refused)
}

// A backup to another disk meets its end, and harms nothing.
func TestABackupToADiskThatIsFull(t *testing.T) {
	dir := mount(t, 1)
	path := temp(t)
	s := open(t, path, bolt.Options{})
	for i := range 100 {
		require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("x", 20_000)))
	}
	_, err := s.file.BackupFile(filepath.Join(dir, "db"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, s.add("more", 1))
	require.NoError(t, s.db.Close())
}
