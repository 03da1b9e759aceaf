package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

var metrics = []Metric{Cosine, Dot, L2}

// data are the shapes that Search is checked on.
var data = map[string]func(r *rand.Rand, dim int) func() []float32{
	"random": func(r *rand.Rand, dim int) func() []float32 {
		return func() []float32 { return random(r, dim) }
	},
	"clustered": func(r *rand.Rand, dim int) func() []float32 {
		centers := [][]float32{random(r, dim), random(r, dim), random(r, dim)}
		return func() []float32 {
			v := append([]float32(nil), centers[r.IntN(3)]...)
			for i := range v {
				v[i] += float32(r.NormFloat64()) * 1e-3
			}
			return v
		}
	},
	"duplicates": func(r *rand.Rand, dim int) func() []float32 {
		few := [][]float32{random(r, dim), random(r, dim), make([]float32, dim)}
		return func() []float32 { return few[r.IntN(3)] }
	},
	"extreme": func(r *rand.Rand, dim int) func() []float32 {
		sizes := []float32{1, 1e38, 3e38, -2e38, 1e-38, 1e-45, 1e-20, 0, 1e20}
		return func() []float32 {
			v := make([]float32, dim)
			a, b := sizes[r.IntN(len(sizes))], sizes[r.IntN(len(sizes))]
			for i := range v {
				v[i] = float32(r.Float64()*2-1) * a
				if r.IntN(4) == 0 {
					v[i] = float32(r.Float64()) * b
				}
			}
			return v
		}
	},
}

func TestSearchIsExact(t *testing.T) {
	dims := []int{1, 3, 7, 8, 33, 100, 384}
	if testing.Short() {
		dims = []int{1, 39}
	}
	for name, shape := range data {
		for _, dim := range dims {
			for _, instr := range kernel.Sets() {
				t.Run(fmt.Sprintf("%s/%d/%s", name, dim, instr.Name), func(t *testing.T) {
					use(t, instr)
					r := rand.New(rand.NewPCG(uint64(dim), 1))
					next := shape(r, dim)
					var x *Index
					m := map[string][]float32{}
					for n := range 700 {
						if n < 6 && (n%3 == 0 || !testing.Short()) || n == 50 || n == 699 {
							useAtOnce(t, n%2 == 1)
							searches(t, r, x, m, next)
						}
						k := key(r.IntN(1000))
						m[k] = next()
						x = set(t, x, k, m[k])
					}
					require.Equal(t, dim >= kernel.Unit, withCode(x) > 0)
				})
			}
		}
	}
}

// searches compares Search with brute for queries from next and all options.
func searches(t *testing.T, r *rand.Rand, x *Index, m map[string][]float32, next func() []float32) {
	odd := func(k string) bool { return k[len(k)-1]&1 == 1 }
	none := func(string) bool { return false }
	for _, metric := range metrics {
		q := next()
		for metric == Cosine && norm64(q) == 0 {
			q = next()
		}
		for _, k := range []int{0, 1, 3, 50, 2000} {
			same(t, x, m, q, Options{K: k, Metric: metric})
			same(t, x, m, q, Options{K: k, Metric: metric, Accept: odd})
		}
		same(t, x, m, q, Options{Metric: metric, Accept: none})
		all := brute(m, q, Options{K: len(m) + 1, Metric: metric})
		for range 3 {
			if len(all) > 0 {
				least := all[r.IntN(len(all))].Score
				same(t, x, m, q, Options{K: 20, Metric: metric, MinScore: least, HasMin: true})
				same(t, x, m, q, Options{K: len(m), Metric: metric, MinScore: least, HasMin: true, Accept: odd})
			}
		}
		for _, least := range []float64{0, 1, -1, math.MaxFloat32, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat32} {
			same(t, x, m, q, Options{Metric: metric, MinScore: float32(least), HasMin: true})
		}
	}
}

// Ties are cut by key, wherever in the index they lie.
func TestTiesByKey(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x *Index
	for _, i := range r.Perm(600) {
		x = set(t, x, key(i), []float32{1, 2, 3})
	}
	for _, metric := range metrics {
		hits, err := x.Search([]float32{3, 2, 1}, Options{K: 7, Metric: metric})
		require.NoError(t, err)
		for i, h := range hits {
			require.Equal(t, key(i), h.Key)
		}
	}
}

