package main

import (
	"context"
	"sync"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// groupSize is how many records a scan finds written by one update.
const groupSize = 10

// A scan is whole iterations, one after the other, while groups of records are
// written together. One that sees a group of two generations, or a record twice or
// not at all, saw what never was: it is torn.
type scan struct {
	*keyspace
	rate  int // updates a second
	turn  time.Duration
	index map[string]int
}

func newScan(k *keyspace, rate int, turn time.Duration) *scan {
	x := &scan{keyspace: k, rate: rate, turn: turn, index: make(map[string]int, k.n)}
	for i, key := range k.keys {
		x.index[key] = i
	}
	return x
}

// seen is what a scan saw of a record.
type seen struct {
	key        string
	generation uint32
}

func (x *scan) trial(ctx context.Context, k stores.Kind) sample {
	s := k.New()
	defer release(s)
	f := figures{colHeap.ID: x.load(ctx, s)}
	ctx, stop := context.WithTimeout(ctx, x.turn)
	defer stop()
	var w writer
	var wg sync.WaitGroup
	before := usageNow()
	wg.Go(func() { w.each(ctx, x.rate, x.update(s)) })

	m := sample{figures: f, latency: newHistogram()}
	all := make([]seen, 0, 2*x.n)
	var spent time.Duration
	entries := 0
	for m.checked == 0 || ctx.Err() == nil { // once at least, however busy the machine is
		all = all[:0]
		start := time.Now()
		for key, r := range s.All() {
			all = append(all, seen{key, r.Generation()})
		}
		took := time.Since(start)
		spent += took
		entries += len(all)
		record(m.latency, took)
		m.checked++
		if !x.whole(all) {
			m.torn++
		}
	}
	wg.Wait()
	before.until(f)
	f["entries"] = rate(float64(entries), spent)
	f["torn"] = 100 * float64(m.torn) / float64(m.checked)
	f[colCommits.ID] = w.perSecond()
	f[colSet99.ID] = float64(w.latency.ValueAtQuantile(99))
	return m
}

// update returns what prepares the i-th update: the next group, in the next
// generation.
func (x *scan) update(s stores.Store) func(i int) func() {
	groups := x.n / groupSize
	return func(i int) func() {
		pairs := make([]stores.Pair, groupSize)
		for j := range pairs {
			r := x.record(i%groups+j*groups, uint32(i+1))
			pairs[j] = stores.Pair{Key: r.Key(), Record: r}
		}
		return func() { s.Update(pairs) }
	}
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
