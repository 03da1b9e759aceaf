package main

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/result"
)

// newHistogram returns a histogram of nanoseconds, up to ten seconds, to three
// digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(10*time.Second), 3)
}

// record adds d to h, as what h can hold if it is outside of that.
func record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), h.HighestTrackableValue()))
}

// distribution returns the points that a curve of h needs: close to one another
// where it is steep, and none beyond what so few values can tell.
func distribution(h *hdrhistogram.Histogram) (points []result.Quantile) {
	n := float64(h.TotalCount())
	for rest := 0.9; rest*n >= 1; {
		points = append(points, result.Quantile{Quantile: 1 - rest, NS: h.ValueAtQuantile(100 * (1 - rest))})
		if rest > 0.15 {
			rest -= 0.1
		} else {
			rest *= 0.6
		}
	}
	return points
}

// clockCost returns what a measured latency holds of looking at the clock.
func clockCost() time.Duration {
	best := time.Hour
	for range 1000 {
		start := time.Now()
		best = min(best, time.Since(start))
	}
	return best
}

// rate returns n a second, or 0 where there was no time for any: a busy machine may
// run none meanwhile.
func rate(n float64, spent time.Duration) float64 {
	if spent <= 0 {
		return 0
	}
	return n / spent.Seconds()
}
