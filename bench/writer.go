package main

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// A writer indexes records anew, one a commit, while they are being read.
type writer struct {
	commits int
	took    time.Duration
	latency *hdrhistogram.Histogram
}

// run writes until ctx ends. With a rate set it is an open loop: a commit is due
// when it is due, whether or not the one before it was late, and its latency
// counts from then.
func (w *writer) run(ctx context.Context, s stores.Store, load *workload) {
	w.latency = newHistogram()
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		due := time.Now()
		if load.rate > 0 {
			due = start.Add(time.Duration(float64(w.commits) / float64(load.rate) * float64(time.Second)))
			if wait := time.Until(due); wait > 0 {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
				if ctx.Err() != nil {
					return // also where both were ready
				}
			}
		}
		i := load.writes[w.commits%len(load.writes)]
		w.commits++
		r := load.records[i].Reindexed(uint32(w.commits))
		// Under a key of its own: a Go map keeps the last one, and readers would
		// be spared comparing it if it were theirs.
		s.Set(r.Key(), r)
		// Not until ctx ends, or the pause before the next commit would count.
		w.took = time.Since(start)
		record(w.latency, time.Since(due))
	}
}

func (w *writer) perSecond() float64 {
	if w.took == 0 {
		return 0
	}
	return float64(w.commits) / w.took.Seconds()
}
