package memories

import (
	"runtime"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/load"
)

// Load is a workload of memories at one size.
type Load struct {
	Workload, Size string

	able func(s Space) bool

	// start loads m and returns the benchmark.
	start func(m Memory) func(b *testing.B)
}

// Able reports whether a memory of kind k can do it.
func (l *Load) Able(k Kind) bool {
	m := k.New()
	defer load.Release(m)
	return l.able(m.Space("probe"))
}

// Bench returns a benchmark of a new memory of kind k, and what lets go of the memory.
func (l *Load) Bench(k Kind) (bench func(b *testing.B), done func()) {
	return load.Bench(k.New, l.start)
}

func is[S Space](s Space) bool { _, ok := s.(S); return ok }

// heapOf returns the heap that each of n notes takes that fill puts in m.
func heapOf(m Memory, n int, fill func()) float64 {
	before := load.Live()
	fill()
	heap := max(0, (load.Live()-before)/float64(n))
	runtime.KeepAlive(m)
	return heap
}

// A client is what one goroutine has done.
type client struct {
	n       int           // operations
	spent   time.Duration // in them
	latency *hdrhistogram.Histogram
	torn    bool // a note was not there, or not whole
}

// measure does the b.N operations of a benchmark, by a client a processor, and reports them.
func measure(b *testing.B, work func(i int, c *client, next func() int)) {
	clients := make([]*client, runtime.GOMAXPROCS(0))
	b.ResetTimer()
	used := load.UsageNow()
	load.Together(b, len(clients), func(i int, next func() int) {
		clients[i] = &client{latency: load.NewHistogram()}
		work(i, clients[i], next)
	})
	used.Report(b)
	latency, perSecond := load.NewHistogram(), 0.0
	for _, c := range clients {
		if c.torn {
			b.Fatal("a note is not there, or not whole")
		}
		latency.Merge(c.latency)
		perSecond += load.Rate(c.n, c.spent)
	}
	b.ReportMetric(perSecond, "op/s")
	load.Quantiles(b, latency)
}
