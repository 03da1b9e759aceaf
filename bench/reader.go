package main

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// every is how many lookups there are to one whose latency is measured.
const every = 32

// A reader looks up records, one after the other, and checks each.
type reader struct {
	lookups int
	batched int           // lookups timed as batches
	spent   time.Duration // in them
	latency *hdrhistogram.Histogram
	torn    int
}

// A found is the answer to a lookup. All answers are kept until the clock has
// stopped.
type found struct {
	key    string
	record stores.Record
	ok     bool
}

func newReader() *reader { return &reader{latency: newHistogram()} }

// run looks up keys in the order of choices until stopped.
//
// Looking at the clock takes about as long as a fast lookup, and so does the
// check. So the lookups go in batches of every-1, timed as a whole, which make the
// throughput; after each comes one lookup timed by itself, which makes the
// latency; and then, outside of both, the check of all of them.
func (r *reader) run(s stores.Store, keys []string, choices []uint32, stopped *atomic.Bool) {
	var batch [every]found
	for at := 0; !stopped.Load(); at = (at + every) % len(choices) {
		for i, c := range choices[at : at+every] {
			batch[i].key = keys[c]
		}
		start := time.Now()
		for i := range batch[:every-1] {
			f := &batch[i]
			f.record, f.ok = s.Get(f.key)
		}
		middle := time.Now()
		f := &batch[every-1]
		f.record, f.ok = s.Get(f.key)
		one := time.Since(middle)

		r.lookups += every
		r.batched += every - 1
		r.spent += middle.Sub(start)
		record(r.latency, one)
		for i := range batch {
			if f := &batch[i]; !f.ok || !f.record.Intact(f.key) {
				r.torn++
			}
		}
	}
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
