package cow

import (
	"unsafe"

	"github.com/cowstore/cowstore/snapshot"
)

// points finds the row of an index key in one step. It is immutable.
type points[I, R any] interface {
	get(i I) (R, bool)
	knows(i I) bool // false: get does not find i, whether or not it is there
	edit() pointsEditor[I, R]
	structure() int // about how many bytes it takes
}

type pointsEditor[I, R any] interface {
	get(i I) (R, bool)
	knows(i I) bool
	set(i I, r R)
	delete(i I)
	seal() points[I, R]
}

// hashed is points as a map.
type hashed[I comparable, R any] struct{ m *Map[I, R] }

func newHashed[I comparable, R any]() points[I, R] {
	return hashed[I, R]{snapshot.New[I](snapshot.Options[R]{Immutable: true})}
}

func (h hashed[I, R]) get(i I) (R, bool)        { return h.m.Get(i) }
func (h hashed[I, R]) knows(i I) bool           { return i == i } // a NaN could not be deleted again
func (h hashed[I, R]) edit() pointsEditor[I, R] { return hashedEditor[I, R]{h.m.Edit()} }

func (h hashed[I, R]) structure() int {
	return snapshot.Builder[I, R]{}.Structure(h.m) + h.m.Len()*int(unsafe.Sizeof(*new(I))+unsafe.Sizeof(*new(R))+8)
}

type hashedEditor[I comparable, R any] struct{ e *snapshot.Editor[I, R] }

func (h hashedEditor[I, R]) get(i I) (R, bool)  { return h.e.Get(i) }
func (h hashedEditor[I, R]) knows(i I) bool     { return i == i }
func (h hashedEditor[I, R]) delete(i I)         { h.e.Delete(i) }
func (h hashedEditor[I, R]) seal() points[I, R] { return hashed[I, R]{h.e.Seal()} }

func (h hashedEditor[I, R]) set(i I, r R) {
	if i == i {
		h.e.Set(i, r)
	}
}
