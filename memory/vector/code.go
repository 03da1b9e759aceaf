package vector

import "math"

// A code is an approximation of a vector in a byte an element: x̂ = scale·(c-45)
// for a c of 0 to 90, eight of them in a word, which needs a quarter of the
// memory and is compared eight elements at a time without vector instructions
// (see codedQuery.dot). A code is a whole number of pairs of words. What it lacks, |x-x̂|, is known exactly, and
//
//	x·q - x̂·q̂ = (x-x̂)·q̂ + x·(q-q̂)
//
// so that, by Cauchy and Schwarz, x̂·q̂ is off by |x-x̂||q̂| + |x||q-q̂| at most.
// That holds for any x̂; the codes only make it small.
type pair [2]uint64

const (
	codeZero = 45 // the c that stands for 0; 2·codeZero is the largest
	evens    = 0x00ff00ff00ff00ff
)

// codeFacts go with the code of one vector.
type codeFacts struct {
	scale float32
	err   float32 // at least |x-x̂|; may be infinite
	sum   uint32  // of the c
}

// pairsFor returns the length of the code of a vector of dim elements.
func pairsFor(dim int) int { return (dim + 15) / 16 }

// encode writes the code of v, whose norm is given, to dst.
func encode(dst []pair, v []float32, norm float64) codeFacts {
	var largest uint32 // the bits of floats that are not negative order as they do
	for _, f := range v {
		largest = max(largest, math.Float32bits(f)&^(1<<31))
	}
	scale := math.Float32frombits(largest) / codeZero
	if scale == 0 {
		// Zeros, or too small to divide. Any code will do: it counts for nothing.
		clear(dst)
		return codeFacts{0, above(norm), 0}
	}
	s, inverse := float64(scale), 1/float64(scale)
	var lack [2]float64
	var sum int
	for i := range 2 * len(dst) {
		var word uint64
		part := v[min(8*i, len(v)):min(8*i+8, len(v))]
		for b, f := range part {
			// To the nearest. A scale that is denormal is not exact: stay in range.
			c := min(max(int(float64(f)*inverse+(codeZero+0.5)), 0), 2*codeZero)
			word |= uint64(c) << (8 * b)
			sum += c
			d := float64(f) - s*float64(c-codeZero)
			lack[b%2] += d * d
		}
		dst[i/2][i%2] = word
	}
	return codeFacts{scale, above(math.Sqrt(lack[0] + lack[1])), uint32(sum)}
}

// above returns a float32 that is greater than f, by more than f can have been
// rounded off.
func above(f float64) float32 {
	return math.Nextafter32(float32(f*(1+1e-6)), float32(math.Inf(1)))
}

// A codedQuery is a query as codes are compared with it.
type codedQuery struct {
	words  [][4]uint64 // for each word of a pair, what its even and odd bytes meet
	scale  float64
	norm   float64 // at least |q̂|
	err    float64 // at least |q-q̂|
	offset float64 // what the zeros add up to, but for that of the vector's sum
}

func newCodedQuery(q []float32, norm float64) *codedQuery {
	codes := make([]pair, pairsFor(len(q)))
	f := encode(codes, q, norm)
	c := &codedQuery{
		words:  make([][4]uint64, len(codes)),
		scale:  float64(f.scale),
		norm:   norm + float64(f.err),
		err:    float64(f.err),
		offset: codeZero * (codeZero*float64(len(q)) - float64(f.sum)),
	}
	for i, p := range codes {
		for b := range 16 {
			// The lanes are in reverse, so that the products of all four with
			// those of a code add up in the uppermost.
			value := p[b/8] >> (b % 8 * 8) & 0xff
			c.words[i][b/8*2+b%2] |= value << (16 * (3 - b%8/2))
		}
	}
	return c
}

// dot returns x̂·q̂, exactly but for a few roundings in float64.
//
// One multiplication of four lanes of sixteen bits by four in reverse order is
// four multiplications and their sum, in the uppermost lane. There two of them
// amount to at most 8·90·90 = 64,800, and the lanes below to less: nothing is
// carried from lane to lane.
func (c *codedQuery) dot(code []pair, f *codeFacts) float64 {
	words := c.words[:len(code)]
	var a, b uint64
	for i := range code {
		x, q := &code[i], &words[i]
		a += ((x[0]&evens)*q[0] + (x[0]>>8&evens)*q[1]) >> 48
		b += ((x[1]&evens)*q[2] + (x[1]>>8&evens)*q[3]) >> 48
	}
	// Σ(c-45)(k-45) = Σck - 45Σc - 45Σk + 45²·dim
	return (float64(a+b) - codeZero*float64(f.sum) + c.offset) * float64(f.scale) * c.scale
}
