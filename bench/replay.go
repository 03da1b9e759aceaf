package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/bench/stores"
)

// recallAt is how many answers to a text query count: recall@5.
const recallAt = 5

// A replay asks a memory that holds given records given queries.
type replay struct {
	records []records.Record
	queries []records.Query
	clients int
	turn    time.Duration
}

// notes returns the records by the path of their space, in memory of their own.
func (x *replay) notes() (paths map[string][]string, notes map[string][]stores.Note) {
	paths, notes = map[string][]string{}, map[string][]stores.Note{}
	for _, r := range x.records {
		id := spaceID(r.Space)
		paths[id] = r.Space
		notes[id] = append(notes[id], stores.Note{Key: strings.Clone(r.Key), Value: stores.CopyOf(r.Value), Vector: r.Vector})
	}
	return paths, notes
}

// spaceID returns a string that only this path has.
func spaceID(path []string) string { return fmt.Sprintf("%q", path) }

func (x *replay) trial(ctx context.Context, k stores.Kind) sample {
	m := k.NewMemory()
	defer release(m)
	before := live()
	paths, notes := x.notes()
	spaces := map[string]stores.Space{}
	for id, path := range paths {
		spaces[id] = m.Space(path...)
		spaces[id].Put(notes[id]...)
	}
	clear(notes)
	f := figures{colHeap.ID: max(0, (live()-before)/float64(len(x.records)))}
	runtime.KeepAlive(m)

	var lookups, texts []ask
	for _, q := range x.queries {
		a := ask{spaces[spaceID(q.Space)], q}
		if q.Text == "" {
			lookups = append(lookups, a)
		} else {
			texts = append(texts, a)
		}
	}
	s := sample{figures: f, latency: newHistogram()}
	if len(lookups) > 0 {
		x.lookUp(ctx, lookups, &s)
	}
	if len(texts) > 0 {
		x.search(ctx, texts, &s)
	}
	return s
}

// takes guesses how long a turn of a store takes: it is loaded, looks up if there is
// something to look up, and searches for half as long if it can.
func (x *replay) takes(k stores.Kind) time.Duration {
	d := 100*time.Millisecond + 30*time.Microsecond*time.Duration(len(x.records))
	lookups, searches := false, false
	for _, q := range x.queries {
		lookups, searches = lookups || q.Text == "", searches || q.Text != ""
	}
	if lookups {
		d += x.turn
	}
	if searches {
		m := k.NewMemory()
		defer release(m)
		if _, ok := m.Space().(stores.TextSpace); ok {
			d += x.turn / 2
		}
	}
	return d
}

// An ask is a query and where to ask it.
type ask struct {
	stores.Space
	records.Query
}

// lookUp gets the keys of all, one after the other, for a turn.
func (x *replay) lookUp(ctx context.Context, all []ask, s *sample) {
	ctx, stop := context.WithTimeout(ctx, x.turn)
	defer stop()
	var stopped atomic.Bool
	context.AfterFunc(ctx, func() { stopped.Store(true) })
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range x.clients {
		wg.Go(func() {
			own := newHistogram()
			var spent time.Duration
			gets, absent := 0, 0
			for at := i * len(all) / x.clients; gets == 0 || !stopped.Load(); { // once at least
				start := time.Now()
				for range every - 1 {
					at = (at + 1) % len(all)
					if _, ok := all[at].Get(all[at].Key); !ok {
						absent++
					}
				}
				middle := time.Now()
				at = (at + 1) % len(all)
				if _, ok := all[at].Get(all[at].Key); !ok {
					absent++
				}
				record(own, time.Since(middle))
				spent += middle.Sub(start)
				gets += every
			}
			mu.Lock()
			defer mu.Unlock()
			s.checked += gets
			s.torn += absent
			s.latency.Merge(own)
			s.figures[colOps.ID] += rate(float64(gets)*(every-1)/every, spent)
		})
	}
	wg.Wait()
	s.figures.quantiles(s.latency)
}

// search asks each of all at least once, and for half a turn, if the memory can.
func (x *replay) search(ctx context.Context, all []ask, s *sample) {
	recall, searches := 0.0, 0
	start := time.Now()
	for ctx.Err() == nil && (searches < len(all) || time.Since(start) < x.turn/2) {
		q := all[searches%len(all)]
		space, ok := q.Space.(stores.TextSpace)
		if !ok {
			return
		}
		found := space.Matching(q.Text, recallAt)
		if searches < len(all) {
			recall += records.Recall(found, q.Relevant)
		}
		searches++
	}
	s.figures["searches"] = rate(float64(searches), time.Since(start))
	s.figures["recall"] = 100 * recall / float64(len(all))
}
