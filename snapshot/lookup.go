package snapshot

import (
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
//
// It spells out bucketsOf, bucketOf, tagOf and match: when the compiler
// instantiates lookup for a package that imports this one only through another,
// it does not have their bodies, and calls them.
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
	n := uint64(uintptr(kid) & kidMask)
	for x := h; n == 0; n = uint64(uintptr(kid) & kidMask) {
		if kid == nil {
			return nil
		}
		x <<= fanBits
		kid = (*directory[V])(kid).kid[x>>(hashBits-fanBits)]
	}
	if n > maxBuckets {
		return m.find(h, key)
	}
	b := (*bucket[V])(unsafe.Add(kid, h&(1<<32-1)*n>>32*uint64(unsafe.Sizeof(bucket[V]{}))-n))
	x := b.meta ^ (h>>tagShift&0x7f|0x80)*lows
	hits := (x - lows) &^ x & highs
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
		differ := (e.load(p, 0) ^ e.load(q, 0)) | (e.load(p, i) ^ e.load(q, i)) | (e.load(p, j) ^ e.load(q, j)) |
			(e.load(p, k) ^ e.load(q, k)) | (e.load(p, last) ^ e.load(q, last))
		if differ == 0 {
			return e
		}
	} else if len(s) > 0 && e.inline() == s {
		return e
	}
	return m.find(h, key)
}

// load returns the eight bytes at p+i, in one instruction where the processor
// can. It is a method of a generic type, and spells out what encoding/binary
// does, for the reason that lookup does.
func (*entry[V]) load(p unsafe.Pointer, i int) uint64 {
	b := (*[8]byte)(unsafe.Add(p, i))
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