// A dot product that overflows float32 still has its place in the order.
func TestHugeScores(t *testing.T) {
	x := set(t, nil, "huge", []float32{3e38, 3e38})
	x = set(t, x, "larger", []float32{3e38, 3.1e38})
	x = set(t, x, "small", []float32{1, 1})
	x = set(t, x, "cancels", []float32{3e38, -3e38})
	hits, err := x.Search([]float32{3e38, 3e38}, Options{Metric: Dot})
	require.NoError(t, err)
	const most = math.MaxFloat32
	require.Equal(t, []Hit{{Key: "larger", Score: most}, {Key: "huge", Score: most}, {Key: "small", Score: most}, {Key: "cancels", Score: 0}}, asShown(hits))
	hits, err = x.Search([]float32{3e38, 3e38}, Options{K: 2})
	require.NoError(t, err)
	require.Equal(t, []Hit{{Key: "huge", Score: 1}, {Key: "small", Score: 1}}, asShown(hits))
}

// Near vectors far from the origin: |x|²+|q|²-2xq would cancel to nothing.
func TestDistanceDoesNotCancel(t *testing.T) {
	m := map[string][]float32{}
	var x *Index
	for i := range 40 {
		m[key(i)] = []float32{1e6, 1e6 + float32(i)/16, -1e6}
		x = set(t, x, key(i), m[key(i)])
	}
	hits, err := x.Search([]float32{1e6, 1e6 + 0.25, -1e6}, Options{K: 3, Metric: L2})
	require.NoError(t, err)
	require.Equal(t, []Hit{{Key: key(4), Score: 0}, {Key: key(3), Score: -0.0625}, {Key: key(5), Score: -0.0625}}, asShown(hits))
}

func TestSearchErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range []*Index{nil, set(t, nil, "a", []float32{1, 2})} {
		for _, c := range []struct {
			q    []float32
			o    Options
			want error
		}{
			{nil, Options{}, ErrEmpty},
			{[]float32{1, nan}, Options{}, ErrNotFinite},
			{[]float32{1, -inf}, Options{}, ErrNotFinite},
			{[]float32{0, 0}, Options{}, ErrZero},
			{[]float32{1, 2}, Options{K: -1}, ErrOptions},
			{[]float32{1, 2}, Options{Metric: 3}, ErrOptions},
			{[]float32{1, 2}, Options{MinScore: nan, HasMin: true}, ErrOptions},
		} {
			hits, err := x.Search(c.q, c.o)
			require.ErrorIs(t, err, c.want)
			require.Nil(t, hits)
		}
		_, err := x.Search([]float32{0, 0}, Options{Metric: L2})
		require.NoError(t, err)
		_, err = x.Search([]float32{1, 2}, Options{K: math.MaxInt, MinScore: nan})
		require.NoError(t, err)
	}
	_, err := set(t, nil, "a", []float32{1, 2}).Search([]float32{1}, Options{})
	require.ErrorIs(t, err, ErrDimension)
}

// Accept is called for what would be among the best of those accepted so far,
// and once a key.
func TestAcceptIsLazy(t *testing.T) {
	for _, instr := range kernel.Sets() {
		use(t, instr)
		r := rand.New(rand.NewPCG(7, 7))
		const n, k = 4000, 10
		x := fill(t, r, n, 64)
		calls := map[string]int{}
		_, err := x.Search(random(r, 64), Options{K: k, Accept: func(key string) bool {
			calls[key]++
			return true
		}})
		require.NoError(t, err)
		for _, c := range calls {
			require.Equal(t, 1, c)
		}
		// In random order, it is k·(1+ln(n/k)) times, which is 70.
		require.Less(t, len(calls), 140)
		require.GreaterOrEqual(t, len(calls), k)
	}
}

// Accept may use the index, and panic.
func TestAcceptMayDoAnything(t *testing.T) {
	x := set(t, nil, "a", []float32{1})
	require.Panics(t, func() {
		_, _ = x.Search([]float32{1}, Options{Accept: func(k string) bool {
			_, err := x.Search([]float32{1}, Options{})
			require.NoError(t, err)
			require.Equal(t, x.Len(), set(t, x, k, []float32{2}).Len())
			panic(k)
		}})
	})
	same(t, x, map[string][]float32{"a": {1}}, []float32{1}, Options{})
}

func TestEqualVectorsHaveDistanceZero(t *testing.T) {
	x := set(t, nil, "a", []float32{1})
	hits, err := x.Search([]float32{1}, Options{Metric: L2})
	require.NoError(t, err)
	require.Equal(t, "[{a 0}]", fmt.Sprint(hits))
}

// asShown returns hits without what their scores are rounded from.
func asShown(hits []Hit) []Hit {
	for i := range hits {
		hits[i].Exact = 0
	}
	return hits
}
