package vector

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNilIndex(t *testing.T) {
	var x *Index
	require.Zero(t, x.Len())
	require.Zero(t, x.Dim())
	require.Zero(t, x.Bytes())
	require.Nil(t, x.Delete("a"))
	_, ok := x.Get("a")
	require.False(t, ok)
	hits, err := x.Search([]float32{1}, Options{})
	require.NoError(t, err)
	require.Empty(t, hits)
}

func TestSetErrorsChangeNothing(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	x := set(t, nil, "a", []float32{1, 2})
	for _, c := range []struct {
		v    []float32
		want error
	}{
		{nil, ErrEmpty}, {[]float32{}, ErrEmpty}, {[]float32{1, nan}, ErrNotFinite},
		{[]float32{inf, 0}, ErrNotFinite}, {[]float32{1}, ErrDimension}, {[]float32{1, 2, 3}, ErrDimension},
	} {
		y, err := x.Set("a", c.v)
		require.ErrorIs(t, err, c.want)
		require.Same(t, x, y)
		if c.want != ErrDimension {
			require.ErrorIs(t, Check(c.v), c.want)
			y, err = (*Index)(nil).Set("a", c.v)
			require.ErrorIs(t, err, c.want)
			require.Nil(t, y)
		}
	}
	check(t, x, map[string][]float32{"a": {1, 2}})
	require.EqualValues(t, 1, x.tail.next.Load())
	require.NoError(t, Check([]float32{0}))
}

func TestVectorsAreCopied(t *testing.T) {
	v := []float32{1, 2}
	x := set(t, nil, "a", v)
	v[0] = 9
	got, _ := x.Get("a")
	require.Equal(t, []float32{1, 2}, got)
	got[0] = 9
	_ = append(got, 9)
	check(t, x, map[string][]float32{"a": {1, 2}})
}

func TestDimensionIsFreeAgain(t *testing.T) {
	x := set(t, nil, "a", []float32{1, 2})
	require.Equal(t, 2, x.Dim())
	require.Same(t, x, x.Delete("b"))
	x = x.Delete("a")
	require.Nil(t, x)
	require.Equal(t, 3, set(t, x, "a", []float32{1, 2, 3}).Dim())
}

// Random writes to random versions; each version stays what it was.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		dim, keys, steps int
	}{{1, 6, 3000}, {3, 100, 4000}, {7, 700, 6000}, {128, 400, 2500}} {
		if testing.Short() {
			c.steps /= 10
		}
		r := rand.New(rand.NewPCG(uint64(c.dim), 4))
		type version struct {
			x *Index
			m map[string][]float32
		}
		kept := []version{{nil, map[string][]float32{}}}
		now := kept[0]
		for step := range c.steps {
			if r.IntN(20) == 0 { // go on from an old version
				now = kept[r.IntN(len(kept))]
			}
			next := version{now.x, maps.Clone(now.m)}
			k := key(r.IntN(c.keys))
			// Grow, shrink and grow again.
			if r.IntN(100) < []int{20, 55, 90}[step*3/c.steps] {
				next.x = now.x.Delete(k)
				delete(next.m, k)
			} else {
				v := random(r, c.dim)
				next.x = set(t, now.x, k, v)
				next.m[k] = v
			}
			if r.IntN(10) > 0 { // else it is abandoned
				now = next
			}
			if len(kept) < 12 {
				kept = append(kept, now)
			} else if r.IntN(10) == 0 {
				kept[r.IntN(len(kept))] = now
			}
			if step%(c.steps/40) == 0 {
				for _, old := range append(kept, next, now) {
					check(t, old.x, old.m)
					same(t, old.x, old.m, random(r, c.dim), Options{K: 5, Metric: metrics[step%3]})
				}
			}
		}
	}
}

func TestMetricString(t *testing.T) {
	require.Equal(t, "cosine dot l2 Metric(9)", Cosine.String()+" "+Dot.String()+" "+L2.String()+" "+Metric(9).String())
}

// Set copies what it is given; SetImmutable shares it.
func TestSetImmutableShares(t *testing.T) {
	for _, dim := range []int{3, 100} {
		v := make([]float32, dim)
		v[0] = 1
		copied, err := (*Index)(nil).Set("k", v)
		require.NoError(t, err)
		shared, err := (*Index)(nil).SetImmutable("k", v)
		require.NoError(t, err)
		v[1] = 2 // which a caller must not do
		a, _ := copied.Get("k")
		b, _ := shared.Get("k")
		require.EqualValues(t, []float32{0, 2}, []float32{a[1], b[1]})
		_, err = shared.SetImmutable("l", v[:2])
		require.ErrorIs(t, err, ErrDimension)
		_, err = shared.SetImmutable("l", nil)
		require.ErrorIs(t, err, ErrEmpty)
	}
}

func TestFloat32s(t *testing.T) {
	require.Nil(t, Float32s(nil))
	require.Equal(t, []float32{1.5, -2}, Float32s([]float64{1.5, -2}))
	require.ErrorIs(t, Check(Float32s([]float64{1, 1e300})), ErrNotFinite)
}

// What is purged is in no slot of any block, be it that it was deleted before, or that another
// version has it in a block that both share. All else is as it was.
func TestPurgeLeavesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 36))
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		x, m := (*Index)(nil), map[string][]float32{}
		for range 1 + r.IntN(80) {
			k, v := key(r.IntN(40)), random(r, 4)
			if r.IntN(4) == 0 {
				x = x.Delete(k)
				delete(m, k)
				continue
			}
			x, m[k] = set(t, x, k, v), v
			if r.IntN(10) == 0 { // a fork goes on in the same block
				set(t, x, key(0), random(r, 4))
			}
		}
		was := maps.Clone(m)
		is := x.Purge(key(0))
		check(t, x, was)
		delete(m, key(0))
		check(t, is, m)
		require.Equal(t, len(m), is.Len())
		if is == nil {
			continue
		}
		n := 0
		for s := range is.segments() {
			if s.block == nil {
				continue
			}
			n += s.count
			require.NotContains(t, s.keys, key(0))
			require.LessOrEqual(t, int(s.next.Load()), s.used)
		}
		require.Equal(t, len(m), n)
		require.Same(t, is, is.Purge(key(0)), "there is nothing left to do")
		check(t, set(t, is, key(50), random(r, 4)).Delete(key(50)), m)
	}
}
