package vector

import (
	"fmt"
	"math"
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
