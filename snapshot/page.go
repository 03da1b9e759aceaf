package snapshot

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// A page is a small open-addressing hash table of up to maxBuckets buckets,
// allocated at its exact size. A bucket is one cache line: a word of seven tag
// bytes, 0 for a free slot, with the overflow mark in the eighth, then the
// seven entries. An entry that finds its bucket full goes to the next, leaving
// the mark, so that a lookup ends at the first bucket without one. The tags
// are compared all at once in the word, as in Abseil's Swiss tables.
//
// Small pages make small commits. They must stay below 512 bytes: Go gives
// larger objects that hold pointers a header, which would move every bucket off
// its line.
//
// A page has no header. How many buckets it has, its kid says: the pointer by
// which a directory holds it (see directory, in entry.go).
type bucket[V any] struct {
	meta  uint64
	entry [slots]*entry[V]
}

const (
	slots      = 7
	maxBuckets = 5
	perBucket  = 6 // entries a bucket, on average, at which a page of several is full

	mark  = 1 << 56
	lows  = 0x0001010101010101
	highs = 0x0080808080808080
)

// tagOf returns the tag of h, which is not 0.
func tagOf(h uint64) uint64 { return h>>tagShift&0x7f | 0x80 }

// match returns a word with the high bit set in each byte of meta that is tag.
// It may also set it in a byte above such a one, for a tag that differs in its
// lowest bit: comparing the keys sorts that out.
func match(meta, tag uint64) uint64 {
	x := meta ^ tag*lows
	return (x - lows) &^ x & highs
}

// slotOf returns the slot of the lowest bit that match or free set.
func slotOf(m uint64) uint { return uint(bits.TrailingZeros64(m)) / 8 }

// free returns a word with the high bit set for each free slot.
func free(meta uint64) uint64 { return ^meta & highs }

// bucketAt returns bucket i of a page.
func bucketAt[V any](page unsafe.Pointer, i uint64) *bucket[V] {
	return (*bucket[V])(unsafe.Add(page, uintptr(i)*unsafe.Sizeof(bucket[V]{})))
}

// bucketOf returns which of n buckets h belongs in.
func bucketOf(h, n uint64) uint64 { return h & (1<<32 - 1) * n >> 32 }

// capacity returns how many entries a page of n buckets takes.
func capacity(n uint64) int {
	if n == 1 {
		return slots
	}
	return int(n) * perBucket
}

// bucketsFor returns how many buckets a page for n entries gets: room for one
// more, except in a page that cannot be larger.
func bucketsFor(n int) uint64 {
	if n < slots {
		return 1
	}
	return min(uint64(n)/perBucket+1, maxBuckets)
}

// findIn returns where in a page of n buckets the entry of key is.
func (c *config[K, V]) findIn(page unsafe.Pointer, n, h uint64, key K) (*bucket[V], uint) {
	i, tag := bucketOf(h, n), tagOf(h)
	for range n {
		b := bucketAt[V](page, i)
		for m := match(b.meta, tag); m != 0; m &= m - 1 {
			if s := slotOf(m); c.is(b.entry[s], key) {
				return b, s
			}
		}
		if b.meta < mark {
			return nil, 0
		}
		if i++; i == n {
			i = 0
		}
	}
	return nil, 0
}

// insert adds e to a page of n buckets that has room and not e's key.
func insert[V any](page unsafe.Pointer, n, h uint64, e *entry[V]) {
	for i := bucketOf(h, n); ; {
		b := bucketAt[V](page, i)
		if f := free(b.meta); f != 0 {
			s := slotOf(f)
			b.entry[s] = e
			b.meta |= tagOf(h) << (8 * s)
			return
		}
		b.meta |= mark
		if i++; i == n {
			i = 0
		}
	}
}

// remove frees slot s. The mark stays: what overflowed may still be there.
func (b *bucket[V]) remove(s uint) {
	b.entry[s] = nil
	b.meta &^= 0xff << (8 * s)
}

// count returns how many entries a page of n buckets holds.
func count[V any](page unsafe.Pointer, n uint64) (total int) {
	for i := range n {
		total += bits.OnesCount64(bucketAt[V](page, i).meta & highs)
	}
	return total
}

// newPage returns an empty page of n buckets.
func newPage[V any](n uint64) unsafe.Pointer {
	switch n {
	case 1:
		return unsafe.Pointer(new([1]bucket[V]))
	case 2:
		return unsafe.Pointer(new([2]bucket[V]))
	case 3:
		return unsafe.Pointer(new([3]bucket[V]))
	case 4:
		return unsafe.Pointer(new([4]bucket[V]))
	}
	return unsafe.Pointer(new([maxBuckets]bucket[V]))
}

// copyPage returns a copy of a page of n buckets.
func copyPage[V any](page unsafe.Pointer, n uint64) unsafe.Pointer {
	c := newPage[V](n)
	copy(unsafe.Slice((*bucket[V])(c), n), unsafe.Slice((*bucket[V])(page), n))
	return c
}

