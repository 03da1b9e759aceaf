//go:build unix

package load

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has had, 0 if that
// cannot be told.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
