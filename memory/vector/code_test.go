package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bounds of both approximations hold, whatever the vectors.
func TestBoundsHold(t *testing.T) {
	for name, shape := range data {
		for dim := 1; dim < 140; dim += 1 + dim/16 {
			r := rand.New(rand.NewPCG(uint64(dim), 3))
			next := shape(r, dim)
			for range 30 {
				v, q := next(), next()
				nv, nq := norm64(v), norm64(q)
				want := dot64(v, q)

				b := newBound(Dot, dim, nq)
				code := make([]pair, pairsFor(dim))
				f := encode(code, v, nv)
				c := newCodedQuery(q, nq)
				err := float64(f.err)*c.norm + nv*c.err + b.eps*nv*nq
				if !math.IsInf(err, 0) {
					require.LessOrEqual(t, math.Abs(c.dot(code, &f)-want), err, "%s %d", name, dim)
				}
				if b.fits32(nv) {
					require.LessOrEqual(t, math.Abs(float64(dot32(v, q))-want), b.err32(nv), "%s %d", name, dim)
					require.LessOrEqual(t, math.Abs(float64(dotPortable(v, q))-want), b.err32(nv), "%s %d", name, dim)
				}
			}
		}
	}
}

// The dot product of codes is that of the vectors they stand for, also where
// the lanes are fullest, so nothing is carried.
func TestCodeDot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for dim := 1; dim < 70; dim++ {
		for round := range 20 {
			v, q := make([]float32, dim), make([]float32, dim)
			for i := range dim {
				v[i], q[i] = codeZero, codeZero
				if round > 0 {
					v[i], q[i] = float32(r.IntN(91)-45), float32(r.IntN(91)-45)
				}
			}
			v[0], q[0] = codeZero, -codeZero // fixes the scale at 1
			code := make([]pair, pairsFor(dim))
			f := encode(code, v, norm64(v))
			c := newCodedQuery(q, norm64(q))
			require.InDelta(t, dot64(v, q), c.dot(code, &f), 1e-6)
			require.Less(t, f.err, float32(1e-6))
		}
	}
}

// Codes are worth having: few vectors need to be compared in float32.
func TestCodesSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const n, dim = 2000, 384
	q := random(r, dim)
	c := newCodedQuery(q, norm64(q))
	passed := 0
	b := newBound(Cosine, dim, norm64(q))
	b.atLeast(4 / math.Sqrt(dim)) // four standard deviations
	for range n {
		v := random(r, dim)
		code := make([]pair, pairsFor(dim))
		norm := norm64(v)
		f := encode(code, v, norm)
		if !b.misses(c.dot(code, &f), float64(f.err)*c.norm+norm*c.err, norm) {
			passed++
		}
	}
	require.Less(t, passed, n/100)
}
