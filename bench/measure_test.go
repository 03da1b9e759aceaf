package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/load"
)

var small = flag.Bool("small", false, "measure little under the names of much, to see that all benchmarks work")

// size returns the number that is written like 1k or 1M, or few with -small.
func size(name string) int {
	n, err := strconv.Atoi(strings.NewReplacer("k", "000", "M", "000000").Replace(name))
	if err != nil {
		panic(err)
	}
	if *small {
		return min(n, 300)
	}
	return n
}

// sink keeps results from being optimised away.
var sink uint64

// key returns key i: 20 to 40 bytes, a fresh copy each time.
func key(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	n := 20 + r.IntN(21)
	b := fmt.Appendf(make([]byte, 0, 48), "user:%08x:memory:%d:", r.Uint32(), i)
	for len(b) < n {
		b = append(b, byte('a'+r.IntN(26)))
	}
	return string(b[:max(n, len(strconv.Itoa(i))+21)])
}

// keys returns copies of every step-th key, shuffled.
func keys(from, to, step int) []string {
	all := make([]string, (to-from+step-1)/step)
	for j, i := range rand.New(rand.NewPCG(7, 7)).Perm(len(all)) {
		all[j] = key(from + i*step)
	}
	return all
}

// parts returns a function that returns others of the keys at each call: n of them, a
// thousand if there are.
func parts(keys []string) (n int, next func() []string) {
	n, at := min(1_000, len(keys)), 0
	return n, func() []string {
		if at += n; at > len(keys) {
			at = n
		}
		return keys[at-n : at]
	}
}

// per reports what one of the n things costs that f does: time, and bytes and objects
// allocated. It returns the bytes.
func per(b *testing.B, n int, unit string, f func()) (bytes float64) {
	runtime.GC()
	bytes, objects := load.Allocated(func() {
		for b.Loop() {
			f()
		}
	})
	all := float64(b.N) * float64(n)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(b.Elapsed())/all, "ns/"+unit)
	b.ReportMetric(bytes/all, "B/"+unit)
	b.ReportMetric(objects/all, "objects/"+unit)
	return bytes / all
}

// once calls f once, however long the benchmark is to run: it measures by itself.
func once(b *testing.B, f func()) {
	for done := false; b.Loop(); done = true {
		if !done {
			f()
		}
	}
	b.ReportMetric(0, "ns/op")
}

// slow reports the q-quantile of the times of n calls of f.
func slow(b *testing.B, n int, q float64, unit string, f func(i int)) {
	once(b, func() {
		all := make([]time.Duration, n)
		for i := range all {
			start := time.Now()
			f(i)
			all[i] = time.Since(start)
		}
		b.ReportMetric(quantile(all, q), unit)
	})
}

// quantile returns the q-quantile of samples, which it sorts, in ns.
func quantile(samples []time.Duration, q float64) float64 {
	slices.Sort(samples)
	return float64(samples[min(int(q*float64(len(samples))), len(samples)-1)])
}

// held reports the heap that each of the n things takes that f returns.
func held(b *testing.B, n int, unit string, f func() any) {
	once(b, func() { b.ReportMetric(load.Held(n, f), unit) })
}

// parallel calls f on each processor, with places from 0 to n, spread evenly.
func parallel(n int, f func(at int)) {
	var wg sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) {
		wg.Go(func() { f(i * n / runtime.GOMAXPROCS(0)) })
	}
	wg.Wait()
}

// must fails the benchmark if there is an error. Any goroutine may call it.
func must(b testing.TB, err error) {
	if err != nil {
		b.Error(err)
	}
}

// errOf returns the error of a write.
func errOf(_ uint64, err error) error { return err }
