package peer

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxSocket is how long the path of a socket may be: 104 bytes on some systems, with a
// zero at the end, and one is added while it is made.
const maxSocket = 100

const maxLinks = 32 // to a file that is not there yet

// resolve returns the path of a file, which there need not be, without symbolic links.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link, and not there yet
		}
		if path = to; !filepath.IsAbs(to) {
			path = filepath.Join(dir, to)
		}
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// socketOf returns the path of the socket of a file, and makes its folder.
func socketOf(path string) (string, error) {
	if s := path + ".sock"; len(s) <= maxSocket && private(filepath.Dir(s)) == nil {
		return s, nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprint("cowmemory-", os.Getuid()))
	err := os.Mkdir(dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := private(dir); err != nil {
		return "", err
	}
	// Of the hash, 128 bits are enough that no two files of a user meet.
	hash := sha256.Sum256([]byte(path))
	name := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16]))
	s := filepath.Join(dir, name+".sock")
	if len(s) > maxSocket {
		return "", fmt.Errorf("socket %s: its path is too long for the system: set TMPDIR to a shorter one", s)
	}
	return s, nil
}

// private returns an error that wraps ErrForeign unless a folder is the user's own, and
// nobody else can make or replace a file in it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: %w", dir, ErrForeign)
	case !own(info) || runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("folder %s: %w", dir, ErrForeign)
	}
	return nil
}

// dial connects to a socket, which must be the user's own.
func dial(ctx context.Context, path string) (net.Conn, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && (info.Mode().Type() != fs.ModeSocket || !own(info)) {
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

// listen makes a socket, in the place of what there is. The caller has the lock.
func listen(path string) (*net.UnixListener, error) {
	// It gets its name when its mode is right, and at no time is there none.
	temp := path + "-"
	if runtime.GOOS == "windows" {
		temp = path
	}
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // its name is another
	if err = os.Chmod(temp, 0o600); err == nil && temp != path {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(temp))
	}
	return l, nil
}
