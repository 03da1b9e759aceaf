package snapshot

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"runtime"
	"unsafe"
)

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

// GetMany is [Map.GetMany] of the rows as they are when the iteration begins. The Editor may be
// used, and may write, during it.
func (e *Editor[K, V]) GetMany(keys []K) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) { e.still().GetMany(keys)(yield) }
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

const (
	// atOnce is how many lookups go on at the same time: more than a processor has loads
	// under way.
	atOnce = 32

	// cached is the size of a map that processors have in their caches: there is nothing to
	// wait for.
	cached = 4096
)

// lookupAll finds the entries of keys, up to atOnce; nil: there is none.
func (m *Map[K, V]) lookupAll(keys []K, found *[atOnce]*entry[V]) {
	if m.Len() <= cached {
		for i, key := range keys {
			found[i] = m.lookup(key)
		}
		return
	}
	m.lookupTogether(keys, found)
}

// lookupTogether is lookupAll of a map that is not empty. It spells out what lookup does, for the
// same reason.
func (m *Map[K, V]) lookupTogether(keys []K, found *[atOnce]*entry[V]) {
	c := m.cfg
	var hashes [atOnce]uint64
	if c.hash == nil {
		for i := range keys {
			hashes[i%atOnce] = maphash.String(seed, *(*string)(unsafe.Pointer(&keys[i])))
		}
	} else {
		for i, key := range keys {
			hashes[i%atOnce] = c.hash(key)
		}
	}
	var kids [atOnce]unsafe.Pointer
	m.reach(hashes[:len(keys)], &kids, found)
	for i, key := range keys {
		i %= atOnce
		e := found[i]
		if e == nil {
			if kids[i] != nil {
				found[i] = m.find(hashes[i], key)
			}
			continue
		}
		if !c.inline {
			if (*keyed[K, V])(unsafe.Pointer(e)).key == key {
				continue
			}
		} else if s := *(*string)(unsafe.Pointer(&key)); e.inlineLen() == len(s) {
			if last := len(s) - 8; uint(last) <= 32 {
				p, q := e.tail(), unsafe.Pointer(unsafe.StringData(s))
				i, j, k := min(8, last), min(16, last), min(24, last)
				differ := (e.load(p, 0) ^ e.load(q, 0)) | (e.load(p, i) ^ e.load(q, i)) | (e.load(p, j) ^ e.load(q, j)) |
					(e.load(p, k) ^ e.load(q, k)) | (e.load(p, last) ^ e.load(q, last))
				if differ == 0 {
					continue
				}
			} else if len(s) > 0 && e.inline() == s {
				continue
			}
		}
		found[i] = m.find(hashes[i], key)
	}
}

// reach makes the first steps of lookups by hashes, up to atOnce, and loads what the others
// need. It sets kids to those where keys may be, nil where one cannot be anywhere, and found to the
// entries that may be theirs. Each step of a lookup needs what the one before has loaded, but
// nothing of another lookup: so all take one step, and then all the next.
func (m *Map[K, V]) reach(hashes []uint64, kids *[atOnce]unsafe.Pointer, found *[atOnce]*entry[V]) {
	for i := range hashes {
		i %= atOnce
		h := hashes[i]
		kid := m.root.kid[h>>(hashBits-fanBits)]
		for kid != nil && uintptr(kid)&kidMask == 0 {
			h <<= fanBits
			kid = (*directory[V])(kid).kid[h>>(hashBits-fanBits)]
		}
		kids[i] = kid
	}
	for i := range hashes {
		i %= atOnce
		kid, h := kids[i], hashes[i]
		found[i] = nil
		if n := uint64(uintptr(kid) & kidMask); n-1 < maxBuckets {
			b := (*bucket[V])(unsafe.Add(kid, h&(1<<32-1)*n>>32*uint64(unsafe.Sizeof(bucket[V]{}))-n))
			x := b.meta ^ (h>>tagShift&0x7f|0x80)*lows
			if hits := (x - lows) &^ x & highs; hits == 0 && b.meta < mark {
				kids[i] = nil
			} else if hits != 0 {
				found[i] = *(**entry[V])(unsafe.Add(unsafe.Pointer(&b.entry), uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(b.entry[0])))
			}
		}
	}
	touched := uint64(0)
	for i := range hashes {
		if e := found[i%atOnce]; e != nil {
			touched |= e.meta
		}
	}
	runtime.KeepAlive(touched)
}
