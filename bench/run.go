package main

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// settings say what to run.
type settings struct {
	duration time.Duration // for each store, over all rounds
	readers  int
	rate     int // writes a second; 0: as fast as possible
	n        int // records; 0: as many as there are symbols
	seed     uint64
	kinds    []stores.Kind
}

// rounds is how often each store gets its turn: what the machine does meanwhile
// then hits all alike, and the median leaves out a turn that was disturbed.
const rounds = 3

// A contender is one line of the report.
type contender struct {
	stores.Kind
	again  bool // cowstore Get once more, to show how much two runs of one store differ
	rounds []round
}

// A round is what was measured of one store in one turn.
type round struct {
	lookups   int
	perSecond float64 // lookups, all readers together
	share     float64 // of the readers' time, spent in lookups
	cpus      float64 // processors that this process had, on average
	p50       float64 // of a lookup, in nanoseconds
	p99       float64
	p999      float64
	commits   float64 // a second
	commitP99 float64 // of a commit, from when it was due, in nanoseconds
	torn      int     // records that were not what was stored under the key
	bytes     float64 // allocated by a lookup
}

// A workload is what all stores are given: records, and the choice of keys.
type workload struct {
	settings
	records []stores.Record
	keys    []string // copies: a lookup must compare bytes, not find the same pointer
	reads   [][]uint32
	writes  []uint32
}

func newWorkload(s settings, records []stores.Record) *workload {
	w := &workload{settings: s, records: records, keys: make([]string, len(records))}
	for i := range records {
		w.keys[i] = strings.Clone(records[i].Key())
	}
	const draws = 1 << 17 // begun again when used up
	z := newZipf(len(records), s.seed)
	for i := range s.readers {
		w.reads = append(w.reads, z.draw(streamReaders+uint64(i), draws))
	}
	w.writes = z.draw(streamWriter, draws)
	return w
}

// run gives every store its rounds, until ctx ends. It calls progress before each.
func (w *workload) run(ctx context.Context, progress func(c *contender, turn, turns int)) []*contender {
	var all []*contender
	for _, k := range w.kinds {
		all = append(all, &contender{Kind: k})
	}
	for _, k := range w.kinds {
		if k.ID == "cowstore" {
			all = append(all, &contender{Kind: k, again: true})
		}
	}
	for r := range rounds {
		for i, c := range all {
			if ctx.Err() != nil {
				return all
			}
			progress(c, r*len(all)+i, rounds*len(all))
			if m := w.round(ctx, c.New()); m.lookups > 0 {
				c.rounds = append(c.rounds, m)
			}
		}
	}
	return all
}

// round loads a new store and measures it.
func (w *workload) round(ctx context.Context, s stores.Store) round {
	w.load(s)
	runtime.GC() // what the last store and loading left behind
	m := round{bytes: w.bytesPerLookup(s)}

	readers := make([]*reader, w.readers)
	var writer writer
	var wg sync.WaitGroup
	ctx, stop := context.WithTimeout(ctx, w.duration/rounds)
	defer stop()
	var stopped atomic.Bool
	context.AfterFunc(ctx, func() { stopped.Store(true) })
	start, cpu := time.Now(), cpuTime()
	for i := range readers {
		readers[i] = newReader()
		wg.Go(func() { readers[i].run(s, w.keys, w.reads[i], &stopped) })
	}
	wg.Go(func() { writer.run(ctx, s, w) })
	wg.Wait()
	took := time.Since(start)
	m.cpus = float64(cpuTime()-cpu) / float64(took)

	latency := newHistogram()
	for _, r := range readers {
		m.lookups += r.lookups
		m.torn += r.torn
		if r.spent > 0 {
			m.perSecond += float64(r.batched) / r.spent.Seconds()
		}
		m.share += float64(r.spent) / float64(took) / float64(len(readers))
		latency.Merge(r.latency)
	}
	m.p50 = float64(latency.ValueAtQuantile(50))
	m.p99 = float64(latency.ValueAtQuantile(99))
	m.p999 = float64(latency.ValueAtQuantile(99.9))
	m.commits = writer.perSecond()
	m.commitP99 = float64(writer.latency.ValueAtQuantile(99))
	return m
}

// load stores all records, each in memory of its own, so that no store finds
// them laid out better than another does.
func (w *workload) load(s stores.Store) {
	pairs := make([]stores.Pair, len(w.records))
	for i := range w.records {
		r := w.records[i].Reindexed(0)
		pairs[i] = stores.Pair{Key: r.Key(), Record: r}
	}
	s.Update(pairs)
}

// bytesPerLookup returns what a lookup allocates. Nothing else is running.
func (w *workload) bytesPerLookup(s stores.Store) float64 {
	const lookups = 1 << 13
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, k := range w.reads[0][:lookups] {
		s.Get(w.keys[k])
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / lookups
}

// newHistogram returns a histogram of nanoseconds, up to ten seconds, to three
// digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(10*time.Second), 3)
}

// record adds d to h, as what h can hold if it is outside of that.
func record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), h.HighestTrackableValue()))
}
