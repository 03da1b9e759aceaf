package snapshot

import (
	"iter"
	"unsafe"
)

// A Kind says what happened to a key between two maps.
type Kind uint8

// The kinds of change.
const (
	Added   Kind = iota + 1 // only the newer map has the key
	Changed                 // both have it; it was set between them, perhaps to an equal value
	Removed                 // only the older map has the key
	Erased                  // in a commit: the key was erased, also from the past; see cow.DB.Erase
)

// String returns "added", "changed", "removed" or "erased".
func (k Kind) String() string {
	switch k {
	case Added:
		return "added"
	case Changed:
		return "changed"
	case Removed:
		return "removed"
	case Erased:
		return "erased"
	}
	return "unknown"
}

// A Change is what happened to one key between two maps. It is a value, safe
// for concurrent use, and stays valid.
type Change[K comparable, V any] struct {
	Key  K
	Kind Kind

	old, new *entry[V]
	was, cfg *config[K, V] // of the maps that old and new lie in; equal where there is but one
}

// change returns the change of an entry of one map into one of another, of which
// one may be nil.
func change[K comparable, V any](was, is *config[K, V], old, new *entry[V]) Change[K, V] {
	switch {
	case old == nil:
		return Change[K, V]{is.key(new), Added, nil, new, is.plain, is.plain}
	case new == nil:
		return Change[K, V]{was.key(old), Removed, old, nil, was.plain, was.plain}
	}
	return Change[K, V]{is.key(new), Changed, old, new, was.plain, is.plain}
}

// Old returns the value in the older map, isolated, and whether there was one.
func (c Change[K, V]) Old() (V, bool) { return isolated(c.was, c.old) }

// New returns the value in the newer map, isolated, and whether there is one.
func (c Change[K, V]) New() (V, bool) { return isolated(c.cfg, c.new) }

// isolated returns the value of e, isolated, and whether there is an e.
func isolated[K comparable, V any](c *config[K, V], e *entry[V]) (V, bool) {
	if e == nil {
		var zero V
		return zero, false
	}
	return c.isolate(e.value), true
}

// Diff returns an iterator over what changed from older to m, each key at most once, in no
// particular order. A key that was set to an equal value is Changed. Older may be any map of the
// type, whether or not m was derived from it; nil is the empty map. Each value is cloned by the
// Options of its own map.
//
// If one map was derived from the other, or both from a third, it takes time proportional to the
// changes, as it skips what they share. Otherwise it takes time proportional to both maps.
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
		d.slots(span{kid: d.newer.root.kid[:]}, span{kid: d.older.root.kid[:]}, fanBits)
	}
}

// A differ walks two trees at once. Each of its methods reports whether to go
// on.
type differ[K comparable, V any] struct {
	newer, older *Map[K, V]
	yield        func(Change[K, V]) bool
}

// A span is a part of the key space: the slots of a directory, or some of them, each of
// which stands for 1<<shift of those that two spans are compared by, as many for both.
type span struct {
	kid   []unsafe.Pointer
	shift uint
	seen  bool // the first kid was looked at before
}

func (s span) at(i uint) unsafe.Pointer { return s.kid[i>>s.shift] }

// isNew reports whether the kid at i was not looked at before.
func (s span) isNew(i uint) bool {
	if i == 0 {
		return !s.seen
	}
	return s.at(i) != s.at(i-1)
}

// below returns the 1<<shift slots at i as 1<<bits of them: those of the directory there, if there
// is one, and else the same.
func below[V any](s span, i, shift, bits uint) span {
	if kid := s.at(i); isDirectory(kid) {
		d := nodeAt[V](kid)
		return span{kid: d.kid, shift: bits - d.bits()}
	}
	return span{s.kid[i>>s.shift:], bits + s.shift - shift, !s.isNew(i)}
}

// slots compares two spans of 1<<bits slots for the same part of the key space. It recurses as
// deep as the directories, at most pathBits/fanBits.
func (d *differ[K, V]) slots(a, b span, bits uint) bool {
	for i := uint(0); i < 1<<bits; i++ {
		x, y := a.at(i), b.at(i)
		if x == y {
			continue
		}
		// A page that fills a run of slots is looked at in the first of them;
		// what it is compared with there may be any of several.
		newX, newY := a.isNew(i), b.isNew(i)
		if !newX && !newY {
			continue
		}
		n := bucketsOf(x)
		switch {
		case isDirectory(x) && (isDirectory(y) || b.shift < a.shift), isDirectory(y) && a.shift < b.shift:
			// Only slots of one shift are directories, or are compared with one.
			shift, deep := max(a.shift, b.shift), uint(fanBits)
			if n == wideKid || bucketsOf(y) == wideKid {
				deep = wideBits
			}
			if !d.slots(below[V](a, i, shift, deep), below[V](b, i, shift, deep), deep) {
				return false
			}
			i += 1<<shift - 1
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

// Rows returns the row in the older map and that in the newer; the zero Row
// where there is none.
func (c Change[K, V]) Rows() (old, new Row[K, V]) { return c.was.row(c.old), c.cfg.row(c.new) }
