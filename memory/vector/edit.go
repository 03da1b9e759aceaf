package vector

import (
	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

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
		if e.full == nil {
			e.full = immutable.NewSortedMap[uint64, *segment](nil)
		}
		e.full = e.full.Set(t.id, &t)
	}
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