// A pile is the entries of pages that are being laid out anew, with their
// hashes.
type pile[V any] struct {
	n     int
	entry [maxBuckets * slots]*entry[V]
	hash  [maxBuckets * slots]uint64
}

func (p *pile[V]) add(h uint64, e *entry[V]) {
	p.entry[p.n], p.hash[p.n] = e, h
	p.n++
}

// build lays the entries out in a new page and returns the kid that holds it;
// nil for no entries.
func (p *pile[V]) build() unsafe.Pointer {
	if p.n == 0 {
		return nil
	}
	n := bucketsFor(p.n)
	page := newPage[V](n)
	for i := range p.n {
		insert(page, n, p.hash[i], p.entry[i])
	}
	return asKid(page, n)
}

// A bag holds the entries whose hashes a path of pathBits cannot separate, in
// no order: cost grows linearly there, but nothing fails.
type bag[V any] struct {
	entries []*entry[V]
}

func (c *config[K, V]) findInBag(b *bag[V], key K) int {
	for i, e := range b.entries {
		if c.is(e, key) {
			return i
		}
	}
	return -1
}

// A kid is what a slot of a directory holds, a pointer whose low bits say to
// what:
//
//   - 0: a directory, or nil for no entries;
//   - 1 to maxBuckets: a page, and its number of buckets;
//   - wideKid: a wide directory;
//   - bagBuckets: a bag.
//
// So a lookup learns it without another load. It is a pointer into the object,
// which is all the collector asks for. The bits are free because Go aligns
// objects of 8 bytes and more to 8 bytes at least.
const (
	kidMask    = 7
	wideKid    = maxBuckets + 1
	bagBuckets = kidMask
)

// bucketsOf returns what the low bits of a kid say.
func bucketsOf(kid unsafe.Pointer) uint64 { return uint64(uintptr(kid) & kidMask) }

// isDirectory reports whether a kid is a directory of either kind.
func isDirectory(kid unsafe.Pointer) bool {
	n := bucketsOf(kid)
	return n == 0 && kid != nil || n == wideKid
}

// target returns the object that a kid points into.
func target(kid unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(kid, -int(bucketsOf(kid)))
}

// nodeAt returns the directory of either kind that kid is.
func nodeAt[V any](kid unsafe.Pointer) node {
	if bucketsOf(kid) == wideKid {
		return (*wide[V])(target(kid)).node()
	}
	return (*directory[V])(kid).node()
}

// asKid returns the kid for an object, of which its low bits are to say n.
func asKid(object unsafe.Pointer, n uint64) unsafe.Pointer {
	if uintptr(object)&kidMask != 0 {
		panic("snapshot: an object is not aligned as kids need it")
	}
	return unsafe.Add(object, int(n))
}

func bagKid[V any](entries []*entry[V]) unsafe.Pointer {
	return asKid(unsafe.Pointer(&bag[V]{entries: entries}), bagBuckets)
}

// bits returns how many bits of a hash choose a slot.
func (d node) bits() uint { return uint(bits.TrailingZeros(uint(len(d.kid)))) }

// slot returns the slot for what is left of a hash.
func (d node) slot(x uint64) uint64 { return x >> (hashBits - d.bits()) }

// run returns the aligned run of slots that hold what slot i holds.
func (d node) run(i uint64) (from, n uint64) {
	for n = 1; n < uint64(len(d.kid)) && d.uniform(i&^(2*n-1), 2*n, d.kid[i]); n *= 2 {
	}
	return i &^ (n - 1), n
}

// uniform reports whether the n slots at from all hold kid.
func (d node) uniform(from, n uint64, kid unsafe.Pointer) bool {
	for _, k := range d.kid[from : from+n] {
		if k != kid {
			return false
		}
	}
	return true
}

// fill puts kid, which the Editor owns, in the n slots at from.
func (d node) fill(from, n uint64, kid unsafe.Pointer) {
	for i := from; i < from+n; i++ {
		d.kid[i] = kid
	}
	*d.owned |= (1<<n - 1) << from
}

func (d node) owns(i uint64) bool { return *d.owned>>i&1 != 0 }

// spread puts what the n slots of d at from hold in all of to, and what of it is owned: each
// several times where to has more slots, the first of several where it has fewer.
func (d node) spread(from, n uint64, to node) {
	for i := range uint64(len(to.kid)) {
		j := from + i*n/uint64(len(to.kid))
		to.kid[i] = d.kid[j]
		*to.owned |= *d.owned >> j & 1 << i
	}
}

// onlyPages reports whether there are no directories or bags in d.
func (d node) onlyPages() bool {
	for _, kid := range d.kid {
		if n := bucketsOf(kid); n > maxBuckets || n == 0 && kid != nil {
			return false
		}
	}
	return true
}

// groups returns how many groups of slots have several pages.
func (d node) groups() (several int) {
	for i := uint64(0); i < uint64(len(d.kid)); i += group {
		if !d.uniform(i, group, d.kid[i]) {
			several++
		}
	}
	return several
}

