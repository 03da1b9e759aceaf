package snapshot

import (
	"iter"
	"runtime"
	"unsafe"
)

// A Row is a key, its value and the version that wrote them, as they stand in
// a map and in all later ones until the key is written again. Two Rows are equal
// (==) if they are the same write. It is an immutable value, to be copied
// freely, safe for concurrent use, and keeps alive that one write and not the
// map. Only Rows that a map handed out may be asked for anything.
type Row[K comparable, V any] struct {
	e   *entry[V]
	cfg *config[K, V]
}

// Key returns the key.
func (r Row[K, V]) Key() K { return r.cfg.key(r.e) }

// Value returns the value, isolated.
func (r Row[K, V]) Value() V { return r.cfg.isolate(r.e.value) }

// Shared returns the value without cloning it. It must not be modified; see
// [Shared].
func (r Row[K, V]) Shared() V { return r.e.value }

// Revision returns the version that wrote the row, or [Pending] for a row that the
// update wrote which is still running.
func (r Row[K, V]) Revision() uint64 {
	if r.cfg.pending == nil {
		return Pending
	}
	return r.e.revision()
}

// Pending is the revision, inside an update, of what that update itself wrote. It
// matches nothing, so that a revision that is never published cannot be mistaken
// for that of a later write. The revision that the write gets is the version of
// the update, once that is published.
const Pending = 1 << 63

// asPending is Builder.Pending.
func (r Row[K, V]) asPending(version uint64) Row[K, V] {
	if r.e.revision() == version && r.cfg.pending != nil {
		r.cfg = r.cfg.pending
	}
	return r
}

// Row returns the row of key and whether key is present.
func (m *Map[K, V]) Row(key K) (Row[K, V], bool) {
	if e := m.lookup(key); e != nil {
		return m.cfg.row(e), true
	}
	return Row[K, V]{}, false
}

// Rows returns an iterator over the rows, in the order of All.
func (m *Map[K, V]) Rows() iter.Seq[Row[K, V]] {
	return func(yield func(Row[K, V]) bool) {
		m.walk(func(e *entry[V]) bool { return yield(m.cfg.row(e)) })
	}
}

// ref is Builder.Ref.
func (r Row[K, V]) ref() RowRef[K, V] { return RowRef[K, V]{r.e} }

// A RowRef is a Row for those who keep many: half as large, it becomes a Row again
// with the help of a map. Two are equal (==) if they are the same write. The zero
// RowRef is of no row, and must not be asked for anything.
type RowRef[K comparable, V any] struct{ e *entry[V] }

// Key returns the key.
func (r RowRef[K, V]) Key() K {
	if r.e.inlineLen() > 0 {
		s := r.e.inline() // which only a string has
		return *(*K)(unsafe.Pointer(&s))
	}
	return (*keyed[K, V])(unsafe.Pointer(r.e)).key
}

// deref is Builder.Deref.
func (m *Map[K, V]) deref(r RowRef[K, V]) Row[K, V] { return m.config().row(r.e) }

// probe is Builder.Probe.
func (m *Map[K, V]) probe(key K) Row[K, V] {
	c := m.config()
	return c.row(c.newEntry(key, *new(V), 0))
}

// empty is Builder.Empty.
func (m *Map[K, V]) empty() *Map[K, V] {
	n := new(Map[K, V])
	n.cfg = m.config().plain
	return n
}

// prefetch is Builder.Prefetch.
func prefetch[K comparable, V any](rows []RowRef[K, V]) {
	touched := uint64(0)
	for _, r := range rows {
		touched |= r.e.touch()
	}
	runtime.KeepAlive(touched)
}

// row returns the Row of e, the zero Row for nil.
func (c *config[K, V]) row(e *entry[V]) Row[K, V] {
	if e == nil {
		return Row[K, V]{}
	}
	return Row[K, V]{e, c.plain}
}

// Rows returns the row in the older map and that in the newer; the zero Row
// where there is none.
func (c Change[K, V]) Rows() (old, new Row[K, V]) { return c.was.row(c.old), c.cfg.row(c.new) }
