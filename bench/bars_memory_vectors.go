package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/philippgille/chromem-go"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

// unitVectors returns a source of random vectors of length one, the same for the
// same seed: in any direction, or, if there are centers, each near one of so
// many, as the embeddings of texts on a few subjects are. There the cosine of two
// of one center is about 0.7.
func unitVectors(seed uint64, dim, centers int) func() []float32 {
	r := rand.New(rand.NewPCG(seed, uint64(dim)))
	anywhere := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return unit(v)
	}
	if centers == 0 {
		return anywhere
	}
	center := make([][]float32, centers)
	for i := range center {
		center[i] = anywhere()
	}
	return func() []float32 {
		v := anywhere()
		for i, x := range center[r.IntN(centers)] {
			v[i] = 0.65*v[i] + x
		}
		return unit(v)
	}
}

// unit scales v to length one.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return v
}

// take returns n of a source.
func take(n int, next func() []float32) [][]float32 {
	all := make([][]float32, n)
	for i := range all {
		all[i] = next()
	}
	return all
}

// vectorSpace returns a space of a new Memory that has the vectors under the first
// keys of the bars.
func vectorSpace(vectors [][]float32) memory.Space {
	m := memory.New(memory.Options{NoText: true}) // chromem-go has no index of words either
	fillSpace(m, []string{"vectors"}, len(vectors), func(i int) memory.Item {
		return memory.Item{Value: barText, Vector: vectors[i]}
	})
	return m.Space("vectors")
}

// barText is the content of each entry that has a vector.
const barText = "the user prefers short answers"

// newChromem returns a collection of chromem-go that has the same. It keeps the
// vectors that it is given, and is never asked to make one of a text.
func newChromem(vectors [][]float32) *chromem.Collection {
	c, err := chromem.NewDB().CreateCollection("vectors", nil, func(context.Context, string) ([]float32, error) {
		panic("unreachable: all vectors are given")
	})
	must(err)
	for i, v := range vectors {
		must(c.AddDocument(context.Background(), chromem.Document{ID: barKey(i), Content: barText, Embedding: v}))
	}
	return c
}

// nearest compares the ten nearest by cosine, found exactly, one search at a time.
// chromem-go uses all processors for a search, we use one.
func (b *bars) nearest(n, dim int) {
	for _, kind := range []struct {
		name    string
		centers int
	}{{"random", 0}, {"clustered", max(10, n/100)}} {
		source := unitVectors(1, dim, kind.centers)
		vectors := take(n, source)
		queries := take(10, source)
		ours, peer := vectorSpace(vectors), newChromem(vectors)

		search := func(q []float32) []string {
			hits, err := ours.Search(q, memory.SearchOptions{})
			must(err)
			keys := make([]string, len(hits))
			for i, h := range hits {
				keys[i] = h.Key
			}
			return keys
		}
		peerSearch := func(q []float32) []string {
			hits, err := peer.QueryEmbedding(b.ctx, q, 10, nil, nil)
			if b.ctx.Err() == nil {
				must(err)
			}
			keys := make([]string, len(hits))
			for i, h := range hits {
				keys[i] = h.ID
			}
			return keys
		}
		differ := 0.0
		for _, q := range queries {
			found, peers := search(q), peerSearch(q)
			slices.Sort(found)
			slices.Sort(peers)
			if !slices.Equal(found, peers) {
				differ++
			}
		}
		per := func(search func([]float32) []string, passes int) func() float64 {
			return func() float64 {
				return float64(timed(func() {
					for range passes {
						for _, q := range queries {
							sink += uint64(len(search(q)))
						}
					}
				})) / float64(passes*len(queries))
			}
		}
		rounds, passes := b.rounds, max(1, 10_000/n)
		if n >= 100_000 {
			rounds = max(3, b.rounds/2) // a search of chromem-go's takes a while
		}
		s := interleave(rounds, per(search, 2*passes), per(peerSearch, passes))
		at := fmt.Sprintf(" of %s × %d %s", count(n), dim, kind.name)
		bar := 0.05
		if n < 10_000 {
			bar = 0.07 // what a search costs besides the scan counts there
		}
		b.add("the 10 nearest"+at+" vs chromem-go", "ns", s[0], s[1], bar)
		b.report("searches where the 10"+at+" differ", differ, float64(len(queries)), "", differ/float64(len(queries)), 0, differ == 0)
	}
}

const writtenDim = 384 // of the vectors that are written

// vectorWrite compares one write of a vector into a large space and into a small
// one, each in place of a vector that is there.
func (b *bars) vectorWrite(small, large int) {
	const each = 4_000
	write := func(n int, bytes *[]float64) func() float64 {
		source := unitVectors(2, writtenDim, 0)
		space := vectorSpace(take(n, source))
		vectors := take(1_000, source)
		keys := barKeys(0, n)
		next := 0
		put := func() {
			for range each {
				must(errOf(space.PutVector(keys[next%n], vectors[next%len(vectors)], nil)))
				next++
			}
		}
		put() // so that blocks have dead slots by now, and some are left
		return func() float64 {
			var d time.Duration
			total, _ := allocated(func() { d = timed(put) })
			*bytes = append(*bytes, total/each)
			return float64(d) / each
		}
	}
	var largeBytes, smallBytes []float64
	s := interleave(b.rounds, write(large, &largeBytes), write(small, &smallBytes))
	at := fmt.Sprintf(" of one vector write at %s × %d vs at %s", count(large), writtenDim, count(small))
	b.add("time"+at, "ns", s[0], s[1], 3)
	b.add("bytes"+at, "B", largeBytes, smallBytes, 3)
}

// vectorHeap compares the heap that a vector takes with the vector alone: in an
// Index, where the keys are the caller's, and in a Space, with its row, its place
// in the order, and two keys.
func (b *bars) vectorHeap(n int) {
	source := unitVectors(3, writtenDim, 0)
	keys := barKeys(0, n)
	held := func(fill func() any) []float64 {
		before := live()
		kept := fill()
		after := live()
		runtime.KeepAlive(kept)
		return []float64{(after - before) / float64(n)}
	}
	index := held(func() any {
		var x *vector.Index
		for _, k := range keys {
			var err error
			x, err = x.Set(k, source())
			must(err)
		}
		return x
	})
	together := held(func() any {
		m := memory.New(memory.Options{})
		for part := range slices.Chunk(keys, 1_000) {
			must(m.Batch(func(b *memory.Batch) error {
				e := b.Space("vectors")
				for _, k := range part {
					if err := e.PutVector(k, source(), nil); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		return m
	})
	single := held(func() any {
		m := memory.New(memory.Options{})
		s := m.Space("vectors")
		for _, k := range keys {
			must(errOf(s.PutVector(k, source(), nil)))
		}
		return m
	})
	runtime.KeepAlive(keys)
	alone := []float64{4 * writtenDim}
	at := fmt.Sprintf(" one vector of %s × %d", count(n), writtenDim)
	b.add("heap of"+at+" in an Index vs its elements", "B", index, alone, 1.35)
	b.add("heap of"+at+" in a Space, put 1,000 at once, vs its elements", "B", together, alone, 0)
	b.add("heap of"+at+" in a Space, put one by one, vs its elements", "B", single, alone, 0)
}
