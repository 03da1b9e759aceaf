package main_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// BenchmarkHeap measures the heap and a collection of it, keys included, over loads of
// one to two million keys: a Go map doubles somewhere among them.
func BenchmarkHeap(b *testing.B) {
	heapOf(b, "32B", numbered)
	heapOf(b, "8B", func(i int) int { return i })
}

func heapOf[V any](b *testing.B, value string, v func(i int) V) {
	b.Run("keys=1M-2M/value="+value+"/store=cowstore", func(b *testing.B) {
		s := cow.New[string](cow.Options[V]{})
		grown(b, func(from, to int) { fillStore(s, from, to, v) })
		runtime.KeepAlive(s)
	})
	b.Run("keys=1M-2M/value="+value+"/store=gomap", func(b *testing.B) {
		m := map[string]V{}
		grown(b, func(from, to int) {
			for i := from; i < to; i++ {
				m[key(i)] = v(i)
			}
		})
		runtime.KeepAlive(m)
	})
}

// grown reports the heap of what add adds, and a collection of it, an entry.
func grown(b *testing.B, add func(from, to int)) {
	once(b, func() {
		base, baseGC, bytes, ns := load.Live(), collection(), 0.0, 0.0
		const samples = 11
		for i, n := 0, 0; i < samples; i++ {
			to := size("1M") + i*size("100k")
			add(n, to)
			n = to
			bytes += (load.Live() - base) / float64(n) / samples
			ns += (collection() - baseGC) / float64(n) / samples
		}
		b.ReportMetric(bytes, "B/entry")
		b.ReportMetric(ns, "gc-ns/entry")
	})
}

// collection returns the time of a full collection, the fastest of three, in ns.
func collection() float64 {
	best := time.Hour
	for range 3 {
		start := time.Now()
		runtime.GC()
		best = min(best, time.Since(start))
	}
	return float64(best)
}

// BenchmarkVersion measures the heap that one more version takes, one key apart, if it
// is held, or part of a history.
func BenchmarkVersion(b *testing.B) {
	version := func(name, store string, hold bool) {
		b.Run("keys=100k/store="+name, func(b *testing.B) {
			t, keys := newTable(store).filled(size("100k")), keys(0, size("1k"), 1)
			kept := make([]any, len(keys))
			if !hold {
				retain(t.cow)
			}
			held(b, len(keys), "B/version", func() any {
				for i, k := range keys {
					if t.set(k, number{}); hold {
						kept[i] = t.load()
					}
				}
				return kept
			})
			runtime.KeepAlive(t)
			runtime.KeepAlive(keys)
		})
	}
	version("cowstore", "cowstore", true)
	version("cowstore/versions=1k", "cowstore", false)
	version("immutable", "immutable", true)
}

// BenchmarkRewrite measures the heap that is kept by a write that only replaces what is
// there: nothing, or old versions are not let go.
func BenchmarkRewrite(b *testing.B) {
	b.Run("keys=1k/store=memory", func(b *testing.B) {
		space := memory.New(memory.Options{NoText: true}).Space("session", "s-1")
		keys := keys(0, size("1k"), 1)
		rewrite := func(times int) {
			for i := range times * len(keys) {
				must(b, errOf(space.Put(keys[i%len(keys)], tenFields(i%len(keys)))))
			}
		}
		rewrite(2) // so that each key has a page of its own by now
		held(b, 10*len(keys), "B/rewrite", func() any { rewrite(10); return space })
		runtime.KeepAlive(keys)
	})
}
