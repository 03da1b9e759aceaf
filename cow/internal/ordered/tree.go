// Package ordered has persistent ordered trees, of which indexes are made.
//
// A Tree is a B+ tree of items, each a key and a row that stands for it, in the order
// of an [Order]: keys may be equal, and rows count then. An [Editor] derives the next
// version of a Tree; the nodes that it did not touch belong to both.
//
// The keys of a node lie in an array of their own. To put another row in the place of
// one, as an update does that leaves the index key as it is, copies the nodes on the way
// down without their keys.
package ordered

import (
	"cmp"
	"unsafe"
)

// An Order compares an item, a, with another one, b, as cmp.Compare does. It must
// agree with itself for as long as there are Trees in it.
type Order[K, R any] struct {
	// Keys compares the keys. It may also know by b's row that a is below or above,
	// whatever row a has: such a b is a bound to look for, and is in no Tree.
	Keys func(a, b K, bRow R) int

	// Rows compares the rows of items that are equal to Keys. It is nil where no
	// two are.
	Rows func(a, b R) int
}

// Natural is the Order of items by their keys alone.
func Natural[K cmp.Ordered, R any]() *Order[K, R] {
	return &Order[K, R]{Keys: func(a, b K, _ R) int { return cmp.Compare(a, b) }}
}

// A Tree is an immutable ordered set of items. The zero Tree is empty. It is a value,
// to be copied freely, and safe for concurrent use.
type Tree[K, R any] struct {
	root *node[K]
	len  int
}

// width is how many items or kids a node has at most.
const width = 32

// A node is the part that a leaf and a branch begin with. Whoever has one knows what it
// is by isBranch.
type node[K any] struct {
	owner    *owner
	keys     *[width]K // of the items, or the first below each kid
	n        int32
	isBranch bool
	ownsKeys bool // the owner has copied keys too
}

type leaf[K, R any] struct {
	node[K]
	rows [width]R
}

type branch[K any] struct {
	node[K]
	kids [width]*node[K]
}

// An owner is an edit that may write to the nodes which it has made.
type owner struct{ _ byte }

// asLeaf and asBranch return what a node is the beginning of.
func asLeaf[K, R any](n *node[K]) *leaf[K, R] { return (*leaf[K, R])(unsafe.Pointer(n)) }
func asBranch[K any](n *node[K]) *branch[K]   { return (*branch[K])(unsafe.Pointer(n)) }

// firstRow returns the row of the first item below n.
func firstRow[K, R any](n *node[K]) R {
	for n.isBranch {
		n = asBranch(n).kids[0]
	}
	return asLeaf[K, R](n).rows[0]
}

// Len returns the number of items.
func (t Tree[K, R]) Len() int { return t.len }

// First returns the first item, and whether there is one.
func (t Tree[K, R]) First() (k K, r R, ok bool) {
	if t.root == nil {
		return k, r, false
	}
	return t.root.keys[0], firstRow[K, R](t.root), true
}

// search returns where the item is in a leaf, or would be, and whether it is there.
func (n *leaf[K, R]) search(o *Order[K, R], k K, r R) (int, bool) {
	lo, hi := 0, int(n.n)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		c := o.Keys(n.keys[mid], k, r)
		if c == 0 && o.Rows != nil {
			c = o.Rows(n.rows[mid], r)
		}
		switch {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid, true
		}
	}
	return lo, false
}

// kidOf returns which kid of a branch the item belongs to: the last that does not begin
// above it, or the first.
func kidOf[K, R any](b *branch[K], o *Order[K, R], k K, r R) int {
	lo, hi := 1, int(b.n)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		c := o.Keys(b.keys[mid], k, r)
		if c == 0 && o.Rows != nil {
			c = o.Rows(firstRow[K, R](b.kids[mid]), r)
		}
		if c <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// Get returns the key and the row of an item that is equal to this one, and whether
// there is one.
func (t Tree[K, R]) Get(o *Order[K, R], k K, r R) (key K, row R, ok bool) {
	n := t.root
	if n == nil {
		return key, row, false
	}
	for n.isBranch {
		b := asBranch(n)
		n = b.kids[kidOf(b, o, k, r)]
	}
	l := asLeaf[K, R](n)
	i, ok := l.search(o, k, r)
	if !ok {
		return key, row, false
	}
	return l.keys[i], l.rows[i], true
}

// full is how many items Build puts into a node, so that there is room for more.
const full = width * 7 / 8

// Build returns a Tree of n items, which at returns in their order.
func Build[K, R any](n int, at func(i int) (K, R)) Tree[K, R] {
	if n == 0 {
		return Tree[K, R]{}
	}
	var level []*node[K]
	for i := 0; i < n; {
		l := &leaf[K, R]{node: node[K]{keys: new([width]K)}}
		for ; l.n < full && i < n; i++ {
			l.keys[l.n], l.rows[l.n] = at(i)
			l.n++
		}
		level = append(level, &l.node)
	}
	for len(level) > 1 {
		var above []*node[K]
		for i := 0; i < len(level); {
			b := &branch[K]{node: node[K]{keys: new([width]K), isBranch: true}}
			for ; b.n < full && i < len(level); i++ {
				b.keys[b.n], b.kids[b.n] = level[i].keys[0], level[i]
				b.n++
			}
			above = append(above, &b.node)
		}
		level = above
	}
	return Tree[K, R]{level[0], n}
}
