//go:build unix && !solaris && !aix

package bolt

import (
	"os"
	"syscall"
)

// unlock gives back bbolt's lock of a file, which a mapping would hold after it is closed.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// sameOwner reports whether two files have the same owner and group.
func sameOwner(a, b os.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t)
	return x.Uid == y.Uid && x.Gid == y.Gid
}

// chown gives f the owner and group of another file.
func chown(f *os.File, like os.FileInfo) error {
	s := like.Sys().(*syscall.Stat_t)
	return f.Chown(int(s.Uid), int(s.Gid))
}

// sameDisk reports whether two files are in one file system.
func sameDisk(a, b os.FileInfo) bool {
	return a.Sys().(*syscall.Stat_t).Dev == b.Sys().(*syscall.Stat_t).Dev
}
