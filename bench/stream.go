package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// streamEvery is the time from one lookup of a reader to the next.
const streamEvery = 50 * time.Microsecond

// A stream is lookups that are due at fixed times, at first with nothing else and
// then with a writer beside them. It is an open loop: a lookup counts from when it
// was due, so that one that waits delays those behind it on paper too, as it
// would delay requests.
type stream struct {
	*keyspace
	readers int
	rate    int // writes a second; 0: as many as the store takes
	turn    time.Duration
	choices [][]uint32
	written []uint32
}

func (x stream) prepared() *stream {
	for i := range x.readers {
		x.choices = append(x.choices, x.zipf.draw(streamClients+uint64(i), draws))
	}
	x.written = x.zipf.draw(streamClients-1, draws)
	return &x
}

func (x *stream) trial(ctx context.Context, k stores.Kind) sample {
	s := k.New()
	defer release(s)
	f := figures{colHeap.ID: x.load(ctx, s)}
	quiet := newHistogram()
	torn := x.read(ctx, s, quiet, nil)
	busy := newHistogram()
	var w writer
	before := usageNow()
	torn += x.read(ctx, s, busy, &w)
	if ctx.Err() != nil {
		return sample{}
	}
	before.until(f)
	f.quantiles(busy)
	f["quiet"] = float64(quiet.ValueAtQuantile(99.9))
	f["times"] = f[colP999.ID] / f["quiet"]
	f[colSet99.ID] = float64(w.latency.ValueAtQuantile(99))
	f[colCommits.ID] = w.perSecond()
	return sample{f, int(quiet.TotalCount() + busy.TotalCount()), torn, busy}
}

// read lets the readers read for a turn, beside w unless that is nil.
func (x *stream) read(ctx context.Context, s stores.Store, latency *hdrhistogram.Histogram, w *writer) (torn int) {
	ctx, stop := context.WithTimeout(ctx, x.turn)
	defer stop()
	var wg sync.WaitGroup
	if w != nil {
		wg.Go(func() { w.run(ctx, s, x.keyspace, x.written, x.rate) })
	}
	share := crowded(x.readers + 1) // no processor is left for the writer
	var mu sync.Mutex
	start := time.Now()
	for i := range x.readers {
		wg.Go(func() {
			own, wrong := newHistogram(), 0
			reader, found := stores.NewReader(s), stores.Lookup{}
			// Not all at the same instant.
			due := start.Add(streamEvery * time.Duration(i) / time.Duration(x.readers))
			for n := 0; due.Sub(start) < x.turn && ctx.Err() == nil; n++ {
				// A timer would be late by more than what is measured.
				for time.Until(due) > 0 {
					if share {
						runtime.Gosched()
					}
				}
				key := x.keys[x.choices[i][n%draws]]
				reader.Get(key, &found)
				record(own, time.Since(due))
				if !found.Intact(key) {
					wrong++
				}
				due = due.Add(streamEvery)
			}
			mu.Lock()
			defer mu.Unlock()
			latency.Merge(own)
			torn += wrong
		})
	}
	wg.Wait()
	return torn
}
