package main_test

import (
	"cmp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

const noteText = "the user prefers short answers"

// noted returns a note with a vector.
func noted(key string, v []float32) memories.Note {
	return memories.Note{Key: key, Value: map[string]any{"text": noteText}, Vector: v}
}

// newVectors returns a space of a new memory with the vectors.
func newVectors(id string, vectors [][]float32) memories.VectorSpace {
	s := memories.New(id).Space("session", "s-1").(memories.VectorSpace)
	return filled(s, len(vectors), func(i int) memories.Note { return noted(key(i), vectors[i]) })
}

// BenchmarkNearest finds the ten nearest by cosine, exactly, one search at a time.
// chromem-go uses all processors for a search, we use one.
func BenchmarkNearest(b *testing.B) {
	nearest := func(n string, dim, centers int, store string) {
		kind := "random"
		if centers > 0 {
			kind = "clustered"
		}
		b.Run("vectors="+n+"/dim="+strconv.Itoa(dim)+"/kind="+kind+"/store="+store, func(b *testing.B) {
			source := memories.UnitVectors(1, dim, min(centers, size(n)))
			vectors, queries, i := memories.Take(size(n), source), memories.Take(10, source), 0
			s := newVectors(store, vectors)
			for _, q := range queries {
				require.ElementsMatch(b, exactly(vectors, q), s.Nearest(q, 10))
			}
			per(b, 1, "search", func() {
				sink += uint64(len(s.Nearest(queries[i%len(queries)], 10)))
				i++
			})
			b.ReportMetric(0, "differing")
		})
	}
	for _, c := range []struct {
		n            string
		dim, centers int
	}{{"1k", 1536, 10}, {"10k", 768, 100}, {"100k", 384, 1_000}} {
		for _, centers := range []int{0, c.centers} {
			nearest(c.n, c.dim, centers, "memory")
			nearest(c.n, c.dim, centers, "chromem")
		}
	}
}

// exactly returns the keys of the ten vectors nearest to q, by plain sums of 64 bits: all
// stores have vector instructions of one kind or another.
func exactly(vectors [][]float32, q []float32) (keys []string) {
	order, products := make([]int, len(vectors)), make([]float64, len(vectors))
	for i, v := range vectors {
		order[i] = i
		for j := range v {
			products[i] += float64(v[j]) * float64(q[j])
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(products[j], products[i]) })
	for _, i := range order[:10] {
		keys = append(keys, key(i))
	}
	return keys
}

const writtenDim = 384 // of the vectors that are written

// BenchmarkPutVector puts vectors one by one, each in place of one that is there.
func BenchmarkPutVector(b *testing.B) {
	for _, of := range []string{"1k", "100k"} {
		b.Run("vectors="+of+"/dim=384/store=memory", func(b *testing.B) {
			n, source, next := size(of), memories.UnitVectors(2, writtenDim, 0), 0
			s := newSpace(memory.Options{NoText: true}, n, func(i int) memories.Note {
				return memories.Note{Key: key(i), Value: noteText, Vector: source()}
			})
			vectors, keys := memories.Take(1_000, source), keys(0, n, 1)
			put := func() {
				must(b, errOf(s.PutVector(keys[next%n], vectors[next%len(vectors)], nil)))
				next++
			}
			for range size("4k") {
				put() // so that blocks have dead slots by now, and some are left
			}
			per(b, 1, "put", put)
		})
	}
}

// BenchmarkHeapVector measures the heap that a vector takes: in an Index, where the keys
// are the caller's, and in a Space, with its row, its place in the order, and two keys.
func BenchmarkHeapVector(b *testing.B) {
	heap := func(store string, fill func(b *testing.B, keys []string, source func() []float32) any) {
		b.Run("vectors=100k/dim=384/store="+store, func(b *testing.B) {
			keys, source := keys(0, size("100k"), 1), memories.UnitVectors(3, writtenDim, 0)
			held(b, len(keys), "B/vector", func() any { return fill(b, keys, source) })
			runtime.KeepAlive(keys)
		})
	}
	heap("index", func(b *testing.B, keys []string, source func() []float32) any {
		var x *vector.Index
		for _, k := range keys {
			var err error
			x, err = x.Set(k, source())
			must(b, err)
		}
		return x
	})
	heap("memory/batch=1k", func(b *testing.B, keys []string, source func() []float32) any {
		return newSpace(memory.Options{}, len(keys), func(i int) memories.Note { return memories.Note{Key: keys[i], Vector: source()} })
	})
	heap("memory/batch=1", func(b *testing.B, keys []string, source func() []float32) any {
		s := memory.New(memory.Options{}).Space("session", "s-1")
		for _, k := range keys {
			must(b, errOf(s.PutVector(k, source(), nil)))
		}
		return s
	})
}
