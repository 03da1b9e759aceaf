package vector

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
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

const (
	maxSlots   = 256       // in a block: a bitmap of live slots is four words
	blockBytes = 512 << 10 // of float32 that a block refers to, unless one vector is larger
)

// A block is a place for up to 256 vectors, with what a search scans of each. All versions that came from the
// version which made it share it.
//
// Its slots are written once, in order, and then only read. That needs no lock:
//
//   - Slot n is written by the one who moved next from n to n+1. Only somebody
//     who has seen a version with n slots tries; of several, forks of one
//     version or the write after an abandoned one, all but one fail and go
//     on in another block. So there is one writer a slot.
//   - A version reads the slots that are live in it, and these were all written
//     before that version was returned. Whoever hands versions to other
//     goroutines does it through an atomic, a lock or a channel, so that these
//     writes come before those reads.
//   - A write to slot n and a read of slots below n touch different memory. The
//     slices themselves never grow or move.
type block struct {
	next    atomic.Uint32 // slots that were claimed
	dim     int
	pairs   int        // of a code; 0 where there are none
	vectors []*float32 // the first of dim elements, which nobody modifies
	codes   code       // slot i at [i*pairs, (i+1)*pairs)
	facts   []facts
	keys    []string
}

// facts are what a search needs to know of a vector besides its elements.
type facts struct {
	norm float64
	code codeFacts
}

func newBlock(dim, slots int) *block {
	return &block{
		dim:     dim,
		pairs:   pairsFor(dim),
		vectors: make([]*float32, slots),
		codes:   make(code, slots*pairsFor(dim)),
		facts:   make([]facts, slots),
		keys:    make([]string, slots),
	}
}

// slots returns how many vectors b has room for.
func (b *block) slots() int { return len(b.keys) }

// claim makes slot n the caller's to write, and reports whether it could.
func (b *block) claim(n int) bool {
	return n < b.slots() && b.next.CompareAndSwap(uint32(n), uint32(n+1))
}

func (b *block) vector(i int) []float32 { return unsafe.Slice(b.vectors[i], b.dim) }

func (b *block) code(i int) code { return b.codes[i*b.pairs : (i+1)*b.pairs] }

// put writes v, which it keeps, to slot i, which the caller has claimed.
func (b *block) put(i int, key string, v []float32) {
	b.vectors[i] = &v[0]
	b.keys[i] = key
	b.facts[i].norm = norm64(v)
	if b.pairs > 0 {
		b.facts[i].code = encode(b.code(i), v, b.facts[i].norm)
	}
}

// copy writes what slot j of from holds to slot i, which the caller has claimed.
func (b *block) copy(i int, from *block, j int) {
	b.vectors[i] = from.vectors[j]
	copy(b.code(i), from.code(j))
	b.facts[i] = from.facts[j]
	b.keys[i] = from.keys[j]
}

// bytes returns how many bytes b takes, without what its keys and vectors refer to.
func (b *block) bytes() int {
	n := b.slots()
	return size.Object(int(unsafe.Sizeof(*b))) + size.Object(n*int(unsafe.Sizeof(b.vectors[0]))) + size.Object(n*b.pairs*int(unsafe.Sizeof(kernel.Pair{}))) +
		size.Object(n*int(unsafe.Sizeof(facts{}))) + size.Object(n*int(unsafe.Sizeof("")))
}

// slotsFor returns the size of the next block for an index of n vectors: half as
// many as it has, so that little of an index that only grows is empty, and one
// vector takes no more than itself. For large vectors it is less, so that a
// block, and the copy of one, stays small.
func slotsFor(dim, n int) int {
	return max(1, min(n/2, blockBytes/(4*dim), maxSlots))
}

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
