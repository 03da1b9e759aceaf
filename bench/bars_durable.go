package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/bench/durable"
)

const (
	durableRows  = 10_000
	durableValue = 100 // bytes
)

// durableStore is a store in a file of its own, with rows in it.
type durableStore struct {
	durable.Store
	path string
}

// openDurable opens a kind at a new path in dir, with n rows.
func openDurable(k durable.Kind, dir string, n int) durableStore {
	path := filepath.Join(dir, k.ID)
	s, err := k.Open(path)
	must(err)
	must(s.SetAll(func(yield func(key, value string) bool) {
		for i := range n {
			if !yield(barKey(i), strings.Repeat("v", durableValue)) {
				return
			}
		}
	}))
	return durableStore{s, path}
}

// perCommit returns the time from one commit to the next, in ns, of writers that
// write any of n rows for d.
func perCommit(s durable.Store, writers, n int, d time.Duration) float64 {
	var done atomic.Int64
	value := strings.Repeat("w", durableValue)
	took := timed(func() {
		var wg sync.WaitGroup
		end := time.Now().Add(d)
		for w := range writers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 11))
				for time.Now().Before(end) {
					must(s.Set(barKey(r.IntN(n)), value))
					done.Add(1)
				}
			})
		}
		wg.Wait()
	})
	return float64(took) / float64(done.Load())
}

// bestBatch returns how bbolt's Batch is fastest with so many writers.
func bestBatch(dir string, writers int) (best durable.Batch) {
	fastest := 0.0
	for _, size := range []int{writers / 2, writers, 1000} {
		for _, delay := range []time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			batch := durable.Batch{Size: size, Delay: delay}
			s := openDurable(durable.Kinds(batch)[2], dir, durableRows)
			if ns := perCommit(s, writers, durableRows, 300*time.Millisecond); fastest == 0 || ns < fastest {
				fastest, best = ns, batch
			}
			must(s.Close())
			must(os.Remove(s.path))
		}
	}
	return best
}

// durableCommits compares commits that are on disk when they return.
func (b *bars) durableCommits() {
	const writers = 64
	const turn = 500 * time.Millisecond
	dir, err := os.MkdirTemp("", "durable-")
	must(err)
	defer os.RemoveAll(dir)
	var all []durableStore
	batch := bestBatch(dir, writers)
	kinds := durable.Kinds(batch)
	for _, k := range kinds {
		all = append(all, openDurable(k, dir, durableRows))
	}
	defer func() {
		for _, s := range all {
			must(s.Close())
		}
	}()
	for _, m := range []struct {
		writers int
		name    string
		limits  []float64 // by kind, the first is ours
	}{
		{1, "1 writer", []float64{0, 1 / 0.85, 0, 0, 0}},
		{writers, "64 writers", []float64{0, 1.0 / 8, 1 / 0.8, 0, 0}},
	} {
		var measures []func() float64
		written := make([][]float64, len(all))
		for i, s := range all {
			measures = append(measures, func() float64 {
				before := bytesWritten()
				ns := perCommit(s, m.writers, durableRows, turn)
				written[i] = append(written[i], float64(bytesWritten()-before)*ns/float64(turn))
				return ns
			})
		}
		times := interleave(b.rounds, measures...)
		for i, k := range kinds {
			name := k.Name
			if k.ID == "bbolt-batch" {
				name += fmt.Sprintf(" of %v", batch)
				if m.writers == 1 {
					continue // it would wait for others
				}
			}
			if i > 0 {
				b.add("durable commit, "+m.name+", vs "+name, "ns", times[0], times[i], m.limits[i])
				if bytesWritten() > 0 {
					b.add("bytes of a durable commit, "+m.name+", vs "+name, "B", written[0], written[i], 0)
				}
			}
		}
	}
}

// durableLoad compares opening a file with walking one of bbolt, and the heap of a
// DB in a file with that of one in none.
func (b *bars) durableLoad() {
	const n = 1_000_000
	dir, err := os.MkdirTemp("", "durable-")
	must(err)
	defer os.RemoveAll(dir)
	kinds := durable.Kinds(durable.Batch{})[:2]
	var paths []string
	for _, k := range kinds {
		s := openDurable(k, dir, n)
		must(s.Close())
		paths = append(paths, s.path)
	}
	load := func(i int) func() float64 {
		return func() float64 {
			return float64(timed(func() {
				s, err := kinds[i].Open(paths[i])
				must(err)
				if i > 0 {
					must(s.Each(func(key string, r durable.Row) { sink += uint64(len(key) + len(r.Value)) }))
				}
				must(s.Close())
			})) / n
		}
	}
	times := interleave(max(3, b.rounds/3), load(0), load(1))
	b.add("loading a row vs walking bbolt with decoding at 1M", "ns", times[0], times[1], 2)

	base := live()
	s, err := kinds[0].Open(paths[0])
	must(err)
	kept := live() - base
	bare := durable.InMemory()
	must(bare.SetAll(func(yield func(key, value string) bool) {
		_ = s.Each(func(key string, r durable.Row) { yield(strings.Clone(key), strings.Clone(r.Value)) })
	}))
	both := live() - base
	runtime.KeepAlive(bare)
	must(s.Close())
	b.add("heap of a row in a file vs in memory at 1M", "B", []float64{kept / n}, []float64{(both - kept) / n}, 1.05)
}

// durableReads compares the slow Gets beside committing writers with those beside
// goroutines that only compute.
func (b *bars) durableReads() {
	const writers = 64
	dir, err := os.MkdirTemp("", "durable-")
	must(err)
	defer os.RemoveAll(dir)
	s := openDurable(durable.Kinds(durable.Batch{})[0], dir, durableRows)
	rows := s.Store.(*durable.Cow).Rows
	keys := barKeys(0, durableRows)
	beside := func(work func(stop *atomic.Bool, w int)) func() float64 {
		return func() float64 {
			var stop atomic.Bool
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() { work(&stop, w) })
			}
			defer wg.Wait()
			defer stop.Store(true)
			return quantile(latencies(1_000_000, func(i int) {
				r, _ := rows.Get(keys[i%len(keys)])
				sink += r.Seen
			}), 0.999)
		}
	}
	times := interleave(max(3, b.rounds/3),
		beside(func(stop *atomic.Bool, w int) {
			for i := w; !stop.Load(); i++ {
				must(s.Set(keys[i%len(keys)], "written"))
			}
		}),
		beside(func(stop *atomic.Bool, w int) {
			for x := uint64(w); !stop.Load(); x = x*6364136223846793005 + 1 {
				if x == 0 {
					runtime.Gosched()
				}
			}
		}),
	)
	must(s.Close())
	b.add("p99.9 of Get beside 64 committing writers vs 64 that spin", "ns", times[0], times[1], 1.3)
}

// bytesWritten returns how many bytes this process has handed to the kernel to be
// written, where that can be known, or 0.
func bytesWritten() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
