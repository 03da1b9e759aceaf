package main

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/bench/stores"
)

// A bed is a loaded store and what to ask it for.
type bed struct {
	stores.Store
	load  *workload
	pairs []stores.Pair
}

func newBed(k stores.Kind, load *workload) *bed {
	s := &bed{Store: k.New(), load: load}
	load.load(s)
	for i := range load.records {
		r := load.records[i].Reindexed(1)
		s.pairs = append(s.pairs, stores.Pair{Key: r.Key(), Record: r})
	}
	return s
}

// eachStore runs f for every store at every size, as store/n.
func eachStore(b *testing.B, f func(b *testing.B, s *bed)) {
	for _, n := range []int{1_000, 100_000} {
		load := newWorkload(settings{readers: 1, n: n, seed: 1}, resize(corpus(b), n, 1))
		for _, k := range append(stores.Kinds(), stores.More()...) {
			// Once, however often the function below is called; and not at all if
			// it is not.
			made := sync.OnceValue(func() *bed { return newBed(k, load) })
			b.Run(fmt.Sprintf("store=%s/n=%d", k.ID, n), func(b *testing.B) {
				s := made()
				b.ReportAllocs()
				b.ResetTimer()
				f(b, s)
			})
		}
	}
}

func BenchmarkGet(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		i, keys, choices := 0, s.load.keys, s.load.reads[0]
		for b.Loop() {
			if _, ok := s.Get(keys[choices[i%len(choices)]]); !ok {
				b.Fatal("absent")
			}
			i++
		}
	})
}

func BenchmarkGetParallel(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		b.RunParallel(func(pb *testing.PB) {
			i, keys, choices := 0, s.load.keys, s.load.reads[0]
			for pb.Next() {
				if _, ok := s.Get(keys[choices[i%len(choices)]]); !ok {
					panic("absent")
				}
				i++
			}
		})
	})
}

func BenchmarkSet(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		i, choices := 0, s.load.writes
		for b.Loop() {
			p := &s.pairs[choices[i%len(choices)]]
			s.Set(p.Key, p.Record)
			i++
		}
	})
}

// BenchmarkUpdate1000 commits 1,000 records at once, where a store can.
func BenchmarkUpdate1000(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		i, batches := 0, len(s.pairs)/1000
		for b.Loop() {
			at := i % batches * 1000
			s.Update(s.pairs[at : at+1000])
			i++
		}
	})
}

// BenchmarkScan reads every record, isolated where Get is.
func BenchmarkScan(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		for b.Loop() {
			n := 0
			for range s.All() {
				n++
			}
			if n != len(s.pairs) {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.pairs)), "ns/record")
	})
}
