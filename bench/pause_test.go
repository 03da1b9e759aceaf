package main_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// The load of BenchmarkGetPaced.
const (
	pacedGets = time.Millisecond     // from one Get to the next
	pacedPuts = 2 * time.Millisecond // from one vector to the next
	slowGet   = time.Millisecond
)

// BenchmarkGetPaced makes Gets that are due each millisecond, while one goroutine
// searches without a pause and vectors are put, on two processors. Beside a goroutine
// that spins instead, what is late the machine has made late.
func BenchmarkGetPaced(b *testing.B) {
	paced := func(beside, store string) {
		b.Run("vectors=100k/dim=384/beside="+beside+"/store="+store, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			source, window := memories.UnitVectors(4, writtenDim, 0), 2*time.Second
			if *small {
				window /= 40
			}
			vectors := memories.Take(size("100k"), source)
			s := newVectors(store, vectors)
			if beside == "spin" {
				s = spinning{s}
			}
			once(b, func() {
				for unit, figure := range pacedFigures(b, s, len(vectors), source, beside == "both", window) {
					b.ReportMetric(figure, unit)
				}
			})
		})
	}
	paced("both", "memory")
	paced("searches", "memory")
	paced("spin", "memory")
	paced("both", "chromem")
}

// A spinning space keeps a processor busy instead of a search.
type spinning struct{ memories.VectorSpace }

func (spinning) Nearest([]float32, int) []string {
	for start := time.Now(); time.Since(start) < 10*time.Millisecond; {
	}
	return nil
}

// pacedFigures makes the Gets that are due in the window, of n keys, each in a goroutine of
// its own, as a server does: none waits for the one before. Puts are one after the other, and
// they and the searches end with the Gets. It returns figures by their units.
func pacedFigures(b testing.TB, s memories.VectorSpace, n int, source func() []float32, put bool, window time.Duration) map[string]float64 {
	keys, queries, vectors := keys(0, n, 1), memories.Take(100, source), memories.Take(1_000, source)
	runtime.GC()
	ctx, cancel := context.WithCancel(context.Background())
	var puts, searches atomic.Int64
	var wg, gets sync.WaitGroup
	start := time.Now()
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			s.Nearest(queries[i%len(queries)], 10)
			searches.Add(1)
		}
	})
	if put {
		wg.Go(func() {
			pace(ctx, pacedPuts, int(window/pacedPuts), func(i int, _ time.Time) {
				// From the other end: a key just put would be in a cache.
				s.Put(noted(keys[n-1-i%n], vectors[i%len(vectors)]))
				puts.Add(1)
			})
		})
	}
	latencies := make([]time.Duration, int(window/pacedGets))
	pace(ctx, pacedGets, len(latencies), func(i int, due time.Time) {
		gets.Go(func() {
			f, _ := s.Get(keys[i%n])
			latencies[i] = time.Since(due)
			if f.Text != noteText {
				b.Error("not what was put")
			}
		})
	})
	gets.Wait()
	took, slow := time.Since(start).Seconds(), 0.0
	figures := map[string]float64{"puts/s": float64(puts.Load()) / took, "searches/s": float64(searches.Load()) / took}
	cancel()
	wg.Wait()
	for _, d := range latencies {
		if d > slowGet {
			slow++
		}
	}
	figures["slow/s"], figures["p99-ns"] = slow/window.Seconds(), quantile(latencies, 0.99)
	return figures
}

// pace calls f n times, or until ctx ends, each time when it is due, or as soon as the
// one before is done. It is an open loop: a late call does not put off the next ones.
func pace(ctx context.Context, every time.Duration, n int, f func(i int, due time.Time)) {
	p := load.NewPacer()
	defer p.Close()
	start := time.Now()
	for i := 0; i < n && ctx.Err() == nil; i++ {
		due := start.Add(time.Duration(i) * every)
		p.Wait(due)
		f(i, due)
	}
}

// BenchmarkErase erases an entry with ten thousand versions from a memory of a million, while
// another client puts one of them each millisecond. How late the latest of those was stands
// beside what it is without Erase, while the collector runs as often.
func BenchmarkErase(b *testing.B) {
	for _, beside := range []string{"erase", "collector"} {
		b.Run("keys=1M/versions=10k/beside="+beside+"/store=memory", func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			n, versions := size("1M"), size("10k")
			once(b, func() {
				m := memory.New(memory.Options{})
				s, keys := m.Space("session", "s-1"), keys(0, n, 1)
				must(b, m.Batch(func(batch *memory.Batch) error {
					e := batch.Space("session", "s-1")
					for i, k := range keys {
						if err := e.Put(k, i); err != nil {
							return err
						}
					}
					return nil
				}))
				m.DB().Retain(cow.Retention{Versions: 3 * versions})
				put := func(key string, v int) {
					_, err := s.Put(key, v)
					must(b, err)
				}
				for i := range versions {
					put(keys[i%n], -1)
					put("secret", i)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var late []time.Duration
				var wg sync.WaitGroup
				wg.Go(func() {
					pace(ctx, time.Millisecond, 1<<30, func(i int, due time.Time) {
						put(keys[n-1-i%n], i)
						late = append(late, time.Since(due))
					})
				})
				start := time.Now()
				if beside == "erase" {
					_, err := s.Erase(ctx, "secret")
					must(b, err)
					b.ReportMetric(float64(time.Since(start)), "ns/erase")
				} else {
					for range 3 {
						runtime.GC()
					}
				}
				cancel()
				wg.Wait()
				b.ReportMetric(quantile(late, 0.999), "p99.9-ns")
				b.ReportMetric(quantile(late, 1), "max-ns")
			})
		})
	}
}
