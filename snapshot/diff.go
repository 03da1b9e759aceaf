package snapshot

import (
	"iter"
	"unsafe"
)

// Diff returns an iterator over what changed from older to m, a key at most
// once, in no particular order. A key set to an equal value counts as changed.
// older may be any map of the type, a fork or a stranger included; nil is the
// empty map. Each value leaves by the Options of the map that it lies in.
//
// The time is that of the changes, not of the maps, where one was derived
// from the other or both from a third: what they share is skipped.
func (m *Map[K, V]) Diff(older *Map[K, V]) iter.Seq[Change[K, V]] {
	return func(yield func(Change[K, V]) bool) {
		if m == older {
			return
		}
		d := differ[K, V]{newer: m, older: older, yield: yield}
		if d.newer == nil {
			d.newer = new(Map[K, V])
		}
		if d.older == nil {
			d.older = new(Map[K, V])
		}
		d.directories(&d.newer.root, &d.older.root)
	}
}

// A differ walks two trees at once. Each of its methods reports whether to go
// on.
type differ[K comparable, V any] struct {
	newer, older *Map[K, V]
	yield        func(Change[K, V]) bool
}

// directories compares two directories for the same part of the key space. It
// recurses as deep as they are, at most pathBits/fanBits.
func (d *differ[K, V]) directories(a, b *directory[V]) bool {
	for i := range a.kid {
		x, y := a.kid[i], b.kid[i]
		if x == y {
			continue
		}
		// A page that fills a run of slots is looked at in the first of them;
		// what it is compared with there may be any of several.
		newX := i == 0 || x != a.kid[i-1]
		newY := i == 0 || y != b.kid[i-1]
		if !newX && !newY {
			continue
		}
		n := bucketsOf(x)
		switch {
		case x != nil && y != nil && n == 0 && bucketsOf(y) == 0:
			if !d.directories((*directory[V])(x), (*directory[V])(y)) {
				return false
			}
		case n > 0 && n <= maxBuckets && n == bucketsOf(y):
			if !d.pages(target(x), target(y), n, newX, newY) {
				return false
			}
		default:
			if newX && !walkKid(x, d.inNewer) || newY && !walkKid(y, d.inOlder) {
				return false
			}
		}
	}
	return true
}

// pages compares two pages of n buckets, place by place: after a write most
// entries are where they were, and what was set is where the old one was. For the
// rest it looks.
func (d *differ[K, V]) pages(x, y unsafe.Pointer, n uint64, newX, newY bool) bool {
	for i := range n {
		bx, by := bucketAt[V](x, i), bucketAt[V](y, i)
		for s, e := range bx.entry {
			o := by.entry[s]
			if e == o {
				continue
			}
			if newX && newY && e != nil && o != nil {
				if c := d.newer.cfg; c.is(o, c.key(e)) {
					if !d.yield(change(d.older.cfg, c, o, e)) {
						return false
					}
					continue
				}
			}
			if newX && e != nil && !d.inNewer(e) || newY && o != nil && !d.inOlder(o) {
				return false
			}
		}
	}
	return true
}

// inNewer reports e, of the newer map, unless the older one has it too.
func (d *differ[K, V]) inNewer(e *entry[V]) bool {
	c := d.newer.cfg
	old := d.older.lookup(c.key(e))
	return old == e || d.yield(change(d.older.cfg, c, old, e))
}

// inOlder reports e, of the older map, if the newer one lacks its key.
func (d *differ[K, V]) inOlder(e *entry[V]) bool {
	c := d.older.cfg
	return d.newer.lookup(c.key(e)) != nil || d.yield(change(c, c, e, nil))
}
