package main

import (
	"runtime"

	"github.com/cowstore/cowstore/cow"
)

// memory compares the heap and a collection of it, keys included, over loads
// of one to two million keys: a Go map doubles somewhere among them.
func (b *bars) memory() {
	const from, to, step = 1_000_000, 2_000_000, 100_000
	grow := func(add func(from, to int)) (bytes, ns float64) {
		base := live()
		baseGC := collection()
		n := 0
		samples := 0.0
		for at := from; at <= to; at += step {
			add(n, at)
			n = at
			bytes += (live() - base) / float64(n)
			ns += (collection() - baseGC) / float64(n)
			samples++
		}
		return bytes / samples, ns / samples
	}
	s := cow.New[string](cow.Options[number]{})
	ourBytes, ourGC := grow(func(from, to int) { fillStore(s, from, to) })
	runtime.KeepAlive(s)
	s = nil
	m := goMap{}
	mapBytes, mapGC := grow(func(from, to int) {
		for i := from; i < to; i++ {
			m.set(barKey(i), number{ID: uint64(i)})
		}
	})
	runtime.KeepAlive(m)
	m = nil
	small := cow.New[string](cow.Options[int]{})
	smallBytes, _ := grow(func(from, to int) {
		_ = small.Update(func(e *cow.Editor[string, int]) error {
			for i := from; i < to; i++ {
				e.Set(barKey(i), i)
			}
			return nil
		})
	})
	runtime.KeepAlive(small)
	small = nil
	smallMap := map[string]int{}
	smallMapBytes, _ := grow(func(from, to int) {
		for i := from; i < to; i++ {
			smallMap[barKey(i)] = i
		}
	})
	runtime.KeepAlive(smallMap)
	b.add("heap an entry vs Go map, 1M to 2M, 32-byte values", "B", []float64{ourBytes}, []float64{mapBytes}, 0.8)
	b.add("heap an entry vs Go map, 1M to 2M, 8-byte values", "B", []float64{smallBytes}, []float64{smallMapBytes}, 0)
	b.add("collection vs Go map, 1M to 2M, an entry", "ns", []float64{ourGC}, []float64{mapGC}, 1.4)
}

// version compares what one more version, one key apart, holds back.
func (b *bars) version() {
	const n, versions = 100_000, 1_000
	s, big := cow.New[string](cow.Options[number]{}), newOneBigMap()
	fillStore(s, 0, n)
	fill(big, n)
	rewrite(n, cowGet{s}, big)
	keys := barKeys(0, n)
	held := func(set func(string), load func() any) []float64 {
		kept := make([]any, versions)
		before := live()
		for i := range kept {
			set(keys[i])
			kept[i] = load()
		}
		after := live()
		runtime.KeepAlive(kept)
		return []float64{(after - before) / versions}
	}
	ours := held(func(k string) { s.Set(k, number{}) }, func() any { return s.Load() })
	peers := held(func(k string) { big.set(k, number{}) }, func() any { return big.current.Load() })
	runtime.KeepAlive(s)
	runtime.KeepAlive(big)
	runtime.KeepAlive(keys)
	b.add("bytes of one more version at 100k vs one immutable.Map", "B", ours, peers, 0.65)
}
