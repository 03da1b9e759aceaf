package load

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

const (
	streamEvery = 50 * time.Microsecond // from one lookup of a reader to the next
	streamRate  = 500                   // writes a second
)

// startStream measures lookups that are due at fixed times, b.N of each reader, with a
// writer beside them. It is an open loop: a lookup counts from when it was due, so that one that
// waits delays those behind it on paper too, as it would delay requests.
func startStream(s *loaded) func(b *testing.B) {
	var quiet float64
	return func(b *testing.B) {
		if quiet == 0 { // how long it takes without the writer
			h := NewHistogram()
			readStream(b, s, 20_000, h)
			quiet = float64(h.ValueAtQuantile(99.9))
		}
		var w writer
		var wg sync.WaitGroup
		ctx, stop := context.WithCancel(context.Background())
		b.ResetTimer()
		used := UsageNow()
		wg.Go(func() { w.run(ctx, s, streamRate) })
		busy := NewHistogram()
		readStream(b, s, b.N, busy)
		stop()
		used.Report(b)
		wg.Wait()
		Quantiles(b, busy)
		b.ReportMetric(float64(busy.ValueAtQuantile(99.9))/quiet, "times-quiet")
		b.ReportMetric(w.perSecond(), "set/s")
		b.ReportMetric(float64(w.latency.ValueAtQuantile(99)), "set-p99-ns")
	}
}

// readStream lets the readers make n lookups each.
func readStream(b *testing.B, s *loaded, n int, latency *hdrhistogram.Histogram) {
	// One processor less than there are: for the writer and the garbage collector.
	readers := max(1, runtime.GOMAXPROCS(0)-1)
	share := Crowded(readers + 1)
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	for i := range readers {
		wg.Go(func() {
			own, choices, torn := NewHistogram(), s.draw(drawing{i, popular}), ""
			reader, found := stores.NewReader(s.Store), stores.Lookup{}
			// Not all at the same instant.
			due := start.Add(streamEvery * time.Duration(i) / time.Duration(readers))
			for n := range n {
				// A timer would be late by more than what is measured.
				for time.Until(due) > 0 {
					if share {
						runtime.Gosched()
					}
				}
				key := s.keys[choices[n%len(choices)]]
				reader.Get(key, &found)
				Record(own, time.Since(due))
				if !found.Intact(key) {
					torn = key
				}
				due = due.Add(streamEvery)
			}
			mu.Lock()
			defer mu.Unlock()
			latency.Merge(own)
			if torn != "" {
				b.Errorf("what was read under %q is not whole", torn)
			}
		})
	}
	wg.Wait()
}
