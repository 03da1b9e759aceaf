package vector

import (
	"math"

	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

// A code is an approximation of a vector in a byte an element: x̂ = scale·(c-127)
// for a c of 0 to 254. It needs a quarter of the memory, and many elements are
// compared at a time (see package kernel). What it lacks, |x-x̂|, is known exactly,
// and
//
//	x·q - x̂·q̂ = (x-x̂)·q̂ + x·(q-q̂)
//
// so that, by Cauchy and Schwarz, x̂·q̂ is off by |x-x̂||q̂| + |x||q-q̂| at most.
// That holds for any x̂; the codes only make it small.
type code []kernel.Pair

// codeZero is the c that stands for 0; 2·codeZero is the largest.
const codeZero = kernel.MaxCode / 2

// codeFacts go with the code of one vector.
type codeFacts struct {
	scale float32
	err   float32 // at least |x-x̂|; may be infinite
	sum   int32   // of the c
}

// instructions are what codes are compared with.
var instructions = kernel.Sets()[0]

// pairsFor returns the length of the code of a vector of dim elements: 0 if it has
// none, because a few elements are compared as quickly themselves, or because the
// sum of as many would not fit.
func pairsFor(dim int) int {
	const pairs = kernel.Unit / 16
	if dim < kernel.Unit || dim > kernel.MaxLen {
		return 0
	}
	return (dim + kernel.Unit - 1) / kernel.Unit * pairs
}

// encode writes the code of v, whose norm is given, to dst.
func encode(dst code, v []float32, norm float64) codeFacts {
	s := newScale(v, codeZero)
	if s.size == 0 {
		clear(dst)
		return codeFacts{0, above(norm), 0}
	}
	var lack float64
	sum := 0
	for i := range 2 * len(dst) {
		var word uint64
		var lacks [2]float64
		for b, f := range v[min(8*i, len(v)):min(8*i+8, len(v))] {
			c, l := s.round(float64(f))
			word |= uint64(c+codeZero) << (8 * b)
			sum += c + codeZero
			lacks[b%2] += l * l
		}
		lack += lacks[0] + lacks[1]
		dst[i/2][i%2] = word ^ instructions.Flip
	}
	return codeFacts{float32(s.size), above(math.Sqrt(lack)), int32(sum)}
}

// A scale maps floats to integers of up to a magnitude.
type scale struct {
	size, inverse float64
	most          int
}

// newScale returns the scale that fits v. Its size, a float32, is 0 if v is of zeros,
// or of what is too small to be divided with care: then any code will do, since it
// counts for nothing.
func newScale(v []float32, most int) scale {
	var largest uint32 // the bits of floats that are not negative order as they do
	for _, f := range v {
		largest = max(largest, math.Float32bits(f)&^(1<<31))
	}
	f := math.Float32frombits(largest)
	size := float64(f / float32(most))
	if float64(f) > size*(float64(most)+0.25) {
		size = 0 // it is denormal, and was rounded too far
	}
	return scale{size, 1 / size, most}
}

// round returns the integer nearest to f, and what it lacks of f. Where whole is added,
// the last bit of a float64 counts as 1.
func (s *scale) round(f float64) (c int, lack float64) {
	const whole = 3 << 51
	r := f*s.inverse + whole
	return int(int32(math.Float64bits(r))), f - s.size*(r-whole)
}

// above returns a float32 that is greater than f, by more than f can have been
// rounded off.
func above(f float64) float32 {
	return math.Nextafter32(float32(f*(1+1e-6)), float32(math.Inf(1)))
}

// A codedQuery is a query as codes are compared with it, as a sum of two
// approximations: all codes are compared with the coarse one, and those that come
// near with the fine one, too, which is of what the coarse one lacks.
type codedQuery struct {
	coarse, fine part
	norm         float64 // at least |q̂|, whatever q̂ is
	err          float64 // at least |q-q̂| for the coarse part
	fineErr      float64 // at least |q-q̂| for both
}

// A part of a query is scale·k for integers k.
type part struct {
	*kernel.Query
	scale float64
	zeros int64 // what the zeros of a code add up to
}

func newCodedQuery(q []float32, norm float64) *codedQuery {
	padded := 16 * pairsFor(len(q))
	coarse, fine := make([]int8, padded), make([]int8, padded)
	most := instructions.Most
	s := newScale(q, most)
	// The fine part reaches half a step of the coarse one.
	t := scale{s.size / float64(2*most), s.inverse * float64(2*most), most}
	c := &codedQuery{err: norm, fineErr: norm}
	coarseSum, fineSum := 0, 0
	if s.size > 0 {
		var lacks, rests float64
		for i, f := range q {
			k, lack := s.round(float64(f))
			l, rest := t.round(lack)
			coarse[i], fine[i] = int8(k), int8(l)
			coarseSum += k
			fineSum += l
			lacks += lack * lack
			rests += rest * rest
		}
		c.err, c.fineErr = math.Sqrt(lacks), math.Sqrt(rests)
	}
	c.err, c.fineErr = float64(above(c.err)), float64(above(c.fineErr))
	c.norm = norm + c.err
	c.coarse, c.fine = newPart(coarse, coarseSum, s.size), newPart(fine, fineSum, t.size)
	return c
}

// errOf returns how far the approximate dot product with a vector can be from its own, for
// a query that is off by err.
func (c *codedQuery) errOf(f *facts, err float64) float64 {
	return float64(f.code.err)*c.norm + f.norm*err
}

func newPart(elements []int8, sum int, scale float64) part {
	return part{instructions.NewQuery(elements, int32(sum)), scale, codeZero * int64(sum)}
}

// dot returns the dot product of the part with x̂, exactly but for a few roundings
// in float64, for what Dots said of the code.
func (p *part) dot(dots int32, f *codeFacts) float64 {
	// Σ(c-127)k = Σc(k+bias) - biasΣc - 127Σk
	return float64(int64(dots)-int64(p.Bias())*int64(f.sum)-p.zeros) * float64(f.scale) * p.scale
}
