package load

import (
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

const (
	groupSize = 10  // records that one update writes
	scanRate  = 500 // updates a second
)

// seen is what a scan saw of a record.
type seen struct {
	key        string
	generation uint32
}

// startScan iterates over all, time and again, while groups of records are written
// together. An iteration that sees a group of two generations, or a record twice or not at
// all, saw what never was: it is torn.
func startScan(s *loaded) func(b *testing.B) {
	updates, room := 0, make(map[string]uint32, s.n)
	return func(b *testing.B) {
		latency, all, entries, torn := NewHistogram(), make([]seen, 0, 2*s.n), 0, 0
		var spent time.Duration
		w := &writer{rate: scanRate, prepare: func(int) func() { updates++; return s.update(updates) }}
		measure(b, w, func() {
			for range b.N {
				all = all[:0]
				start := time.Now()
				for key, r := range s.All() {
					all = append(all, seen{key, r.Generation()})
				}
				took := time.Since(start)
				spent += took
				entries += len(all)
				Record(latency, took)
				if !s.whole(all, room) {
					torn++
				}
			}
		})
		Quantiles(b, latency)
		b.ReportMetric(Rate(entries, spent), "entries/s")
		b.ReportMetric(100*float64(torn)/float64(b.N), "torn-%")
	}
}

// update returns the i-th update: the next group, in the next generation.
func (s *loaded) update(i int) func() {
	groups := s.n / groupSize
	pairs := make([]stores.Pair, groupSize)
	for j := range pairs {
		r := s.record(i%groups+j*groups, uint32(i+1))
		pairs[j] = stores.Pair{Key: r.Key(), Record: r}
	}
	return func() { s.Update(pairs) }
}

// whole reports whether an iteration saw each record once, and those of a group in one
// generation. It has room for that.
func (s *loaded) whole(all []seen, generations map[string]uint32) bool {
	clear(generations)
	for _, e := range all {
		generations[e.key] = e.generation
	}
	groups := s.n / groupSize
	for i, key := range s.keys {
		if g, ok := generations[key]; !ok || i < groups*groupSize && g != generations[s.keys[i%groups]] {
			return false
		}
	}
	return len(all) == s.n
}
