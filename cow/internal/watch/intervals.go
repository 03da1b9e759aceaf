package watch

import (
	"math/rand/v2"

	"github.com/cowstore/cowstore/cow/internal/index"
)

// An interval is who watches some bounds of an index, and a node of a tree of them: a treap
// (Seidel and Aragon, Randomized Search Trees, 1996) in the order of the bounds, in which
// each node knows how far those below it reach at most. A tree is immutable but for the
// waiters in it; the nil tree is empty. With n intervals, to find, add or remove one takes time
// proportional to log n, and to find the k that an item lies in, to k·log n at most.
type interval[I any] struct {
	bounds      index.Bounds[I]
	who         waiters
	priority    uint32 // not above that of the node which this is below
	left, right *interval[I]
	reach       *index.Bounds[I] // those of this node and below that end last
}

// with returns the tree with an interval of the bounds, and that interval, of which nobody
// may be told yet.
func (n *interval[I]) with(x *index.Order[I], b *index.Bounds[I]) (root, is *interval[I]) {
	if is := n.find(x, b); is != nil {
		return n, is
	}
	is = &interval[I]{bounds: *b, who: make(waiters, 1), priority: rand.Uint32()}
	return n.insert(x, is), is
}

func (n *interval[I]) find(x *index.Order[I], b *index.Bounds[I]) *interval[I] {
	for n != nil {
		c := x.CompareBounds(b, &n.bounds)
		switch {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n
		}
	}
	return nil
}

// insert returns the tree with is, which nobody else knows yet and no interval of the tree is
// equal to. It is as deep as the tree: about 2·log n, as all that recurses here.
func (n *interval[I]) insert(x *index.Order[I], is *interval[I]) *interval[I] {
	switch {
	case n == nil:
		return is.over(x, nil, nil)
	case is.priority > n.priority:
		left, right := n.split(x, &is.bounds)
		return is.over(x, left, right)
	}
	c := *n
	if x.CompareBounds(&is.bounds, &n.bounds) < 0 {
		return c.over(x, n.left.insert(x, is), n.right)
	}
	return c.over(x, n.left, n.right.insert(x, is))
}

// split returns what is below bounds, which are none of the tree, and what is above.
func (n *interval[I]) split(x *index.Order[I], b *index.Bounds[I]) (below, above *interval[I]) {
	if n == nil {
		return nil, nil
	}
	c := *n
	if x.CompareBounds(b, &n.bounds) < 0 {
		below, above = n.left.split(x, b)
		return below, c.over(x, above, n.right)
	}
	below, above = n.right.split(x, b)
	return c.over(x, n.left, below), above
}

// without returns the tree without the interval of the bounds, if there is one.
func (n *interval[I]) without(x *index.Order[I], b *index.Bounds[I]) *interval[I] {
	if n == nil {
		return nil
	}
	c := *n
	switch at := x.CompareBounds(b, &n.bounds); {
	case at < 0:
		return c.over(x, n.left.without(x, b), n.right)
	case at > 0:
		return c.over(x, n.left, n.right.without(x, b))
	}
	return join(x, n.left, n.right)
}

// join makes one tree of two, the second above the first.
func join[I any](x *index.Order[I], below, above *interval[I]) *interval[I] {
	switch {
	case below == nil:
		return above
	case above == nil:
		return below
	case below.priority > above.priority:
		c := *below
		return c.over(x, below.left, join(x, below.right, above))
	}
	c := *above
	return c.over(x, join(x, below, above.left), above.right)
}

// over puts n, which nobody else knows yet, over two trees, and returns it.
func (n *interval[I]) over(x *index.Order[I], left, right *interval[I]) *interval[I] {
	n.left, n.right, n.reach = left, right, &n.bounds
	for _, m := range [2]*interval[I]{left, right} {
		if m != nil && x.CompareHigh(m.reach, n.reach) > 0 {
			n.reach = m.reach
		}
	}
	return n
}

// around calls yield with each interval that an item lies in.
func (n *interval[I]) around(x *index.Order[I], it index.Item[I], yield func(*interval[I])) {
	for n != nil && x.IsBeforeHigh(n.reach, it) {
		n.left.around(x, it, yield)
		if !x.IsAfterLow(&n.bounds, it) {
			return
		}
		if x.IsBeforeHigh(&n.bounds, it) {
			yield(n)
		}
		n = n.right
	}
}

// all calls yield with each interval.
func (n *interval[I]) all(yield func(*interval[I])) {
	for ; n != nil; n = n.right {
		n.left.all(yield)
		yield(n)
	}
}
