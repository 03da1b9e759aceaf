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
// zero Index must not be used. An Index must not be copied: copy the pointer. All
// methods may be called from any number of goroutines at once, Set and Delete
// included, and never wait.
//
// An Index owns its vectors: Set copies what it is given, SetImmutable takes it over,
// and Get returns a copy. It keeps a copy of a key of up to 128 bytes.
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

// Set returns an index in which key has a copy of v as its vector. The first vector fixes the
// dimension, until the last one is deleted. On an error Set returns x. The error is [ErrEmpty], or
// wraps [ErrNotFinite] or, for a length other than Dim, [ErrDimension].
//
// Replacing a vector costs what adding one does. Any version may be the base of several others:
// the second write to one may have to move up to two thirds of a block.
func (x *Index) Set(key string, v []float32) (*Index, error) {
	return x.SetImmutable(key, slices.Clone(v))
}

// SetImmutable is [Index.Set] without the copy: the index shares v, which must not be modified any
// more. Where it returns an error, the index does not keep v.
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

// Delete returns an index without key: x itself if key is absent, and nil if it was the last.
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

// Purge is [Index.Delete], and its result also holds no vector in memory that key had in any
// version, deleted ones included. Delete leaves dead vectors in the blocks, up to a third of all.
// Other versions keep what they hold. Purge takes time proportional to the number of dead vectors,
// and of those that it moves.
func (x *Index) Purge(key string) *Index {
	if x = x.Delete(key); x == nil {
		return nil
	}
	var moved []*segment
	for s := range x.segments() {
		if s.block != nil && s.remembers(key) {
			moved = append(moved, s)
		}
	}
	if len(moved) == 0 {
		return x
	}
	e := x.edit(x.dim)
	if slices.Contains(moved, &x.tail) {
		e.tail = e.fresh()
	}
	for _, s := range moved {
		if s != &x.tail {
			e.full = e.full.Delete(s.id)
		}
		e.move(s)
	}
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

// An edit makes the next Index. What it is made of is copied when it changes;
// only slots that it claims in the tail are written in place.
type edit struct {
	Index
	keys   *snapshot.Editor[string, loc]
	placed []place
}

// A place is a slot that the edit wrote.
type place struct {
	*block
	slot int
}

func (x *Index) edit(dim int) *edit {
	if x == nil {
		return &edit{Index: Index{dim: dim}, keys: noKeys.Edit()}
	}
	return &edit{Index: *x, keys: x.keys.Edit()}
}

func (e *edit) seal() *Index {
	x := e.Index
	x.keys = e.keys.Seal()
	for _, p := range e.placed {
		// The key as the map has it, so that there is no other copy.
		r, _ := x.keys.Row(p.keys[p.slot])
		p.keys[p.slot] = r.Key()
	}
	return &x
}

// set gives key the vector v, which it keeps.
func (e *edit) set(key string, v []float32) {
	// Before the key map has the new place: bury may move others, not this one.
	if old, ok := e.keys.Get(key); ok {
		e.bury(old)
	}
	e.claim()
	e.tail.put(e.tail.used, key, v)
	e.place(key)
}

// remove takes out key, which lies at l.
func (e *edit) remove(key string, l loc) {
	e.keys.Delete(key)
	e.bury(l)
	e.trim()
}

// bury makes the slot at l a dead one.
func (e *edit) bury(l loc) {
	if l.id() == e.tail.id {
		e.tail.kill(l.slot())
		return
	}
	old, _ := e.full.Get(l.id())
	s := *old
	s.kill(l.slot())
	if s.sparse() {
		e.full = e.full.Delete(s.id)
		e.move(&s)
	} else {
		e.full = e.full.Set(s.id, &s)
	}
}

// move appends the live vectors of s, which no longer is part of the index.
func (e *edit) move(s *segment) {
	e.bytes -= s.bytes() + s.used*e.elements()
	for _, key := range s.keys[:s.used] {
		e.rows -= size.Row(key)
	}
	s.each(func(slot int) {
		e.claim()
		e.tail.copy(e.tail.used, s.block, slot)
		e.place(s.keys[slot])
	})
}

// place makes the slot that was claimed and written the one of key.
func (e *edit) place(key string) {
	e.keys.Set(key, locOf(e.tail.id, e.tail.used))
	e.placed = append(e.placed, place{e.tail.block, e.tail.used})
	e.rows += size.Row(key)
	e.bytes += e.elements()
	e.tail.add(e.tail.used)
	e.tail.used++
}

// claim sees to it that the next slot of the tail is there and ours.
func (e *edit) claim() {
	for e.tail.block == nil || !e.tail.claim(e.tail.used) {
		e.turn()
	}
}

// turn replaces a tail that has no slot for us, because it is full, or because
// another lineage has gone on in it.
func (e *edit) turn() {
	t := e.tail
	e.tail = e.fresh()
	switch {
	case t.block == nil:
	case t.sparse():
		e.move(&t)
	default:
		// Where others have the rest of its slots, we leave at most a third unused.
		e.keep(&t)
	}
}

// keep keeps what was the tail as it is.
func (e *edit) keep(t *segment) {
	if e.full == nil {
		e.full = immutable.NewSortedMap[uint64, *segment](nil)
	}
	e.full = e.full.Set(t.id, t)
}

// trim gives up a tail that has become far too large for the index.
func (e *edit) trim() {
	n := e.keys.Len()
	if t := e.tail; t.slots() > 4*slotsFor(e.dim, n) {
		e.tail = e.fresh()
		e.move(&t)
	}
}

// fresh returns an empty tail.
func (e *edit) fresh() segment {
	b := newBlock(e.dim, slotsFor(e.dim, e.keys.Len()))
	e.bytes += b.bytes()
	return segment{block: b, id: e.tail.id + 1}
}

// elements returns how many bytes the elements of a vector take.
func (e *edit) elements() int { return size.Object(4 * e.dim) }
