package snapshot

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unsafe"
)

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
	e := *(**entry[V])(unsafe.Add(unsafe.Pointer(&b.entry), uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(b.entry[0])))
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

// load returns the eight bytes at p+i.
func load(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}
