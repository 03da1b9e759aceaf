package vector

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// minShared and maxShared are how many elements an index must have, and may, for
	// a search to take other cores. Below, it is not worth waking them. Above, the
	// search is long, and leaves them to those who want to be quick.
	minShared = 1 << 22
	maxShared = 1 << 26

	// turnElements is how many elements a helper looks at before it ends. What
	// waits for a core, or for the network, whose poller runs only where a core has
	// nothing else to do, so waits for a fraction of a millisecond at most.
	turnElements = 1 << 21
)

// searching is how many goroutines of the process look at large indexes.
var searching atomic.Int64

// A team is the goroutines of one search. They take segment after segment; each
// has the best of those it looked at, and tells the others what they need not look
// at any more.
type team struct {
	segments []*segment
	next     atomic.Int64  // the first segment that nobody has taken
	need     atomic.Uint64 // the greatest need of any of them; see orderedBits
	running  sync.WaitGroup
}

// A helper is a member of a team besides the one who searches.
type helper struct {
	*scan
	busy atomic.Bool
}

// take looks at up to n segments, and reports whether there may be more.
func (t *team) take(s *scan, n int) bool {
	for ; n > 0; n-- {
		i := t.next.Add(1) - 1
		if i >= int64(len(t.segments)) {
			return false
		}
		s.atLeast(t.share(s.need))
		s.segments(t.segments[i : i+1])
		t.share(s.need)
	}
	return true
}

// share tells the team what a hit needs, and returns what it needs at least.
func (t *team) share(need float64) float64 {
	for mine := orderedBits(need); ; {
		is := t.need.Load()
		if mine <= is {
			return fromOrderedBits(is)
		}
		if t.need.CompareAndSwap(is, mine) {
			return need
		}
	}
}

// orderedBits returns a number that is ordered as f is, which is not NaN.
func orderedBits(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func fromOrderedBits(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// together looks at all segments, with the help of cores that no other search
// uses. It returns when all of it is done; no goroutine is left. Foreign code
// must not run in s.
func (s *scan) together(segments []*segment, dim int, another func() *scan) {
	t := &team{segments: segments}
	t.need.Store(orderedBits(s.need))
	cores := int64(runtime.GOMAXPROCS(0))
	searching.Add(1)
	defer searching.Add(-1)
	turn := max(1, turnElements/min(maxSlots*dim, max(dim, blockBytes/4)))
	helpers := make([]helper, min(int(cores)-1, len(segments)/2))
	for t.take(s, 1) {
		for i := range helpers {
			h := &helpers[i]
			if h.busy.Load() || int(t.next.Load())+1 >= len(segments) {
				continue
			}
			if searching.Add(1) > cores {
				searching.Add(-1)
				break
			}
			if h.scan == nil {
				h.scan = another()
			}
			h.busy.Store(true)
			t.running.Go(func() {
				t.take(h.scan, turn)
				searching.Add(-1)
				h.busy.Store(false) // then the next turn may begin
			})
		}
	}
	t.running.Wait()
	s.atLeast(t.share(s.need))
	for i := range helpers {
		if h := &helpers[i]; h.scan != nil {
			s.maybe = append(s.maybe, h.maybe...)
			for _, f := range h.Sorted() {
				if s.Admits(f) {
					s.Push(f)
				}
			}
			h.release()
		}
	}
}