// fitsWide reports whether a wide directory is to take the place of d, a directory, and of those
// below it: they are many, and have pages alone, none of which needs more than wideBits.
func fitsWide[V any](d node) bool {
	below := 0
	for _, kid := range d.kid {
		if n := bucketsOf(kid); n > maxBuckets {
			return false
		} else if n == 0 && kid != nil {
			below++
			if c := nodeAt[V](kid); !c.onlyPages() || c.groups() > 0 {
				return false
			}
		}
	}
	return below >= manyBelow
}

// widen puts a wide directory in the place of slot i of d, a directory that fits one, and of those
// below that.
func widen[V any](d node, i uint64) node {
	n, w := nodeAt[V](d.kid[i]), new(wide[V])
	for j := range uint64(wideFan) {
		from, at, owned := n, j/group, true
		if isDirectory(n.kid[at]) {
			// What it owns counts only if it is owned itself.
			from, at, owned = nodeAt[V](n.kid[at]), j%group*group, n.owns(at)
		}
		w.node().kid[j] = from.kid[at]
		if owned && from.owns(at) {
			w.owned |= 1 << j
		}
	}
	d.fill(i, 1, asKid(unsafe.Pointer(w), wideKid))
	return w.node()
}

// narrow puts a directory in the place of slot i of d, a wide one, with others below where pages
// need the bits.
func narrow[V any](d node, i uint64) node {
	w, n := nodeAt[V](d.kid[i]), new(directory[V])
	w.spread(0, wideFan, n.node())
	for j := range uint64(fan) {
		if from := j * group; !w.uniform(from, group, w.kid[from]) {
			c := new(directory[V])
			w.spread(from, group, c.node())
			n.node().fill(j, 1, unsafe.Pointer(c))
		}
	}
	d.fill(i, 1, unsafe.Pointer(n))
	return n.node()
}

// ownDirectory returns the directory in slot i, made the Editor's own.
func ownDirectory[V any](d node, i uint64) node {
	kid := d.kid[i]
	switch {
	case d.owns(i):
	case bucketsOf(kid) == wideKid:
		d.fill(i, 1, asKid(unsafe.Pointer(&wide[V]{kid: (*wide[V])(target(kid)).kid}), wideKid))
	default:
		d.fill(i, 1, unsafe.Pointer(&directory[V]{kid: (*directory[V])(kid).kid}))
	}
	return nodeAt[V](d.kid[i])
}

// ownPage returns the page in slot i, made the Editor's own.
func ownPage[V any](d node, i uint64) unsafe.Pointer {
	kid := d.kid[i]
	if d.owns(i) {
		return target(kid)
	}
	n := bucketsOf(kid)
	page := copyPage[V](target(kid), n)
	from, length := d.run(i)
	d.fill(from, length, asKid(page, n))
	return page
}

// walk calls f with every entry below d until it returns false. It recurses as
// deep as the directories, at most pathBits/fanBits.
func walk[V any](d node, f func(*entry[V]) bool) bool {
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
	case 0, wideKid:
		return kid == nil || walk(nodeAt[V](kid), f)
	case bagBuckets:
		for _, e := range (*bag[V])(target(kid)).entries {
			if !f(e) {
				return false
			}
		}
	default:
		var found [maxBuckets*slots + 1]*entry[V]
		count := 0
		for i := range n {
			b := bucketAt[V](target(kid), i)
			for s, e := range b.entry {
				found[count] = e
				count += int(b.meta >> (8*s + 7) & 1)
			}
		}
		touch(unsafe.Slice((**RowRef)(unsafe.Pointer(&found)), count), unsafe.Sizeof(entry[V]{}))
		for _, e := range found[:count] {
			if !f(e) {
				return false
			}
		}
	}
	return true
}

// parts calls f with the entries of each page and bag below d, in the order of walk, or backwards,
// from the one to which x leads on, the rest of a hash, until it returns false. It recurses as walk
// does.
func parts[V any](d node, x uint64, back bool, f func(part []*entry[V]) bool) bool {
	step, edge := 1, uint64(0)
	if back {
		step, edge = -1, math.MaxUint64
	}
	var last unsafe.Pointer
	for i := int(d.slot(x)); 0 <= i && i < len(d.kid); i += step {
		kid := d.kid[i]
		if kid != nil && kid != last {
			if isDirectory(kid) {
				if !parts(nodeAt[V](kid), x<<fanBits|edge>>(hashBits-fanBits), back, f) {
					return false
				}
			} else {
				var part []*entry[V]
				walkKid(kid, func(e *entry[V]) bool { part = append(part, e); return true })
				if back {
					slices.Reverse(part)
				}
				if !f(part) {
					return false
				}
			}
		}
		x, last = edge, kid
	}
	return true
}

// splitBit returns the next bit of a path through a directory for that many bits, reached by depth
// bits, behind those that the n slots of a run have in common.
func splitBit(depth, bitsOf uint, n uint64) uint {
	return hashBits - 1 - (depth + bitsOf - uint(bits.TrailingZeros64(n)))
}
