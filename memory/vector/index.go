package vector

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

// An Index is an immutable set of vectors of one dimension, each under a key.
//
// The nil *Index is empty and usable; an Index of no vectors is always nil. The
// zero Index is not for use, and an Index must not be copied: copy the pointer.
// All methods may be called from any number of goroutines at once, Set and
// Delete included, and never wait.
//
// An Index owns its vectors: Set copies what it is given, SetImmutable takes it over,
// Get returns a copy.
// Of a key of up to 128 bytes it keeps a copy.
type Index struct {
	dim   int
	rows  int // bytes of the rows that blocks refer to
	bytes int // of blocks, and of the vectors they refer to
	keys  *snapshot.Map[string, loc]
	full  *immutable.SortedMap[uint64, *segment] // all but the tail, by id
	tail  segment                                // is appended to; has the greatest id
}

// noKeys is what the key map of each index starts from.
var noKeys = snapshot.New[string](snapshot.Options[loc]{Immutable: true})

// Set returns an index in which key has the vector v, which it copies. The
// first vector fixes the dimension, until the last one is deleted. The errors
// are ErrEmpty, ErrNotFinite and, for a length other than Dim, ErrDimension; x
// is returned with them. Replacing a vector costs what adding one does.
//
// A version that was written to before, in a fork or a write that was
// abandoned, is as good a base as any, but the first write to it again may have
// to copy up to half a block.
func (x *Index) Set(key string, v []float32) (*Index, error) {
	return x.SetImmutable(key, slices.Clone(v))
}

// SetImmutable is Set without the copy: v is shared with the index, and nobody may
// modify it any more.
func (x *Index) SetImmutable(key string, v []float32) (*Index, error) {
	if err := Check(v); err != nil {
		return x, err
	}
	if err := x.fits(v); err != nil {
		return x, err
	}
	e := x.edit(len(v))
	e.set(key, v)
	return e.seal(), nil
}

// Delete returns an index without key: x itself if key is absent, nil if it was
// the last.
func (x *Index) Delete(key string) *Index {
	if x == nil {
		return nil
	}
	l, ok := x.keys.Get(key)
	if !ok {
		return x
	}
	if x.Len() == 1 {
		return nil
	}
	e := x.edit(x.dim)
	e.remove(key, l)
	return e.seal()
}

// Get returns a copy of the vector of key, and whether key is present.
func (x *Index) Get(key string) ([]float32, bool) {
	if x == nil {
		return nil, false
	}
	l, ok := x.keys.Get(key)
	if !ok {
		return nil, false
	}
	b := x.tail.block
	if l.id() != x.tail.id {
		s, _ := x.full.Get(l.id())
		b = s.block
	}
	return append([]float32(nil), b.vector(l.slot())...), true
}

// Len returns the number of vectors.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.keys.Len()
}

// Dim returns the dimension of the vectors, 0 for an empty index.
func (x *Index) Dim() int {
	if x == nil {
		return 0
	}
	return x.dim
}

// Bytes returns about how many bytes x holds on the heap, what it shares with
// other versions included. It takes constant time.
func (x *Index) Bytes() int {
	if x == nil {
		return 0
	}
	const entry = int(unsafe.Sizeof(segment{})) + 24 // of full
	full := 0
	if x.full != nil {
		full = 128 + x.full.Len()*entry
	}
	return size.Object(int(unsafe.Sizeof(*x))) + size.Map(x.Len()) + full + x.rows + x.bytes
}

// fits returns an error unless v has the dimension of x.
func (x *Index) fits(v []float32) error {
	if x != nil && len(v) != x.dim {
		return fmt.Errorf("%w: have %d, want %d", ErrDimension, len(v), x.dim)
	}
	return nil
}

// segments returns an iterator over all segments. x must not be nil.
func (x *Index) segments() func(yield func(*segment) bool) {
	return func(yield func(*segment) bool) {
		if !yield(&x.tail) || x.full == nil {
			return
		}
		for i := x.full.Iterator(); !i.Done(); {
			if _, s, _ := i.Next(); !yield(s) {
				return
			}
		}
	}
}
