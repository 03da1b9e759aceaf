package memories

import (
	"runtime"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/load"
)

// has reports whether the spaces of m are S too.
func has[S Space](m Memory) bool { _, ok := m.Space("probe").(S); return ok }

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
