package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What several goroutines find together is what one finds, ties too, on data of
// all shapes and with any number of searches at once.
func TestTogetherFindsWhatOneFinds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	vectors, dims := 5000, []int{10, 100}
	if testing.Short() {
		vectors, dims = 1000, []int{40}
	}
	for name, shape := range data {
		for _, dim := range dims {
			t.Run(fmt.Sprint(name, dim), func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, 7))
				next := shape(r, dim)
				var x *Index
				for i := range vectors {
					x = set(t, x, key(i), next())
				}
				var all sync.WaitGroup
				for range 3 {
					q := next()
					for norm64(q) == 0 {
						q = next()
					}
					all.Go(func() {
						for _, metric := range metrics {
							for _, k := range []int{1, 10, 6000} {
								for _, least := range []bool{false, true} {
									o := Options{K: k, Metric: metric, HasMin: least, MinScore: -0.1}
									begin := func() *scan { return newScan(q, norm64(q), o, x.Len()) }
									one, s := begin(), begin()
									one.segments(slices.Collect(x.segments()))
									s.together(slices.Collect(x.segments()), dim, begin)
									if want, is := one.hits(), s.hits(); !slices.Equal(want, is) {
										t.Errorf("%v, %d: %d hits, not the %d of one", metric, k, len(is), len(want))
									}
								}
							}
						}
					})
				}
				all.Wait()
				require.Zero(t, searching.Load(), "nobody is left")
			})
		}
	}
}

// Search takes that way for an index of the right size.
func TestSearchOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("four million elements")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	r := rand.New(rand.NewPCG(8, 8))
	m := map[string][]float32{}
	var x *Index
	for i := range minShared/256 + 1 {
		m[key(i)] = random(r, 256)
		x = set(t, x, key(i), m[key(i)])
	}
	for _, metric := range metrics {
		same(t, x, m, random(r, 256), Options{Metric: metric})
	}
}

func TestOrderedBits(t *testing.T) {
	all := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1)}
	for i, f := range all {
		require.Equal(t, f, fromOrderedBits(orderedBits(f)))
		require.Positive(t, orderedBits(f))
		if i > 0 {
			require.Greater(t, orderedBits(f), orderedBits(all[i-1]))
		}
	}
}
