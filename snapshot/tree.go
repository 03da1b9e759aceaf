package snapshot

import (
	"hash/maphash"
	"math/bits"
	"runtime"
	"unsafe"
)

// find returns the entry of key, whose hash is h, or nil.
func (t *tree[K, V]) find(h uint64, key K) *entry[V] {
	kid := t.kidOf(h)
	if kid == nil {
		return nil
	}
	if n := bucketsOf(kid); n != bagBuckets {
		if b, s := t.cfg.findIn(target(kid), n, h, key); b != nil {
			return b.entry[s]
		}
		return nil
	}
	b := (*bag[V])(target(kid))
	if i := t.cfg.findInBag(b, key); i >= 0 {
		return b.entries[i]
	}
	return nil
}

// kidOf returns the kid for a page or a bag where what has that hash is, nil for none.
func (t *tree[K, V]) kidOf(h uint64) unsafe.Pointer {
	kid := t.root.kid[h>>(hashBits-fanBits)]
	for x := h; isDirectory(kid); {
		x <<= fanBits
		d := nodeAt[V](kid)
		kid = d.kid[d.slot(x)]
	}
	return kid
}

// put stores e under key, whose hash is h, and returns the entry it replaced,
// or nil. The root must be the Editor's own.
func (t *tree[K, V]) put(h uint64, key K, e *entry[V]) *entry[V] {
	var up node // where d lies, in slot at
	d, at, x, depth := t.root.node(), uint64(0), h, uint(0)
	for {
		i := d.slot(x)
		kid := d.kid[i]
		n := bucketsOf(kid)
		switch {
		case kid == nil:
			page := newPage[V](1)
			insert(page, 1, h, e)
			from, length := d.run(i)
			d.fill(from, length, asKid(page, 1))
			t.len++
			return nil
		case n == 0 || n == wideKid:
			up, at = d, i
			d = ownDirectory[V](up, at)
			x <<= fanBits
			depth += fanBits
			continue
		case n == bagBuckets:
			return t.putInBag(d, i, key, e)
		}
		if b, s := t.cfg.findIn(target(kid), n, h, key); b != nil {
			old := b.entry[s]
			if !d.owns(i) {
				b = bucketAt[V](ownPage[V](d, i), indexOf(target(kid), b))
			}
			b.entry[s] = e
			return old
		}
		if count[V](target(kid), n) < capacity(n) {
			insert(ownPage[V](d, i), n, h, e)
			t.len++
			return nil
		}
		d = t.grow(up, at, d, i, depth)
	}
}

// indexOf returns the index of bucket b in its page.
func indexOf[V any](page unsafe.Pointer, b *bucket[V]) uint64 {
	return uint64((uintptr(unsafe.Pointer(b)) - uintptr(page)) / unsafe.Sizeof(*b))
}

func (t *tree[K, V]) putInBag(d node, i uint64, key K, e *entry[V]) (old *entry[V]) {
	was := (*bag[V])(target(d.kid[i]))
	entries := make([]*entry[V], len(was.entries), len(was.entries)+1)
	copy(entries, was.entries)
	if j := t.cfg.findInBag(was, key); j >= 0 {
		old, entries[j] = entries[j], e
	} else {
		entries = append(entries, e)
		t.len++
	}
	d.fill(i, 1, bagKid(entries))
	return old
}

// grow makes room where the page in slot i of d is full, to which depth bits lead.
// In this order: a larger page; two, if it fills several slots; an ordinary
// directory in the place of d, if that is wide; a directory in the place of the
// page, and a wide one in that of d and all below it, if that fits; a bag. The parent of d is up, which has it
// in the slot at; the root has none. The caller tries again in what grow returns, d
// or what is in its place.
func (t *tree[K, V]) grow(up node, at uint64, d node, i uint64, depth uint) node {
	kid := d.kid[i]
	from, length := d.run(i)
	switch {
	case bucketsOf(kid) < maxBuckets:
		t.relay(d, i)
	case length > 1:
		var p [2]pile[V]
		bit := splitBit(depth, d.bits(), length)
		t.gather(kid, func(h uint64, e *entry[V]) { p[h>>bit&1].add(h, e) })
		d.fill(from, length/2, p[0].build())
		d.fill(from+length/2, length/2, p[1].build())
	case len(d.kid) == wideFan:
		return narrow[V](up, at)
	case depth+fanBits < pathBits:
		c := new(directory[V])
		d.spread(i, 1, c.node())
		d.fill(i, 1, unsafe.Pointer(c))
		if up.kid != nil && depth+wideBits < pathBits && fitsWide[V](d) {
			return widen[V](up, at)
		}
	default:
		var entries []*entry[V]
		t.gather(kid, func(_ uint64, e *entry[V]) { entries = append(entries, e) })
		d.fill(i, 1, bagKid(entries))
	}
	return d
}

