package main

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/philippgille/chromem-go"

	"github.com/cowstore/cowstore/memory"
)

// The load of the bars of pauses.
const (
	pacedGets   = time.Millisecond     // from one Get to the next
	pacedWrites = 2 * time.Millisecond // from one vector write to the next
	slowGet     = float64(time.Millisecond)
)

// pauses compares Gets that are due each millisecond while one goroutine searches
// without a pause and vectors are written, on two processors.
func (b *bars) pauses(n int, each time.Duration) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	source := unitVectors(4, writtenDim, 0)
	vectors := take(n, source)
	load := &pacedLoad{
		ctx: b.ctx, each: each,
		keys: barKeys(0, n), queries: take(100, source), vectors: take(1_000, source),
	}
	ours, peer := spacePaced{vectorSpace(vectors)}, chromemPaced{newChromem(vectors)}

	var both, alone, none, peers []paced
	measure := func(s pacedStore, searches, writes bool, all *[]paced) func() float64 {
		return func() float64 {
			p := load.run(s, searches, writes)
			*all = append(*all, p)
			return p.p99
		}
	}
	s := interleave(max(3, b.rounds/2),
		measure(ours, true, true, &both),
		measure(ours, true, false, &alone),
		measure(spinPaced{ours}, true, false, &none),
		measure(peer, true, true, &peers),
	)
	of := func(all []paced, f func(p paced) float64) (figures []float64) {
		for _, p := range all {
			figures = append(figures, f(p))
		}
		return figures
	}
	slow := func(p paced) float64 { return p.slow }
	writes := func(p paced) float64 { return p.writes }
	searches := func(p paced) float64 { return p.searches }
	at := " beside searches of " + count(n) + " × 384"
	b.add("noise: Gets over 1 ms of 1,000/s beside a spinning goroutine vs beside searches", "", of(none, slow), of(alone, slow), 0)
	b.add("p99 of a Get"+at+", with 500 writes/s vs none", "ns", s[0], s[1], 1.5)
	b.add("Gets over 1 ms of 1,000/s"+at+" and 500 writes/s vs chromem-go", "", of(both, slow), of(peers, slow), 0.1)
	b.add("p99 of a Get"+at+" and 500 writes/s vs chromem-go", "ns", s[0], s[3], 0)
	b.add("writes/s of the 500"+at+" vs chromem-go (more is better)", "", of(both, writes), of(peers, writes), 0)
	b.add("searches/s"+at+" and 500 writes/s vs chromem-go (more is better)", "", of(both, searches), of(peers, searches), 0)
}

// A pacedStore is what is under the load.
type pacedStore interface {
	get(ctx context.Context, key string) (size int)
	write(ctx context.Context, key string, v []float32)
	search(ctx context.Context, q []float32) (hits int)
}

type spacePaced struct{ space memory.Space }

func (s spacePaced) get(_ context.Context, key string) int {
	v, _ := s.space.Get(key)
	return v.Len()
}

func (s spacePaced) write(_ context.Context, key string, v []float32) {
	must(errOf(s.space.PutVector(key, v, nil)))
}

func (s spacePaced) search(_ context.Context, q []float32) int {
	hits, err := s.space.Search(q, memory.SearchOptions{})
	must(err)
	return len(hits)
}

// spinPaced computes instead of searching: what is late beside that, the machine
// has made late.
type spinPaced struct{ spacePaced }

func (spinPaced) search(context.Context, []float32) int {
	spins := 0
	for start := time.Now(); time.Since(start) < 10*time.Millisecond; {
		spins++
	}
	return spins
}

type chromemPaced struct{ c *chromem.Collection }

func (s chromemPaced) get(ctx context.Context, key string) int {
	d, err := s.c.GetByID(ctx, key)
	must(err)
	return len(d.Content)
}

func (s chromemPaced) write(ctx context.Context, key string, v []float32) {
	must(s.c.AddDocument(ctx, chromem.Document{ID: key, Content: barText, Embedding: v}))
}

func (s chromemPaced) search(ctx context.Context, q []float32) int {
	hits, err := s.c.QueryEmbedding(ctx, q, 10, nil, nil)
	if ctx.Err() == nil {
		must(err) // else it was stopped
	}
	return len(hits)
}

// A pacedLoad is what is done to each store, for the same time.
type pacedLoad struct {
	ctx     context.Context
	each    time.Duration
	keys    []string
	queries [][]float32
	vectors [][]float32
}

// paced is what came of it.
type paced struct {
	p99      float64 // of a Get, from when it was due, in ns
	slow     float64 // Gets over a millisecond
	writes   float64 // a second
	searches float64 // a second
}

// run makes the Gets that are due while the load lasts, each in a goroutine of its
// own, as a server does: none waits for the one before. Writes are one after the
// other, and they and the searches end with the Gets.
func (l *pacedLoad) run(s pacedStore, searches, writes bool) paced {
	runtime.GC()
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var written, searched atomic.Int64
	var wg, gets sync.WaitGroup
	start := time.Now()
	if searches {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				s.search(ctx, l.queries[i%len(l.queries)])
				searched.Add(1)
			}
		})
	}
	if writes {
		wg.Go(func() {
			pace(ctx, pacedWrites, int(l.each/pacedWrites), func(i int, _ time.Time) {
				// From the other end: a key just written would be in a cache.
				s.write(ctx, l.keys[len(l.keys)-1-i%len(l.keys)], l.vectors[i%len(l.vectors)])
				written.Add(1)
			})
		})
	}
	latency := make([]float64, int(l.each/pacedGets))
	pace(ctx, pacedGets, len(latency), func(i int, due time.Time) {
		gets.Go(func() {
			size := s.get(ctx, l.keys[i%len(l.keys)])
			latency[i] = float64(time.Since(due))
			if size == 0 {
				panic("bench: nothing under a key that was put")
			}
		})
	})
	gets.Wait()
	took := time.Since(start).Seconds()
	p := paced{writes: float64(written.Load()) / took, searches: float64(searched.Load()) / took}
	cancel()
	wg.Wait()
	for _, ns := range latency {
		if ns > slowGet {
			p.slow++
		}
	}
	slices.Sort(latency)
	p.p99 = quantile(latency, 0.99)
	return p
}

// pace calls f n times, or until ctx ends, each time when it is due, or as soon as
// the one before is done. It is an open loop: a late call does not put off the
// next ones.
func pace(ctx context.Context, every time.Duration, n int, f func(i int, due time.Time)) {
	p := newPacer()
	defer p.close()
	start := time.Now()
	for i := 0; i < n && ctx.Err() == nil; i++ {
		due := start.Add(time.Duration(i) * every)
		p.wait(due)
		f(i, due)
	}
}
