package load

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// A mix is goroutines that use a store, each one operation after the other: a closed
// loop, for throughput.
type mix struct {
	writes     float64 // part of the operations that write: inserts, if by is latest
	by         choice
	writer     int  // one more goroutine writes meanwhile, so many times a second; 0: none does
	goroutines int  // 0: one a processor
	byClock    bool // operations a second are by the clock, the clients' own work included
}

func (m mix) start(s *loaded) func(b *testing.B) {
	var new *inserts
	if m.by == latest {
		new = newInserts(s.n)
	}
	lookups := min(1<<13, s.n)
	bytes, _ := Allocated(func() { s.lookUp(lookups, func(i int) string { return s.keys[i] }) })
	var chosen [][]uint32
	return func(b *testing.B) {
		n := cmp.Or(m.goroutines, runtime.GOMAXPROCS(0))
		for len(chosen) < n {
			chosen = append(chosen, s.draw(len(chosen), m.by))
		}
		all := make([]*client, n)
		for i := range all {
			all[i] = &client{
				loaded: s, mix: m, new: new, chosen: chosen[i],
				kinds: rand.New(rand.NewPCG(seed, streamKinds+uint64(i))), sets: NewHistogram(),
			}
			if new == nil { // or it begins with the records that were stored last
				s.lookUp(1<<10, func(j int) string { return s.keys[chosen[i][j]] })
			}
		}
		var w *writer
		if m.writer > 0 {
			w = newWriter(s, m.writer)
		}
		took := clients(b, n, w, func(i int, c *Client, next func() int) {
			all[i].Client = c
			all[i].run(next)
		})
		sets, operations := NewHistogram(), 0
		for _, c := range all {
			sets.Merge(c.sets)
			operations += c.N / (Every - 1) * Every
		}
		if m.byClock || Crowded(n) {
			b.ReportMetric(Rate(operations, took), "op/s")
		}
		b.ReportMetric(bytes/float64(lookups), "B/get")
		if m.writes > 0 {
			b.ReportMetric(float64(sets.ValueAtQuantile(99)), "set-p99-ns")
		}
	}
}

// lookUp makes n lookups.
func (s *loaded) lookUp(n int, key func(i int) string) {
	reader, found := stores.NewReader(s.Store), stores.Lookup{}
	for i := range n {
		reader.Get(key(i), &found)
	}
}

// A client does one operation after the other and checks what it reads.
type client struct {
	*loaded
	mix
	new        *inserts // what is inserted; nil: all is of the records there are
	chosen     []uint32
	kinds      *rand.Rand
	generation uint32
	*Client    // Every operations, all but one timed together, are a batch; its Latency is of gets
	sets       *hdrhistogram.Histogram
}

// An operation is a lookup of key or, if it writes, a Set of key to record.
type operation struct {
	key    string
	record stores.Record // to be written
	found  stores.Lookup
	write  bool
	insert int // the number of what is inserted
}

func (o *operation) do(s stores.Store, reader stores.Reader) {
	if o.write {
		s.Set(o.key, o.record)
		return
	}
	reader.Get(o.key, &o.found)
}

// run does operations until there is no next.
//
// Looking at the clock takes about as long as a fast lookup, and so do the choice of a
// key, the making of what is written and the check of what was read. So the
// operations go in batches of Every-1, timed as a whole, which make the
// throughput; after each comes one operation timed by itself, which makes the
// latency; and before and after, outside of both, the rest.
func (c *client) run(next func() int) {
	reader := stores.NewReader(c.Store)
	var batch [Every]operation
	at := 0
	for n := next(); n > 0; n = next() {
		for ; n > 0; n -= Every {
			for i, choice := range c.chosen[at : at+Every] {
				c.choose(&batch[i], int(choice))
			}
			at = (at + Every) % len(c.chosen)
			start := time.Now()
			for i := range batch[:Every-1] {
				batch[i].do(c.Store, reader)
			}
			middle := time.Now()
			last := &batch[Every-1]
			last.do(c.Store, reader)
			one := time.Since(middle)

			c.N += Every - 1
			c.Spent += middle.Sub(start)
			if last.write {
				Record(c.sets, one)
			} else {
				Record(c.Latency, one)
			}
			for i := range batch {
				c.check(&batch[i])
			}
		}
	}
}

// choose makes o the next operation.
func (c *client) choose(o *operation, choice int) {
	o.write = c.writes > 0 && c.kinds.Float64() < c.writes
	switch {
	case !o.write && c.new == nil:
		o.key = c.keys[choice]
		return
	case !o.write:
		o.key = c.new.latest(c.keys, choice)
		return
	case c.new == nil:
		c.generation++
		o.record = c.record(choice, c.generation)
	default:
		o.insert = c.new.next()
		o.record = c.record(o.insert, 0)
	}
	// Under a key of its own: a Go map keeps the last one, and readers would be
	// spared comparing it if it were theirs.
	o.key = o.record.Key()
}

// check looks at the result of o.
func (c *client) check(o *operation) {
	switch {
	case o.write && c.new != nil:
		c.new.done(o.insert)
	case !o.write && !o.found.Intact(o.key):
		c.Torn = o.key
	}
}

// startGrowth measures one goroutine alone in a store of some size: what a lookup of any
// of its keys, a commit and an entry cost there.
func startGrowth(s *loaded) func(b *testing.B) {
	reads := mix{goroutines: 1, by: uniform}.start(s)
	chosen := s.draw(aWriter, uniform)
	generation := uint32(0)
	return func(b *testing.B) {
		reads(b)
		var spent time.Duration
		sets := 0
		for begun := time.Now(); time.Since(begun) < max(b.Elapsed()/2, time.Millisecond); sets += Every {
			generation++
			var records [Every]stores.Record
			for i := range records {
				records[i] = s.record(int(chosen[(sets+i)%len(chosen)]), generation)
			}
			start := time.Now()
			for i := range records {
				s.Set(records[i].Key(), records[i])
			}
			spent += time.Since(start)
		}
		b.ReportMetric(float64(spent)/float64(sets), "set-ns")
	}
}

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

// The branches that are kept to weigh them, and what is written in each.
const (
	branches     = 10
	branchWrites = 100
)

// startFork makes branches of a store and writes in each.
func startFork(s *loaded) func(b *testing.B) {
	origin := s.Store.(stores.Forker)
	var written [branches][branchWrites]stores.Record
	for i := range written {
		for j := range written[i] {
			written[i][j] = s.record((i*branchWrites+j)*7919%s.n, uint32(i+1))
		}
	}
	branch := func(i int) stores.Store {
		fork := origin.Fork()
		for j := range written[i] {
			r := &written[i][j]
			fork.Set(r.Key(), *r)
		}
		return fork
	}
	var kept [branches]stores.Store
	bytes, torn := max(0, Held(branches, func() any {
		for i := range kept {
			kept[i] = branch(i)
		}
		return &kept
	})), ""
	for i, fork := range kept {
		for _, r := range written[i] {
			key := r.Key()
			got, ok := fork.Get(key)
			old, _ := origin.Get(key)
			if !ok || !got.Intact(key) || got.Generation() != uint32(i+1) || old.Generation() != 0 {
				torn = key
			}
		}
	}
	clear(kept[:])
	return func(b *testing.B) {
		if torn != "" {
			b.Fatalf("a branch and its origin share %q", torn)
		}
		took := measure(b, nil, func() {
			for i := range b.N {
				branch(i % branches)
			}
		})
		b.ReportMetric(float64(took)/float64(b.N), "branch-ns")
		b.ReportMetric(bytes, "B/branch")
	}
}
