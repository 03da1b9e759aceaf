//go:build linux

package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// The file fails when it is full, or when it is synced: what bbolt writes goes to a
// device instead, whose writes fail, or only its syncs.
func TestAWriteThatFails(t *testing.T) {
	for device, want := range map[string]error{"/dev/full": syscall.ENOSPC, "/dev/null": syscall.EINVAL} {
		for tries := 1; writeFails(t, device, want); tries++ {
			require.Less(t, tries, 20, "no write failed before the device was noticed")
		}
	}
}

// writeFails lets writes fail with that error, and reports whether the look at the file, which is
// not the one it was, came first instead.
func writeFails(t *testing.T, device string, want error) (noticed bool) {
	before := runtime.NumGoroutine()
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	bad, err := os.OpenFile(device, os.O_RDWR, 0)
	require.NoError(t, err)
	var acked [8]int
	var failed [len(acked)]error
	var n, unknown atomic.Int32
	together(len(acked), func(w int) {
		for i := 1; ; i++ {
			if n.Add(1) == 100 {
				if err := syscall.Dup3(int(bad.Fd()), int(bolt.Under(s.file).Fd()), 0); err != nil {
					t.Error(err)
				}
			}
			if err := s.add(fmt.Sprint(w), i, "x"); err != nil {
				failed[w] = err
				if errors.Is(err, cow.ErrUnknownOutcome) {
					unknown.Add(1)
				}
				return
			}
			acked[w] = i
		}
	})
	require.Positive(t, unknown.Load(), "what was on its way may be there")
	err = s.add("more", 1)
	if noticed = !errors.Is(err, want); noticed {
		want = bolt.ErrChanged
	}
	require.ErrorIs(t, err, want, "it is sticky")
	for _, err := range failed {
		require.ErrorIs(t, err, want)
	}
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome, "it was not begun")
	seen := s.now() // reads go on
	for w, n := range acked {
		require.Equal(t, n, seen.jobs[fmt.Sprint(w)].N)
	}
	require.ErrorIs(t, s.db.Close(), want)
	require.NoError(t, bad.Close())
	requireGoroutines(t, before)

	again := open(t, path, bolt.Options{}, forever)
	require.GreaterOrEqual(t, again.db.Load().Version(), s.db.Load().Version())
	at, err := again.db.At(s.db.Load().Version())
	require.NoError(t, err)
	require.Equal(t, seen, again.at(at), "what was seen is there, and nothing else before it")
	require.NoError(t, again.add("more", 1))
	require.NoError(t, again.db.Close())
	return noticed
}
