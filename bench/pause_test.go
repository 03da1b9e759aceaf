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
	paced := func(beside string, puts bool, store string, made func(b *testing.B, vectors [][]float32) vectorStore) {
		b.Run("vectors=100k/dim=384/beside="+beside+"/store="+store, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			source, window := memories.UnitVectors(4, writtenDim, 0), 2*time.Second
			if *small {
				window /= 40
			}
			vectors := take(size("100k"), source)
			l := pacedLoad{keys(0, len(vectors), 1), take(100, source), take(1_000, source), puts}
			s := made(b, vectors)
			once(b, func() {
				for unit, figure := range l.run(b, s, window) {
					b.ReportMetric(figure, unit)
				}
			})
		})
	}
	paced("both", true, "memory", newSpaceVectors)
	paced("searches", false, "memory", newSpaceVectors)
	paced("spin", false, "memory", func(b *testing.B, vectors [][]float32) vectorStore {
		return spinning{newSpaceVectors(b, vectors)}
	})
	paced("both", true, "chromem", newChromemVectors)
}

type spinning struct{ vectorStore }

func (spinning) nearest(context.Context, []float32) ([]string, error) {
	for start := time.Now(); time.Since(start) < 10*time.Millisecond; {
	}
	return nil, nil
}

// A pacedLoad is what is done to each store, for the same time.
type pacedLoad struct {
	keys             []string
	queries, vectors [][]float32
	puts             bool
}

// run makes the Gets that are due in the window, each in a goroutine of its own, as a
// server does: none waits for the one before. Puts are one after the other, and they and
// the searches end with the Gets. It returns figures by their units.
func (l pacedLoad) run(b testing.TB, s vectorStore, window time.Duration) map[string]float64 {
	runtime.GC()
	ctx, cancel := context.WithCancel(context.Background())
	var puts, searches atomic.Int64
	var wg, gets sync.WaitGroup
	start := time.Now()
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := s.nearest(ctx, l.queries[i%len(l.queries)]); ctx.Err() == nil {
				must(b, err) // else it was stopped
			}
			searches.Add(1)
		}
	})
	if l.puts {
		wg.Go(func() {
			pace(ctx, pacedPuts, int(window/pacedPuts), func(i int, _ time.Time) {
				// From the other end: a key just put would be in a cache.
				must(b, s.put(l.keys[len(l.keys)-1-i%len(l.keys)], l.vectors[i%len(l.vectors)]))
				puts.Add(1)
			})
		})
	}
	latencies := make([]time.Duration, int(window/pacedGets))
	pace(ctx, pacedGets, len(latencies), func(i int, due time.Time) {
		gets.Go(func() {
			size := s.get(l.keys[i%len(l.keys)])
			latencies[i] = time.Since(due)
			if size == 0 {
				b.Error("nothing under a key that was put")
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
