// Package kernel has the inner loops of package vector: for processors with
// vector instructions and, to the same results, in portable Go.
package kernel

//go:generate go -C gen run . -out ../kernel_amd64.s -stubs ../stubs_amd64.go -pkg kernel

// A Pair is sixteen bytes of a code, the first in the lowest bits of the first word.
type Pair [2]uint64

const (
	// Unit is what the length of a code, in bytes, is a multiple of: two Pairs.
	Unit = 32

	// MaxLen is the greatest length of a code: its products add up to an int32.
	MaxLen = 1 << 16

	// MaxCode is the greatest byte of a code.
	MaxCode = 254
)

// A Set is an instruction set. The Sets that Sets returns are shared; they must
// not be modified.
type Set struct {
	Name string

	// Most is the greatest magnitude of the elements of a query.
	Most int

	// Flip is what both words of each Pair of a code are to be XORed with.
	Flip uint64

	// bias is what is added to the elements of a query.
	bias int32

	dots func(out []int32, codes []Pair, q *Query)
	both func(out, fineOut []int32, codes []Pair, q, fine *Query) // or nil
}

// Both reports whether DotsBoth takes little longer than Dots of one query, because it loads
// codes once.
func (s *Set) Both() bool { return s.both != nil }

// Sets returns the instruction sets that this machine has, the best first and
// portable code last.
func Sets() []*Set { return append(native(), portable) }

// A Query is what codes are compared with. It is immutable: any number of
// goroutines may use it at once.
type Query struct {
	set      *Set
	elements []int8
	words    []words // for portable code
	sum      int32   // of the elements
}

// NewQuery returns a query for codes as long as elements, which it keeps, and of which it
// is told the sum. That is a multiple of Unit up to MaxLen, and no element is greater than
// s.Most in magnitude.
func (s *Set) NewQuery(elements []int8, sum int32) *Query {
	if n := len(elements); n == 0 || n%Unit != 0 || n > MaxLen {
		panic("kernel: the length of a query must be a multiple of Unit, up to MaxLen")
	}
	q := &Query{set: s, elements: elements, sum: sum}
	if s == portable {
		q.words = newWords(elements)
	}
	return q
}

// Bias returns what Dots adds to each element of the query.
func (q *Query) Bias() int32 { return q.set.bias }

// Dots sets each element of out to the dot product of a code with the query, plus
// Bias times the sum of the code. Codes lie one behind the other in codes, as many
// as out has elements. None of their bytes may be greater than MaxCode, before they are
// flipped as the Set of the query says.
func (q *Query) Dots(out []int32, codes []Pair) {
	if len(codes) != len(out)*len(q.elements)/16 {
		panic("kernel: codes and results differ in number")
	}
	if len(out) > 0 {
		q.set.dots(out, codes, q)
	}
}

// DotsBoth is Dots of two queries of one Set, of one length.
func (q *Query) DotsBoth(fine *Query, out, fineOut []int32, codes []Pair) {
	if len(codes) != len(out)*len(q.elements)/16 || len(fineOut) != len(out) || len(fine.elements) != len(q.elements) || fine.set != q.set {
		panic("kernel: codes and results differ in number, or queries in length")
	}
	switch {
	case len(out) == 0:
	case q.set.both == nil:
		q.set.dots(out, codes, q)
		q.set.dots(fineOut, codes, fine)
	default:
		q.set.both(out, fineOut, codes, q, fine)
	}
}

// Dot returns the dot product of x and y, which are of one length, in float64.
// Products of float32 are exact there, so only their sum is rounded, and always
// in the same order: equal vectors have equal dot products with every Set.
func (s *Set) Dot(x, y []float32) float64 {
	y = y[:len(x)]
	var sums [16]float64
	whole := len(x) &^ 15
	if s == portable {
		portableSums(x[:whole], y[:whole], &sums)
	} else {
		nativeSums(x[:whole], y[:whole], &sums)
	}
	for i := whole; i < len(x); i++ {
		sums[i-whole] += float64(x[i]) * float64(y[i])
	}
	for n := 8; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
