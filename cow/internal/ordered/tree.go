// Package ordered has persistent ordered trees, of which indexes are made.
//
// A Tree is a B+ tree of items, each a key and a row that stands for it, in the order
// of an [Order]: keys may be equal, and rows count then. An [Editor] makes the next
// version of a Tree; the nodes that it did not touch belong to both.
//
// The keys of a node lie in an array of their own. To put another row in the place of
// one, as an update does that leaves the index key as it is, copies the nodes on the way
// down without their keys.
package ordered

import "unsafe"

// An Order compares an item, a, with another one, b, as cmp.Compare does. It must
// agree with itself for as long as there are Trees in it.
type Order[K, R any] struct {
	// Keys compares the keys. It may also know by b's row that a is below or above,
	// whatever row a has: such a b is a bound to look for, and is in no Tree.
	Keys func(a, b K, bRow R) int

	// Rows compares the rows of items that are equal to Keys. It is nil where no
	// two are.
	Rows func(a, b R) int

	// Find, if it is not nil, is a faster way: of keys in their order it returns the
	// first that is not certain to be below an item of k and r, and the first after that
	// which is certain to be above.
	Find func(keys []K, k K, r R) (from, to int)
}

// within returns which of keys are to be compared with an item.
func (o *Order[K, R]) within(keys []K, k K, r R) (from, to int) {
	if o.Find != nil {
		return o.Find(keys, k, r)
	}
	return 0, len(keys)
}

// A Tree is an immutable ordered set of items. The zero Tree is empty. It is a value,
// to be copied freely, and safe for concurrent use.
type Tree[K, R any] struct {
	root *node[K]
	len  int
}

// width is how many items or kids a node has at most.
const width = 32

// A node is what a leaf and a branch begin with: isBranch tells which of them it is.
type node[K any] struct {
	owner    *owner
	keys     *[width]K // of the items, or the first below each kid
	n        int32
	isBranch bool
	ownsKeys bool // the owner has copied keys too
	below    int  // items, of a branch
}

// A nodeOf is a node with what it has for each of its keys: a leaf rows, a branch kids.
type nodeOf[K, T any] struct {
	node[K]
	at [width]T
}

// An owner is an edit that may write to the nodes which it has made.
type owner struct{ _ byte }

// newNode returns an empty node, with keys of its own.
func newNode[K, T any](o *owner, isBranch bool) *nodeOf[K, T] {
	return &nodeOf[K, T]{node: node[K]{owner: o, keys: new([width]K), isBranch: isBranch, ownsKeys: true}}
}

// rowsOf and kidsOf return what a leaf and a branch are the beginning of.
func rowsOf[K, R any](n *node[K]) *nodeOf[K, R]     { return (*nodeOf[K, R])(unsafe.Pointer(n)) }
func kidsOf[K any](n *node[K]) *nodeOf[K, *node[K]] { return (*nodeOf[K, *node[K]])(unsafe.Pointer(n)) }

// items returns how many items lie in n and below.
func (n *node[K]) items() int {
	if n.isBranch {
		return n.below
	}
	return int(n.n)
}

// count sets how many items lie below a branch.
func count[K any](b *nodeOf[K, *node[K]]) {
	b.below = 0
	for _, kid := range b.at[:b.n] {
		b.below += kid.items()
	}
}

// firstRow returns the row of the first item below n.
func firstRow[K, R any](n *node[K]) R {
	for n.isBranch {
		n = kidsOf(n).at[0]
	}
	return rowsOf[K, R](n).at[0]
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

// At returns the item that i others are before.
func (t Tree[K, R]) At(i int) (K, R) {
	n := t.root
	for n.isBranch {
		kids := kidsOf(n)
		for _, n = range kids.at[:kids.n] {
			if i < n.items() {
				break
			}
			i -= n.items()
		}
	}
	l := rowsOf[K, R](n)
	return l.keys[i], l.at[i]
}

// search returns where the item is in a leaf, or would be, and whether it is there.
func search[K, R any](n *nodeOf[K, R], o *Order[K, R], k K, r R) (int, bool) {
	lo, hi := o.within(n.keys[:n.n], k, r)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		c := o.Keys(n.keys[mid], k, r)
		if c == 0 && o.Rows != nil {
			c = o.Rows(n.at[mid], r)
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
func kidOf[K, R any](b *nodeOf[K, *node[K]], o *Order[K, R], k K, r R) int {
	lo, hi := o.within(b.keys[1:b.n], k, r)
	lo, hi = lo+1, hi+1
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		c := o.Keys(b.keys[mid], k, r)
		if c == 0 && o.Rows != nil {
			c = o.Rows(firstRow[K, R](b.at[mid]), r)
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
		b := kidsOf(n)
		n = b.at[kidOf(b, o, k, r)]
	}
	l := rowsOf[K, R](n)
	i, ok := search(l, o, k, r)
	if !ok {
		return key, row, false
	}
	return l.keys[i], l.at[i], true
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
		l := newNode[K, R](nil, false)
		for ; l.n < full && i < n; i++ {
			l.keys[l.n], l.at[l.n] = at(i)
			l.n++
		}
		level = append(level, &l.node)
	}
	for len(level) > 1 {
		var above []*node[K]
		for i := 0; i < len(level); {
			b := newNode[K, *node[K]](nil, true)
			for ; b.n < full && i < len(level); i++ {
				b.keys[b.n], b.at[b.n] = level[i].keys[0], level[i]
				b.n++
			}
			count(b)
			above = append(above, &b.node)
		}
		level = above
	}
	return Tree[K, R]{level[0], n}
}
