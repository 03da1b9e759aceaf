package clone

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
	if g.n <= fewObjects {
		return g.addFew(lo, hi)
	}
	// Most objects consist of words, and lie in a patch that is there.
	if p := g.words.at(lo / patchSize); p != nil && (lo|hi)%8 == 0 && hi <= lo|(patchSize-1)+1 {
		mask := ^uint64(0) >> (64 - (hi-lo)/8) << (lo / 8 % 64)
		if (p.whole|p.part)&mask != 0 {
			return false
		}
		p.whole |= mask
		return true
	}
	return g.addBits(lo, hi)
}

func (g *ground) addFew(lo, hi uintptr) bool {
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
		p := g.words.patch(lo / patchSize)
		end := min(hi, lo|(patchSize-1)+1)
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
	w := g.words.patch(lo / patchSize)
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
	shift uint // of a hash, to an index
}

type patch struct {
	key         uintptr // 1 + the address of the patch by its size; 0: free
	whole, part uint64
}

const (
	patchSize    = 8 * 64 // how many bytes the words of a patch have
	leastPatches = 32
	mostPatches  = 2048 // more are not kept for the next value
)

// home returns where key is, if no other is there. The high bits of a product by
// an odd number depend on all bits (Knuth, TAOCP 6.4). Addresses in one heap are
// not chosen by an adversary.
func (t *patches) home(key uintptr) uint64 { return uint64(key) * 0x9e3779b97f4a7c15 >> t.shift }

// at returns a patch that is where it belongs, or nil.
func (t *patches) at(at uintptr) *patch {
	if i := t.home(at + 1); i < uint64(len(t.slots)) && t.slots[i].key == at+1 {
		return &t.slots[i]
	}
	return nil
}

// patch returns a patch, a new one if it is not there.
func (t *patches) patch(at uintptr) *patch {
	if t.used*2 >= len(t.slots) {
		t.grow()
	}
	p := t.find(at + 1)
	if p.key == 0 {
		p.key = at + 1
		t.used++
	}
	return p
}

// find returns the patch with that key, or the free one for it.
func (t *patches) find(key uintptr) *patch {
	for i := t.home(key); ; i++ {
		p := &t.slots[i&uint64(len(t.slots)-1)]
		if p.key == key || p.key == 0 {
			return p
		}
	}
}

func (t *patches) grow() {
	old := t.slots
	n := max(leastPatches, 4*len(old))
	t.slots, t.shift = make([]patch, n), uint(64-bits.TrailingZeros(uint(n)))
	for _, p := range old {
		if p.key != 0 {
			*t.find(p.key) = p
		}
	}
}

func (t *patches) reset() {
	if len(t.slots) > mostPatches {
		t.slots = nil
	}
	clear(t.slots)
	t.used = 0
}
