//go:build unix

package bolt_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
)

// rewrites are what makes one file of another, and where the new one is.
var rewrites = map[string]func(path string) (is string, err error){
	"Compact": func(path string) (string, error) { return path, bolt.Compact(path) },
	"Restore": func(path string) (string, error) { return path + "2", bolt.Restore(path+"2", path, 1) },
	"Salvage": func(path string) (string, error) { _, err := bolt.Salvage(path+"2", path); return path + "2", err },
}

// closedFile makes a file with a row.
func closedFile(t *testing.T, path string) {
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.NoError(t, s.db.Close())
}

// What is written anew has the mode of the file, whatever that is.
func TestTheModeIsKept(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	for what, rewrite := range rewrites {
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o666, 0o660 | fs.ModeSetgid, 0o777, 0o700 | fs.ModeSticky} {
			path := temp(t)
			closedFile(t, path)
			require.NoError(t, os.Chmod(path, mode))
			was, err := os.Stat(path)
			require.NoError(t, err)
			at, err := rewrite(path)
			require.NoError(t, err, what)
			is, err := os.Stat(at)
			require.NoError(t, err)
			require.Equal(t, was.Mode(), is.Mode(), what)
			open(t, at, bolt.Options{})
		}
	}
}

// It has the owner and group of the file, too.
func TestTheOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for what, rewrite := range rewrites {
		for _, owner := range [][2]int{{1234, 1234}, {0, 1234}, {1234, 0}, {1234, 4321}} {
			path := temp(t)
			closedFile(t, path)
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o777|fs.ModeSetgid))
			require.NoError(t, os.Chown(path, owner[0], owner[1]))
			require.NoError(t, os.Chmod(path, 0o640|fs.ModeSetgid|fs.ModeSetuid))
			at, err := rewrite(path)
			require.NoError(t, err, what)
			is, err := os.Stat(at)
			require.NoError(t, err)
			require.EqualValues(t, owner[0], is.Sys().(*syscall.Stat_t).Uid, what)
			require.EqualValues(t, owner[1], is.Sys().(*syscall.Stat_t).Gid, what)
			require.Equal(t, 0o640|fs.ModeSetgid|fs.ModeSetuid, is.Mode(), what)
		}
	}
}
