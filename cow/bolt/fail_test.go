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
		before := runtime.NumGoroutine()
		path := temp(t)
		s := open(t, path, bolt.Options{}, forever)
		bad, err := os.OpenFile(device, os.O_RDWR, 0)
		require.NoError(t, err)
		// What fails is a write, or, in between, the look at the file, which is not the one it was.
		requireFailed := func(err error, what string) {
			if !errors.Is(err, want) {
				require.ErrorIs(t, err, bolt.ErrChanged, what)
			}
		}
		var acked [8]int
		var n, unknown atomic.Int32
		together(len(acked), func(w int) {
			for i := 1; ; i++ {
				if n.Add(1) == 100 {
					if err := syscall.Dup3(int(bad.Fd()), int(bolt.Under(s.file).Fd()), 0); err != nil {
						t.Error(err)
					}
				}
				if err := s.add(fmt.Sprint(w), i, "x"); err != nil {
					if !errors.Is(err, want) && !errors.Is(err, bolt.ErrChanged) {
						t.Error(err)
					}
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
		requireFailed(err, "it is sticky")
		require.NotErrorIs(t, err, cow.ErrUnknownOutcome, "it was not begun")
		seen := s.now() // reads go on
		for w, n := range acked {
			require.Equal(t, n, seen.jobs[fmt.Sprint(w)].N)
		}
		requireFailed(s.db.Close(), "and what Close returns")
		require.NoError(t, bad.Close())
		requireGoroutines(t, before)

		again := open(t, path, bolt.Options{}, forever)
		require.GreaterOrEqual(t, again.db.Load().Version(), s.db.Load().Version())
		at, err := again.db.At(s.db.Load().Version())
		require.NoError(t, err)
		require.Equal(t, seen, again.at(at), "what was seen is there, and nothing else before it")
		require.NoError(t, again.add("more", 1))
		require.NoError(t, again.db.Close())
	}
}
