package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Pacer waits for instants. It wakes as a server does that is sent something:
// by a descriptor that the runtime polls. A timer of the runtime would be up to a
// millisecond late on Linux, more than what is measured.
type Pacer struct{ f *os.File }

// NewPacer returns a Pacer, which must be closed.
func NewPacer() Pacer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	must(err)
	return Pacer{os.NewFile(uintptr(fd), "timerfd")}
}

// Wait returns at due, or at once if that is past.
func (p Pacer) Wait(due time.Time) {
	left := time.Until(due)
	if left <= 0 {
		return
	}
	c, err := p.f.SyscallConn()
	must(err)
	must(c.Control(func(fd uintptr) {
		err = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}, nil)
	}))
	must(err)
	var expirations [8]byte
	_, err = p.f.Read(expirations[:])
	must(err)
}

// Close ends it.
func (p Pacer) Close() { _ = p.f.Close() }
