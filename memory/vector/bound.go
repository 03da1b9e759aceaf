package vector

import "math"

// A bound decides from an approximate dot product whether a vector can have the
// score that it would need.
//
// It must be certain, so it allows for every rounding: that of the approximation,
// that of the score it stands for, which is computed in float64, and its own.
type bound struct {
	metric Metric
	norm   float64 // of the query
	need   float64 // what a score must reach
	eps    float64 // relative error of what is computed in float64
	gamma  float64 // relative error of a dot product in float32
	under  float64 // what a dot product in float32 can lose to underflow
}

func newBound(m Metric, dim int, norm float64) bound {
	// A sum of n products is off by at most γ|x||q|, γ = nu/(1-nu), in whatever
	// order it is summed up (Higham, Accuracy and Stability of Numerical
	// Algorithms, 3.1), and for what underflows by half the smallest denormal
	// for each operation.
	const u32 = 1.0 / (1 << 24)
	n := float64(dim)
	b := bound{metric: m, norm: norm, need: math.Inf(-1), eps: (n + 16) / (1 << 51), gamma: math.Inf(1), under: 2 * n * math.SmallestNonzeroFloat32}
	if nu := n * u32; nu < 0.5 {
		b.gamma = nu / (1 - nu)
	}
	return b
}

// atLeast raises what a score must reach.
func (b *bound) atLeast(score float64) { b.need = max(b.need, score) }

// fits32 reports whether the dot product of the query with a vector of the norm
// given cannot overflow in float32, not even on the way: no part of the sum is
// greater than the product of the norms.
func (b *bound) fits32(norm float64) bool { return norm*b.norm < math.MaxFloat32/4 }

// err32 returns how much their dot product in float32 is off at most.
func (b *bound) err32(norm float64) float64 { return b.gamma*norm*b.norm + b.under }

// misses reports whether a vector of the norm given, whose dot product with the
// query is dot, give or take err, certainly has not the score needed. It errs
// on the side of false; an infinite err and a NaN make it false.
func (b *bound) misses(dot, err, norm float64) bool {
	var least, size float64 // the dot product needed; the scale of roundings
	switch b.metric {
	case Dot:
		size = norm * b.norm
		least = b.need
	case Cosine:
		size = norm * b.norm
		least = b.need * size
	default:
		// -|x-q| >= need, which is negative, if |x-q|² = |x|²+|q|²-2xq <= need²
		size = (norm + b.norm) * (norm + b.norm)
		least = (norm*norm + b.norm*b.norm - b.need*b.need) / 2
		if b.need > 0 {
			least = math.Inf(1) // no score is
		}
	}
	return dot+err+b.eps*size < least
}

// score returns the score of v, whose norm is given, in float64.
func (b *bound) score(v, query []float32, norm float64) float64 {
	switch b.metric {
	case Dot:
		return dot64(v, query)
	case Cosine:
		if norm == 0 {
			return 0
		}
		return dot64(v, query) / (norm * b.norm)
	default:
		return 0 - distance64(v, query) // not -0
	}
}
