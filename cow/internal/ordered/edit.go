package ordered

// An Editor derives the next version of a Tree: it has the methods of a Tree, which
// read what it has written. It is made by [Tree.Edit], and used by one goroutine. If a
// function of the Order panics, nothing was written.
type Editor[K, R any] struct {
	Tree[K, R]
	order *Order[K, R]
	owner *owner // nil: to be made
}

// Edit returns an Editor of t. All edits of a Tree, and of what is derived from it,
// are in one Order.
func (t Tree[K, R]) Edit(o *Order[K, R]) Editor[K, R] { return Editor[K, R]{t, o, nil} }

// Seal returns the Tree as it is now, which later edits do not change.
func (e *Editor[K, R]) Seal() Tree[K, R] {
	e.owner = nil
	return e.Tree
}

// Set puts an item in. If there is an equal one it is replaced, in which case the key
// stays as it is if same says that the two do not differ at all. It takes time
// proportional to the logarithm of the number of items.
func (e *Editor[K, R]) Set(k K, r R, same bool) {
	e.own()
	if e.root == nil {
		l := e.newLeaf()
		l.keys[0], l.rows[0], l.n = k, r, 1
		e.root, e.len = &l.node, 1
		return
	}
	n, right, _ := e.set(e.root, k, r, same)
	if right != nil {
		root := e.newBranch()
		root.keys[0], root.kids[0] = n.keys[0], n
		root.keys[1], root.kids[1] = right.keys[0], right
		root.n = 2
		n = &root.node
	}
	e.root = n
}

// own makes an owner for what comes.
func (e *Editor[K, R]) own() {
	if e.owner == nil {
		e.owner = new(owner)
	}
}

// set returns n with the item in it, what was split off from it, if anything was, and
// whether its first key is another.
func (e *Editor[K, R]) set(n *node[K], k K, r R, same bool) (m, right *node[K], first bool) {
	if !n.isBranch {
		i, found := asLeaf[K, R](n).search(e.order, k, r)
		l := e.ownLeaf(n)
		switch {
		case !found:
			e.len++
			return &l.node, e.insertItem(l, i, k, r), i == 0
		case same:
			l.rows[i] = r
			return &l.node, nil, false
		}
		e.ownKeys(&l.node)
		l.keys[i], l.rows[i] = k, r
		return &l.node, nil, i == 0
	}
	i := kidOf(asBranch(n), e.order, k, r)
	kid, more, first := e.set(asBranch(n).kids[i], k, r, same)
	b := e.ownBranch(n)
	e.replace(b, i, kid, first)
	if more != nil {
		right = e.insertKid(b, i+1, more)
	}
	return &b.node, right, first && i == 0
}

// replace makes kid the one at i; first says whether its first key is another than
// that of the one which was there.
func (e *Editor[K, R]) replace(b *branch[K], i int, kid *node[K], first bool) {
	b.kids[i] = kid
	if first {
		e.ownKeys(&b.node)
		b.keys[i] = kid.keys[0]
	}
}

// insertItem puts an item into a leaf that the edit owns, before that at i. If there is
// no room it splits the leaf, and returns the right part: an empty one for what comes
// last, so that what comes in ascending order fills the leaves.
func (e *Editor[K, R]) insertItem(l *leaf[K, R], i int, k K, r R) *node[K] {
	e.ownKeys(&l.node)
	if l.n < width {
		insert(l.keys[:], l.n, i, k)
		insert(l.rows[:], l.n, i, r)
		l.n++
		return nil
	}
	right := e.newLeaf()
	if i < width {
		e.moveItems(right, l, width/2)
	}
	if i > int(l.n) || l.n == width {
		e.insertItem(right, i-int(l.n), k, r)
	} else {
		e.insertItem(l, i, k, r)
	}
	return &right.node
}

// insertKid is insertItem for branches.
func (e *Editor[K, R]) insertKid(b *branch[K], i int, kid *node[K]) *node[K] {
	e.ownKeys(&b.node)
	if b.n < width {
		insert(b.keys[:], b.n, i, kid.keys[0])
		insert(b.kids[:], b.n, i, kid)
		b.n++
		return nil
	}
	right := e.newBranch()
	if i < width {
		e.moveKids(right, b, width/2)
	}
	if i > int(b.n) || b.n == width {
		e.insertKid(right, i-int(b.n), kid)
	} else {
		e.insertKid(b, i, kid)
	}
	return &right.node
}

// moveItems moves the items of one leaf from i on to the end of another; the edit owns
// both. MoveKids is the same for branches.
func (e *Editor[K, R]) moveItems(to, from *leaf[K, R], i int) {
	e.ownKeys(&from.node)
	copy(to.keys[to.n:], from.keys[i:from.n])
	copy(to.rows[to.n:], from.rows[i:from.n])
	clear(from.keys[i:])
	clear(from.rows[i:])
	to.n += from.n - int32(i)
	from.n = int32(i)
}

