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
	// Cosine is the cosine of the angle between the vectors, from -1 to 1. It is 0 for
	// a stored vector of zeros; a query of zeros is an error, ErrZero.
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
	// K is the most hits to return; 0 means 10. It may exceed Len.
	K int

	// Metric says what near means; the zero value is Cosine.
	Metric Metric

	// MinScore is the least Score of a hit, if HasMin is true.
	MinScore float32
	HasMin   bool

	// Accept chooses the keys that may be hits; nil means all. It is called at most
	// once a key, in no particular order, and only for keys that may be among the best
	// K of those accepted so far. It is called in the goroutine of Search, and may use
	// the Index.
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

// A Hit is a key that Search found, and how near its vector is. A Score is finite: one beyond
// float32 is the largest or the least float32. Hits are ordered by Exact.
type Hit struct {
	Key   string
	Score float32 // Exact, rounded
	Exact float64 // the score in full, to merge hits of several indexes by
}

// String returns the key and the score.
func (h Hit) String() string { return fmt.Sprintf("{%s %v}", h.Key, h.Score) }

// The errors of [Index.Set], [Index.Search] and [Check]. They may be wrapped: compare with
// [errors.Is].
var (
	// ErrEmpty reports a vector without elements.
	ErrEmpty = errors.New("vector: empty vector")

	// ErrNotFinite reports a vector with a NaN or an infinity in it.
	ErrNotFinite = errors.New("vector: element is not finite")

	// ErrDimension reports a vector whose length is not that of the index.
	ErrDimension = errors.New("vector: wrong dimension")

	// ErrZero reports a search by Cosine for a vector of zeros, which has no direction.
	ErrZero = errors.New("vector: zero query by cosine")

	// ErrOptions reports Options with a negative K, an unknown Metric or a MinScore
	// that is NaN.
	ErrOptions = errors.New("vector: invalid options")
)

// Check returns nil if v can be stored: if it has elements and all are finite. Otherwise the error
// is [ErrEmpty], or wraps [ErrNotFinite]. A vector of zeros can be stored.
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

// Float32s returns v in single precision, as vectors are stored. An element that is too large
// becomes an infinity, which [Check] and [Index.Set] refuse.
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
