package text

import (
	"math/bits"
	"sync/atomic"
)

// An array is a persistent sparse array of T, numbered from 0. Copies of it are
// versions: they share nodes, and what one edit changes another does not see.
//
// It gives out the lowest free number, so that numbers stay dense, however long
// documents come and go, and removes the nodes that hold nothing.
type array[T any] struct {
	root   *node[T]
	height int // of root; leaves have 0
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
	slots *[leafLen]T // in a leaf
}

// A leaf and a branch are what lies in one allocation.
type leaf[T any] struct {
	node[T]
	array [leafLen]T
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

func newNode[T any](edit uint64, height int) *node[T] {
	if height == 0 {
		n := &leaf[T]{node: node[T]{edit: edit}}
		n.slots = &n.array
		return &n.node
	}
	n := &branch[T]{node: node[T]{edit: edit}}
	n.kids = &n.array
	return &n.node
}

// own returns n, if it belongs to the edit, and a copy that does otherwise.
func (n *node[T]) own(edit uint64) *node[T] {
	if n.edit == edit {
		return n
	}
	var c *node[T]
	if n.slots != nil {
		c = newNode[T](edit, 0)
		*c.slots = *n.slots
	} else {
		c = newNode[T](edit, 1)
		*c.kids = *n.kids
	}
	c.live, c.full = n.live, n.full
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
	if a.root == nil {
		a.root, a.height = newNode[T](edit, 0), 0
	}
	if uint64(a.root.live) == room(a.height) {
		up := newNode[T](edit, a.height+1)
		up.live, up.full, up.kids[0] = a.root.live, 1, a.root
		a.root = up
		a.height++
	}
	a.root = a.root.own(edit)
	i := a.root.add(edit, a.height)
	// The second walk is along nodes that are owned now.
	return i, a.write(edit, i)
}

// add takes the lowest free number below n, which the edit owns and has one.
func (n *node[T]) add(edit uint64, height int) uint32 {
	n.live++
	k := uint32(bits.TrailingZeros16(^n.full))
	if height == 0 {
		n.full |= 1 << k
		return k
	}
	kid := n.kids[k]
	if kid == nil {
		kid = newNode[T](edit, height-1)
	}
	kid = kid.own(edit)
	n.kids[k] = kid
	i := kid.add(edit, height-1)
	if uint64(kid.live) == room(height-1) {
		n.full |= 1 << k
	}
	return k<<(leafBits+branchBits*(height-1)) | i
}

// remove frees number i, which must be taken.
func (a *array[T]) remove(edit uint64, i uint32) {
	a.root = a.root.remove(edit, a.height, i)
	if a.root == nil {
		a.height = 0
	}
	for a.height > 0 && a.root.onlyFirst() {
		a.root = a.root.kids[0]
		a.height--
	}
}

// remove returns n without value i: nil if that was the last.
func (n *node[T]) remove(edit uint64, height int, i uint32) *node[T] {
	if n.live == 1 {
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
	n.kids[k] = n.kids[k].remove(edit, height-1, i)
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
