package load

import (
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
	var quiet *hdrhistogram.Histogram // without the writer
	return func(b *testing.B) {
		if quiet == nil {
			quiet = readStream(b, s, 20_000)
		}
		var busy *hdrhistogram.Histogram
		measure(b, newWriter(s, streamRate), func() { busy = readStream(b, s, b.N) })
		Quantiles(b, busy)
		b.ReportMetric(float64(busy.ValueAtQuantile(99.9))/float64(quiet.ValueAtQuantile(99.9)), "times-quiet")
	}
}

// readStream lets the readers make n lookups each, and returns their latencies.
func readStream(b *testing.B, s *loaded, n int) *hdrhistogram.Histogram {
	// One processor less than there are: for the writer and the garbage collector.
	readers := max(1, runtime.GOMAXPROCS(0)-1)
	share, latency := Crowded(readers+1), NewHistogram()
	choices := make([][]uint32, readers)
	for i := range choices {
		choices[i] = s.draw(i, popular)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	for i := range readers {
		wg.Go(func() {
			own, torn := NewHistogram(), ""
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
				key := s.keys[choices[i][n%Draws]]
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
	return latency
}
