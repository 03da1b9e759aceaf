package clone

import (
	"math/bits"
	"slices"
	"unsafe"
)

// memo maps an object of the source to its clone. A key is the object's address
// together with its type and, for a slice, its length: a struct and its first
// field, or an array and a part of it, have one address.
//
// The zero memo is empty. Few keys are searched one by one; more have an index, a
// hash table with linear probing. Addresses are kept as numbers, which the
// collector need not look at: the frame holds the original, and the heap does not
// move. Clones are in a slice of their own, so that only they cost write barriers.
type memo struct {
	keys   []memoKey // in the order they were added
	clones []unsafe.Pointer
	index  []memoSlot // nil, or a power of two long and at most three quarters full

	spare [spares][]memoSlot // empty indexes for the next value: 64 slots, 128, …
}

type memoKey struct {
	kind uint64 // plan.id, and the length of a slice in the low lenBits
	src  uintptr
}

// memoSlot is half the size of a key: most lookups find nothing, and see no key.
type memoSlot struct {
	hash uint32
	n    uint32 // 1 + the index in keys; 0: free
}

const (
	fewKeys    = 12
	leastIndex = 64
	spares     = 6  // the largest index that is kept has 2048 slots
	lenBits    = 40 // no slice of elements that have a size is longer
)

func (m *memo) find(k memoKey) unsafe.Pointer {
	if m.index == nil {
		for i := range m.keys {
			if m.keys[i] == k {
				return m.clones[i]
			}
		}
		return nil
	}
	h := k.hash()
	for i := h; ; i++ {
		switch s := m.index[int(i)&(len(m.index)-1)]; {
		case s.n == 0:
			return nil
		case s.hash == h && m.keys[s.n-1] == k:
			return m.clones[s.n-1]
		}
	}
}

// add adds a key that is not there.
func (m *memo) add(k memoKey, dst unsafe.Pointer) {
	if len(m.keys) == cap(m.keys) {
		// By two also when large, where append would copy more often.
		m.keys = slices.Grow(m.keys, max(fewKeys, len(m.keys)))
		m.clones = slices.Grow(m.clones, cap(m.keys)-len(m.clones))
	}
	m.keys = append(m.keys, k)
	m.clones = append(m.clones, dst)
	n := len(m.keys)
	switch {
	case n <= fewKeys:
	case n > len(m.index)/4*3:
		m.grow()
	default:
		m.insert(memoSlot{k.hash(), uint32(n)})
	}
}

// hash returns a hash of k. Addresses in one heap are not chosen by an adversary,
// so a multiplicative hash does (Knuth, TAOCP 6.4).
func (k memoKey) hash() uint32 {
	h := (uint64(k.src)>>3 ^ k.kind>>lenBits ^ k.kind<<20) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

func (m *memo) insert(s memoSlot) {
	for i := s.hash; ; i++ {
		if at := &m.index[int(i)&(len(m.index)-1)]; at.n == 0 {
			*at = s
			return
		}
	}
}

// grow makes an index of twice the size, and of all keys.
func (m *memo) grow() {
	old, size := m.index, max(leastIndex, 2*len(m.index))
	if spare := m.spareFor(size); spare != nil && *spare != nil {
		m.index, *spare = *spare, nil
	} else {
		m.index = make([]memoSlot, size)
	}
	for i, k := range m.keys {
		m.insert(memoSlot{k.hash(), uint32(i + 1)})
	}
	if old != nil {
		m.keep(old)
	}
}

// spareFor returns where an empty index of that size is kept, nil for large ones.
func (m *memo) spareFor(size int) *[]memoSlot {
	if i := bits.TrailingZeros(uint(size / leastIndex)); i < len(m.spare) {
		return &m.spare[i]
	}
	return nil
}

// keep empties an index and keeps it for the next value, unless it is large. To
// have one of each size makes emptying cost no more than filling did.
func (m *memo) keep(index []memoSlot) {
	if spare := m.spareFor(len(index)); spare != nil {
		clear(index)
		*spare = index
	}
}

// reset forgets everything, so that no value is kept alive by the pool.
func (m *memo) reset() {
	if m.index != nil {
		m.keep(m.index)
		m.index = nil
	}
	if cap(m.keys) > leastIndex<<spares {
		m.keys, m.clones = nil, nil
	}
	clear(m.clones)
	m.keys, m.clones = m.keys[:0], m.clones[:0]
}
