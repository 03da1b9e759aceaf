package snapshot

import "math/bits"

// ground is the memory that the objects of one value lie in: a set of bytes, to
// which each object is added once. If some of its bytes are there already, two
// references lead to one piece of memory.
//
// The zero ground is empty. Few objects are compared one by one. More are kept as
// bits, one for each word, in a hash table of patches of 64 words; the words of
// which an object has only a part, as small objects without pointers do, have one
// for each byte in a second table. So adding takes time by the size of an object,
// far less than copying it does, and neither sorts nor depends on any order.
type ground struct {
	few   [fewObjects]area
	n     int // of few; fewObjects+1 when the tables serve
	words patches
	bytes patches
}

type area struct{ lo, hi uintptr }

// fewObjects is how many objects are told apart without a table.
const fewObjects = 8

// add adds the bytes from lo to hi, and reports whether all of them are new.
func (g *ground) add(lo, hi uintptr) bool {
	if g.n > fewObjects {
		return g.addBits(lo, hi)
	}
	for i := range g.n {
		if f := &g.few[i]; lo < f.hi && f.lo < hi {
			return false
		}
	}
	if g.n < fewObjects {
		g.few[g.n] = area{lo, hi}
		g.n++
		return true
	}
	g.n++
	for _, f := range g.few {
		g.addBits(f.lo, f.hi)
	}
	return g.addBits(lo, hi)
}

func (g *ground) addBits(lo, hi uintptr) bool {
	if lo%8 != 0 {
		end := min(hi, lo|7+1)
		if !g.addPart(lo, end) {
			return false
		}
		lo = end
	}
	if hi%8 != 0 && lo < hi {
		begin := hi &^ 7
		if !g.addPart(begin, hi) {
			return false
		}
		hi = begin
	}
	for lo < hi {
		p := g.words.patch(lo / (8 * 64))
		end := min(hi, (lo|(8*64-1))+1)
		mask := ^uint64(0) >> (64 - (end-lo)/8) << (lo / 8 % 64)
		if (p.whole|p.part)&mask != 0 {
			return false
		}
		p.whole |= mask
		lo = end
	}
	return true
}

// addPart adds a part of one word.
func (g *ground) addPart(lo, hi uintptr) bool {
	w := g.words.patch(lo / (8 * 64))
	word := uint64(1) << (lo / 8 % 64)
	if w.whole&word != 0 {
		return false
	}
	w.part |= word
	b := g.bytes.patch(lo / 64)
	mask := ^uint64(0) >> (64 - (hi - lo)) << (lo % 64)
	if b.whole&mask != 0 {
		return false
	}
	b.whole |= mask
	return true
}

func (g *ground) reset() {
	if g.n > fewObjects {
		g.words.reset()
		g.bytes.reset()
	}
	g.n = 0
}

// patches is a hash table with linear probing, a power of two long and at most
// half full.
type patches struct {
	slots []patch
	used  int
	last  int // where the last one was found
}

type patch struct {
	key         uintptr // 1 + the address of the patch by its size; 0: free
	whole, part uint64
}

const (
	leastPatches = 32
	mostPatches  = 2048 // more are not kept for the next value
)

func (t *patches) patch(at uintptr) *patch {
	at++
	if t.last < len(t.slots) {
		if p := &t.slots[t.last]; p.key == at {
			return p
		}
	}
	if t.used*2 >= len(t.slots) {
		t.grow()
	}
	i := t.find(at)
	t.last = i
	p := &t.slots[i]
	if p.key == 0 {
		p.key = at
		t.used++
	}
	return p
}

// find returns the place of key, or the free one for it.
func (t *patches) find(key uintptr) int {
	// The high bits of a product by an odd number depend on all bits (Knuth,
	// TAOCP 6.4). Addresses in one heap are not chosen by an adversary.
	shift := 64 - bits.TrailingZeros(uint(len(t.slots)))
	for i := int(uint64(key) * 0x9e3779b97f4a7c15 >> shift); ; i++ {
		i &= len(t.slots) - 1
		if k := t.slots[i].key; k == key || k == 0 {
			return i
		}
	}
}

func (t *patches) grow() {
	old := t.slots
	t.slots = make([]patch, max(leastPatches, 2*len(old)))
	for _, p := range old {
		if p.key != 0 {
			t.slots[t.find(p.key)] = p
		}
	}
}

func (t *patches) reset() {
	if len(t.slots) > mostPatches {
		t.slots = nil
	}
	clear(t.slots)
	t.used, t.last = 0, 0
}
