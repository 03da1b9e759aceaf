package snapshot

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math/bits"
	"unsafe"
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
// pointers they are compared as pointers, and a key that is not equal to
// itself, such as a NaN, can be set but never found again.
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
// Of equal keys the last wins. To load pairs that are not at hand as a
// sequence, use the Editor of a new map.
func Collect[K comparable, V any](o Options[V], seq iter.Seq2[K, V]) *Map[K, V] {
	e := New[K](o).Edit()
	e.SetAll(seq)
	return e.Seal()
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

// Shared returns a view of the same map that clones nothing.
func (m *Map[K, V]) Shared() View[K, V] { return View[K, V]{m} }

// Isolate returns v cloned as the map's Options say: the value as an Editor of
// this map, of one it was derived from or of one derived from it would store
// it. It is for cloning ahead, outside an update.
func (m *Map[K, V]) Isolate(v V) Isolated[V] {
	c := m.config()
	return Isolated[V]{c.isolate(v), c}
}

// An Isolated is a value that was cloned ahead for [Editor.Put]. Only maps that
// share the Options of the one that isolated it take it. It is immutable and
// may be copied and used any number of times, from any goroutine.
type Isolated[V any] struct {
	value V
	by    any
}

// check panics unless v was isolated as c says.
func (c *config[K, V]) check(v Isolated[V]) {
	if by, ok := v.by.(*config[K, V]); !ok || by != c {
		panic("snapshot: Put of a value that a map with other Options isolated: call Isolate on this map or its Editor")
	}
}

// config returns the map's config, that of a new map without Options for the
// nil and the zero Map.
func (m *Map[K, V]) config() *config[K, V] {
	if m == nil || m.cfg == nil {
		return newConfig[K](Options[V]{})
	}
	return m.cfg
}

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

// lookup returns the entry of key, or nil.
//
// It is find, flattened, for the path nearly every lookup takes: a page, the
// first bucket, the first tag that matches. How many lookups of a loop the
// processor has in flight at once decides their speed once the map is larger
// than its caches, so there are no calls here but the hash, few instructions,
// and no branch on the length of a key of 8 to 40 bytes.
func (m *Map[K, V]) lookup(key K) *entry[V] {
	if m == nil || m.cfg == nil {
		return nil
	}
	c := m.cfg
	var h uint64
	if c.hash == nil {
		h = maphash.String(seed, *(*string)(unsafe.Pointer(&key)))
	} else {
		h = c.hash(key)
	}
	kid := m.root.kid[h>>(hashBits-fanBits)]
	for x := h; bucketsOf(kid) == 0; {
		if kid == nil {
			return nil
		}
		x <<= fanBits
		kid = (*directory[V])(kid).kid[x>>(hashBits-fanBits)]
	}
	n := bucketsOf(kid)
	if n > maxBuckets {
		return m.find(h, key)
	}
	b := (*bucket[V])(unsafe.Add(kid, bucketOf(h, n)*uint64(unsafe.Sizeof(bucket[V]{}))-n))
	hits := match(b.meta, tagOf(h))
	if hits == 0 {
		if b.meta < mark {
			return nil
		}
		return m.find(h, key)
	}
	e := *(**entry[V])(unsafe.Add(unsafe.Pointer(&b.entry), uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(e0)))
	if !c.inline {
		if (*keyed[K, V])(unsafe.Pointer(e)).key == key {
			return e
		}
		return m.find(h, key)
	}
	s := *(*string)(unsafe.Pointer(&key))
	if e.inlineLen() != len(s) {
		return m.find(h, key)
	}
	if last := len(s) - 8; uint(last) <= 32 {
		// Five words, overlapping, cover it.
		p, q := e.tail(), unsafe.Pointer(unsafe.StringData(s))
		i, j, k := min(8, last), min(16, last), min(24, last)
		if load(p, 0)^load(q, 0)|load(p, i)^load(q, i)|load(p, j)^load(q, j)|
			load(p, k)^load(q, k)|load(p, last)^load(q, last) == 0 {
			return e
		}
	} else if len(s) > 0 && e.inline() == s {
		return e
	}
	return m.find(h, key)
}

var e0 unsafe.Pointer

// load returns the eight bytes at p+i.
func load(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
