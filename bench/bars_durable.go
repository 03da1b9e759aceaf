package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/bench/durable"
)

const (
	durableRows  = 100_000
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
	keys := barKeys(0, n)
	slices.Sort(keys) // or bbolt would insert each in the middle of one large page
	must(s.SetAll(func(yield func(key, value string) bool) {
		for _, key := range keys {
			if !yield(key, strings.Repeat("v", durableValue)) {
				return
			}
		}
	}))
	return durableStore{s, path}
}

// perCommit returns the time from one commit to the next, in ns, of writers that
// rewrite any of the rows for d, and how many bytes a commit writes.
func perCommit(s durable.Store, writers int, d time.Duration) (ns, bytes float64) {
	var done atomic.Int64
	before := bytesWritten()
	took := timed(func() {
		var wg sync.WaitGroup
		end := time.Now().Add(d)
		for w := range writers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 11))
				for time.Now().Before(end) { // another value each time, or SQLite writes nothing
					must(s.Set(barKey(r.IntN(durableRows)), fmt.Sprintf("%0*d", durableValue, r.Uint64())))
					done.Add(1)
				}
			})
		}
		wg.Wait()
	})
	n := float64(done.Load())
	return float64(took) / n, float64(bytesWritten()-before) / n
}

// bestBatch returns how bbolt's Batch is fastest with so many writers.
func bestBatch(dir string, writers int) (best durable.Batch) {
	s := openDurable(durable.BatchOf(durable.Batch{Size: writers}), dir, durableRows)
	var batches []durable.Batch
	var measures []func() float64
	for _, size := range []int{writers / 4, writers / 2, writers} {
		for _, delay := range []time.Duration{50 * time.Microsecond, 200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			batch := durable.Batch{Size: size, Delay: delay}
			batches = append(batches, batch)
			measures = append(measures, func() float64 {
				batch.Set(s.Store)
				ns, _ := perCommit(s, writers, 200*time.Millisecond)
				return ns
			})
		}
	}
	fastest := 0.0
	for i, times := range interleave(3, measures...) {
		if ns := median(times); fastest == 0 || ns < fastest {
			fastest, best = ns, batches[i]
		}
	}
	must(s.Close())
	must(os.Remove(s.path))
	return best
}

// durableCommits compares commits that are on disk when they return.
func (b *bars) durableCommits() {
	const writers = 64
	const turn = 500 * time.Millisecond
	dir, err := os.MkdirTemp("", "durable-")
	must(err)
	defer os.RemoveAll(dir)
	batch := bestBatch(dir, writers)
	ours := []durable.Kind{durable.CowPast, durable.Cow}
	kinds := append(ours, durable.Update, durable.BatchOf(batch), durable.Bunt, durable.SQLite)
	var all []durableStore
	for _, k := range kinds {
		s := openDurable(k, dir, durableRows)
		_, _ = perCommit(s, writers, turn) // till a past has but such commits
		all = append(all, s)
	}
	defer func() {
		for _, s := range all {
			must(s.Close())
		}
	}()
	for _, m := range []struct {
		writers int
		name    string
		limits  map[string]float64 // by peer
	}{
		{1, "1 writer", map[string]float64{durable.Update.ID: 1 / 0.85}},
		{writers, "64 writers", map[string]float64{durable.Update.ID: 1.0 / 8, durable.BatchOf(batch).ID: 1 / 0.8}},
	} {
		var measures []func() float64
		bytes := make([][]float64, len(all))
		for i, s := range all {
			measures = append(measures, func() float64 {
				ns, n := perCommit(s, m.writers, turn)
				bytes[i] = append(bytes[i], n)
				return ns
			})
		}
		times := interleave(b.rounds, measures...)
		for j, peer := range kinds[len(ours):] {
			j += len(ours)
			if peer.ID == durable.BatchOf(batch).ID && m.writers == 1 {
				continue // it would wait for others
			}
			for i, k := range ours {
				at := fmt.Sprintf(", %s, %s vs %s", m.name, k.Name, peer.Name)
				b.add("durable commit"+at, "ns", times[i], times[j], m.limits[peer.ID])
				if bytesWritten() > 0 {
					b.add("bytes written by a durable commit"+at, "B", bytes[i], bytes[j], 0)
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
	kinds := []durable.Kind{durable.Cow, durable.Update}
	var paths []string
	for _, k := range kinds {
		s := openDurable(k, dir, n)
		must(s.Close())
		paths = append(paths, s.path)
	}
	load := func(i int) func() float64 {
		return func() float64 {
			var s durable.Store
			took := timed(func() {
				var err error
				s, err = kinds[i].Open(paths[i])
				must(err)
				if i > 0 {
					must(s.Each(func(key string, r durable.Row) { sink += uint64(len(key) + len(r.Value)) }))
				}
			})
			must(s.Close())
			return float64(took) / n
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
// goroutines that only compute, and beside one that only writes a page of a file and syncs
// it: whatever syncs, the system has threads to wake, and makes a reader wait for that.
func (b *bars) durableReads() {
	const writers = 64
	dir, err := os.MkdirTemp("", "durable-")
	must(err)
	defer os.RemoveAll(dir)
	s := openDurable(durable.Cow, dir, durableRows)
	rows := s.Store.(*durable.CowStore).Rows
	keys := barKeys(0, durableRows)
	beside := func(work func(stop *atomic.Bool, w int)) func() float64 {
		return func() float64 {
			runtime.GC()
			var stop atomic.Bool
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() { work(&stop, w) })
			}
			defer wg.Wait()
			defer stop.Store(true)
			return quantile(each(300_000, func(i int) {
				r, _ := rows.Get(keys[i%len(keys)])
				sink += r.Seen
			}), 0.999)
		}
	}
	file, err := os.Create(filepath.Join(dir, "pages"))
	must(err)
	defer file.Close()
	page := make([]byte, os.Getpagesize())
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
		beside(func(stop *atomic.Bool, w int) {
			for i := 0; w == 0 && !stop.Load(); i++ {
				_, err := file.WriteAt(page, int64(i%1000*len(page)))
				must(err)
				must(file.Sync())
			}
		}),
	)
	must(s.Close())
	b.add("p99.9 of Get beside 64 committing writers vs a goroutine that writes and syncs pages", "ns", times[0], times[2], 1.3)
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
