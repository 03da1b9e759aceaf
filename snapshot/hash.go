package snapshot

import (
	"hash/maphash"
	"reflect"
	"unsafe"
)

// seed is random and one a process: nobody outside can prepare keys that
// collide, and every map of one type agrees on where a key belongs, so that
// any two can be compared page by page.
var seed = maphash.MakeSeed()

// The bits of a hash, from the highest: the path through the directories,
// fanBits a level; then the tag a bucket keeps of each entry; the low 32 choose
// the bucket within a page. A path reads into the tag only beyond 25 bits, in
// a map of a billion entries.
const (
	hashBits = 64
	pathBits = 10 * fanBits // the longest path; keys still together there share a bag
	tagShift = 32
)

// A config is what all versions and forks of one map have in common. It is
// never modified.
type config[K comparable, V any] struct {
	hash   func(K) uint64 // nil: K is a string and maphash.String serves
	clone  func(V) V      // nil: values need no clone
	inline bool           // K is a string: short keys lie in their entries
	noscan bool           // V holds no pointers
	handle bool           // what V leads to may change: Options.Immutable or Options.Clone

	name string // for errors

	// pending is a copy of this config for rows whose revision does not count
	// yet; nil in the copy itself. See Row.Pending.
	pending *config[K, V]

	// What Map.Attach added, in a copy of plain. It is not part of what maps
	// must have in common.
	plain    *config[K, V]
	attached any
	to       *Map[K, V]
}

func newConfig[K comparable, V any](o Options[V]) *config[K, V] {
	c := &config[K, V]{
		clone:  newCloner(o),
		inline: reflect.TypeFor[K]().Kind() == reflect.String,
		noscan: !hasPointers(reflect.TypeFor[V]()),
		handle: o.Immutable || o.Clone != nil,
		name:   o.Name,
	}
	if !c.inline {
		c.hash = hasher[K]()
	}
	c.plain = c
	p := *c
	c.pending = &p
	return c
}

// hashOf returns the hash of key. It panics for a key whose dynamic type is
// not comparable, as a Go map does.
func (c *config[K, V]) hashOf(key K) uint64 {
	if c.hash != nil {
		return c.hash(key)
	}
	return maphash.String(seed, *(*string)(unsafe.Pointer(&key)))
}

// hasher returns the hash function for a K that is not a string. Integers are
// hashed as what they are in memory, by code that knows the type: from generic
// code maphash.Comparable costs several times as much.
func hasher[K comparable]() func(K) uint64 {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		switch unsafe.Sizeof(*new(K)) {
		case 8:
			return func(key K) uint64 { return maphash.Comparable(seed, *(*uint64)(unsafe.Pointer(&key))) }
		case 4:
			return func(key K) uint64 { return maphash.Comparable(seed, *(*uint32)(unsafe.Pointer(&key))) }
		}
	}
	return func(key K) uint64 { return maphash.Comparable(seed, key) }
}