// gather calls f with every entry below kid and its hash.
func (t *tree[K, V]) gather(kid unsafe.Pointer, f func(h uint64, e *entry[V])) {
	walkKid(kid, func(e *entry[V]) bool {
		f(t.cfg.hashOf(t.cfg.key(e)), e)
		return true
	})
}

// remove takes out and returns the entry of key, whose hash is h, or returns
// nil. The root must be the Editor's own.
func (t *tree[K, V]) remove(h uint64, key K) *entry[V] {
	e := t.find(h, key)
	if e == nil {
		return nil
	}
	t.len--
	var path [pathBits / fanBits]node
	level := 0
	path[0] = t.root.node()
	for {
		i := path[level].slotAt(h, level)
		if !isDirectory(path[level].kid[i]) {
			break
		}
		path[level+1] = ownDirectory[V](path[level], i)
		level++
	}
	d := path[level]
	if t.removeIn(d, d.slotAt(h, level), h, key) <= maxJoin {
		t.join(path[:level+1], h)
	}
	return e
}

// slotAt returns the slot that h leads to in a directory of that level.
func (d node) slotAt(h uint64, level int) uint64 { return d.slot(h << (level * fanBits)) }

// removeIn removes key from the page or bag in slot i of d, lays a page out
// anew when it became too large for what is left, and returns how many are.
func (t *tree[K, V]) removeIn(d node, i, h uint64, key K) int {
	kid := d.kid[i]
	n := bucketsOf(kid)
	if n == bagBuckets {
		was := (*bag[V])(target(kid)).entries
		j := t.cfg.findInBag((*bag[V])(target(kid)), key)
		entries := append(append(make([]*entry[V], 0, len(was)-1), was[:j]...), was[j+1:]...)
		d.fill(i, 1, bagKid(entries))
		if len(entries) <= maxJoin {
			t.relay(d, i)
		}
		return len(entries)
	}
	page := ownPage[V](d, i)
	b, s := t.cfg.findIn(page, n, h, key)
	b.remove(s)
	left := count[V](page, n)
	if left == 0 || bucketsFor(left)+1 < n {
		t.relay(d, i)
	}
	return left
}

// relay lays what slot i of d holds, at most a page, out in a new page.
func (t *tree[K, V]) relay(d node, i uint64) {
	from, length := d.run(i)
	var p pile[V]
	t.gather(d.kid[i], p.add)
	d.fill(from, length, p.build())
}

// maxJoin is the most entries two pages may have to become one: half of what
// splits a page, so that a key set and deleted over and over does not make the
// same page split and join.
const maxJoin = maxBuckets * perBucket / 2

// join unites the page at the end of the path of h with its buddy, the page
// that differs in the last bit of the path, for as long as both together are
// small, and puts the only page of a directory in that directory's place, and a
// directory in that of a wide one with few groups of several pages.
func (t *tree[K, V]) join(path []node, h uint64) {
	for level := len(path) - 1; ; {
		d := path[level]
		i := d.slotAt(h, level)
		from, n := d.run(i)
		if n == uint64(len(d.kid)) {
			if level == 0 {
				return
			}
			level--
			path[level].fill(path[level].slotAt(h, level), 1, d.kid[i])
			continue
		}
		buddy := from ^ n
		if !d.uniform(buddy, n, d.kid[buddy]) || size[V](d.kid[i])+size[V](d.kid[buddy]) > maxJoin {
			if len(d.kid) == wideFan && d.groups() < fewGroups {
				up := path[level-1]
				narrow[V](up, up.slotAt(h, level-1))
			}
			return
		}
		var p pile[V]
		t.gather(d.kid[i], p.add)
		t.gather(d.kid[buddy], p.add)
		d.fill(min(from, buddy), 2*n, p.build())
	}
}

