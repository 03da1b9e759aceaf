package vector

import (
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
)

const (
	maxSlots   = 256       // in a block: a bitmap of live slots is four words
	blockBytes = 512 << 10 // of float32 in a block, unless one vector is larger
)

// A block is memory for up to 256 vectors. All versions that came from the
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
	pairs   int       // of a code; 0 where the block has no codes
	vectors []float32 // slot i at [i*dim, (i+1)*dim)
	codes   []pair    // slot i at [i*pairs, (i+1)*pairs)
	facts   []facts
	keys    []string
}

// facts are what a search needs to know of a vector besides its elements.
type facts struct {
	norm float64
	code codeFacts
}

func newBlock(dim, slots int, coded bool) *block {
	b := &block{
		dim:     dim,
		vectors: make([]float32, slots*dim),
		facts:   make([]facts, slots),
		keys:    make([]string, slots),
	}
	if coded {
		b.pairs = pairsFor(dim)
		b.codes = make([]pair, slots*b.pairs)
	}
	return b
}

// slots returns how many vectors b has room for.
func (b *block) slots() int { return len(b.keys) }

// claim makes slot n the caller's to write, and reports whether it could.
func (b *block) claim(n int) bool {
	return n < b.slots() && b.next.CompareAndSwap(uint32(n), uint32(n+1))
}

func (b *block) vector(i int) []float32 {
	return b.vectors[i*b.dim : (i+1)*b.dim : (i+1)*b.dim]
}

func (b *block) code(i int) []pair { return b.codes[i*b.pairs : (i+1)*b.pairs] }

// put writes v to slot i, which the caller has claimed.
func (b *block) put(i int, key string, v []float32) {
	copy(b.vector(i), v)
	b.keys[i] = key
	b.facts[i].norm = norm64(v)
	if b.pairs > 0 {
		b.facts[i].code = encode(b.code(i), v, b.facts[i].norm)
	}
}

// copy writes what slot j of from holds to slot i, which the caller has claimed.
func (b *block) copy(i int, from *block, j int) {
	if b.pairs > 0 && from.pairs == 0 {
		b.put(i, from.keys[j], from.vector(j))
		return
	}
	copy(b.vector(i), from.vector(j))
	if b.pairs > 0 {
		copy(b.code(i), from.code(j))
	}
	b.facts[i] = from.facts[j]
	b.keys[i] = from.keys[j]
}

// bytes returns how many bytes b takes, without what its keys refer to.
func (b *block) bytes() int {
	n := b.slots()
	return size.Object(int(unsafe.Sizeof(*b))) + size.Object(n*b.dim*4) + size.Object(n*b.pairs*int(unsafe.Sizeof(pair{}))) +
		size.Object(n*int(unsafe.Sizeof(facts{}))) + size.Object(n*int(unsafe.Sizeof("")))
}

// slotsFor returns the size of the next block for an index of n vectors: half as
// many as it has, so that little of an index that only grows is empty, and one
// vector takes no more than itself. For large vectors it is less, so that a
// block, and the copy of one, stays small.
func slotsFor(dim, n int) int {
	return max(1, min(n/2, blockBytes/(4*dim), maxSlots))
}
