package main_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/durable"
	"github.com/cowstore/cowstore/bench/load"
)

const manyWriters = 64

// setRows sets n rows of 100 bytes, in the order of keys, or bbolt would insert each in
// the middle of one large page.
func setRows(b *testing.B, s durable.Store, n int) {
	keys := slices.Sorted(slices.Values(keys(0, n, 1)))
	require.NoError(b, s.SetAll(func(yield func(key, value string) bool) {
		for i := 0; i < n && yield(keys[i], strings.Repeat("v", 100)); i++ {
		}
	}))
}

// openDurable opens a kind at a new path, with n rows.
func openDurable(b *testing.B, k durable.Kind, n int) (s durable.Store, path string) {
	path = filepath.Join(b.TempDir(), "rows")
	s, err := k.Open(path)
	require.NoError(b, err)
	setRows(b, s, n)
	return s, path
}

// rewrite has writers rewrite any of size("100k") rows for d. It returns the time from
// one commit to the next, and how many bytes a commit writes.
func rewrite(b *testing.B, s durable.Store, writers int, d time.Duration) (ns, bytes float64) {
	if *small {
		d /= 50
	}
	runtime.GC()
	var commits atomic.Int64
	var wg sync.WaitGroup
	n, before, start := size("100k"), bytesWritten(), time.Now()
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 11))
			for time.Since(start) < d { // another value each time, or SQLite writes nothing
				must(b, s.Set(key(r.IntN(n)), fmt.Sprintf("%0100d", r.Uint64())))
				commits.Add(1)
			}
		})
	}
	wg.Wait()
	took, all := time.Since(start), float64(commits.Load())
	return float64(took) / all, float64(bytesWritten()-before) / all
}

// bytesWritten returns how many bytes this process has handed to the kernel to be
// written, where that can be known.
func bytesWritten() (n int64) {
	text, _ := os.ReadFile("/proc/self/io")
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "wchar: %d", &n)
	}
	return n
}

// tuneBatch sets how bbolt's Batch is fastest with many writers.
func tuneBatch(b *testing.B, s durable.Store) {
	bestSize, bestDelay, least := 0, time.Duration(0), math.Inf(1)
	for _, size := range []int{manyWriters / 4, manyWriters / 2, manyWriters} {
		for _, delay := range []time.Duration{50 * time.Microsecond, 200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			durable.SetBatch(s, size, delay)
			if ns, _ := rewrite(b, s, manyWriters, 300*time.Millisecond); ns < least {
				bestSize, bestDelay, least = size, delay, ns
			}
		}
	}
	durable.SetBatch(s, bestSize, bestDelay)
}

// BenchmarkCommitDurable rewrites rows by commits that are on disk when they return.
func BenchmarkCommitDurable(b *testing.B) {
	const turn = 500 * time.Millisecond
	for _, k := range []durable.Kind{durable.CowPast, durable.Cow, durable.Update, durable.Batch, durable.Bunt, durable.SQLite} {
		b.Run("rows=100k/store="+k.ID, func(b *testing.B) {
			s, _ := openDurable(b, k, size("100k"))
			defer func() { must(b, s.Close()) }()
			writers := []int{1, manyWriters}
			if k.ID == durable.Batch.ID {
				tuneBatch(b, s)
				writers = writers[1:] // one would wait for others
			}
			_, _ = rewrite(b, s, manyWriters, turn) // till a past has but such commits
			for _, n := range writers {
				b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) {
					once(b, func() {
						ns, bytes := rewrite(b, s, n, turn)
						b.ReportMetric(ns, "ns/commit")
						if bytes > 0 {
							b.ReportMetric(bytes, "B-written/commit")
						}
					})
				})
			}
		})
	}
}

// BenchmarkLoadDurable opens a file, which loads its rows, or walks one of bbolt and
// decodes them. It reports the heap that rows take, in a DB that has no file too.
func BenchmarkLoadDurable(b *testing.B) {
	n := size("1M")
	opened := func(k durable.Kind, use func(b *testing.B, s durable.Store) (rows int)) {
		b.Run("rows=1M/store="+k.ID, func(b *testing.B) {
			s, path := openDurable(b, k, n)
			require.NoError(b, s.Close())
			s = nil
			base, heap := load.Live(), 0.0
			per(b, n, "row", func() {
				s, err := k.Open(path)
				require.NoError(b, err)
				require.Equal(b, n, use(b, s))
				b.StopTimer()
				heap = load.Live() - base
				require.NoError(b, s.Close())
				s = nil
				runtime.GC()
				b.StartTimer()
			})
			b.ReportMetric(heap/float64(n), "live-B/row")
		})
	}
	opened(durable.Cow, func(_ *testing.B, s durable.Store) int { return s.(*durable.CowStore).Rows.Load().Len() })
	opened(durable.Update, func(b *testing.B, s durable.Store) (rows int) {
		must(b, s.Each(func(_ string, r durable.Row) { rows += len(r.Value) / 100 }))
		return rows
	})
	b.Run("rows=1M/store=none", func(b *testing.B) {
		held(b, n, "live-B/row", func() any {
			s := durable.InMemory()
			setRows(b, s, n)
			return s
		})
	})
}

// BenchmarkGetDurable times single Gets beside many committing writers, beside as many
// goroutines that only compute, and beside one that only writes a page of a file and syncs
// it: whatever syncs, the system has threads to wake, and makes a reader wait for that.
func BenchmarkGetDurable(b *testing.B) {
	for _, beside := range []string{"commits", "syncs", "spin"} {
		b.Run("rows=100k/beside="+beside+"/store=cow-bolt", func(b *testing.B) {
			s, path := openDurable(b, durable.Cow, size("100k"))
			defer func() { must(b, s.Close()) }()
			pages, err := os.Create(path + ".pages")
			require.NoError(b, err)
			defer pages.Close()
			rows, keys, page := s.(*durable.CowStore).Rows, keys(0, size("100k"), 1), make([]byte, os.Getpagesize())
			work := map[string]func(i int){
				"commits": func(i int) { must(b, s.Set(keys[i%len(keys)], "written")) },
				"syncs": func(i int) {
					_, err := pages.WriteAt(page, int64(i%1000*len(page)))
					must(b, err)
					must(b, pages.Sync())
				},
				"spin": func(int) {},
			}[beside]
			runtime.GC() // now, since it takes long where others never pause
			var stop atomic.Bool
			var wg sync.WaitGroup
			defer wg.Wait()
			defer stop.Store(true)
			for w := range map[string]int{"commits": manyWriters, "syncs": 1, "spin": manyWriters}[beside] {
				wg.Go(func() {
					for i := w; !stop.Load(); i++ {
						work(i)
					}
				})
			}
			slow(b, size("300k"), 0.999, "p99.9-ns", func(i int) {
				r, _ := rows.Get(keys[i%len(keys)])
				sink += r.Seen
			})
		})
	}
}
