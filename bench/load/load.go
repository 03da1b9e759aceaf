// Package load has what the benchmarks do with stores: the workloads, as ordinary
// benchmarks of one store each. Every value that is read is checked, outside of the
// clock; one that is not whole ends the benchmark.
package load

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/bench/stores"
)

// Load is a workload at one size, of what can be opened as an S.
type Load[S any] struct {
	Workload, Size string

	// Usual says that it is for the usual stores only: some of the others would take
	// minutes to load.
	Usual bool

	// Can says whether s can do it; nil: any can.
	Can func(s S) bool

	// Start loads s and returns the benchmark, which the testing package runs several times.
	Start func(s S) (run func(b *testing.B))
}

// loaded is a store with the records of a keyspace.
type loaded struct {
	stores.Store
	*keyspace
}

// Able reports whether one of kind k can do it.
func (l *Load[S]) Able(k stores.KindOf[S]) bool {
	if l.Can == nil {
		return true
	}
	s := k.New()
	defer Release(s)
	return l.Can(s)
}

// Bench returns a benchmark of a new one of kind k, which is opened and loaded when it first
// runs, and what lets go of it. Operations are of however many goroutines, so that no ns/op
// is reported.
func (l *Load[S]) Bench(k stores.KindOf[S]) (bench func(b *testing.B), done func()) {
	var s S
	var run func(b *testing.B)
	bench = func(b *testing.B) {
		if run == nil {
			s = k.New()
			run = l.Start(s)
			runtime.GC()
		}
		b.ResetTimer()
		run(b)
		b.ReportMetric(0, "ns/op")
	}
	return bench, func() { Release(s) }
}

// Run runs the benchmark of a new one of kind k. N is 0 if it failed.
func (l *Load[S]) Run(k stores.KindOf[S]) testing.BenchmarkResult {
	bench, done := l.Bench(k)
	defer done()
	return testing.Benchmark(bench)
}

// Release ends what nobody uses any more, if it is an io.Closer.
func Release(s any) {
	if c, ok := s.(io.Closer); ok {
		must(c.Close())
	}
}

// newLoad returns a load of stores with all records of a keyspace. What records share with
// one another is not counted in what they take of the heap.
func newLoad(workload, size string, keys func() *keyspace, start func(s *loaded) func(b *testing.B)) *Load[stores.Store] {
	return &Load[stores.Store]{Workload: workload, Size: size, Start: func(s stores.Store) func(b *testing.B) {
		k := keys()
		heap := max(0, Held(k.n, func() any {
			const chunk = 100_000 // so that the records exist only once, where a store copies them
			for from := 0; from < k.n; from += chunk {
				pairs := make([]stores.Pair, 0, min(chunk, k.n-from))
				for i := from; i < min(from+chunk, k.n); i++ {
					r := k.record(i, 0)
					pairs = append(pairs, stores.Pair{Key: r.Key(), Record: r})
				}
				s.Update(pairs)
			}
			return s
		}))
		run := start(&loaded{s, k})
		return func(b *testing.B) {
			run(b)
			b.ReportMetric(heap, "B/entry")
		}
	}}
}

// Records is how many records YCSB's workloads have.
const Records = 100_000

// Docs returns the main job, on the given records.
func Docs(symbols func() []stores.Record) *Load[stores.Store] {
	return newLoad("docs", "all", sync.OnceValue(func() *keyspace {
		records := symbols()
		return newKeyspace(len(records), func(i int, generation uint32) stores.Record { return records[i].Reindexed(generation) })
	}), mix{writer: 1_000}.start)
}

// Loads returns the loads there are. Symbols returns the records of the main job; n is
// how many records the others have at most, usually more than Records.
func Loads(symbols func() []stores.Record, n int) (all []*Load[stores.Store]) {
	payloads := func(n, size int) func() *keyspace {
		return sync.OnceValue(func() *keyspace { return payloadKeys(n, size) })
	}
	some := min(n, Records)
	small, large := payloads(some, 230), payloads(some, 1000)
	add := func(workload, size string, keys func() *keyspace, start func(s *loaded) func(b *testing.B)) *Load[stores.Store] {
		all = append(all, newLoad(workload, size, keys, start))
		return all[len(all)-1]
	}
	all = append(all, Docs(symbols))
	ycsb := func(workload string, m mix) {
		add(workload, "230B", small, m.start)
		add(workload, "1KB", large, m.start)
	}
	ycsb("ycsb-b", mix{writes: 0.05})
	ycsb("ycsb-c", mix{})
	ycsb("ycsb-d", mix{writes: 0.05, by: latest})
	for _, goroutines := range []int{1, 2, 4, 16, 64} {
		add("30to1", fmt.Sprint(goroutines), small, mix{writes: 1.0 / 31, goroutines: goroutines, byClock: true}.start)
	}
	add("stream", "230B", small, startStream)
	add("scan", "230B", small, startScan)
	add("fork", "230B", small, startFork).Can = func(s stores.Store) bool {
		_, ok := s.(stores.Forker)
		return ok
	}
	for size := 1_000; size <= min(n, 10_000_000); size *= 10 {
		add("growth", Count(size), payloads(size, 16), startGrowth).Usual = size > Records
	}
	return all
}

// Count writes a number of keys as benchmarks do: 100k, 1M.
func Count(n int) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}
