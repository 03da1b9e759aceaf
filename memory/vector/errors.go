package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

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
