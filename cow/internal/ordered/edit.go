package ordered

// An Editor makes the next version of a Tree: it has the methods of a Tree, which
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
		l := newNode[K, R](e.owner, false)
		l.insert(0, k, r)
		e.root, e.len = &l.node, 1
		return
	}
	n, right, _ := e.set(e.root, k, r, same)
	if right != nil {
		root := newNode[K, *node[K]](e.owner, true)
		root.insert(0, n.keys[0], n)
		root.insert(1, right.keys[0], right)
		count(root)
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
		i, found := search(rowsOf[K, R](n), e.order, k, r)
		l := writable(rowsOf[K, R](n), e.owner)
		switch {
		case !found:
			e.len++
			return &l.node, l.insert(i, k, r), i == 0
		case same:
			l.at[i] = r
			return &l.node, nil, false
		}
		l.ownKeys()
		l.keys[i], l.at[i] = k, r
		return &l.node, nil, i == 0
	}
	i := kidOf(kidsOf(n), e.order, k, r)
	before := e.len
	kid, more, first := e.set(kidsOf(n).at[i], k, r, same)
	b := writable(kidsOf(n), e.owner)
	replace(b, i, kid, first)
	b.below += e.len - before
	if more != nil {
		if right = b.insert(i+1, more.keys[0], more); right != nil {
			count(b)
			count(kidsOf(right))
		}
	}
	return &b.node, right, first && i == 0
}

// replace makes kid the one at i; first says whether its first key is another than
// that of the one which was there.
func replace[K any](b *nodeOf[K, *node[K]], i int, kid *node[K], first bool) {
	b.at[i] = kid
	if first {
		b.ownKeys()
		b.keys[i] = kid.keys[0]
	}
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
		root = kidsOf(root).at[0]
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
		i, found := search(rowsOf[K, R](n), e.order, k, r)
		if !found {
			return n, false, false
		}
		l := writable(rowsOf[K, R](n), e.owner)
		l.remove(i)
		return &l.node, true, i == 0
	}
	i := kidOf(kidsOf(n), e.order, k, r)
	kid, found, first := e.delete(kidsOf(n).at[i], k, r)
	if !found {
		return n, false, false
	}
	b := writable(kidsOf(n), e.owner)
	b.below--
	switch {
	case kid.n == 0:
		b.remove(i)
	default:
		replace(b, i, kid, first)
		if kid.n <= width/4 {
			join[K, R](b, i)
		}
	}
	return &b.node, true, first && i == 0
}

// join makes one of the kid at i and one next to it, if they have room for more then.
func join[K, R any](b *nodeOf[K, *node[K]], i int) {
	const most = width * 3 / 4
	switch {
	case i+1 < int(b.n) && b.at[i].n+b.at[i+1].n <= most:
	case i > 0 && b.at[i-1].n+b.at[i].n <= most:
		i--
	default:
		return
	}
	left, right := b.at[i], b.at[i+1]
	if left.isBranch {
		b.at[i] = joined(kidsOf(left), kidsOf(right), b.owner)
	} else {
		b.at[i] = joined(rowsOf[K, R](left), rowsOf[K, R](right), b.owner)
	}
	b.remove(i + 1)
}

// joined returns the left of two nodes, which o owns then, with all that they have.
func joined[K, T any](left, right *nodeOf[K, T], o *owner) *node[K] {
	left = writable(left, o)
	left.ownKeys()
	left.below += right.below
	writable(right, o).move(0, left)
	return &left.node
}

// writable returns n, or a copy that o may write to, but for its keys.
func writable[K, T any](n *nodeOf[K, T], o *owner) *nodeOf[K, T] {
	if n.owner != o {
		n = &nodeOf[K, T]{node[K]{owner: o, keys: n.keys, n: n.n, isBranch: n.isBranch, below: n.below}, n.at}
	}
	return n
}

// ownKeys makes the keys of a node its own, to be written to.
func (n *node[K]) ownKeys() {
	if !n.ownsKeys {
		keys := *n.keys
		n.keys, n.ownsKeys = &keys, true
	}
}

// insert puts k and x before what is at i of a node that the edit owns. If there is no
// room it splits the node, and returns the right part: an empty one for what comes last,
// so that what comes in ascending order fills the nodes.
func (n *nodeOf[K, T]) insert(i int, k K, x T) *node[K] {
	n.ownKeys()
	if n.n < width {
		insert(n.keys[:], n.n, i, k)
		insert(n.at[:], n.n, i, x)
		n.n++
		return nil
	}
	right := newNode[K, T](n.owner, n.isBranch)
	if i < width {
		n.move(width/2, right)
	}
	if i > int(n.n) || n.n == width {
		right.insert(i-int(n.n), k, x)
	} else {
		n.insert(i, k, x)
	}
	return &right.node
}

// remove takes out what is at i of a node that the edit owns.
func (n *nodeOf[K, T]) remove(i int) {
	n.ownKeys()
	remove(n.keys[:], n.n, i)
	remove(n.at[:], n.n, i)
	n.n--
}

// move takes what n has from i on to the end of another node; the edit owns both.
func (n *nodeOf[K, T]) move(i int, to *nodeOf[K, T]) {
	n.ownKeys()
	copy(to.keys[to.n:], n.keys[i:n.n])
	copy(to.at[to.n:], n.at[i:n.n])
	clear(n.keys[i:])
	clear(n.at[i:])
	to.n += n.n - int32(i)
	n.n = int32(i)
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
