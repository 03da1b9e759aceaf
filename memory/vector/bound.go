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

	// A vector of norm n, whose dot product with the query is d, misses what it
	// needs if d + n·(a + n·b) < c. See atLeast.
	a, b, c float64
}

func newBound(m Metric, dim int, norm float64) bound {
	b := bound{metric: m, norm: norm, eps: float64(dim+16) / (1 << 51)}
	b.set(math.Inf(-1))
	return b
}

// atLeast raises what a score must reach.
func (b *bound) atLeast(score float64) {
	if score > b.need {
		b.set(score)
	}
}

// set sets what a score must reach.
func (b *bound) set(need float64) {
	b.need = need
	switch q := b.norm; b.metric {
	case Dot: // d >= need, give or take eps·n·q
		b.a, b.b, b.c = b.eps*q, 0, need
	case Cosine: // d >= need·n·q, give or take eps·n·q
		b.a, b.b, b.c = (b.eps-need)*q, 0, 0
	default: // -|x-q| >= need, which is negative, if |x-q|² = n²+q²-2d <= need²
		b.a, b.b, b.c = 2*b.eps*q, b.eps-0.5, (0.5-b.eps)*q*q-need*need/2
		if need > 0 {
			b.c = math.Inf(1) // no score is
		}
	}
}

// misses reports whether a vector of the norm given, whose dot product with the
// query is dot at most, certainly has not the score needed. It errs on the side of
// false, as it does for a NaN and an infinity.
func (b *bound) misses(dot, norm float64) bool { return dot+norm*(b.a+norm*b.b) < b.c }

// least returns a score that a vector of the norm given, whose dot product with
// the query is dot at least, certainly has.
func (b *bound) least(dot, norm float64) float64 {
	size := norm * b.norm
	switch b.metric {
	case Dot:
		return dot - b.eps*size
	case Cosine:
		if size == 0 {
			return 0
		}
		return dot/size - b.eps
	default:
		d := norm*norm + b.norm*b.norm - 2*dot
		return -math.Sqrt(max(d, 0)+2*b.eps*(norm+b.norm)*(norm+b.norm)) * (1 + b.eps)
	}
}

// score returns the score of v, whose norm is given, in float64.
func (b *bound) score(v, query []float32, norm float64) float64 {
	switch b.metric {
	case Dot:
		return instructions.Dot(v, query)
	case Cosine:
		if norm == 0 {
			return 0
		}
		return instructions.Dot(v, query) / (norm * b.norm)
	default:
		return 0 - distance64(v, query) // not -0
	}
}

// distance64 returns the Euclidean distance of x and y, summed up directly:
// nothing cancels, as it would in |x|² + |y|² - 2xy.
func distance64(x, y []float32) float64 {
	y = y[:len(x)]
	var a, b float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		d, e := float64(x[i])-float64(y[i]), float64(x[i+1])-float64(y[i+1])
		a += d * d
		b += e * e
	}
	if i < len(x) {
		d := float64(x[i]) - float64(y[i])
		a += d * d
	}
	return math.Sqrt(a + b)
}

// norm64 returns the Euclidean norm of x. The square of a float32 neither
// overflows nor vanishes in float64.
func norm64(x []float32) float64 { return math.Sqrt(instructions.Dot(x, x)) }
