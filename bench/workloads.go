package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// workloads returns all there are. The sizes are those of the benchmarks they are
// named after, where there is one: YCSB (Cooper et al., Benchmarking Cloud Serving
// Systems with YCSB, 2010) for ycsb-b, ycsb-c and ycsb-d.
func workloads() []workload {
	mixed := []result.Column{colOps, colP50, colP99, colP999, colSet99, colGet, colGC, colHeap}
	named := func(c result.Column, name string) result.Column {
		c.Name = name
		return c
	}
	return []workload{
		{
			id: "docs", name: "A coding agent's memory", able: recordStore,
			what: "The documented symbols of the Go installation at hand, looked up by Zipf's law while a writer indexes " +
				"1,000 of them anew each second, in the same order.",
			columns: []result.Column{named(colOps, "lookups/s"), colP50, colP99, colP999, colCommits, colGet, colGC, colHeap},
			cases:   docsCases,
		},
		{
			id: "ycsb-b", name: "YCSB B: read mostly", able: recordStore, columns: mixed,
			what:  "95 % lookups, 5 % writes of whole records, of 100,000, by Zipf's law.",
			cases: mixCases(ycsb, clients{writes: 0.05}),
		},
		{
			id: "ycsb-c", name: "YCSB C: read only", able: recordStore,
			columns: slices.DeleteFunc(slices.Clone(mixed), func(c result.Column) bool { return c == colSet99 }),
			what:    "Lookups of 100,000 records, by Zipf's law.",
			cases:   mixCases(ycsb, clients{}),
		},
		{
			id: "ycsb-d", name: "YCSB D: read latest", able: recordStore, columns: mixed,
			what:  "95 % lookups, 5 % inserts, from 100,000 records on; what was inserted last is read most.",
			cases: mixCases(ycsb, clients{writes: 0.05, inserts: new(inserts)}),
		},
		{
			id: "30to1", name: "30 reads to a write", able: recordStore, columns: mixed, axis: "goroutines",
			what: "Goroutines that each read thirty records for one they write, of 100,000 with 230 B, by Zipf's law: by the clock, " +
				"with the choice of keys and the checks, which are alike for all.",
			cases: thirtyToOne,
		},
		{
			id: "scaling", name: "Scaling", able: recordStore, columns: mixed, axis: "cores",
			what:  "YCSB B with 230 B on 1, 2, 4 and so on of the cores that are there, with a goroutine each.",
			cases: scalingCases,
		},
		{
			id: "stream", name: "Lookups beside a stream of writes", able: recordStore,
			what: "Each reader's lookups are due every 50 µs, and count from when they were due; a writer writes 500 records a second, and has a processor of its own. " +
				"How long the slow ones take, and how many times as long as without the writer.",
			columns: []result.Column{colP99, colP50, colP999,
				{ID: "times", Name: "vs quiet", Unit: "x"}, colCommits, colSet99, colGC, colHeap},
			cases: streamCases,
		},
		{
			id: "scan", name: "Whole iterations during writes", able: recordStore,
			what: "One goroutine iterates over 100,000 records, again and again, while 500 times a second ten of them are written together. " +
				"An iteration that saw some of the ten as before and some as after is torn.",
			columns: []result.Column{{ID: "entries", Name: "entries/s", Unit: "/s", More: true},
				{ID: "torn", Name: "torn", Unit: "%"}, colCommits, named(colSet99, "update p99"), colGC, colHeap},
			cases: scanCases,
		},
		{
			id: "fork", name: "Forks", able: forkable,
			what: "A branch of 100,000 records, and 100 writes in it: time of both, and what one more branch keeps of the heap.",
			columns: []result.Column{{ID: "branch", Name: "branch", Unit: "ns"},
				{ID: "kept", Name: "B/branch", Unit: "B"}, colGC, colHeap},
			cases: forkCases,
		},
		{
			id: "growth", name: "Growth", able: recordStore, axis: "keys",
			what: "One goroutine alone in stores of growing size: a lookup of any record, a commit of one, and what an entry takes of the heap, of 16 B.",
			columns: []result.Column{{ID: "read", Name: "get", Unit: "ns"},
				{ID: "set", Name: "set", Unit: "ns"}, colHeap},
			cases: growthCases,
		},
		{
			id: "agent-turn", name: "Turns of agents", able: able[stores.VectorSpace],
			what: fmt.Sprintf("Users with 494 memories each, with vectors of 384 dimensions. A turn is %d lookups, a search for the %d nearest "+
				"in the user's space, and half of the time a memory written anew.", turnGets, turnNearest),
			columns: []result.Column{named(colOps, "turns/s"), colP50, colP99, colP999, colGC, colHeap},
			cases:   turnCases,
		},
		{
			id: "preload", name: "Preloading a session", able: able[stores.WholeSpace],
			what:    "The whole of one of 1,000 spaces with 50 entries is read; one time in a hundred an entry is written instead.",
			columns: []result.Column{named(colOps, "spaces/s"), colP50, colP99, colP999, colGC, colHeap},
			cases:   preloadCases,
		},
		{
			id: "records", name: "Records and queries", able: able[stores.WholeSpace],
			what: fmt.Sprintf("Records and queries from files: lookups by key, and searches by words, of which recall@%d is the part of the relevant records "+
				"that is among the first %d found.", recallAt, recallAt),
			columns: []result.Column{named(colOps, "lookups/s"), colP50, colP99,
				{ID: "searches", Name: "searches/s", Unit: "/s", More: true},
				{ID: "recall", Name: fmt.Sprintf("recall@%d", recallAt), Unit: "%", More: true}, colHeap},
			cases: recordsCases,
		},
	}
}