// size returns the number of entries of a page; a directory or bag counts as
// too large to join.
func size[V any](kid unsafe.Pointer) int {
	switch n := bucketsOf(kid); {
	case kid == nil:
		return 0
	case n == 0 || n > maxBuckets:
		return maxJoin + 1
	default:
		return count[V](target(kid), n)
	}
}

// lookup returns the entry of key, or nil.
//
// It is find, flattened, for the path nearly every lookup takes: a page, the
// first bucket, the first tag that matches. How many lookups of a loop the
// processor has in flight at once decides their speed once the map is larger
// than its caches, so there are no calls here but the hash, few instructions,
// and no branch on the length of a key of 8 to 40 bytes.
//
// It spells out bucketsOf, bucketOf, tagOf and match: when the compiler
// instantiates lookup for a package that imports this one only through another,
// it does not have their bodies, and calls them.
func (m *Map[K, V]) lookup(key K) *entry[V] {
	if m == nil || m.cfg == nil {
		return nil
	}
	c := m.cfg
	var h uint64
	if c.hash == nil {
		h = maphash.String(seed, *(*string)(unsafe.Pointer(&key)))
	} else {
		h = c.hash(key)
	}
	kid := m.root.kid[h>>(hashBits-fanBits)]
	n := uint64(uintptr(kid) & kidMask)
	rest := h << fanBits
	for n == 0 {
		if kid == nil {
			return nil
		}
		kid = (*directory[V])(kid).kid[rest>>(hashBits-fanBits)]
		rest <<= fanBits
		n = uint64(uintptr(kid) & kidMask)
	}
	if n > maxBuckets {
		if n == bagBuckets {
			return m.find(h, key)
		}
		if kid = (*wide[V])(unsafe.Add(kid, -wideKid)).kid[rest>>(hashBits-wideBits)]; kid == nil {
			return nil
		}
		n = uint64(uintptr(kid) & kidMask)
	}
	b := (*bucket[V])(unsafe.Add(kid, h&(1<<32-1)*n>>32*uint64(unsafe.Sizeof(bucket[V]{}))-n))
	x := b.meta ^ (h>>tagShift&0x7f|0x80)*lows
	hits := (x - lows) &^ x & highs
	if hits == 0 {
		if b.meta < mark {
			return nil
		}
		return m.find(h, key)
	}
	e := *(**entry[V])(unsafe.Add(unsafe.Pointer(&b.entry), uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(b.entry[0])))
	if !c.inline {
		if (*keyed[K, V])(unsafe.Pointer(e)).key == key {
			return e
		}
		return m.find(h, key)
	}
	s := *(*string)(unsafe.Pointer(&key))
	if e.inlineLen() != len(s) {
		return m.find(h, key)
	}
	if last := len(s) - 8; uint(last) <= 32 {
		// Five words, overlapping, cover it.
		p, q := e.tail(), unsafe.Pointer(unsafe.StringData(s))
		i, j, k := min(8, last), min(16, last), min(24, last)
		differ := (e.load(p, 0) ^ e.load(q, 0)) | (e.load(p, i) ^ e.load(q, i)) | (e.load(p, j) ^ e.load(q, j)) |
			(e.load(p, k) ^ e.load(q, k)) | (e.load(p, last) ^ e.load(q, last))
		if differ == 0 {
			return e
		}
	} else if len(s) > 0 && e.inline() == s {
		return e
	}
	return m.find(h, key)
}

