package memories

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/memory"
)

// recallAt is how many answers to a text query count: recall@5.
const recallAt = 5

// Replay returns a load that asks a memory which holds given records given queries.
func Replay(all memory.Snapshot, queries []recall.Query) *load.Load[Memory] {
	return &load.Load[Memory]{Workload: "records", Size: "all", Can: has[WholeSpace], Start: func(m Memory) func(b *testing.B) {
		return startReplay(m, all, queries)
	}}
}

// An ask is a query and where to ask it.
type ask struct {
	Space
	recall.Query
}

func startReplay(m Memory, all memory.Snapshot, queries []recall.Query) func(b *testing.B) {
	heap := max(0, load.Held(all.Len(), func() any {
		for path := range all.Spaces(memory.SpacesOptions{}) {
			from, notes := all.Space(path...), []Note(nil)
			for e := range from.List(memory.ListOptions{}) {
				v, _ := from.Vector(e.Key)
				notes = append(notes, Note{Key: strings.Clone(e.Key), Value: e.Value.Any(), Vector: v})
			}
			m.Space(path...).Put(notes...)
		}
		return m
	}))
	var lookups, texts []ask
	for _, q := range queries {
		a := ask{m.Space(q.Space...), q}
		if q.Text == "" {
			lookups = append(lookups, a)
		} else if _, searches := a.Space.(TextSpace); searches {
			texts = append(texts, a)
		}
	}
	return func(b *testing.B) {
		if len(lookups) > 0 {
			load.Clients(b, func(i int, c *load.Client, next func() int) {
				lookUp(c, next, lookups, i*len(lookups)/runtime.GOMAXPROCS(0))
			})
		}
		if len(texts) > 0 {
			search(b, texts)
		}
		b.ReportMetric(heap, "B/entry")
	}
}

// lookUp gets the keys of all, one after the other. One in load.Every is timed by itself,
// for the latency.
func lookUp(c *load.Client, next func() int, all []ask, at int) {
	get := func() {
		at = (at + 1) % len(all)
		if _, ok := all[at].Get(all[at].Key); !ok {
			c.Torn = "key " + all[at].Key
		}
	}
	for n := next(); n > 0; n = next() {
		for ; n > 0; n -= load.Every {
			start := time.Now()
			for range load.Every - 1 {
				get()
			}
			middle := time.Now()
			get()
			load.Record(c.Latency, time.Since(middle))
			c.Spent += middle.Sub(start)
			c.N += load.Every - 1
		}
	}
}

// search asks each of all at least once, and for a quarter of a second.
func search(b *testing.B, all []ask) {
	recall, searches := 0.0, 0
	start := time.Now()
	for searches < len(all) || time.Since(start) < time.Second/4 {
		q := all[searches%len(all)]
		found := q.Space.(TextSpace).Matching(q.Text, recallAt)
		if searches < len(all) {
			recall += q.Recall(found)
		}
		searches++
	}
	b.ReportMetric(load.Rate(searches, time.Since(start)), "search/s")
	b.ReportMetric(100*recall/float64(len(all)), "recall-%")
}
