package snapshot

import (
	"math/bits"
	"unsafe"
)

// A directory maps the next fanBits of a hash to its kids. The page of a part
// of the key space that needs fewer bits fills the aligned run of slots those
// bits leave open, as in extendible hashing (Fagin et al. 1979), so a full page
// splits in two and nothing else moves.
//
// owned has a bit for each slot whose kid belongs to the Editor at work and
// may be edited in place. It means something only in a directory that itself
// belongs to that Editor, as the root does that an Editor begins with: a copy of
// the map's, owning nothing. Ownership flows down from there, and is gone when
// the Editor lets go of its root.
type directory[V any] struct {
	owned uint64
	kid   [fan]unsafe.Pointer
}

const (
	fanBits = 4
	fan     = 1 << fanBits
)

// A kid is what a slot of a directory holds, a pointer whose low bits say to
// what:
//
//   - 0: a directory, or nil for no entries;
//   - 1 to maxBuckets: a page, and its number of buckets;
//   - bagBuckets: a bag.
//
// So a lookup learns it without another load. It is a pointer into the object,
// which is all the collector asks for. The bits are free because Go aligns
// objects of 8 bytes and more to 8 bytes at least.
const (
	kidMask    = 7
	bagBuckets = kidMask
)

// bucketsOf returns what the low bits of a kid say.
func bucketsOf(kid unsafe.Pointer) uint64 { return uint64(uintptr(kid) & kidMask) }

// target returns the object that a kid points into.
func target(kid unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(kid, -int(bucketsOf(kid)))
}

// pageKid returns the kid for a page of n buckets.
func pageKid(page unsafe.Pointer, n uint64) unsafe.Pointer {
	if uintptr(page)&kidMask != 0 {
		panic("snapshot: an object is not aligned as kids need it")
	}
	return unsafe.Add(page, int(n))
}

func bagKid[V any](entries []*entry[V]) unsafe.Pointer {
	return pageKid(unsafe.Pointer(&bag[V]{entries: entries}), bagBuckets)
}

// run returns the aligned run of slots that hold what slot i holds.
func (d *directory[V]) run(i uint64) (from, n uint64) {
	for n = 1; n < fan && d.uniform(i&^(2*n-1), 2*n, d.kid[i]); n *= 2 {
	}
	return i &^ (n - 1), n
}

// uniform reports whether the n slots at from all hold kid.
func (d *directory[V]) uniform(from, n uint64, kid unsafe.Pointer) bool {
	for _, k := range d.kid[from : from+n] {
		if k != kid {
			return false
		}
	}
	return true
}

// fill puts kid, which the Editor owns, in the n slots at from.
func (d *directory[V]) fill(from, n uint64, kid unsafe.Pointer) {
	for i := from; i < from+n; i++ {
		d.kid[i] = kid
	}
	d.owned |= (1<<n - 1) << from
}

func (d *directory[V]) owns(i uint64) bool { return d.owned>>i&1 != 0 }

// ownDirectory returns the directory in slot i, made the Editor's own.
func (d *directory[V]) ownDirectory(i uint64) *directory[V] {
	c := (*directory[V])(d.kid[i])
	if !d.owns(i) {
		c = &directory[V]{kid: c.kid}
		d.fill(i, 1, unsafe.Pointer(c))
	}
	return c
}

// ownPage returns the page in slot i, made the Editor's own.
func (d *directory[V]) ownPage(i uint64) unsafe.Pointer {
	kid := d.kid[i]
	if d.owns(i) {
		return target(kid)
	}
	n := bucketsOf(kid)
	page := copyPage[V](target(kid), n)
	from, length := d.run(i)
	d.fill(from, length, pageKid(page, n))
	return page
}

// walk calls f with every entry below d until it returns false. It recurses as
// deep as the directories, at most pathBits/fanBits.
func (d *directory[V]) walk(f func(*entry[V]) bool) bool {
	for i, kid := range d.kid {
		if kid == nil || i > 0 && kid == d.kid[i-1] {
			continue
		}
		if !walkKid(kid, f) {
			return false
		}
	}
	return true
}

// walkKid calls f with every entry below kid until it returns false.
func walkKid[V any](kid unsafe.Pointer, f func(*entry[V]) bool) bool {
	switch n := bucketsOf(kid); n {
	case 0:
		return kid == nil || (*directory[V])(kid).walk(f)
	case bagBuckets:
		for _, e := range (*bag[V])(target(kid)).entries {
			if !f(e) {
				return false
			}
		}
	default:
		// Entries are all over the heap. Read the ends of each before the
		// first is used, with no branch in between, and the processor fetches
		// them all at the same time.
		var found [maxBuckets*slots + 1]*entry[V]
		count, touched := 0, uint64(0)
		for i := range n {
			b := bucketAt[V](target(kid), i)
			for s, e := range b.entry {
				found[count] = e
				count += int(b.meta >> (8*s + 7) & 1)
			}
		}
		for _, e := range found[:count] {
			touched |= e.touch()
		}
		if touched == 0 {
			return true
		}
		for _, e := range found[:count] {
			if !f(e) {
				return false
			}
		}
	}
	return true
}

// splitBit returns the lowest bit of the path that the n slots of a run, in a
// directory reached by depth bits, have in common, plus one: the next bit.
func splitBit(depth uint, n uint64) uint {
	return hashBits - 1 - (depth + fanBits - uint(bits.TrailingZeros64(n)))
}
