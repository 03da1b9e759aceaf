package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A pacer waits for instants. It wakes as a server does that is sent something:
// by a descriptor that the runtime polls. A timer of the runtime would be up to a
// millisecond late on Linux, more than what is measured.
type pacer struct{ f *os.File }

func newPacer() pacer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	must(err)
	return pacer{os.NewFile(uintptr(fd), "timerfd")}
}

// wait returns at due, or at once if that is past.
func (p pacer) wait(due time.Time) {
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

func (p pacer) close() { _ = p.f.Close() }
