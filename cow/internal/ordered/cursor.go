package ordered

// A Cursor is a place between two items of a Tree. The zero Cursor is in an empty
// one.
type Cursor[K, R any] struct {
	path  [maxHeight]step[K] // from the root to a leaf
	depth int                // of the leaf, counted from 1; 0: the tree is empty
}

// A step is a kid of a branch, or a place in a leaf: before the item at i.
type step[K any] struct {
	n *node[K]
	i int
}

// maxHeight is more than any Tree has: each level takes sixteen times as many writes as
// the one below.
const maxHeight = 12

// A Bound is a place in an Order: before the items that are equal to Key and Row, or after
// them. Without an Order it is after all items of a tree, or before all, as asked.
type Bound[K, R any] struct {
	Order *Order[K, R]
	Key   K
	Row   R
	After bool
}

// in returns how many items of a leaf are before the bound.
func (b *Bound[K, R]) in(l *nodeOf[K, R]) int {
	i, found := search(l, b.Order, b.Key, b.Row)
	if found && b.After {
		i++
	}
	return i
}

// Start goes to before the first item of a tree.
func (c *Cursor[K, R]) Start(t Tree[K, R]) {
	c.depth = 0
	c.down(t.root, false)
}

// End goes to after the last item of a tree.
func (c *Cursor[K, R]) End(t Tree[K, R]) {
	c.depth = 0
	c.down(t.root, true)
}

// Seek goes to where a bound is in a tree.
func (c *Cursor[K, R]) Seek(t Tree[K, R], b *Bound[K, R]) {
	c.depth = 0
	n := t.root
	if n == nil {
		return
	}
	for n.isBranch {
		kids := kidsOf(n)
		i := kidOf(kids, b.Order, b.Key, b.Row)
		c.push(n, i)
		n = kids.at[i]
	}
	c.push(n, b.in(rowsOf[K, R](n)))
}

// Rank returns how many items are before the place. It takes time proportional to the
// logarithm of their number.
func (c *Cursor[K, R]) Rank() (before int) {
	for level, at := range c.path[:c.depth] {
		if level == c.depth-1 {
			before += at.i
			break
		}
		for _, kid := range kidsOf(at.n).at[:at.i] {
			before += kid.items()
		}
	}
	return before
}

// Item returns the item after the place, and whether there is one.
func (c *Cursor[K, R]) Item() (k K, r R, ok bool) {
	c.settle()
	if c.depth > 0 {
		if at := &c.path[c.depth-1]; at.i < int(at.n.n) {
			l := rowsOf[K, R](at.n)
			return l.keys[at.i], l.at[at.i], true
		}
	}
	return k, r, false
}

// SkipShared goes on to after the largest node that both cursors are before and that is one
// of both trees, and reports whether there is one: what lies in it is the same in both. It
// takes time proportional to the height of the trees.
func SkipShared[K, R any](c, d *Cursor[K, R]) bool {
	c.settle()
	d.settle()
	shared := 0 // a level, counted from 1 at the leaves; 0: none
	for level := 1; level <= min(c.depth, d.depth); level++ {
		x, y := &c.path[c.depth-level], &d.path[d.depth-level]
		if x.i > 0 || y.i > 0 {
			break // neither is before a node that is further up
		}
		if x.n == y.n {
			shared = level
		}
	}
	if shared == 0 {
		return false
	}
	c.skip(shared)
	d.skip(shared)
	return true
}

// settle goes from behind the last item of a leaf to before the first of the next, if
// there is one.
func (c *Cursor[K, R]) settle() {
	if c.depth > 0 {
		if at := &c.path[c.depth-1]; at.i == int(at.n.n) {
			c.leave(1)
		}
	}
}

// skip goes to after the node at a level.
func (c *Cursor[K, R]) skip(level int) {
	if n := c.path[c.depth-level].n; !c.leave(level) {
		c.depth -= level
		c.down(n, true)
	}
}

// leave goes to before what comes after the node at a level, and reports whether
// anything does.
func (c *Cursor[K, R]) leave(level int) bool {
	up := c.depth - level
	for up > 0 && c.path[up-1].i == int(c.path[up-1].n.n)-1 {
		up--
	}
	if up == 0 {
		return false
	}
	at := &c.path[up-1]
	at.i++
	c.depth = up
	c.down(kidsOf(at.n).at[at.i], false)
	return true
}

func (c *Cursor[K, R]) push(n *node[K], i int) {
	c.path[c.depth] = step[K]{n, i}
	c.depth++
}

// Descending, if it is not nil, is called when a Cursor goes down to the first place below a
// node or to the last, as at the step to another leaf: in tests that count that.
var Descending func()

// down goes to the first place below n, or to the last.
func (c *Cursor[K, R]) down(n *node[K], last bool) {
	if Descending != nil {
		Descending()
	}
	if n == nil {
		return
	}
	for n.isBranch {
		i := 0
		if last {
			i = int(n.n) - 1
		}
		c.push(n, i)
		n = kidsOf(n).at[i]
	}
	i := 0
	if last {
		i = int(n.n)
	}
	c.push(n, i)
}

// Next returns the items after the place that lie together in memory, up to a bound, and
// goes to the place after them. There is one at least, unless none is before the bound.
// They must not be modified.
func (c *Cursor[K, R]) Next(high *Bound[K, R]) (keys []K, rows []R) {
	for c.depth > 0 {
		at := &c.path[c.depth-1]
		l := rowsOf[K, R](at.n)
		n := int(l.n)
		if high.Order != nil && high.Order.Keys(l.keys[n-1], high.Key, high.Row) >= 0 {
			n = high.in(l)
		}
		if at.i < n {
			keys, rows = l.keys[at.i:n], l.at[at.i:n]
			at.i = n
			return keys, rows
		}
		if n < int(l.n) || !c.leave(1) {
			return nil, nil
		}
	}
	return nil, nil
}

// Prev is Next for the items before the place, down to a bound.
func (c *Cursor[K, R]) Prev(low *Bound[K, R]) (keys []K, rows []R) {
	for c.depth > 0 {
		at := &c.path[c.depth-1]
		l := rowsOf[K, R](at.n)
		n := 0
		if low.Order != nil && low.Order.Keys(l.keys[0], low.Key, low.Row) <= 0 {
			n = low.in(l)
		}
		if n < at.i {
			keys, rows = l.keys[n:at.i], l.at[n:at.i]
			at.i = n
			return keys, rows
		}
		up := c.depth - 1
		for up > 0 && c.path[up-1].i == 0 {
			up--
		}
		if n > 0 || up == 0 {
			return nil, nil
		}
		at = &c.path[up-1]
		at.i--
		c.depth = up
		c.down(kidsOf(at.n).at[at.i], true)
	}
	return nil, nil
}
