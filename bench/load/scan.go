package load

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

const (
	groupSize = 10  // records that one update writes
	scanRate  = 500 // updates a second
)

// A scan is whole iterations, one after the other, while groups of records are
// written together. One that sees a group of two generations, or a record twice or
// not at all, saw what never was: it is torn.
type scan struct {
	*loaded
	index map[string]int
}

// seen is what a scan saw of a record.
type seen struct {
	key        string
	generation uint32
}

func newScan(s *loaded) *scan {
	x := &scan{s, make(map[string]int, s.n)}
	for i, key := range s.keys {
		x.index[key] = i
	}
	return x
}

func startScan(s *loaded) func(b *testing.B) {
	x := newScan(s)
	updates := 0
	return func(b *testing.B) {
		ctx, stop := context.WithCancel(context.Background())
		var w writer
		var wg sync.WaitGroup
		b.ResetTimer()
		used := UsageNow()
		wg.Go(func() {
			w.each(ctx, scanRate, func(int) func() { updates++; return x.update(updates) })
		})
		latency, all := NewHistogram(), make([]seen, 0, 2*s.n)
		var spent time.Duration
		entries, torn := 0, 0
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
			if !x.whole(all) {
				torn++
			}
		}
		stop()
		used.Report(b)
		wg.Wait()
		Quantiles(b, latency)
		b.ReportMetric(Rate(entries, spent), "entries/s")
		b.ReportMetric(100*float64(torn)/float64(b.N), "torn-%")
		b.ReportMetric(w.perSecond(), "set/s")
		b.ReportMetric(float64(w.latency.ValueAtQuantile(99)), "set-p99-ns")
	}
}

// update returns the i-th update: the next group, in the next generation.
func (x *scan) update(i int) func() {
	groups := x.n / groupSize
	pairs := make([]stores.Pair, groupSize)
	for j := range pairs {
		r := x.record(i%groups+j*groups, uint32(i+1))
		pairs[j] = stores.Pair{Key: r.Key(), Record: r}
	}
	return func() { x.Update(pairs) }
}

// whole reports whether a scan saw each record once, and those of a group in one
// generation.
func (x *scan) whole(all []seen) bool {
	if len(all) != x.n {
		return false
	}
	generations := make([]int64, x.n)
	for _, e := range all {
		i, ok := x.index[e.key]
		if !ok || generations[i] != 0 {
			return false
		}
		generations[i] = int64(e.generation) + 1
	}
	groups := x.n / groupSize
	for g := range groups {
		for j := 1; j < groupSize; j++ {
			if generations[g] != generations[g+j*groups] {
				return false
			}
		}
	}
	return true
}
