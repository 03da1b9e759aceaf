package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/stores"
)

// A bed is a loaded store and what to ask it for.
type bed struct {
	stores.Store
	keys    *keyspace
	choices []uint32
	pairs   []stores.Pair
}

func newBed(k stores.Kind, keys *keyspace) *bed {
	s := &bed{Store: k.New(), keys: keys, choices: keys.zipf.draw(streamClients, draws)}
	keys.load(context.Background(), s)
	for i := range keys.n {
		r := keys.record(i, 1)
		s.pairs = append(s.pairs, stores.Pair{Key: r.Key(), Record: r})
	}
	return s
}

// eachStore runs f for this project, and a map behind a lock to compare with, at
// every size, as store/n. For the others there is the program itself.
func eachStore(b *testing.B, f func(b *testing.B, s *bed)) {
	for _, n := range []int{1_000, 100_000} {
		keys := sync.OnceValue(func() *keyspace { return recordKeys(corpus.Resize(symbolsOf(b), n, 1), 1) })
		kinds, err := chooseStores("cowstore,shared,rwmutex")
		require.NoError(b, err)
		for _, k := range kinds {
			// Once, however often the function below is called; and not at all if
			// it is not.
			made := sync.OnceValue(func() *bed { return newBed(k, keys()) })
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
		i := 0
		for b.Loop() {
			if _, ok := s.Get(s.keys.keys[s.choices[i%draws]]); !ok {
				b.Fatal("absent")
			}
			i++
		}
	})
}

func BenchmarkGetParallel(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		b.RunParallel(func(pb *testing.PB) {
			i := 0
			for pb.Next() {
				if _, ok := s.Get(s.keys.keys[s.choices[i%draws]]); !ok {
					panic("absent")
				}
				i++
			}
		})
	})
}

func BenchmarkSet(b *testing.B) {
	eachStore(b, func(b *testing.B, s *bed) {
		i := 0
		for b.Loop() {
			p := &s.pairs[s.choices[i%draws]]
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

// symbolsOf is the corpus, read once for all benchmarks.
func symbolsOf(b testing.TB) []stores.Record {
	records, err := loaded()
	require.NoError(b, err)
	return records
}

var loaded = sync.OnceValues(func() ([]stores.Record, error) {
	root, err := corpus.Root()
	if err != nil {
		return nil, err
	}
	return corpus.Load(context.Background(), root, func(int, int) {})
})
