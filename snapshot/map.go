package snapshot

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// New returns an empty map whose values are kept apart from its callers' as o
// says. It panics when o or V does not allow that; see [Options].
func New[K comparable, V any](o Options[V]) *Map[K, V] {
	m := new(Map[K, V])
	m.cfg = newConfig[K](o)
	return m
}

// Get returns the value of key, isolated, and whether key is present. It takes
// constant time, plus that of the clone, and allocates nothing where values
// need no clone.
func (m *Map[K, V]) Get(key K) (V, bool) {
	e := m.lookup(key)
	if e == nil {
		var zero V
		return zero, false
	}
	if clone := m.cfg.clone; clone != nil {
		return clone(e.value), true
	}
	return e.value, true
}

// GetMany returns an iterator over the values of many keys: over the place in keys of each key
// that is present, in the order of keys, and its value, isolated. It does what Get of each would do,
// in less time where the map is larger than the processor's caches, as the lookups wait for
// memory together. The keys are looked up while the iteration goes on, some at a time, and must
// not be modified meanwhile.
func (m *Map[K, V]) GetMany(keys []K) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		var found [atOnce]*entry[V]
		for from := 0; from < len(keys); from += atOnce {
			some := keys[from:min(from+atOnce, len(keys))]
			m.lookupAll(some, &found)
			for i := range some {
				if e := found[i]; e != nil && !yield(from+i, m.cfg.isolate(e.value)) {
					return
				}
			}
		}
	}
}

// Has reports whether key is present.
func (m *Map[K, V]) Has(key K) bool { return m.lookup(key) != nil }

// Revision returns the version that last wrote key, or 0 if key is absent.
// Revisions of maps that were derived from one another can be compared.
func (m *Map[K, V]) Revision(key K) uint64 {
	if e := m.lookup(key); e != nil {
		return e.revision()
	}
	return 0
}

// Version returns the version of the last edit that changed this map, 0 for
// an empty map that was never edited.
func (m *Map[K, V]) Version() uint64 {
	if m == nil {
		return 0
	}
	return m.version
}

// Len returns the number of keys.
func (m *Map[K, V]) Len() int {
	if m == nil {
		return 0
	}
	return m.len
}

// All returns an iterator over keys and isolated values, in no particular
// order; it is the same order each time for one Map.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		m.walk(func(e *entry[V]) bool { return yield(m.cfg.key(e), m.cfg.isolate(e.value)) })
	}
}

// Keys returns an iterator over the keys, in the order of All.
func (m *Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		m.walk(func(e *entry[V]) bool { return yield(m.cfg.key(e)) })
	}
}

// Values returns an iterator over isolated values, in the order of All.
func (m *Map[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		m.walk(func(e *entry[V]) bool { return yield(m.cfg.isolate(e.value)) })
	}
}

// Shared returns the same map for reads that clone nothing.
func (m *Map[K, V]) Shared() Shared[K, V] { return Shared[K, V]{m} }

// config returns the map's config. The nil and the zero Map of a type all have
// the same one.
func (m *Map[K, V]) config() *config[K, V] {
	if m != nil && m.cfg != nil {
		return m.cfg
	}
	t := reflect.TypeFor[Map[K, V]]()
	c, ok := zeroConfigs.Load(t)
	if !ok {
		c, _ = zeroConfigs.LoadOrStore(t, newConfig[K](Options[V]{}))
	}
	return c.(*config[K, V])
}

var zeroConfigs sync.Map // reflect.Type of a Map → its *config

// isolate returns v, cloned where it needs to be.
func (c *config[K, V]) isolate(v V) V {
	if c.clone != nil {
		return c.clone(v)
	}
	return v
}

func (m *Map[K, V]) walk(f func(*entry[V]) bool) {
	if m != nil {
		walk(m.root.node(), f)
	}
}

// A Shared reads a Map without cloning. What it hands out belongs to the map
// and must not be modified, nor anything reached through it: other versions,
// other readers and the past hold the same memory. Package cowtest finds
// those that do it all the same.
//
// The zero Shared is empty. It is a value, to be copied freely, safe for
// concurrent use, and as immutable as its Map.
type Shared[K comparable, V any] struct{ m *Map[K, V] }

// Get returns the stored value of key and whether key is present.
func (s Shared[K, V]) Get(key K) (V, bool) {
	if e := s.m.lookup(key); e != nil {
		return e.value, true
	}
	var zero V
	return zero, false
}

// GetMany is [Map.GetMany] without clones.
func (s Shared[K, V]) GetMany(keys []K) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		var found [atOnce]*entry[V]
		for from := 0; from < len(keys); from += atOnce {
			some := keys[from:min(from+atOnce, len(keys))]
			s.m.lookupAll(some, &found)
			for i := range some {
				if e := found[i]; e != nil && !yield(from+i, e.value) {
					return
				}
			}
		}
	}
}

// All returns an iterator over keys and stored values, in the order of Map.All.
func (s Shared[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		s.m.walk(func(e *entry[V]) bool { return yield(s.m.cfg.key(e), e.value) })
	}
}

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

// asPending returns the row with that revision, if an edit that makes version wrote it, and
// r itself if not.
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

// rowsFrom is Builder.RowsFrom.
func (m *Map[K, V]) rowsFrom(after *K, back bool) iter.Seq[Row[K, V]] {
	return func(yield func(Row[K, V]) bool) {
		if m == nil {
			return
		}
		x, pending := uint64(0), after != nil
		if pending {
			x = m.config().hashOf(*after)
		} else if back {
			x = math.MaxUint64
		}
		parts(m.root.node(), x, back, func(part []*entry[V]) bool {
			if pending {
				pending = false
				part = part[1+slices.IndexFunc(part, func(e *entry[V]) bool { return m.cfg.is(e, *after) }):]
			}
			for _, e := range part {
				if !yield(m.cfg.row(e)) {
					return false
				}
			}
			return true
		})
	}
}

// ref is Builder.Ref.
func (r Row[K, V]) ref() *RowRef { return (*RowRef)(unsafe.Pointer(r.e)) }

// keyOf is Builder.KeyOf.
func keyOf[K comparable, V any](r *RowRef) K {
	e := (*entry[V])(unsafe.Pointer(r))
	if e.inlineLen() > 0 {
		s := e.inline() // which only a string has
		return *(*K)(unsafe.Pointer(&s))
	}
	return (*keyed[K, V])(unsafe.Pointer(r)).key
}

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

// row returns the Row of e, the zero Row for nil.
func (c *config[K, V]) row(e *entry[V]) Row[K, V] {
	if e == nil {
		return Row[K, V]{}
	}
	return Row[K, V]{e, c.plain}
}

// rowsOf is Builder.RowsOf.
func (m *Map[K, V]) rowsOf(keys []K) iter.Seq2[int, Row[K, V]] {
	return func(yield func(int, Row[K, V]) bool) {
		var found [atOnce]*entry[V]
		for from := 0; from < len(keys); from += atOnce {
			some := keys[from:min(from+atOnce, len(keys))]
			m.lookupAll(some, &found)
			for i := range some {
				if e := found[i]; e != nil && !yield(from+i, m.cfg.row(e)) {
					return
				}
			}
		}
	}
}
