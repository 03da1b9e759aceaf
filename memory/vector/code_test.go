package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

// approximate returns what codes say of the dot product of v and q, and how much it
// may be off: of the coarse part of q, and of both.
func approximate(v, q []float32) (dot, err [2]float64) {
	codes := make(code, pairsFor(len(v)))
	f := encode(codes, v, norm64(v))
	c := newCodedQuery(make([]int8, roomFor(len(q))), q, norm64(q))
	var dots [2]int32
	c.coarse.Dots(dots[:1], codes)
	c.fine.Dots(dots[1:], codes)
	dot[0] = c.coarse.dot(dots[0], &f)
	dot[1] = c.dot(dots[0], dots[1], &f)
	e := float64(f.err) * c.norm
	return dot, [2]float64{e + norm64(v)*c.err, e + norm64(v)*c.fineErr}
}

// The bounds hold, whatever the vectors, in every dimension that is padded in
// another way.
func TestBoundsHold(t *testing.T) {
	fine := 97
	if testing.Short() {
		fine = 20
	}
	for _, set := range kernel.Sets() {
		use(t, set)
		for name, shape := range data {
			for dim := kernel.Unit; dim <= 2100; dim += 1 + dim/fine {
				r := rand.New(rand.NewPCG(uint64(dim), 3))
				next := shape(r, dim)
				for range 6 {
					v, q := next(), next()
					dots, errs := approximate(v, q)
					for i, err := range errs {
						err += newBound(Dot, dim, norm64(q)).eps * norm64(v) * norm64(q)
						if d := math.Abs(dots[i] - set.Dot(v, q)); !math.IsInf(err, 0) && !(d <= err) {
							t.Fatalf("%s, %s, %d elements: off by %g, not %g", set.Name, name, dim, d, err)
						}
					}
				}
			}
		}
	}
}

// A score lies between its bounds, and what is needed is missed only by less.
func TestBound(t *testing.T) {
	for name, shape := range data {
		for _, metric := range metrics {
			for _, dim := range []int{1, 5, 32, 100, 1000} {
				r := rand.New(rand.NewPCG(uint64(dim), 5))
				next := shape(r, dim)
				for range 50 {
					v, q := next(), next()
					if metric == Cosine && norm64(q) == 0 {
						continue
					}
					norm, dot := norm64(v), instructions.Dot(v, q)
					b := newBound(metric, dim, norm64(q))
					score := b.score(v, q, norm)
					require.False(t, b.misses(dot, norm), name)
					require.LessOrEqual(t, b.least(dot, norm), score, "%s, %v", name, metric)
					for _, err := range []float64{0, 1e-9 * norm * b.norm} {
						require.LessOrEqual(t, b.least(dot-err, norm), score, "%s, %v", name, metric)
						b := b
						b.atLeast(score)
						require.False(t, b.misses(dot+err, norm), "%s, %v, %d: %g", name, metric, dim, score)
					}
				}
			}
		}
	}
}

// The dot product of codes is that of the vectors they stand for, also at their
// extremes.
func TestCodeDot(t *testing.T) {
	for _, set := range kernel.Sets() {
		use(t, set)
		r := rand.New(rand.NewPCG(1, 5))
		for dim := kernel.Unit; dim < 170; dim++ {
			for round := range 20 {
				v, q := make([]float32, dim), make([]float32, dim)
				for i := range dim {
					v[i], q[i] = codeZero, float32(set.Most)
					if round > 0 {
						v[i], q[i] = float32(r.IntN(2*codeZero+1)-codeZero), float32(r.IntN(2*set.Most+1)-set.Most)
					}
				}
				v[0], q[0] = codeZero, -float32(set.Most) // fixes the scales at 1
				dot, err := approximate(v, q)
				require.InDelta(t, set.Dot(v, q), dot[0], 1e-6)
				require.InDelta(t, dot[0], dot[1], 1e-6)
				require.Less(t, err[0], 1e-3)
			}
		}
	}
}

// Codes are worth having: few vectors need to be compared in float64.
func TestCodesSkip(t *testing.T) {
	for _, set := range kernel.Sets() {
		use(t, set)
		r := rand.New(rand.NewPCG(2, 2))
		const n, dim = 2000, 384
		q := random(r, dim)
		var passed [2]int
		b := newBound(Cosine, dim, norm64(q))
		b.atLeast(4 / math.Sqrt(dim)) // four standard deviations
		for range n {
			v := random(r, dim)
			dots, errs := approximate(v, q)
			for i, dot := range dots {
				if !b.misses(dot+errs[i], norm64(v)) {
					passed[i]++
				}
			}
		}
		require.Less(t, passed[0], n/100)
		require.Less(t, passed[1], n/500)
	}
}

// Vectors too short, or too long, for codes are found all the same.
func TestWithoutCodes(t *testing.T) {
	require.Zero(t, pairsFor(kernel.Unit-1))
	require.Zero(t, pairsFor(kernel.MaxLen+1))
	require.Equal(t, 4, pairsFor(kernel.Unit+1))
	r := rand.New(rand.NewPCG(3, 3))
	m := map[string][]float32{}
	var x *Index
	for i := range 5 {
		m[key(i)] = random(r, kernel.MaxLen+1)
		x = set(t, x, key(i), m[key(i)])
	}
	require.Zero(t, withCode(x))
	same(t, x, m, random(r, kernel.MaxLen+1), Options{K: 3})
}
