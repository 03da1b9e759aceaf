package main_test

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/philippgille/chromem-go"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

func dot(v, w []float32) (sum float64) {
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}

// take returns n of a source.
func take(n int, next func() []float32) [][]float32 {
	all := make([][]float32, n)
	for i := range all {
		all[i] = next()
	}
	return all
}

// A vectorStore has vectors, and with each a text.
type vectorStore interface {
	get(key string) (size int)
	put(key string, v []float32) error
	nearest(ctx context.Context, q []float32) (keys []string, err error) // the ten
}

const note = "the user prefers short answers"

type spaceVectors struct{ memory.Space }

func newSpaceVectors(b *testing.B, vectors [][]float32) vectorStore {
	o := memory.Options{NoText: true} // chromem-go has no index of words either
	return spaceVectors{newSpace(b, o, len(vectors), func(i int) (string, memory.Item) {
		return key(i), memory.Item{Value: note, Vector: vectors[i]}
	})}
}

func (s spaceVectors) get(key string) int                { v, _ := s.Get(key); return v.Len() }
func (s spaceVectors) put(key string, v []float32) error { return errOf(s.PutVector(key, v, nil)) }

func (s spaceVectors) nearest(_ context.Context, q []float32) ([]string, error) {
	return keysOf(s.Search(q, memory.SearchOptions{}))
}

func keysOf(hits []memory.Hit, err error) ([]string, error) {
	keys := make([]string, len(hits))
	for i, h := range hits {
		keys[i] = h.Key
	}
	return keys, err
}

type chromemVectors struct{ *chromem.Collection }

func newChromemVectors(b *testing.B, vectors [][]float32) vectorStore {
	c, err := chromem.NewDB().CreateCollection("vectors", nil, func(context.Context, string) ([]float32, error) {
		panic("unreachable: all vectors are given")
	})
	require.NoError(b, err)
	for i, v := range vectors {
		require.NoError(b, chromemVectors{c}.put(key(i), v))
	}
	return chromemVectors{c}
}

func (s chromemVectors) get(key string) int {
	d, _ := s.GetByID(context.Background(), key)
	return len(d.Content)
}

func (s chromemVectors) put(key string, v []float32) error {
	return s.AddDocument(context.Background(), chromem.Document{ID: key, Content: note, Embedding: v})
}

func (s chromemVectors) nearest(ctx context.Context, q []float32) ([]string, error) {
	hits, err := s.QueryEmbedding(ctx, q, 10, nil, nil)
	keys := make([]string, len(hits))
	for i, h := range hits {
		keys[i] = h.ID
	}
	return keys, err
}

// BenchmarkNearest finds the ten nearest by cosine, exactly, one search at a time.
// chromem-go uses all processors for a search, we use one.
func BenchmarkNearest(b *testing.B) {
	nearest := func(n string, dim int, kind string, centers int, store string, made func(b *testing.B, vectors [][]float32) vectorStore) {
		b.Run("vectors="+n+"/dim="+strconv.Itoa(dim)+"/kind="+kind+"/store="+store, func(b *testing.B) {
			source := memories.UnitVectors(1, dim, min(centers, size(n)))
			vectors, queries, i := take(size(n), source), take(10, source), 0
			s := made(b, vectors)
			for _, q := range queries {
				order := make([]int, len(vectors))
				cosines := make([]float64, len(vectors))
				for i, v := range vectors {
					order[i], cosines[i] = i, dot(v, q)
				}
				slices.SortFunc(order, func(i, j int) int { return cmp.Compare(cosines[j], cosines[i]) })
				var want []string
				for _, i := range order[:10] {
					want = append(want, key(i))
				}
				found, err := s.nearest(b.Context(), q)
				require.NoError(b, err)
				require.ElementsMatch(b, want, found)
			}
			per(b, 1, "search", func() {
				found, err := s.nearest(context.Background(), queries[i%len(queries)])
				must(b, err)
				sink += uint64(len(found))
				i++
			})
			b.ReportMetric(0, "differing")
		})
	}
	for _, c := range []struct {
		n            string
		dim, centers int
	}{{"1k", 1536, 10}, {"10k", 768, 100}, {"100k", 384, 1_000}} {
		nearest(c.n, c.dim, "random", 0, "memory", newSpaceVectors)
		nearest(c.n, c.dim, "random", 0, "chromem", newChromemVectors)
		nearest(c.n, c.dim, "clustered", c.centers, "memory", newSpaceVectors)
		nearest(c.n, c.dim, "clustered", c.centers, "chromem", newChromemVectors)
	}
}

const writtenDim = 384 // of the vectors that are written

// BenchmarkPutVector puts vectors one by one, each in place of one that is there.
func BenchmarkPutVector(b *testing.B) {
	for _, of := range []string{"1k", "100k"} {
		b.Run("vectors="+of+"/dim=384/store=memory", func(b *testing.B) {
			n, source, next := size(of), memories.UnitVectors(2, writtenDim, 0), 0
			s, vectors, keys := newSpaceVectors(b, take(n, source)), take(1_000, source), keys(0, n, 1)
			put := func() {
				must(b, s.put(keys[next%n], vectors[next%len(vectors)]))
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
		return newSpace(b, memory.Options{}, len(keys), func(i int) (string, memory.Item) { return keys[i], memory.Item{Vector: source()} })
	})
	heap("memory/batch=1", func(b *testing.B, keys []string, source func() []float32) any {
		s := memory.New(memory.Options{}).Space("session", "s-1")
		for _, k := range keys {
			must(b, errOf(s.PutVector(k, source(), nil)))
		}
		return s
	})
}
