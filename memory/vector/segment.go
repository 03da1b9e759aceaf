package vector

import "math/bits"

// A segment is a block as one version sees it. It is immutable once it is in an
// Index.
type segment struct {
	*block
	id    uint64 // ascending within an index; forks use the same ones again
	used  int    // slots below it were written
	count int    // live slots
	live  [maxSlots / 64]uint64
}

// A loc is where a vector lies: the id of the segment and the slot.
type loc uint64

func locOf(id uint64, slot int) loc { return loc(id<<8 | uint64(slot)) }

func (l loc) id() uint64 { return uint64(l >> 8) }
func (l loc) slot() int  { return int(l & 0xff) }

func (s *segment) add(slot int) {
	s.live[slot/64] |= 1 << (slot % 64)
	s.count++
}

func (s *segment) has(slot int) bool { return s.live[slot/64]>>(slot%64)&1 != 0 }

func (s *segment) kill(slot int) {
	s.live[slot/64] &^= 1 << (slot % 64)
	s.count--
}

// remembers reports whether the block may have a vector of key that is not of this version: in a
// dead slot, or in one that another version has taken, of which only that may read the key.
func (s *segment) remembers(key string) bool {
	if int(s.next.Load()) > s.used {
		return true
	}
	for i, k := range s.keys[:s.used] {
		if k == key && !s.has(i) {
			return true
		}
	}
	return false
}

// sparse reports whether less than two thirds of the block are live: it is time to
// move what lives. Because at least half as many slots as are moved have died since
// they were filled, that is constant work per write.
func (s *segment) sparse() bool { return s.count*3 < s.slots()*2 }

// each calls f with each live slot, in order.
func (s *segment) each(f func(slot int)) {
	for i, w := range s.live {
		for ; w != 0; w &= w - 1 {
			f(i*64 + bits.TrailingZeros64(w))
		}
	}
}