func (e *Editor[K, R]) moveKids(to, from *branch[K], i int) {
	e.ownKeys(&from.node)
	copy(to.keys[to.n:], from.keys[i:from.n])
	copy(to.kids[to.n:], from.kids[i:from.n])
	clear(from.keys[i:])
	clear(from.kids[i:])
	to.n += from.n - int32(i)
	from.n = int32(i)
}

// insert puts x before the one at i of the first n, and remove takes that at i out.
func insert[T any](s []T, n int32, i int, x T) {
	copy(s[i+1:], s[i:n])
	s[i] = x
}

func remove[T any](s []T, n int32, i int) {
	copy(s[i:], s[i+1:n])
	clear(s[n-1 : n])
}

// Delete takes an item out, and reports whether it was there. It takes time
// proportional to the logarithm of the number of items.
func (e *Editor[K, R]) Delete(k K, r R) bool {
	if e.root == nil {
		return false
	}
	e.own()
	root, found, _ := e.delete(e.root, k, r)
	if !found {
		return false
	}
	for root.isBranch && root.n == 1 {
		root = asBranch(root).kids[0]
	}
	if root.n == 0 {
		root = nil
	}
	e.root = root
	e.len--
	return true
}

// delete returns n without the item, whether that was there, and whether it was the
// first.
func (e *Editor[K, R]) delete(n *node[K], k K, r R) (m *node[K], found, first bool) {
	if !n.isBranch {
		i, found := asLeaf[K, R](n).search(e.order, k, r)
		if !found {
			return n, false, false
		}
		l := e.ownLeaf(n)
		e.ownKeys(&l.node)
		remove(l.keys[:], l.n, i)
		remove(l.rows[:], l.n, i)
		l.n--
		return &l.node, true, i == 0
	}
	i := kidOf(asBranch(n), e.order, k, r)
	kid, found, first := e.delete(asBranch(n).kids[i], k, r)
	if !found {
		return n, false, false
	}
	b := e.ownBranch(n)
	switch {
	case kid.n == 0:
		e.removeKid(b, i)
	default:
		e.replace(b, i, kid, first)
		if kid.n <= width/4 {
			e.join(b, i)
		}
	}
	return &b.node, true, first && i == 0
}

func (e *Editor[K, R]) removeKid(b *branch[K], i int) {
	e.ownKeys(&b.node)
	remove(b.keys[:], b.n, i)
	remove(b.kids[:], b.n, i)
	b.n--
}

// join makes one of the kid at i and one next to it, if they have room for more then.
func (e *Editor[K, R]) join(b *branch[K], i int) {
	const most = width * 3 / 4
	switch {
	case i+1 < int(b.n) && b.kids[i].n+b.kids[i+1].n <= most:
	case i > 0 && b.kids[i-1].n+b.kids[i].n <= most:
		i--
	default:
		return
	}
	if b.kids[i].isBranch {
		left := e.ownBranch(b.kids[i])
		e.ownKeys(&left.node)
		e.moveKids(left, e.ownBranch(b.kids[i+1]), 0)
		b.kids[i] = &left.node
	} else {
		left := e.ownLeaf(b.kids[i])
		e.ownKeys(&left.node)
		e.moveItems(left, e.ownLeaf(b.kids[i+1]), 0)
		b.kids[i] = &left.node
	}
	e.removeKid(b, i+1)
}

func (e *Editor[K, R]) newLeaf() *leaf[K, R] {
	return &leaf[K, R]{node: node[K]{owner: e.owner, keys: new([width]K), ownsKeys: true}}
}

func (e *Editor[K, R]) newBranch() *branch[K] {
	return &branch[K]{node: node[K]{owner: e.owner, keys: new([width]K), ownsKeys: true, isBranch: true}}
}

// ownLeaf and ownBranch return n, or a copy that the edit may write to, but for its
// keys.
func (e *Editor[K, R]) ownLeaf(n *node[K]) *leaf[K, R] {
	l := asLeaf[K, R](n)
	if n.owner != e.owner {
		l = &leaf[K, R]{node[K]{owner: e.owner, keys: n.keys, n: n.n}, l.rows}
	}
	return l
}

func (e *Editor[K, R]) ownBranch(n *node[K]) *branch[K] {
	b := asBranch(n)
	if n.owner != e.owner {
		b = &branch[K]{node[K]{owner: e.owner, keys: n.keys, n: n.n, isBranch: true}, b.kids}
	}
	return b
}

// ownKeys makes the keys of a node its own that the edit owns.
func (e *Editor[K, R]) ownKeys(n *node[K]) {
	if !n.ownsKeys {
		keys := *n.keys
		n.keys, n.ownsKeys = &keys, true
	}
}
