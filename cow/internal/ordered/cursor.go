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
const maxHeight = 16

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

// Seek goes to before the first item of a tree that is equal to this one or above.
func (c *Cursor[K, R]) Seek(t Tree[K, R], o *Order[K, R], k K, r R) {
	c.depth = 0
	n := t.root
	if n == nil {
		return
	}
	for n.isBranch {
		b := kidsOf(n)
		i := kidOf(b, o, k, r)
		c.push(n, i)
		n = b.at[i]
	}
	i, _ := search(rowsOf[K, R](n), o, k, r)
	c.push(n, i)
}

// before reports whether the place is before another one of the same tree.
func (c *Cursor[K, R]) before(d *Cursor[K, R]) bool {
	for level := range c.path[:c.depth] {
		if i, j := c.path[level].i, d.path[level].i; i != j {
			return i < j
		}
	}
	return false
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

// Step goes on to after the next item, if there is one.
func (c *Cursor[K, R]) Step() {
	if _, _, ok := c.Item(); ok {
		c.path[c.depth-1].i++
	}
}

// Next returns the items after the place that lie together in memory, up to the end, and
// goes to the place after them. There is one at least, unless the place is not before the end.
// They must not be modified.
func (c *Cursor[K, R]) Next(end *Cursor[K, R]) (keys []K, rows []R) {
	for c.depth > 0 && c.before(end) {
		at := &c.path[c.depth-1]
		n := int(at.n.n)
		if last := &end.path[end.depth-1]; last.n == at.n {
			n = last.i
		}
		if at.i < n {
			l := rowsOf[K, R](at.n)
			keys, rows = l.keys[at.i:n], l.at[at.i:n]
			at.i = n
			return keys, rows
		}
		if !c.leave(1) {
			return nil, nil
		}
	}
	return nil, nil
}

// Prev is Next for the items before the place, down to the start.
func (c *Cursor[K, R]) Prev(start *Cursor[K, R]) (keys []K, rows []R) {
	for c.depth > 0 && start.before(c) {
		at := &c.path[c.depth-1]
		from := 0
		if first := &start.path[start.depth-1]; first.n == at.n {
			from = first.i
		}
		if at.i > from {
			l := rowsOf[K, R](at.n)
			keys, rows = l.keys[from:at.i], l.at[from:at.i]
			at.i = from
			return keys, rows
		}
		up := c.depth - 1
		for up > 0 && c.path[up-1].i == 0 {
			up--
		}
		if up == 0 {
			return nil, nil
		}
		at = &c.path[up-1]
		at.i--
		c.depth = up
		c.down(kidsOf(at.n).at[at.i], true)
	}
	return nil, nil
}
