package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Metric says how near two vectors are. A higher score is always nearer.
type Metric uint8

const (
	// Cosine is the cosine of the angle between the vectors, from -1 to 1. With
	// a stored vector of zeros it is 0; a query of zeros is ErrZero.
	Cosine Metric = iota

	// Dot is the dot product.
	Dot

	// L2 is minus the Euclidean distance: 0 for equal vectors, else negative.
	L2
)

// String returns the name of m.
func (m Metric) String() string {
	switch m {
	case Cosine:
		return "cosine"
	case Dot:
		return "dot"
	case L2:
		return "l2"
	}
	return fmt.Sprintf("Metric(%d)", uint8(m))
}

// Options say what a Search looks for. The zero value asks for the ten nearest
// vectors by cosine.
type Options struct {
	// K is how many hits there may be, 0 for 10. It may exceed Len.
	K int

	Metric Metric

	// MinScore is, if HasMin, the least Score of a hit, itself included.
	MinScore float32
	HasMin   bool

	// Accept, if not nil, says which keys may be hits. It is called for a key that
	// may be among the K best of those accepted so far, as far as its code tells,
	// before its vector is read, and at most once for each key; which keys it is
	// called for is not specified. It is called by the goroutine of Search, and may
	// use the Index.
	Accept func(key string) bool
}

func (o *Options) check() error {
	switch {
	case o.K < 0:
		return fmt.Errorf("%w: K is %d", ErrOptions, o.K)
	case o.Metric > L2:
		return fmt.Errorf("%w: %v", ErrOptions, o.Metric)
	case o.HasMin && math.IsNaN(float64(o.MinScore)):
		return fmt.Errorf("%w: MinScore is NaN", ErrOptions)
	}
	return nil
}

// A Hit is a key that Search found, and how near it is. A Score that is too large for
// a float32 is the largest one; the order of hits takes no notice.
type Hit struct {
	Key   string
	Score float32
	Exact float64 // what Score is rounded from, to merge hits of several indexes by
}

// String returns the key and the score.
func (h Hit) String() string { return fmt.Sprintf("{%s %v}", h.Key, h.Score) }

// Errors of Set, Search and Check. They come wrapped where there is more to
// say: compare with errors.Is.
var (
	// ErrEmpty reports a vector without elements.
	ErrEmpty = errors.New("vector: empty vector")

	// ErrNotFinite reports a vector with a NaN or an infinity in it.
	ErrNotFinite = errors.New("vector: element is not finite")

	// ErrDimension reports a vector whose length is not that of the index.
	ErrDimension = errors.New("vector: wrong dimension")

	// ErrZero reports a query of only zeros by Cosine, which has no direction.
	ErrZero = errors.New("vector: zero query by cosine")

	// ErrOptions reports Options that mean nothing: a negative K, an unknown
	// Metric, a MinScore that is NaN.
	ErrOptions = errors.New("vector: invalid options")
)

// Check returns nil if v can be stored: if it has elements and all are finite.
// Otherwise it returns ErrEmpty or, wrapped, ErrNotFinite. A vector of zeros can
// be stored.
func Check(v []float32) error {
	if len(v) == 0 {
		return ErrEmpty
	}
	if largest(v) < math.Float32bits(float32(math.Inf(1))) {
		return nil
	}
	i := slices.IndexFunc(v, func(f float32) bool { return f-f != 0 })
	return fmt.Errorf("%w: element %d is %v", ErrNotFinite, i, v[i])
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

// Float32s returns v in single precision, as vectors are stored. What is too
// large for it becomes an infinity, which no vector may have.
func Float32s(v []float64) []float32 {
	if v == nil {
		return nil
	}
	s := make([]float32, len(v))
	for i, x := range v {
		s[i] = float32(x)
	}
	return s
}
