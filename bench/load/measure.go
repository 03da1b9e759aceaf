package load

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/cpu"
)

// Every is how many operations there are to one whose latency is measured.
const Every = 32

// A Client is what one goroutine has done.
type Client struct {
	N       int           // operations
	Spent   time.Duration // in them
	Latency *hdrhistogram.Histogram
	Torn    string // the key of what was not there, or not whole

	_ cpu.CacheLinePad // so that the next is in a cache line of its own
}

// Clients does the b.N operations of a benchmark, by a client a processor, and reports them.
// Work does what next says, as of Client i.
func Clients(b *testing.B, work func(i int, c *Client, next func() int)) {
	clients(b, runtime.GOMAXPROCS(0), nil, work)
}

// clients is Clients for n of them, with w beside them unless it is nil. It returns how long
// they took.
func clients(b *testing.B, n int, w *writer, work func(i int, c *Client, next func() int)) (took time.Duration) {
	all, latency, perSecond := make([]*Client, n), NewHistogram(), 0.0
	took = measure(b, w, func() {
		together(b, n, func(i int, next func() int) {
			all[i] = &Client{Latency: NewHistogram()}
			work(i, all[i], next)
		})
	})
	for _, c := range all {
		if c.Torn != "" {
			b.Fatalf("what was read under %q is not whole", c.Torn)
		}
		latency.Merge(c.Latency)
		perSecond += Rate(c.N, c.Spent)
	}
	b.ReportMetric(perSecond, "op/s")
	Quantiles(b, latency)
	return took
}

// together does the b.N operations of a benchmark in n goroutines. Each calls next for
// how many it is to do now, at most 8 times Every, until that is none.
func together(b *testing.B, n int, work func(i int, next func() int)) {
	const grain = 8 * Every
	var taken atomic.Int64
	next := func() int { return int(max(0, min(grain, int64(b.N)-taken.Add(grain)+grain))) }
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i, next) })
	}
	wg.Wait()
}

// Crowded reports whether so many goroutines are more than there are processors.
// Then one that is timed may wait for a processor while it is not, and the time that
// it spent says nothing.
func Crowded(goroutines int) bool { return goroutines > runtime.GOMAXPROCS(0) }

// NewHistogram returns a histogram of nanoseconds, up to ten seconds, to three
// digits.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(10*time.Second), 3)
}

// Record adds d to h, as what h can hold if it is outside of that.
func Record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), h.HighestTrackableValue()))
}

// Quantiles reports p50, p99 and p99.9 of h, in ns.
func Quantiles(b *testing.B, h *hdrhistogram.Histogram) {
	for _, q := range []struct {
		unit string
		q    float64
	}{{"p50-ns", 50}, {"p99-ns", 99}, {"p99.9-ns", 99.9}} {
		b.ReportMetric(float64(h.ValueAtQuantile(q.q)), q.unit)
	}
}

// Rate returns n a second, or 0 where there was no time for any: a busy machine may
// run none meanwhile.
func Rate(n int, spent time.Duration) float64 {
	if spent <= 0 {
		return 0
	}
	return float64(n) / spent.Seconds()
}

// Usage is what this process had used of the machine at some moment.
type Usage struct {
	at    time.Time
	cpu   time.Duration
	gcSec float64 // of processor time
}

// UsageNow stops nothing and nobody.
func UsageNow() Usage {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	u := Usage{at: time.Now(), cpu: cpuTime()}
	if s[0].Value.Kind() == metrics.KindFloat64 {
		u.gcSec = s[0].Value.Float64()
	}
	return u
}

// Report reports what was used since u: the processors that this process had on average,
// and the part of their time that the garbage collector took, in percent. The runtime
// accounts for a collection when it ends. It returns how long that is ago.
func (u Usage) Report(b *testing.B) time.Duration {
	now := UsageNow()
	took, cpu := now.at.Sub(u.at), now.cpu-u.cpu
	if took > 0 && cpu > 0 {
		b.ReportMetric(float64(cpu)/float64(took), "cpus")
		b.ReportMetric(min(100, 100*(now.gcSec-u.gcSec)/cpu.Seconds()), "gc-%")
	}
	return took
}

// Live returns the bytes of heap in use after a full collection.
func Live() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// Held returns the bytes of heap that each of the n things takes that fill adds to what it
// returns.
func Held(n int, fill func() (kept any)) float64 {
	before := Live()
	kept := fill()
	bytes := (Live() - before) / float64(n)
	runtime.KeepAlive(kept)
	return bytes
}

// Allocated returns the bytes and objects that f allocates. Nothing else may be running.
func Allocated(f func()) (bytes, objects float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc), float64(after.Mallocs - before.Mallocs)
}

// must panics where the system refuses what it never does.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

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
