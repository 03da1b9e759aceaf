package vector

import (
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

const (
	maxSlots   = 256       // in a block: a bitmap of live slots is four words
	blockBytes = 512 << 10 // of float32 that a block refers to, unless one vector is larger
)

// A block is a place for up to 256 vectors, with what a search scans of each. All versions that came from the
// version which made it share it.
//
// Its slots are written once, in order, and then only read. That needs no lock:
//
//   - Slot n is written by the one who moved next from n to n+1. Only somebody
//     who has seen a version with n slots tries; of several, forks of one
//     version or the write after an abandoned one, all but one fail and go
//     on in another block. So there is one writer a slot.
//   - A version reads the slots that are live in it, and these were all written
//     before that version was returned. Whoever hands versions to other
//     goroutines does it through an atomic, a lock or a channel, so that these
//     writes come before those reads.
//   - A write to slot n and a read of slots below n touch different memory. The
//     slices themselves never grow or move.
type block struct {
	next    atomic.Uint32 // slots that were claimed
	dim     int
	pairs   int        // of a code; 0 where there are none
	vectors []*float32 // the first of dim elements, which nobody modifies
	codes   code       // slot i at [i*pairs, (i+1)*pairs)
	facts   []facts
	keys    []string
}

// facts are what a search needs to know of a vector besides its elements.
type facts struct {
	norm float64
	code codeFacts
}

func newBlock(dim, slots int) *block {
	return &block{
		dim:     dim,
		pairs:   pairsFor(dim),
		vectors: make([]*float32, slots),
		codes:   make(code, slots*pairsFor(dim)),
		facts:   make([]facts, slots),
		keys:    make([]string, slots),
	}
}

// slots returns how many vectors b has room for.
func (b *block) slots() int { return len(b.keys) }

// claim makes slot n the caller's to write, and reports whether it could.
func (b *block) claim(n int) bool {
	return n < b.slots() && b.next.CompareAndSwap(uint32(n), uint32(n+1))
}

func (b *block) vector(i int) []float32 { return unsafe.Slice(b.vectors[i], b.dim) }

func (b *block) code(i int) code { return b.codes[i*b.pairs : (i+1)*b.pairs] }

// put writes v, which it keeps, to slot i, which the caller has claimed.
func (b *block) put(i int, key string, v []float32) {
	b.vectors[i] = &v[0]
	b.keys[i] = key
	b.facts[i].norm = norm64(v)
	if b.pairs > 0 {
		b.facts[i].code = encode(b.code(i), v, b.facts[i].norm)
	}
}

// copy writes what slot j of from holds to slot i, which the caller has claimed.
func (b *block) copy(i int, from *block, j int) {
	b.vectors[i] = from.vectors[j]
	copy(b.code(i), from.code(j))
	b.facts[i] = from.facts[j]
	b.keys[i] = from.keys[j]
}

// bytes returns how many bytes b takes, without what its keys and vectors refer to.
func (b *block) bytes() int {
	n := b.slots()
	return size.Object(int(unsafe.Sizeof(*b))) + size.Object(n*int(unsafe.Sizeof(b.vectors[0]))) + size.Object(n*b.pairs*int(unsafe.Sizeof(kernel.Pair{}))) +
		size.Object(n*int(unsafe.Sizeof(facts{}))) + size.Object(n*int(unsafe.Sizeof("")))
}

// slotsFor returns the size of the next block for an index of n vectors: half as
// many as it has, so that little of an index that only grows is empty, and one
// vector takes no more than itself. For large vectors it is less, so that a
// block, and the copy of one, stays small.
func slotsFor(dim, n int) int {
	return max(1, min(n/2, blockBytes/(4*dim), maxSlots))
}
