package check

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// Of the tests of a bug: operations of a history, and how often it is put in.
const (
	faultOps   = 600
	faultTimes = 20
)

// A staleTarget is a target as one client sees it. Once, it gives the client the
// version before one that it has seen in an operation that has ended.
type staleTarget struct {
	target
	after int // so many reads
	stale int // reads that were given the version before
	seen  uint64
}

func (t *staleTarget) load() reader {
	if t.after--; t.after < 0 && t.stale == 0 && t.seen > 0 {
		t.stale++
		return t.at(t.seen - 1)
	}
	r := t.target.load()
	t.seen = max(t.seen, r.version)
	return r
}

// A torn is a target whose updates become visible by a pointer of its own. Once,
// the two halves of an update become visible one after the other.
type torn struct {
	target
	mu      sync.Mutex // held over an update and its becoming visible
	after   int        // so many updates
	tears   int        // updates that became visible in two steps
	between func()     // called between the steps
	visible atomic.Pointer[[2]reader]
	told    bool // readers are told the version, that of the first half
}

func newTorn(t target, after int, told bool) *torn {
	w := &torn{target: t, after: after, told: told, between: func() {}}
	w.show(t.load(), t.load())
	return w
}

// show makes two halves visible, which are to be of the same version.
func (t *torn) show(low, high reader) { t.visible.Store(&[2]reader{low, high}) }

func (t *torn) load() reader {
	halves := t.visible.Load()
	r := reader{halves[0].version, func(c int) cell { return halves[c/half].read(c) }}
	if !t.told {
		r.version = 0
	}
	return r
}

func (t *torn) update(f func(x tx) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.target.load()
	err := t.target.update(f)
	after := t.target.load()
	if t.after--; t.after < 0 && t.tears == 0 && replaced(before, after, 0) && replaced(before, after, half) {
		t.tears++
		t.show(after, before)
		t.between()
	}
	t.show(after, after)
	return err
}

// replaced reports whether a cell of the half that begins there has another value
// than it had.
func replaced(before, after reader, begin int) bool {
	for c := begin; c < begin+half; c++ {
		if was, is := before.read(c).value, after.read(c).value; was != 0 && is != 0 && was != is {
			return true
		}
	}
	return false
}

// A reader that is given a version older than it has seen is found every time.
func TestStaleReadIsFound(t *testing.T) {
	for _, of := range targets {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			for seed := range faultTimes {
				for _, want := range []porcupine.CheckResult{porcupine.Ok, porcupine.Illegal} {
					var one *staleTarget
					store := of.make(everything)
					history := record(t, store, plan{ops: faultOps, reads: faultTimes, seed: uint64(seed), feed: true, session: func(c *client) target {
						w := &staleTarget{target: store, after: faultOps}
						if c.id == seed%clients && want == porcupine.Illegal {
							w.after, one = seed/2, w // there are so many at the end, if not before
						}
						return w
					}})
					require.Equal(t, want == porcupine.Illegal, one != nil && one.stale == 1)
					require.Equal(t, want, verdict(history), "history %d", seed)
				}
			}
		})
	}
}

// An update of which one half is visible before the other is found every time,
// even by readers that are not told which version they see.
func TestTornUpdateIsFound(t *testing.T) {
	for _, of := range targets {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			for seed := range faultTimes {
				for _, told := range []bool{true, false} {
					for _, want := range []porcupine.CheckResult{porcupine.Ok, porcupine.Illegal} {
						after := faultOps
						if want == porcupine.Illegal {
							after = 20 + 5*seed
						}
						w := newTorn(of.make(everything), after, told)
						history := recordTorn(t, w, uint64(seed))
						require.Equal(t, want == porcupine.Illegal, w.tears == 1)
						require.Equal(t, want, verdict(history), "history %d", seed)
					}
				}
			}
		})
	}
}

// recordTorn returns a history on w in which somebody reads between the two steps
// of the update that is torn.
func recordTorn(t *testing.T, w *torn, seed uint64) []porcupine.Operation {
	return record(t, w, plan{ops: faultOps, seed: seed, only: true, session: func(c *client) target {
		if c.id == 0 {
			reader := c.recorder.newClient(clients+1, w, seed)
			w.between = func() {
				reader.record(input{kind: read})
				reader.join()
			}
		}
		return w
	}})
}
