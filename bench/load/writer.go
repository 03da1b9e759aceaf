package load

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A writer commits rate times a second, while others read. What prepare returns is the
// commit, and all that is measured.
//
// It is an open loop: a commit is due when it is due, whether or not the one before it was
// late, and its latency counts from then.
type writer struct {
	rate    int
	prepare func(i int) (commit func())

	stop    atomic.Bool
	commits int
	took    time.Duration
	latency *hdrhistogram.Histogram
}

// aWriter is the client whose choices a writer has.
const aWriter = -1

// newWriter returns a writer that writes records anew, one a commit.
func newWriter(s *loaded, rate int) *writer {
	choices := s.draw(aWriter, popular)
	return &writer{rate: rate, prepare: func(i int) func() {
		r := s.record(int(choices[i%len(choices)]), uint32(i+1))
		key := r.Key()
		return func() { s.Set(key, r) }
	}}
}

func (w *writer) run() {
	w.latency = NewHistogram()
	p := NewPacer()
	defer p.Close()
	start := time.Now()
	for {
		commit := w.prepare(w.commits)
		due := start.Add(time.Duration(float64(w.commits) / float64(w.rate) * float64(time.Second)))
		p.Wait(due)
		if w.stop.Load() {
			return
		}
		w.commits++
		commit()
		// Not until it stops, or the pause before the next commit would count.
		w.took = time.Since(start)
		Record(w.latency, time.Since(due))
	}
}

// measure does the operations of a benchmark under the clock, with w beside them unless it
// is nil. It reports what was used of the machine, and how w fared, and returns the time.
func measure(b *testing.B, w *writer, operations func()) (took time.Duration) {
	var wg sync.WaitGroup
	b.ResetTimer()
	used := UsageNow()
	if w != nil {
		wg.Go(w.run)
	}
	operations()
	b.StopTimer()
	if w == nil {
		return used.Report(b)
	}
	w.stop.Store(true)
	took = used.Report(b)
	wg.Wait()
	b.ReportMetric(Rate(w.commits, w.took), "set/s")
	b.ReportMetric(float64(w.latency.ValueAtQuantile(99)), "set-p99-ns")
	return took
}