// load returns the eight bytes at p+i, in one instruction where the processor
// can. It is a method of a generic type, and spells out what encoding/binary
// does, for the reason that lookup does.
func (*entry[V]) load(p unsafe.Pointer, i int) uint64 {
	b := (*[8]byte)(unsafe.Add(p, i))
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

const (
	// atOnce is how many lookups go on at the same time: more than a processor has loads
	// under way.
	atOnce = 32

	// cached is the size of a map that processors have in their caches: there is nothing to
	// wait for.
	cached = 4096
)

// lookupAll finds the entries of keys, up to atOnce; nil: there is none.
func (m *Map[K, V]) lookupAll(keys []K, found *[atOnce]*entry[V]) {
	if m == nil || m.len <= cached {
		for i, key := range keys {
			found[i] = m.lookup(key)
		}
		return
	}
	m.lookupTogether(keys, found)
}

// lookupTogether is lookupAll of a map that is not empty. It spells out what lookup does, for the
// same reason.
func (m *Map[K, V]) lookupTogether(keys []K, found *[atOnce]*entry[V]) {
	c := m.cfg
	var hashes [atOnce]uint64
	if c.hash == nil {
		for i := range keys {
			hashes[i%atOnce] = maphash.String(seed, *(*string)(unsafe.Pointer(&keys[i])))
		}
	} else {
		for i, key := range keys {
			hashes[i%atOnce] = c.hash(key)
		}
	}
	var kids [atOnce]unsafe.Pointer
	m.reach(hashes[:len(keys)], &kids, found)
	for i, key := range keys {
		i %= atOnce
		e := found[i]
		if e == nil {
			if kids[i] != nil {
				found[i] = m.find(hashes[i], key)
			}
			continue
		}
		if !c.inline {
			if (*keyed[K, V])(unsafe.Pointer(e)).key == key {
				continue
			}
		} else if s := *(*string)(unsafe.Pointer(&key)); e.inlineLen() == len(s) {
			if last := len(s) - 8; uint(last) <= 32 {
				p, q := e.tail(), unsafe.Pointer(unsafe.StringData(s))
				i, j, k := min(8, last), min(16, last), min(24, last)
				differ := (e.load(p, 0) ^ e.load(q, 0)) | (e.load(p, i) ^ e.load(q, i)) | (e.load(p, j) ^ e.load(q, j)) |
					(e.load(p, k) ^ e.load(q, k)) | (e.load(p, last) ^ e.load(q, last))
				if differ == 0 {
					continue
				}
			} else if len(s) > 0 && e.inline() == s {
				continue
			}
		}
		found[i] = m.find(hashes[i], key)
	}
}

// reach makes the first steps of lookups by hashes, up to atOnce, and loads what the others
// need. It sets kids to those where keys may be, nil where one cannot be anywhere, and found to the
// entries that may be theirs. Each step of a lookup needs what the one before has loaded, but
// nothing of another lookup: so all take one step, and then all the next.
func (m *Map[K, V]) reach(hashes []uint64, kids *[atOnce]unsafe.Pointer, found *[atOnce]*entry[V]) {
	for i := range hashes {
		i %= atOnce
		x := hashes[i]
		kid := m.root.kid[x>>(hashBits-fanBits)]
		x <<= fanBits
		for kid != nil && uintptr(kid)&kidMask == 0 {
			kid = (*directory[V])(kid).kid[x>>(hashBits-fanBits)]
			x <<= fanBits
		}
		if uintptr(kid)&kidMask == wideKid {
			kid = (*wide[V])(unsafe.Add(kid, -wideKid)).kid[x>>(hashBits-wideBits)]
		}
		kids[i] = kid
	}
	for i := range hashes {
		i %= atOnce
		kid, h := kids[i], hashes[i]
		found[i] = nil
		if n := uint64(uintptr(kid) & kidMask); n-1 < maxBuckets {
			b := (*bucket[V])(unsafe.Add(kid, h&(1<<32-1)*n>>32*uint64(unsafe.Sizeof(bucket[V]{}))-n))
			x := b.meta ^ (h>>tagShift&0x7f|0x80)*lows
			if hits := (x - lows) &^ x & highs; hits == 0 && b.meta < mark {
				kids[i] = nil
			} else if hits != 0 {
				found[i] = *(**entry[V])(unsafe.Add(unsafe.Pointer(&b.entry), uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(b.entry[0])))
			}
		}
	}
	touched := uint64(0)
	for i := range hashes {
		if e := found[i%atOnce]; e != nil {
			touched |= e.meta
		}
	}
	runtime.KeepAlive(touched)
}
