//go:build unix && !solaris && !aix

package bolt

import (
	"os"
	"syscall"
)

// unlock gives back bbolt's lock of a file, which a mapping would hold after it is closed.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
