package load

import (
	"cmp"
	"context"
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
	perGet := bytesPerGet(s)
	warm := map[int]bool{}
	return func(b *testing.B) {
		n := cmp.Or(m.goroutines, runtime.GOMAXPROCS(0))
		all := make([]*client, n)
		for i := range all {
			all[i] = newClient(s, m, i)
			all[i].new = new
			if !warm[i] {
				all[i].warmUp()
				warm[i] = true
			}
		}
		ctx, stop := context.WithCancel(context.Background())
		var w writer
		var wg sync.WaitGroup
		b.ResetTimer()
		used := UsageNow()
		if m.writer > 0 {
			wg.Go(func() { w.run(ctx, s, m.writer) })
		}
		Together(b, n, func(i int, next func() int) { all[i].run(next) })
		b.StopTimer()
		stop()
		took := used.Report(b)
		wg.Wait()

		gets, sets, operations, timed := NewHistogram(), NewHistogram(), 0, 0.0
		for _, c := range all {
			if c.torn != "" {
				b.Fatalf("what was read under %q is not whole", c.torn)
			}
			gets.Merge(c.gets)
			sets.Merge(c.sets)
			operations += c.operations
			timed += Rate(c.timed, c.spent)
		}
		if m.byClock || Crowded(n) {
			timed = Rate(operations, took)
		}
		b.ReportMetric(timed, "op/s")
		b.ReportMetric(perGet, "B/get")
		Quantiles(b, gets)
		if m.writer > 0 {
			sets = w.latency
			b.ReportMetric(w.perSecond(), "set/s")
		}
		if m.writer > 0 || m.writes > 0 {
			b.ReportMetric(float64(sets.ValueAtQuantile(99)), "set-p99-ns")
		}
	}
}

// bytesPerGet returns what a lookup allocates.
func bytesPerGet(s *loaded) float64 {
	lookups := min(1<<13, s.n)
	reader, found := stores.NewReader(s.Store), stores.Lookup{}
	bytes, _ := Allocated(func() {
		for _, key := range s.keys[:lookups] {
			reader.Get(key, &found)
		}
	})
	return bytes / float64(lookups)
}

// A client does one operation after the other and checks what it reads.
type client struct {
	*loaded
	mix
	new        *inserts // what is inserted; nil: all is of the records there are
	chosen     []uint32
	kinds      *rand.Rand
	generation uint32
	operations int
	timed      int           // operations that were timed as batches
	spent      time.Duration // in them
	gets, sets *hdrhistogram.Histogram
	torn       string // the key of what was not whole
}

func newClient(s *loaded, m mix, i int) *client {
	return &client{
		loaded: s, mix: m, chosen: s.draw(drawing{i, m.by}), kinds: rand.New(rand.NewPCG(seed, streamKinds+uint64(i))),
		gets: NewHistogram(), sets: NewHistogram(),
	}
}

// warmUp looks up what the client begins with, so that the first of what is measured is
// not the first time.
func (c *client) warmUp() {
	if c.by == latest {
		return // it begins with the records that were stored last
	}
	reader, found := stores.NewReader(c.Store), stores.Lookup{}
	for _, choice := range c.chosen[:1<<10] {
		reader.Get(c.keys[choice], &found)
	}
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

			c.operations += Every
			c.timed += Every - 1
			c.spent += middle.Sub(start)
			if last.write {
				Record(c.sets, one)
			} else {
				Record(c.gets, one)
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
	case !o.write:
		o.key = c.new.latest(c.keys, choice)
	case c.new == nil:
		c.generation++
		o.record = c.record(choice, c.generation)
		// Under a key of its own: a Go map keeps the last one, and readers would be
		// spared comparing it if it were theirs.
		o.key = o.record.Key()
	default:
		o.insert = c.new.next()
		o.record = c.record(o.insert, 0)
		o.key = o.record.Key()
	}
}

// check looks at the result of o.
func (c *client) check(o *operation) {
	switch {
	case o.write && c.new != nil:
		c.new.done(o.insert)
	case !o.write && !o.found.Intact(o.key):
		c.torn = o.key
	}
}

// A writer writes records anew, one a commit, while they are being read.
type writer struct {
	commits int
	took    time.Duration
	latency *hdrhistogram.Histogram
}

// aWriter is the client whose choices a writer has.
const aWriter = -1

// run writes rate records a second until ctx ends.
func (w *writer) run(ctx context.Context, s *loaded, rate int) {
	choices := s.draw(drawing{aWriter, popular})
	w.each(ctx, rate, func(i int) func() {
		r := s.record(int(choices[i%len(choices)]), uint32(i+1))
		key := r.Key()
		return func() { s.Set(key, r) }
	})
}

// each commits rate times a second until ctx ends. What prepare returns is the commit,
// and all that is measured.
//
// It is an open loop: a commit is due when it is due, whether or not the one before it was
// late, and its latency counts from then.
func (w *writer) each(ctx context.Context, rate int, prepare func(i int) (commit func())) {
	w.latency = NewHistogram()
	p := NewPacer()
	defer p.Close()
	start := time.Now()
	for {
		commit := prepare(w.commits)
		due := start.Add(time.Duration(float64(w.commits) / float64(rate) * float64(time.Second)))
		p.Wait(due)
		if ctx.Err() != nil {
			return
		}
		w.commits++
		commit()
		// Not until ctx ends, or the pause before the next commit would count.
		w.took = time.Since(start)
		Record(w.latency, time.Since(due))
	}
}

func (w *writer) perSecond() float64 { return Rate(w.commits, w.took) }

// startGrowth measures one goroutine alone in a store of some size: what a lookup of any
// of its keys, a commit and an entry cost there.
func startGrowth(s *loaded) func(b *testing.B) {
	reads := mix{goroutines: 1, by: uniform}.start(s)
	chosen := s.draw(drawing{aWriter, uniform})
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
