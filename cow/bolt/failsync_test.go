//go:build linux && amd64

package bolt_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// Which of its fdatasyncs fails in a child, counted from 1.
const failSyncEnv = "COWSTORE_BOLT_FAIL_SYNC"

func init() {
	failSync = func() (told func(), err error) {
		nth, _ := strconv.ParseInt(os.Getenv(failSyncEnv), 10, 64)
		if nth == 0 {
			return func() {}, nil
		}
		n, err := superviseSyncs(nth)
		return func() { fmt.Println("syncs", n.Load()) }, err
	}
}

// superviseSyncs makes the nth fdatasync of this process from now on fail, and returns
// how many there have been. The kernel asks this process about each, by seccomp.
func superviseSyncs(nth int64) (n *atomic.Int64, err error) {
	const (
		prSetNoNewPrivs = 38
		sysSeccomp      = 317
		setModeFilter   = 1
		allThreads      = 1<<0 | 1<<4
		newListener     = 1 << 3
		receive         = 0xc0502100
		send            = 0xc0182101
		goOn            = 1
	)
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	filter := [...]instruction{
		{0x20, 0, 0, 0},                     // load the number of the call
		{0x15, 0, 1, syscall.SYS_FDATASYNC}, // unless it is this
		{0x06, 0, 0, 0x7fc00000},            // ask
		{0x06, 0, 0, 0x7fff0000},            // allow
	}
	program := struct {
		len    uint16
		filter *instruction
	}{uint16(len(filter)), &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, no := syscall.RawSyscall(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0); no != 0 {
		return nil, no
	}
	fd, _, no := syscall.RawSyscall(sysSeccomp, setModeFilter, allThreads|newListener, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(&program)
	if no != 0 {
		return nil, no
	}
	n = new(atomic.Int64)
	go func() {
		for {
			var call struct {
				id         uint64
				pid, flags uint32
				data       [8]uint64
			}
			if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, fd, receive, uintptr(unsafe.Pointer(&call))); no != 0 {
				continue // it was interrupted, and is asked again
			}
			answer := struct {
				id    uint64
				value int64
				error int32
				flags uint32
			}{id: call.id, flags: goOn}
			if n.Add(1) == nth {
				answer.error, answer.flags = -int32(syscall.EIO), 0
			}
			if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, fd, send, uintptr(unsafe.Pointer(&answer))); no != 0 {
				n.Add(-1) // it does not wait any more, and asks again
			}
		}
	}()
	return n, nil
}

// A transaction syncs its pages, and then the page that says where they are. After the
// second has failed, what was not acknowledged is there, for the system shows what it may
// not have on disk; and it is not lost that the update returned an error.
func TestASyncThatFails(t *testing.T) {
	if err := probe(); err != nil {
		t.Skip("no system calls can be made to fail here:", err)
	}
	for _, nth := range []int{1, 64, 2, 41, 42, 63}[:times(2, 6)] {
		t.Setenv(failSyncEnv, strconv.Itoa(nth))
		path := temp(t)
		b, err := openBank(path, bolt.Always)
		require.NoError(t, err)
		require.NoError(t, b.db.Close())
		lines := run(t, path, 0, 0, 0)
		b, err = openBank(path, bolt.Always)
		require.NoError(t, err)
		acked, failed, seen := map[string]int{}, 0, 0
		unknown := map[string]bool{}
		for _, line := range lines {
			switch line[0] {
			case "acked":
				acked[line[2]] = number(t, line[3])
			case "failed":
				failed++
				require.Contains(t, strings.Join(line, " "), "writes have failed: bolt: "+path+": input/output error", "it says which file")
				unknown[line[2]] = strings.Contains(strings.Join(line, " "), cow.ErrUnknownOutcome.Error())
			case "again":
				seen = number(t, line[2])
				require.Contains(t, strings.Join(line, " "), "writes have failed", "it is sticky")
			case "syncs":
				require.Equal(t, nth, number(t, line[1]), "it was tried again")
			case "closed":
				require.Contains(t, strings.Join(line, " "), "bolt: "+path+": input/output error")
			}
		}
		require.Equal(t, bankWriters, failed)
		more := 0
		for w := range bankWriters {
			name := fmt.Sprint("w", w)
			n, _ := b.last.Get(name)
			require.GreaterOrEqual(t, n, acked[name], "an acknowledged commit is lost")
			require.LessOrEqual(t, n, acked[name]+1)
			require.True(t, n == acked[name] || unknown[name], "its error says that it is not there")
			more += n - acked[name]
		}
		require.Equal(t, nth%2 == 0, more > 0)
		require.EqualValues(t, seen+more, b.db.Load().Version())
		b.verify(t, b.db.Cursor(0), 0)
		_, err = b.move("after", 1)
		require.NoError(t, err)
		require.NoError(t, b.db.Close())
	}
}

// probe returns why superviseSyncs does not work, if it does not.
func probe() error {
	_, _, no := syscall.RawSyscall(317, 3, 0, uintptr(unsafe.Pointer(new([6]byte)))) // the sizes of what is sent
	if no != 0 {
		return no
	}
	return nil
}
