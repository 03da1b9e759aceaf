package snapshot

import "unsafe"

// An entry is one key, its value and the version that wrote them. No entry is
// modified once it is in a map: versions, forks and diffs share it, and tell
// a changed value by the identity of its entry.
//
// The key lies behind the value in the same allocation, where a lookup finds
// it on the cache line it loads anyway:
//
//   - a string of 1 to maxInline bytes as those bytes, its length in meta. It
//     is one object instead of two, and where V holds no pointers the
//     collector has nothing to scan in it;
//   - any other key, longer strings included, as a K.
//
// Only this file knows, and lookup, which unrolls is.
type entry[V any] struct {
	meta  uint64 // copied | revision<<8 | length of the inline key
	value V
}

// keyed is the whole of an entry whose key lies there as a K.
type keyed[K comparable, V any] struct {
	entry[V]
	key K
}

const maxInline = 128

// inlines reports whether a string of n bytes is stored inline.
func inlines(n int) bool { return uint(n-1) < maxInline }

// copied marks the entry that a merge made of one of another map. Right in front
// of it lies a pointer to the entry that was written.
const copied = 1 << 63

func (e *entry[V]) revision() uint64 { return e.meta &^ copied >> 8 }
func (e *entry[V]) inlineLen() int   { return int(e.meta & 0xff) }

// tail returns where the key of e begins.
func (e *entry[V]) tail() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(*e))
}

// touch reads the ends of e, apart from its key, and returns something that is
// not 0.
func (e *entry[V]) touch() uint64 { return e.meta | uint64(*(*byte)(unsafe.Add(e.tail(), -1))) }

// inline returns the inline key of e; the string shares the memory of e.
func (e *entry[V]) inline() string { return unsafe.String((*byte)(e.tail()), e.inlineLen()) }

// key returns the key of e.
func (c *config[K, V]) key(e *entry[V]) K {
	if c.inline && e.inlineLen() > 0 {
		s := e.inline()
		return *(*K)(unsafe.Pointer(&s))
	}
	return (*keyed[K, V])(unsafe.Pointer(e)).key
}

// is reports whether e is the entry of key.
func (c *config[K, V]) is(e *entry[V], key K) bool {
	if c.inline {
		if s := *(*string)(unsafe.Pointer(&key)); inlines(len(s)) {
			return e.inlineLen() == len(s) && e.inline() == s
		}
		if e.inlineLen() > 0 {
			return false
		}
	}
	return (*keyed[K, V])(unsafe.Pointer(e)).key == key
}

func (c *config[K, V]) newEntry(key K, value V, revision uint64) *entry[V] {
	if c.inline {
		if s := *(*string)(unsafe.Pointer(&key)); inlines(len(s)) {
			e := c.alloc(len(s))
			e.meta = revision<<8 | uint64(len(s))
			e.value = value
			copy(unsafe.Slice((*byte)(e.tail()), len(s)), s)
			return e
		}
	}
	return &(&keyed[K, V]{entry[V]{revision << 8, value}, key}).entry
}

// write returns the entry that e is a copy of, over however many merges, or e
// itself: the same for two entries if they are the same write, made here or
// there.
func (e *entry[V]) write() *entry[V] {
	if e == nil || e.meta&copied == 0 {
		return e
	}
	return *(**entry[V])(unsafe.Add(unsafe.Pointer(e), -int(unsafe.Sizeof(e))))
}

// copyEntry returns a copy of e, which shares its value.
func (c *config[K, V]) copyEntry(e *entry[V], revision uint64) *entry[V] {
	meta := copied | revision<<8 | uint64(e.inlineLen())
	if !c.inline || e.inlineLen() == 0 {
		return &(&copyOf[V, keyed[K, V]]{sourceOf(e), keyed[K, V]{entry[V]{meta, e.value}, c.key(e)}}).entry.entry
	}
	var n *entry[V]
	switch key := e.inlineLen(); {
	case key <= 16:
		n = &(&copyOf[V, roomy[V, [16]byte]]{source: sourceOf(e)}).entry.entry
	case key <= 32:
		n = &(&copyOf[V, roomy[V, [32]byte]]{source: sourceOf(e)}).entry.entry
	case key <= 64:
		n = &(&copyOf[V, roomy[V, [64]byte]]{source: sourceOf(e)}).entry.entry
	default:
		n = &(&copyOf[V, roomy[V, [maxInline]byte]]{source: sourceOf(e)}).entry.entry
	}
	n.meta, n.value = meta, e.value
	copy(unsafe.Slice((*byte)(n.tail()), e.inlineLen()), e.inline())
	return n
}

// copyOf is an entry of some form with its source in front of it.
type copyOf[V, E any] struct {
	source source[V]
	entry  E
}

// source is a pointer to an entry, the last of as many as fill eight bytes: no
// type is aligned to more, so that there is no gap behind it.
type source[V any] [8 / unsafe.Sizeof(uintptr(0))]*entry[V]

func sourceOf[V any](e *entry[V]) (s source[V]) {
	s[len(s)-1] = e.write()
	return s
}

// alloc returns a zero entry with room for an inline key of n bytes.
func (c *config[K, V]) alloc(n int) *entry[V] {
	if c.noscan {
		const word = unsafe.Sizeof(uint64(0))
		words := make([]uint64, (unsafe.Sizeof(entry[V]{})+uintptr(n)+word-1)/word)
		return (*entry[V])(unsafe.Pointer(unsafe.SliceData(words)))
	}
	// The collector must know where the pointers in V are, so each size is a
	// type.
	switch (n - 1) / 16 {
	case 0:
		return &new(roomy[V, [16]byte]).entry
	case 1:
		return &new(roomy[V, [32]byte]).entry
	case 2:
		return &new(roomy[V, [48]byte]).entry
	case 3:
		return &new(roomy[V, [64]byte]).entry
	case 4, 5:
		return &new(roomy[V, [96]byte]).entry
	}
	return &new(roomy[V, [maxInline]byte]).entry
}

// roomy is an entry with room behind it for an inline key.
type roomy[V, B any] struct {
	entry[V]
	_ B
}
