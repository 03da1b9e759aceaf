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

// Load is a workload at one size.
type Load struct {
	Workload, Size string

	// Usual says that it is for the usual stores only: some of the others would take
	// minutes to load.
	Usual bool

	keys  func() *keyspace
	start func(s *loaded) func(b *testing.B)
	forks bool // it is for stores that can be forked
}

// loaded is a store with the records of a keyspace.
type loaded struct {
	stores.Store
	*keyspace
	heap float64 // bytes an entry
}

// Able reports whether a store of kind k can do it.
func (l *Load) Able(k stores.Kind) bool {
	s := k.New()
	defer Release(s)
	_, forks := s.(stores.Forker)
	return forks || !l.forks
}

// Bench returns a benchmark of a new store of kind k, and what lets go of the store.
func (l *Load) Bench(k stores.Kind) (bench func(b *testing.B), done func()) {
	return Bench(k.New, func(s stores.Store) func(b *testing.B) {
		all := loadAll(s, l.keys())
		run := l.start(all)
		return func(b *testing.B) {
			run(b)
			b.ReportMetric(all.heap, "B/entry")
		}
	})
}

// Bench returns a benchmark of what open returns, which is opened and prepared when it first
// runs: the testing package runs it several times. Done lets go of it, and ends it if it is
// an io.Closer. Operations are of however many goroutines, so that no ns/op is reported.
func Bench[S any](open func() S, prepare func(s S) (run func(b *testing.B))) (bench func(b *testing.B), done func()) {
	var s S
	var run func(b *testing.B)
	bench = func(b *testing.B) {
		if run == nil {
			s = open()
			run = prepare(s)
			runtime.GC()
		}
		b.ResetTimer()
		run(b)
		b.ReportMetric(0, "ns/op")
	}
	return bench, func() { Release(s) }
}

// Release ends what nobody uses any more, if it is an io.Closer.
func Release(s any) {
	if c, ok := s.(io.Closer); ok {
		must(c.Close())
	}
}

// loadAll stores all records. What records share with one another is not counted in what
// they take of the heap.
func loadAll(s stores.Store, k *keyspace) *loaded {
	before := Live()
	const chunk = 100_000 // so that the records exist only once, where a store copies them
	for from := 0; from < k.n; from += chunk {
		pairs := make([]stores.Pair, 0, min(chunk, k.n-from))
		for i := from; i < min(from+chunk, k.n); i++ {
			r := k.record(i, 0)
			pairs = append(pairs, stores.Pair{Key: r.Key(), Record: r})
		}
		s.Update(pairs)
	}
	heap := (Live() - before) / float64(k.n)
	runtime.KeepAlive(s)
	return &loaded{s, k, max(heap, 0)}
}

// Records is how many records YCSB's workloads have.
const Records = 100_000

// Docs returns the main job, on the given records.
func Docs(symbols func() []stores.Record) *Load {
	return &Load{Workload: "docs", Size: "all", start: mix{writer: 1_000}.start, keys: sync.OnceValue(func() *keyspace {
		records := symbols()
		return newKeyspace(len(records), func(i int, generation uint32) stores.Record { return records[i].Reindexed(generation) })
	})}
}

// Loads returns the loads there are. Symbols returns the records of the main job; n is
// how many records the others have at most, usually more than Records.
func Loads(symbols func() []stores.Record, n int) (all []*Load) {
	payloads := func(n, size int) func() *keyspace {
		return sync.OnceValue(func() *keyspace { return payloadKeys(n, size) })
	}
	some := min(n, Records)
	small, large := payloads(some, 230), payloads(some, 1000)
	add := func(workload, size string, keys func() *keyspace, start func(s *loaded) func(b *testing.B)) *Load {
		l := &Load{Workload: workload, Size: size, keys: keys, start: start}
		all = append(all, l)
		return l
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
	add("fork", "230B", small, startFork).forks = true
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
