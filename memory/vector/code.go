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
	step, inverse := scaleFor(v, codeZero)
	if step == 0 {
		clear(dst)
		return codeFacts{0, above(norm), 0}
	}
	zeros := codeZero * int32(len(v))
	r := kernel.Rounding{Step: step, Inverse: inverse}
	var is, none [256]int8 // a part of the code, and what a finer one would have
	for len(dst) > 0 {
		n, pairs := min(len(v), len(is)), min(len(dst), len(is)/16)
		instructions.Round(&r, is[:n], none[:n], v[:n])
		for i := n; i < 16*pairs; i++ {
			is[i] = -codeZero
		}
		for i := range dst[:pairs] {
			dst[i] = pairOf((*[16]int8)(is[16*i:]))
		}
		dst, v = dst[pairs:], v[n:]
	}
	sum, _ := r.Sums()
	lack, _ := r.Lacks()
	return codeFacts{float32(step), above(lack), sum + zeros}
}

// pairOf returns the c of a code whose c-127 are given.
func pairOf(is *[16]int8) (p kernel.Pair) {
	const each = 0x0101010101010101
	for i := range p {
		var word uint64
		for b, k := range is[8*i : 8*i+8] {
			word |= uint64(uint8(k)) << (8 * b)
		}
		// What is added to each byte, 127, carries nothing to the next one: k is not -128.
		p[i] = ((word ^ 0x80*each) - each) ^ instructions.Flip
	}
	return p
}

// scaleFor returns the step in which numbers up to the greatest of v are integers up to
// most, and its inverse. It is a float32, and 0 if v is of zeros, or of what is too small
// to be divided with care: then any code will do, since it counts for nothing.
func scaleFor(v []float32, most int) (step, inverse float64) {
	f := math.Float32frombits(largest(v))
	step = float64(f / float32(most))
	if float64(f) > step*(float64(most)+0.25) {
		step = 0 // it is denormal, and was rounded too far
	}
	return step, 1 / step
}

// largest returns the bits of the greatest magnitude in v: those of floats without a sign
// order as they do, a NaN above all.
func largest(v []float32) uint32 {
	var a, b, c, d uint32 // or each waited for the one before
	for ; len(v) >= 4; v = v[4:] {
		a, b = max(a, math.Float32bits(v[0])<<1), max(b, math.Float32bits(v[1])<<1)
		c, d = max(c, math.Float32bits(v[2])<<1), max(d, math.Float32bits(v[3])<<1)
	}
	for _, f := range v {
		a = max(a, math.Float32bits(f)<<1)
	}
	return max(a, b, c, d) >> 1
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
	finer        int64   // how many steps of the fine part one of the coarse is
}

// A part of a query is scale·k for integers k.
type part struct {
	*kernel.Query
	scale float64
	zeros int64 // what the zeros of a code add up to
}

// roomFor returns how many integers a coded query of so many dimensions has.
func roomFor(dim int) int { return 2 * 16 * pairsFor(dim) }

// newCodedQuery returns q as codes are compared with it. It keeps room, of roomFor(len(q)).
func newCodedQuery(room []int8, q []float32, norm float64) *codedQuery {
	coarse, fine := room[:len(room)/2], room[len(room)/2:]
	clear(coarse[len(q):])
	clear(fine[len(q):])
	most := instructions.Most
	step, inverse := scaleFor(q, most)
	// The fine part reaches half a step of the coarse one.
	fineStep := step / float64(2*most)
	c := &codedQuery{err: norm, fineErr: norm, finer: int64(2 * most)}
	var sum, fineSum int32
	if step == 0 {
		clear(room)
	} else {
		r := kernel.Rounding{Step: step, Inverse: inverse, FineStep: fineStep, FineInverse: inverse * float64(2*most)}
		instructions.Round(&r, coarse, fine, q)
		sum, fineSum = r.Sums()
		c.err, c.fineErr = r.Lacks()
	}
	c.err, c.fineErr = float64(above(c.err)), float64(above(c.fineErr))
	c.norm = norm + c.err
	c.coarse, c.fine = newPart(coarse, sum, step), newPart(fine, fineSum, fineStep)
	return c
}

// errOf returns how far the approximate dot product with a vector can be from its own, for
// a query that is off by err.
func (c *codedQuery) errOf(f *facts, err float64) float64 {
	return float64(f.code.err)*c.norm + f.norm*err
}

func newPart(elements []int8, sum int32, scale float64) part {
	return part{instructions.NewQuery(elements, sum), scale, codeZero * int64(sum)}
}

// dot returns the dot product of the part with x̂, exactly but for a few roundings
// in float64, for what Dots said of the code.
func (p *part) dot(dots int32, f *codeFacts) float64 {
	// Σ(c-127)k = Σc(k+bias) - biasΣc - 127Σk
	return float64(int64(dots)-int64(p.Bias())*int64(f.sum)-p.zeros) * float64(f.scale) * p.scale
}

// dot is part.dot of both parts. A step of the coarse one is finer of the fine one's.
func (c *codedQuery) dot(dots, fine int32, f *codeFacts) float64 {
	bias := int64(c.fine.Bias()) * int64(f.sum)
	k := (int64(dots)-bias-c.coarse.zeros)*c.finer + int64(fine) - bias - c.fine.zeros
	return float64(k) * float64(f.scale) * c.fine.scale
}
