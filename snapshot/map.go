package snapshot

import (
	"iter"
	"reflect"
	"sync"
)

// A Map is an immutable map from K to V.
//
// The nil *Map and the zero Map are empty and usable. A Map must not be
// copied; copy the pointer. All methods may be called from any number of
// goroutines at once, and never wait.
//
// A Map owns its values. What Get, All, Diff and an Editor hand out is isolated:
// cloned as [Options] say, so that the caller may do anything to it. [Map.Shared]
// gives the same reads without cloning. Keys are not cloned: where K holds
// pointers they are compared as pointers. A key that is not equal to itself, such as
// a NaN, cannot be stored: ErrKey.
type Map[K comparable, V any] struct {
	noCopy noCopy
	tree[K, V]
	version uint64
}

// New returns an empty map whose values are kept apart from its callers' as o
// says. It panics when o or V does not allow that; see [Options].
func New[K comparable, V any](o Options[V]) *Map[K, V] {
	m := new(Map[K, V])
	m.cfg = newConfig[K](o)
	return m
}

// Collect returns a map of the pairs of seq, isolated as o says, at version 1.
// Of equal keys the last wins. A pair that cannot be stored is an error; see
// [Editor.Err].
func Collect[K comparable, V any](o Options[V], seq iter.Seq2[K, V]) (*Map[K, V], error) {
	e := New[K](o).Edit()
	e.SetAll(seq)
	return e.Seal(), e.Err()
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

// isolate is Builder.Isolate.
func (m *Map[K, V]) isolate(key K, v V) (i Isolated[V], err error) {
	c := m.config()
	if c.clone != nil {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case *CloneError:
				i, err = Isolated[V]{}, c.keyError(key, r)
			default:
				panic(r)
			}
		}()
	}
	return Isolated[V]{value: c.isolate(v), by: c.plain}, nil
}

// An Isolated is a value that was cloned ahead for [Builder.Put]. Only maps that
// share the Options of the one that isolated it take it. It is immutable and
// may be copied and used any number of times, from any goroutine.
type Isolated[V any] struct {
	value    V
	by       any
	revision uint64 // 0: that of the edit
}

// at is Builder.At.
func (v Isolated[V]) at(revision uint64) Isolated[V] {
	v.revision = revision
	return v
}

// check panics unless v was isolated as c says.
func (c *config[K, V]) check(v Isolated[V]) {
	if by, ok := v.by.(*config[K, V]); !ok || by != c.plain {
		panic("snapshot: Put of a value that a map with other Options isolated: isolate it for this map")
	}
}

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
		m.root.walk(f)
	}
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
