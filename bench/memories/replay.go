package memories

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/records"
)

// recallAt is how many answers to a text query count: recall@5.
const recallAt = 5

// Replay returns a load that asks a memory which holds given records given queries.
func Replay(all []records.Record, queries []records.Query) *Load {
	return &Load{Workload: "records", Size: "all", able: is[WholeSpace],
		start: func(m Memory) func(b *testing.B) { return startReplay(m, all, queries) }}
}

// An ask is a query and where to ask it.
type ask struct {
	Space
	records.Query
}

func startReplay(m Memory, all []records.Record, queries []records.Query) func(b *testing.B) {
	before := load.Live()
	paths, notes := map[string][]string{}, map[string][]Note{}
	for _, r := range all {
		id := pathName(r.Space)
		paths[id] = r.Space
		// In memory of their own.
		notes[id] = append(notes[id], Note{Key: strings.Clone(r.Key), Value: CopyOf(r.Value), Vector: r.Vector})
	}
	spaces := map[string]Space{}
	for id, path := range paths {
		spaces[id] = m.Space(path...)
		spaces[id].Put(notes[id]...)
	}
	clear(notes)
	heap := max(0, (load.Live()-before)/float64(len(all)))
	runtime.KeepAlive(m)

	var lookups, texts []ask
	for _, q := range queries {
		a := ask{spaces[pathName(q.Space)], q}
		if q.Text == "" {
			lookups = append(lookups, a)
		} else if is[TextSpace](a.Space) {
			texts = append(texts, a)
		}
	}
	return func(b *testing.B) {
		if len(lookups) > 0 {
			lookUp(b, lookups)
		}
		if len(texts) > 0 {
			search(b, texts)
		}
		b.ReportMetric(heap, "B/entry")
	}
}

// lookUp gets the keys of all, one after the other.
func lookUp(b *testing.B, all []ask) {
	clients := runtime.GOMAXPROCS(0)
	latency, rates, absent := make([]*hdrhistogram.Histogram, clients), make([]float64, clients), make([]string, clients)
	load.Together(b, clients, func(i int, next func() int) {
		own, at, gets := load.NewHistogram(), i*len(all)/clients, 0
		var spent time.Duration
		get := func() {
			at = (at + 1) % len(all)
			if _, ok := all[at].Get(all[at].Key); !ok {
				absent[i] = all[at].Key
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
				load.Record(own, time.Since(middle))
				spent += middle.Sub(start)
				gets += load.Every - 1
			}
		}
		latency[i], rates[i] = own, load.Rate(gets, spent)
	})
	perSecond := 0.0
	for i := range clients {
		if absent[i] != "" {
			b.Fatal(fmt.Errorf("nothing is under %q", absent[i]))
		}
		latency[0].Merge(latency[i])
		perSecond += rates[i]
	}
	load.Quantiles(b, latency[0])
	b.ReportMetric(perSecond, "op/s")
}

// search asks each of all at least once, and for a quarter of a second.
func search(b *testing.B, all []ask) {
	b.StopTimer() // b.N is of lookups
	defer b.StartTimer()
	recall, searches := 0.0, 0
	start := time.Now()
	for searches < len(all) || time.Since(start) < time.Second/4 {
		q := all[searches%len(all)]
		found := q.Space.(TextSpace).Matching(q.Text, recallAt)
		if searches < len(all) {
			recall += records.Recall(found, q.Relevant)
		}
		searches++
	}
	b.ReportMetric(load.Rate(searches, time.Since(start)), "search/s")
	b.ReportMetric(100*recall/float64(len(all)), "recall-%")
}
