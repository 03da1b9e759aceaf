package text

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
)

// An array is a persistent sparse array of T, numbered from 0. Copies of it are
// versions: they share nodes, and what one edit changes another does not see.
//
// It gives out the lowest free number, so that numbers stay dense, however long
// documents come and go, and removes the nodes that hold nothing.
type array[T any] struct {
	root   *node[T]
	height int // of root; leaves have 0
	bytes  int // of all nodes
}

const (
	leafBits   = 3
	leafLen    = 1 << leafBits
	branchBits = 4
	branchLen  = 1 << branchBits
)

// A node belongs to the edit that made it, which alone writes it. The numbers of
// edits are never used twice, so that a node cannot be written once its edit has
// ended.
type node[T any] struct {
	edit  uint64
	live  uint32 // values in it and below
	full  uint16 // the slots with a value, or the kids without a free slot
	kids  *[branchLen]*node[T]
	slots []T // in a leaf: leafLen, or fewer in one that is the root
}

// A leaf and a branch are what lies in one allocation.
type leaf[T, A any] struct {
	node[T]
	array A
}

type branch[T any] struct {
	node[T]
	array [branchLen]*node[T]
}

var edits atomic.Uint64

// newEdit returns a number that was never used before.
func newEdit() uint64 { return edits.Add(1) }

// room returns how many values a node of that height has room for.
func room(height int) uint64 { return leafLen << (branchBits * height) }

// indexIn returns the index of value i in the kids of a branch of that height.
func indexIn(i uint32, height int) uint32 {
	return i >> (leafBits + branchBits*(height-1)) % branchLen
}

// newLeaf returns a leaf with the slots given, a power of two.
func newLeaf[T any](slots int) *node[T] {
	switch slots {
	case 1:
		l := new(leaf[T, [1]T])
		l.slots = l.array[:]
		return &l.node
	case 2:
		l := new(leaf[T, [2]T])
		l.slots = l.array[:]
		return &l.node
	case 4:
		l := new(leaf[T, [4]T])
		l.slots = l.array[:]
		return &l.node
	}
	l := new(leaf[T, [leafLen]T])
	l.slots = l.array[:]
	return &l.node
}

func newBranch[T any]() *node[T] {
	b := new(branch[T])
	b.kids = &b.array
	return &b.node
}

// size returns how many bytes n takes.
func (n *node[T]) size() int {
	if n.kids != nil {
		return size.Object(int(unsafe.Sizeof(branch[T]{})))
	}
	var t T
	return size.Object(int(unsafe.Sizeof(*n)) + len(n.slots)*int(unsafe.Sizeof(t)))
}

// own returns n, if it belongs to the edit, and a copy that does otherwise.
func (n *node[T]) own(edit uint64) *node[T] {
	if n.edit == edit {
		return n
	}
	if n.kids == nil {
		return n.resize(edit, len(n.slots))
	}
	c := newBranch[T]()
	*c.kids = *n.kids
	c.edit, c.live, c.full = edit, n.live, n.full
	return c
}

// resize returns a copy of n, a leaf, with the slots given, which belongs to the
// edit. What does not fit must be free.
func (n *node[T]) resize(edit uint64, slots int) *node[T] {
	c := newLeaf[T](slots)
	copy(c.slots, n.slots)
	c.edit, c.live, c.full = edit, n.live, n.full
	return c
}

// at returns value i, which must be there and must not be written.
func (a *array[T]) at(i uint32) *T {
	n := a.root
	for h := a.height; h > 0; h-- {
		n = n.kids[indexIn(i, h)]
	}
	return &n.slots[i%leafLen]
}

// write returns value i, which must be there, for the edit to write.
func (a *array[T]) write(edit uint64, i uint32) *T {
	a.root = a.root.own(edit)
	n := a.root
	for h := a.height; h > 0; h-- {
		k := &n.kids[indexIn(i, h)]
		*k = (*k).own(edit)
		n = *k
	}
	return &n.slots[i%leafLen]
}

// add returns the lowest free number, now taken, and its value, which is zero,
// for the edit to write.
func (a *array[T]) add(edit uint64) (uint32, *T) {
	switch {
	case a.root == nil:
		a.root = a.made(edit, newLeaf[T](1))
	case a.height == 0 && int(a.root.live) == len(a.root.slots) && a.root.live < leafLen:
		a.resizeRoot(edit, 2*len(a.root.slots))
	case uint64(a.root.live) == room(a.height):
		up := a.made(edit, newBranch[T]())
		up.live, up.full, up.kids[0] = a.root.live, 1, a.root
		a.root = up
		a.height++
	}
	a.root = a.root.own(edit)
	i := a.addIn(a.root, edit, a.height)
	// The second walk is along nodes that are owned now.
	return i, a.write(edit, i)
}

// resizeRoot gives the root, a leaf, the slots given.
func (a *array[T]) resizeRoot(edit uint64, slots int) {
	a.bytes -= a.root.size()
	a.root = a.root.resize(edit, slots)
	a.bytes += a.root.size()
}

// made gives n, which is new, to the edit.
func (a *array[T]) made(edit uint64, n *node[T]) *node[T] {
	n.edit = edit
	a.bytes += n.size()
	return n
}

// addIn takes the lowest free number below n, which the edit owns and has one.
func (a *array[T]) addIn(n *node[T], edit uint64, height int) uint32 {
	n.live++
	k := uint32(bits.TrailingZeros16(^n.full))
	if height == 0 {
		n.full |= 1 << k
		return k
	}
	kid := n.kids[k]
	switch {
	case kid != nil:
		kid = kid.own(edit)
	case height == 1:
		kid = a.made(edit, newLeaf[T](leafLen))
	default:
		kid = a.made(edit, newBranch[T]())
	}
	n.kids[k] = kid
	i := a.addIn(kid, edit, height-1)
	if uint64(kid.live) == room(height-1) {
		n.full |= 1 << k
	}
	return k<<(leafBits+branchBits*(height-1)) | i
}

// remove frees number i, which must be taken.
func (a *array[T]) remove(edit uint64, i uint32) {
	a.root = a.removeIn(a.root, edit, a.height, i)
	if a.root == nil {
		a.height = 0
		return
	}
	for a.height > 0 && a.root.onlyFirst() {
		a.bytes -= a.root.size()
		a.root = a.root.kids[0]
		a.height--
	}
	if a.height > 0 {
		return
	}
	// The power of two from the last value on.
	if slots := 1 << bits.Len(uint(bits.Len16(a.root.full)-1)); slots < len(a.root.slots) {
		a.resizeRoot(edit, slots)
	}
}

// removeIn returns n without value i: nil if that was the last.
func (a *array[T]) removeIn(n *node[T], edit uint64, height int, i uint32) *node[T] {
	if n.live == 1 {
		for ; n.kids != nil; height-- {
			a.bytes -= n.size()
			n = n.kids[indexIn(i, height)]
		}
		a.bytes -= n.size()
		return nil
	}
	n = n.own(edit)
	n.live--
	if height == 0 {
		var zero T
		n.slots[i%leafLen] = zero
		n.full &^= 1 << (i % leafLen)
		return n
	}
	k := indexIn(i, height)
	n.kids[k] = a.removeIn(n.kids[k], edit, height-1, i)
	n.full &^= 1 << k
	return n
}

// onlyFirst reports whether n, a branch, has its first kid and no other.
func (n *node[T]) onlyFirst() bool {
	for _, k := range n.kids[1:] {
		if k != nil {
			return false
		}
	}
	return n.kids[0] != nil
}
