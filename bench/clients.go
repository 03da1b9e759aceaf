package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// every is how many operations there are to one whose latency is measured.
const every = 32

// clients are goroutines that use a store, each one operation after the other:
// a closed loop, for throughput.
type clients struct {
	*keyspace
	count   int
	writes  float64          // part of the operations that write
	inserts *inserts         // writes are inserts, and reads of what was inserted last; nil: all is of the records there are
	writer  bool             // one more goroutine writes meanwhile, rate times a second
	rate    int              // 0: as often as it can
	turn    time.Duration    // how long
	byClock bool             // operations a second are by the clock, the clients' own work included
	choices map[int][]uint32 // the records each client chooses, in order
}

// draws is how many choices each client has before it begins with them again.
const draws = 1 << 16

// prepared returns c with all choices made: to make one takes longer than the
// lookup that it is for.
func (c clients) prepared() *clients {
	c.choices = map[int][]uint32{}
	for i := range c.count {
		c.choices[i] = c.draw(i)
	}
	c.choices[writerStream] = c.draw(writerStream)
	return &c
}

const writerStream = -1

func (c *clients) draw(i int) []uint32 {
	if c.inserts != nil {
		return c.zipf.ranks(streamClients+uint64(i), draws)
	}
	return c.zipf.draw(streamClients+uint64(i), draws)
}

// trial loads a new store and lets the clients use it for a turn.
func (c *clients) trial(ctx context.Context, k stores.Kind) sample {
	s := k.New()
	defer release(s)
	f := figures{colHeap.ID: c.load(ctx, s)}
	if ctx.Err() != nil {
		return sample{}
	}
	f[colGet.ID] = c.bytesPerGet(s)
	return c.use(ctx, s, f)
}

// use lets the clients use s for a turn and adds what is measured to f.
func (c *clients) use(ctx context.Context, s stores.Store, f figures) sample {
	if c.inserts != nil {
		c.inserts.restart(c.n)
	}
	all := make([]*client, c.count)
	var w writer
	var wg sync.WaitGroup
	c.warmUp(s)
	ctx, stop := context.WithTimeout(ctx, c.turn)
	defer stop()
	var stopped atomic.Bool
	context.AfterFunc(ctx, func() { stopped.Store(true) })
	before := usageNow()
	for i := range all {
		all[i] = newClient(c, i)
		wg.Go(func() { all[i].run(s, &stopped) })
	}
	if c.writer {
		wg.Go(func() { w.run(ctx, s, c.keyspace, c.choices[writerStream], c.rate) })
	}
	wg.Wait()
	before.until(f)

	m := sample{figures: f, latency: newHistogram()}
	sets := newHistogram()
	took, operations := time.Since(before.at), 0
	for _, one := range all {
		m.checked += one.reads
		m.torn += one.torn
		m.latency.Merge(one.gets)
		sets.Merge(one.sets)
		operations += one.operations
		f[colOps.ID] += rate(float64(one.timed), one.spent)
	}
	if c.byClock || crowded(c.count) {
		f[colOps.ID] = rate(float64(operations), took)
	}
	f.quantiles(m.latency)
	if c.writer {
		sets = w.latency
		f[colCommits.ID] = w.perSecond()
	}
	if sets.TotalCount() > 0 {
		f[colSet99.ID] = float64(sets.ValueAtQuantile(99))
	}
	return m
}

// warmUp looks up what the clients begin with, so that the first of what is
// measured is not the first time.
func (c *clients) warmUp(s stores.Store) {
	if c.inserts != nil {
		return // they begin with the records that were stored last
	}
	reader, found := stores.NewReader(s), stores.Lookup{}
	for i := range c.count {
		for _, choice := range c.choices[i][:warmUps] {
			reader.Get(c.keys[choice], &found)
		}
	}
}

// warmUps is how many operations of each goroutine come before those that are
// measured.
const warmUps = 1 << 10

// crowded reports whether so many goroutines are more than there are processors.
// Then one that is timed may wait for a processor while it is not, and the time that
// it spent says nothing.
func crowded(goroutines int) bool { return goroutines > runtime.GOMAXPROCS(0) }

// A client does one operation after the other and checks what it reads.
type client struct {
	*clients
	chosen     []uint32
	kinds      *rand.Rand
	generation uint32
	reads      int
	operations int
	timed      int           // operations that were timed as batches
	spent      time.Duration // in them
	gets, sets *hdrhistogram.Histogram
	torn       int
}

func newClient(c *clients, i int) *client {
	return &client{
		clients: c, chosen: c.choices[i], kinds: rand.New(rand.NewPCG(c.seed, streamKinds+uint64(i))),
		gets: newHistogram(), sets: newHistogram(),
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

// run does operations until stopped.
//
// Looking at the clock takes about as long as a fast lookup, and so do the choice of a
// key, the making of what is written and the check of what was read. So the
// operations go in batches of every-1, timed as a whole, which make the
// throughput; after each comes one operation timed by itself, which makes the
// latency; and before and after, outside of both, the rest.
func (c *client) run(s stores.Store, stopped *atomic.Bool) {
	reader := stores.NewReader(s)
	var batch [every]operation
	// Once at least, however soon the time is up where the machine is busy.
	for at, first := 0, true; first || !stopped.Load(); at, first = (at+every)%len(c.chosen), false {
		for i, choice := range c.chosen[at : at+every] {
			c.choose(&batch[i], int(choice))
		}
		start := time.Now()
		for i := range batch[:every-1] {
			batch[i].do(s, reader)
		}
		middle := time.Now()
		last := &batch[every-1]
		last.do(s, reader)
		one := time.Since(middle)

		c.operations += every
		c.timed += every - 1
		c.spent += middle.Sub(start)
		if last.write {
			record(c.sets, one)
		} else {
			record(c.gets, one)
		}
		for i := range batch {
			c.check(&batch[i])
		}
	}
}

// choose makes o the next operation.
func (c *client) choose(o *operation, choice int) {
	o.write = c.writes > 0 && c.kinds.Float64() < c.writes
	switch {
	case !o.write && c.inserts == nil:
		o.key = c.keys[choice]
	case !o.write:
		o.key = c.inserts.latest(c.keys, choice)
	case c.inserts == nil:
		c.generation++
		o.record = c.record(choice, c.generation)
		// Under a key of its own: a Go map keeps the last one, and readers would be
		// spared comparing it if it were theirs.
		o.key = o.record.Key()
	default:
		o.insert = c.inserts.next()
		o.record = c.record(o.insert, 0)
		o.key = o.record.Key()
	}
}

// check looks at the result of o.
func (c *client) check(o *operation) {
	if o.write {
		if c.inserts != nil {
			c.inserts.done(o.insert)
		}
		return
	}
	c.reads++
	if !o.found.Intact(o.key) {
		c.torn++
	}
}
