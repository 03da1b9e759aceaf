package check

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// testFault records histories of updates and reads of a DB, with and without a fault in what
// the clients see of it, and demands that each fault is found, and nothing else. A fault
// happens once in a history: when due says so, which is told the version.
func testFault(t *testing.T, fault func(of *target, due func(version uint64) bool) (session func(c *client) *target)) {
	for seed := range uint64(10) {
		for _, want := range []porcupine.CheckResult{porcupine.Ok, porcupine.Illegal} {
			var happened atomic.Bool
			due := func(version uint64) bool {
				return want == porcupine.Illegal && version > 10*seed && happened.CompareAndSwap(false, true)
			}
			session := fault(dbTarget(newDB(cow.Retention{})), due)
			history := record(600, seed, func(c *client) *target {
				c.whole = true
				return session(c)
			})
			require.Equal(t, want == porcupine.Illegal, happened.Load())
			require.Equal(t, want, verdict(history), "history %d", seed)
		}
	}
}

// A read of a version older than one that its reader has seen is found every time.
func TestStaleReadIsFound(t *testing.T) {
	testFault(t, func(of *target, due func(uint64) bool) func(*client) *target {
		return func(*client) *target {
			var seen, older reader
			w := *of
			w.load = func() reader {
				if older.read != nil && due(seen.version) {
					return older
				}
				r := of.load()
				if r.version > seen.version {
					older, seen = seen, r
				}
				return r
			}
			return &w
		}
	})
}

// An update of which one half is visible before the other is found every time, by a reader
// that is not told which version it sees.
func TestTornUpdateIsFound(t *testing.T) {
	testFault(t, func(of *target, due func(uint64) bool) func(*client) *target {
		var visible atomic.Pointer[[2]reader] // what the halves are read from
		show := func(low, high reader) { visible.Store(&[2]reader{low, high}) }
		show(of.load(), of.load())
		w := *of
		w.load = func() reader {
			halves := visible.Load()
			return reader{read: func(c int) cell { return halves[c/half].read(c) }}
		}
		var from *recorder
		var mu sync.Mutex // held over an update and its becoming visible
		w.update = func(f func(uint64, func(int) verbs) error) error {
			mu.Lock()
			defer mu.Unlock()
			before := of.load()
			err := of.update(f)
			after := of.load()
			if replaced(before, after, 0) && replaced(before, after, half) && due(after.version) {
				show(after, before)
				from.newClient(clients, &w, 0).do(1, reading)
			}
			show(after, after)
			return err
		}
		return func(c *client) *target { from = c.recorder; return &w }
	})
}

// replaced reports whether a cell of the half that begins there has another value than it had.
func replaced(before, after reader, begin int) bool {
	for c := begin; c < begin+half; c++ {
		if was, is := before.read(c).value, after.read(c).value; was != 0 && is != 0 && was != is {
			return true
		}
	}
	return false
}