// recordStore reports whether a store keeps records.
func recordStore(k stores.Kind) bool { return k.New != nil }

// The sizes of values: of small ones and large ones in YCSB's terms.
var ycsb = []struct {
	name string
	size int
}{{"230 B", 230}, {"1 KB", 1000}}

const ycsbRecords = 100_000

// mixCases are a mix of operations with values of several sizes.
func mixCases(sizes []struct {
	name string
	size int
}, mix clients) func(s *settings) []benchCase {
	return func(s *settings) (all []benchCase) {
		for _, v := range sizes {
			all = append(all, benchCase{name: v.name, make: func(e env) (trial, error) {
				m := mix
				m.keyspace = payloadKeys(e.size(ycsbRecords), v.size, e.seed)
				m.count, m.turn = e.clients, e.turn()
				return m.prepared().trial, nil
			}})
		}
		return all
	}
}

func docsCases(s *settings) []benchCase {
	return []benchCase{{make: func(e env) (trial, error) {
		symbols, err := e.symbols()
		if err != nil {
			return nil, err
		}
		records := corpus.Resize(symbols, e.size(len(symbols)), e.seed)
		c := clients{keyspace: recordKeys(records, e.seed), count: e.clients, writer: true, rate: e.rate, turn: e.turn()}
		return c.prepared().trial, nil
	}}}
}

func thirtyToOne(s *settings) (all []benchCase) {
	for _, n := range []int{1, 2, 4, 16, 64} {
		all = append(all, benchCase{name: fmt.Sprint(n), x: float64(n), make: func(e env) (trial, error) {
			c := clients{keyspace: payloadKeys(e.size(ycsbRecords), 230, e.seed), count: n, writes: 1.0 / 31, turn: e.turn(), byClock: true}
			return c.prepared().trial, nil
		}})
	}
	return all
}

func scalingCases(s *settings) (all []benchCase) {
	for _, n := range coreCounts(runtime.NumCPU()) {
		all = append(all, benchCase{name: fmt.Sprint(n), x: float64(n), make: func(e env) (trial, error) {
			c := clients{keyspace: payloadKeys(e.size(ycsbRecords), 230, e.seed), count: n, writes: 0.05, turn: e.turn()}
			return onCores(n, c.prepared().trial), nil
		}})
	}
	return all
}

func streamCases(s *settings) []benchCase {
	return []benchCase{{make: func(e env) (trial, error) {
		// One processor less than there are: for the writer and the garbage collector.
		readers := max(1, min(e.clients, runtime.GOMAXPROCS(0)-1))
		x := stream{keyspace: payloadKeys(e.size(ycsbRecords), 230, e.seed), readers: readers, rate: 500, turn: 3 * e.turn()} // tails need more of them
		return x.prepared().trial, nil
	}}}
}

func scanCases(s *settings) []benchCase {
	return []benchCase{{make: func(e env) (trial, error) {
		return newScan(payloadKeys(max(groupSize, e.size(ycsbRecords)), 230, e.seed), 500, e.turn()).trial, nil
	}}}
}

func forkCases(s *settings) []benchCase {
	return []benchCase{{make: func(e env) (trial, error) {
		return forkTrial(payloadKeys(e.size(ycsbRecords), 230, e.seed)), nil
	}}}
}

// growthCases go up to ten million keys: beyond 100,000 for the usual stores only,
// since some of the others would take minutes to load.
func growthCases(s *settings) (all []benchCase) {
	least, most := 1_000, 10_000_000
	if s.n > 0 {
		least, most = min(least, s.n), s.n
	}
	for n := least; n <= most; n *= 10 {
		c := benchCase{name: count(n), x: float64(n), make: func(e env) (trial, error) {
			return growthTrial(payloadKeys(n, 16, e.seed), e.turn()), nil
		}}
		c.once = n > 1_000_000
		if n > 100_000 {
			c.able = func(k stores.Kind) bool {
				return slices.ContainsFunc(stores.Kinds(), func(usual stores.Kind) bool { return usual.ID == k.ID })
			}
		}
		all = append(all, c)
	}
	return all
}

func turnCases(s *settings) []benchCase {
	users := 100
	if s.full {
		users = 1_000
	}
	users = s.size(users)
	return []benchCase{{name: result.Thousands(users) + " users", make: func(e env) (trial, error) {
		x := agents{users: users, each: 494, seed: e.seed, clients: e.clients, turn: e.turn(), act: turn}
		return x.prepared(384).trial, nil
	}}}
}

func preloadCases(s *settings) []benchCase {
	return []benchCase{{make: func(e env) (trial, error) {
		x := agents{users: e.size(1_000), each: 50, seed: e.seed, clients: e.clients, turn: e.turn(), act: preload}
		return x.prepared(0).trial, nil
	}}}
}

func recordsCases(s *settings) []benchCase {
	var x replay
	return []benchCase{{
		make: func(e env) (trial, error) {
			all, queries, err := e.files()
			if err != nil {
				return nil, err
			}
			x = replay{records: all, queries: queries, clients: e.clients, turn: e.turn()}
			return x.trial, nil
		},
		takes: func(k stores.Kind) time.Duration { return x.takes(k) },
	}}
}
