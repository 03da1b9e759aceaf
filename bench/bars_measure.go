package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// sink keeps results from being optimised away.
var sink uint64

func init() { runtime.KeepAlive(&sink) }

// barKey returns key i: 20 to 40 bytes, a fresh copy each time.
func barKey(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	n := 20 + r.IntN(21)
	s := fmt.Sprintf("user:%08x:memory:%d:", r.Uint32(), i)
	for len(s) < n {
		s += string(rune('a' + r.IntN(26)))
	}
	return strings.Clone(s[:max(n, len(fmt.Sprint(i))+21)])
}

// barKeys returns copies of the keys from to to, shuffled.
func barKeys(from, to int) []string {
	keys := make([]string, to-from)
	for j, i := range rand.New(rand.NewPCG(7, 7)).Perm(to - from) {
		keys[j] = barKey(from + i)
	}
	return keys
}

// timed returns how long f took, after a collection.
func timed(f func()) time.Duration {
	runtime.GC()
	start := time.Now()
	f()
	return time.Since(start)
}

// perGet returns the time of one lookup of the keys by one goroutine, in ns, at
// least a million timed.
func perGet(p peer, keys []string) float64 {
	rounds := max(1, 1_000_000/len(keys))
	d := timed(func() {
		for range rounds {
			sink += p.gets(keys)
		}
	})
	return float64(d) / float64(rounds*len(keys))
}

// perGetOnAll is perGet with as many goroutines as there are processors, each
// with its own half of the keys first.
func perGetOnAll(p peer, keys []string) float64 {
	procs := runtime.GOMAXPROCS(0)
	rounds := max(1, 1_000_000/len(keys))
	d := timed(func() {
		var wg sync.WaitGroup
		for i := range procs {
			at := i * len(keys) / procs
			wg.Go(func() {
				var sum uint64
				for range rounds {
					sum += p.gets(keys[at:])
					sum += p.gets(keys[:at])
				}
				if sum == 1 {
					panic("unreachable: keeps sum alive")
				}
			})
		}
		wg.Wait()
	})
	return float64(d) / float64(rounds*len(keys))
}

// allocated returns the bytes and objects allocated by f.
func allocated(f func()) (bytes, objects float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc), float64(after.Mallocs - before.Mallocs)
}

// live returns the bytes of heap in use after a full collection.
func live() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// collection returns the time of a full collection, the fastest of three, in ns.
func collection() float64 {
	best := timed(runtime.GC)
	for range 2 {
		best = min(best, timed(runtime.GC))
	}
	return float64(best)
}

// latencies returns the times of n calls of f, in ns, sorted.
func latencies(n int, f func(i int)) []float64 {
	runtime.GC()
	return each(n, f)
}

// each is latencies without a collection before, which takes long where others never
// pause.
func each(n int, f func(i int)) []float64 {
	all := make([]float64, n)
	for i := range all {
		start := time.Now()
		f(i)
		all[i] = float64(time.Since(start))
	}
	slices.Sort(all)
	return all
}

// quantile returns the q-quantile of sorted samples.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// median returns the median of samples, which it sorts.
func median(samples []float64) float64 {
	slices.Sort(samples)
	n := len(samples)
	return (samples[(n-1)/2] + samples[n/2]) / 2
}

// interleave calls each of fs in turn, rounds times, in an order that changes,
// so that whatever the machine does meanwhile hits all alike. It returns the
// samples of each.
func interleave(rounds int, fs ...func() float64) [][]float64 {
	samples := make([][]float64, len(fs))
	for round := range rounds {
		for i := range fs {
			j := (i + round) % len(fs)
			samples[j] = append(samples[j], fs[j]())
		}
	}
	return samples
}

// ratio returns the median of the ratios of a to b, round by round.
func ratio(a, b []float64) float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return median(r)
}
