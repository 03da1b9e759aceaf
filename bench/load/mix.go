package load

import (
	"cmp"
	"math/rand/v2"
	"runtime"
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
