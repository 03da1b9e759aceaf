package main

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// A writer writes records anew, one a commit, while they are being read.
type writer struct {
	commits int
	took    time.Duration
	latency *hdrhistogram.Histogram
}

// run writes rate records a second until ctx ends, in the order of choices.
func (w *writer) run(ctx context.Context, s stores.Store, k *keyspace, choices []uint32, rate int) {
	w.each(ctx, rate, func(i int) func() {
		r := k.record(int(choices[i%len(choices)]), uint32(i+1))
		key := r.Key()
		return func() { s.Set(key, r) }
	})
}

// each commits rate times a second until ctx ends; 0: as often as it can. What
// prepare returns is the commit, and all that is measured.
//
// With a rate it is an open loop: a commit is due when it is due, whether or not
// the one before it was late, and its latency counts from then.
func (w *writer) each(ctx context.Context, rate int, prepare func(i int) (commit func())) {
	w.latency = newHistogram()
	p := newPacer()
	defer p.close()
	start := time.Now()
	for ctx.Err() == nil {
		commit := prepare(w.commits)
		due := time.Now()
		if rate > 0 {
			due = start.Add(time.Duration(float64(w.commits) / float64(rate) * float64(time.Second)))
			p.wait(due)
			if ctx.Err() != nil {
				return
			}
		}
		w.commits++
		commit()
		// Not until ctx ends, or the pause before the next commit would count.
		w.took = time.Since(start)
		record(w.latency, time.Since(due))
	}
}

func (w *writer) perSecond() float64 { return rate(float64(w.commits), w.took) }
