package snapshot

import (
	"iter"
	"slices"
	"unsafe"
)

// This builds a tree of all its entries at once. They are sorted by their hashes, and
// then each page is made as large as it gets to be, and each directory over what it
// has: nothing is looked up, split or copied.

// A hashed is an item, such as an entry, with the hash of its key.
type hashed[T any] struct {
	hash uint64
	item T
}

// A Batch is rows that are ready to be stored, with all foreign code behind them. It is
// made by [Builder.Batch], must not be copied, and must be used by one goroutine at a time.
type Batch[K comparable, V any] struct {
	base    *Map[K, V]
	version uint64 // of the edit
	rows    []hashed[*entry[V]]
}

// batch is Builder.Batch.
func (e *Editor[K, V]) batch(n int) *Batch[K, V] {
	return &Batch[K, V]{e.base, e.version, make([]hashed[*entry[V]], 0, n)}
}

// Add adds a clone of v under key, as it was written at a revision: 0, or a later one
// than the edit makes, is that of the edit. It returns a *KeyError with ErrKey or a
// *[clone.Error] for a row that cannot be stored, and does not add it.
func (b *Batch[K, V]) Add(key K, v V, revision uint64) error {
	c := b.base.config()
	i, err := b.base.isolate(key, v)
	if err != nil {
		return err
	}
	if revision == 0 {
		revision = b.version
	}
	b.rows = append(b.rows, hashed[*entry[V]]{c.hashOf(key), c.newEntry(key, i.value, min(revision, b.version))})
	return nil
}

// putBatches is Builder.PutBatches.
func (e *Editor[K, V]) putBatches(batches []*Batch[K, V], each func(n int, do func(i int))) {
	c, total := e.current().config(), 0
	for _, b := range batches {
		if b.base.config().plain != c.plain {
			panic("snapshot: PutBatches of a Batch for a map with other Options: make it for this Editor")
		}
		total += len(b.rows)
	}
	if total == 0 {
		return
	}
	e.enter()
	defer e.leave()
	if !e.empty() {
		for _, b := range batches {
			for some := range slices.Chunk(b.rows, atOnce) {
				fetch(e.cur, some)
				for _, r := range some {
					e.store(r.hash, c.key(r.item), r.item)
				}
			}
		}
		return
	}
	// Sorted by their first bits here, and the rest by as many goroutines as each has.
	var from, to [fan]int
	for _, b := range batches {
		for _, r := range b.rows {
			to[r.hash>>(hashBits-fanBits)]++
		}
	}
	for i, at := 0, 0; i < fan; i++ {
		from[i] = at
		at, to[i] = at+to[i], at
	}
	rows := make([]hashed[*entry[V]], total)
	for _, b := range batches {
		for _, r := range b.rows {
			i := r.hash >> (hashBits - fanBits)
			rows[to[i]] = r
			to[i]++
		}
	}
	each(fan, func(i int) {
		part := rows[from[i]:to[i]]
		sortHashed(part, make([]hashed[*entry[V]], len(part)), hashBits-fanBits)
		to[i] = from[i] + len(c.last(part))
	})
	n := 0
	for i := range fan {
		n += copy(rows[n:], rows[from[i]:to[i]]) // in place, unless a key was there twice
	}
	e.build(rows[:n], each)
}

// inTurn does without goroutines.
func inTurn(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// empty reports whether the Editor can build. It must be busy.
func (e *Editor[K, V]) empty() bool { return e.cur.Len() == 0 && e.open == nil }

// build stores rows, sorted by their hashes and each key once, in an empty map. The
// Editor must be busy.
func (e *Editor[K, V]) build(rows []hashed[*entry[V]], each func(n int, do func(i int))) {
	m := e.writable()
	m.len = len(rows)
	e.writes = max(e.writes, many)
	var later []subtree[V]
	lay(m.root.node(), 0, fan, 0, rows, &later)
	each(len(later), func(i int) { later[i].layAll(fanBits) })
}

// A subtree is the rows of a directory below the root.
type subtree[V any] struct {
	to   node
	rows []hashed[*entry[V]]
}

// layAll lays the rows out in the directory, to which depth bits lead.
func (s subtree[V]) layAll(depth uint) {
	lay(s.to, 0, uint64(len(s.to.kid)), depth, s.rows, nil)
}

// lay lays rows out in the n slots of d at from, all of which their hashes lead to, by
// depth bits to d. If later is not nil, d is the root, and later gets the directories
// below it. It recurses as deep as a path has bits.
func lay[V any](d node, from, n uint64, depth uint, rows []hashed[*entry[V]], later *[]subtree[V]) {
	switch {
	case len(rows) == 0:
	case len(rows) <= capacity(maxBuckets):
		d.fill(from, n, pageOf(rows))
	case n > 1:
		i := splitAt(rows, splitBit(depth, d.bits(), n))
		lay(d, from, n/2, depth, rows[:i], later)
		lay(d, from+n/2, n/2, depth, rows[i:], later)
	case depth+fanBits < pathBits:
		kid := unsafe.Pointer(new(directory[V]))
		if wantsWide(rows, depth+fanBits) {
			kid = asKid(unsafe.Pointer(new(wide[V])), wideKid)
		}
		d.fill(from, 1, kid)
		if below := (subtree[V]{nodeAt[V](kid), rows}); later != nil {
			*later = append(*later, below)
		} else {
			below.layAll(depth + fanBits)
		}
	default:
		entries := make([]*entry[V], len(rows))
		for i, r := range rows {
			entries[i] = r.item
		}
		d.fill(from, 1, bagKid(entries))
	}
}

// wantsWide reports whether rows get a wide directory, reached by depth bits, as those do that come
// one by one: pages in many groups need more than fanBits, and none needs more than wideBits.
func wantsWide[V any](rows []hashed[*entry[V]], depth uint) bool {
	const most = maxBuckets * perBucket
	if len(rows) > wideFan*most || depth+wideBits >= pathBits {
		return false
	}
	var in [wideFan]int
	for _, r := range rows {
		in[r.hash<<depth>>(hashBits-wideBits)]++
	}
	several := 0
	for i := 0; i < wideFan; i += group {
		together := 0
		for _, n := range in[i : i+group] {
			if n > most {
				return false
			}
			together += n
		}
		if together > most {
			several++
		}
	}
	return several >= manyBelow
}

// pageOf returns the kid that holds a page of rows.
func pageOf[V any](rows []hashed[*entry[V]]) unsafe.Pointer {
	n := bucketsFor(len(rows))
	page := newPage[V](n)
	for _, r := range rows {
		insert(page, n, r.hash, r.item)
	}
	return asKid(page, n)
}

// splitAt returns the index of the first of rows, sorted, whose hash has a bit.
func splitAt[V any](rows []hashed[*entry[V]], bit uint) int {
	low, high := 0, len(rows)
	for low < high {
		if i := int(uint(low+high) / 2); rows[i].hash>>bit&1 == 0 {
			low = i + 1
		} else {
			high = i
		}
	}
	return low
}

// last returns rows, which are sorted by their hashes, with only the last of those of one
// key. It uses their memory.
func (c *config[K, V]) last(rows []hashed[*entry[V]]) []hashed[*entry[V]] {
	kept := rows[:0]
	for i, r := range rows {
		again := false
		for j := i + 1; j < len(rows) && rows[j].hash == r.hash && !again; j++ {
			again = c.is(rows[j].item, c.key(r.item))
		}
		if !again {
			kept = append(kept, r)
		}
	}
	return kept
}

// sortHashed sorts rows by the lowest n bits of their hashes, the others of which are
// equal; those of equal hashes keep their order. Spare is as long as rows. It is a radix
// sort from the highest byte, which recurses once a byte.
func sortHashed[T any](rows, spare []hashed[T], n uint) {
	const digit = 8
	if len(rows) <= 32 || n == 0 {
		for i, r := range rows {
			for ; i > 0 && rows[i-1].hash > r.hash; i-- {
				rows[i] = rows[i-1]
			}
			rows[i] = r
		}
		return
	}
	shift := max(n, digit) - digit
	var end [1 << digit]int
	for _, r := range rows {
		end[uint8(r.hash>>shift)]++
	}
	for i, at := 0, 0; i < len(end); i++ {
		at, end[i] = at+end[i], at
	}
	for _, r := range rows {
		i := uint8(r.hash >> shift)
		spare[end[i]] = r
		end[i]++
	}
	copy(rows, spare)
	from := 0
	for _, to := range end {
		sortHashed(rows[from:to], spare[from:to], shift)
		from = to
	}
}

// fetch loads what storing rows in m, up to atOnce, will read.
func fetch[K comparable, V, T any](m *Map[K, V], rows []hashed[T]) {
	if m.Len() <= cached {
		return
	}
	var hashes [atOnce]uint64
	for i, r := range rows {
		hashes[i%atOnce] = r.hash
	}
	var kids [atOnce]unsafe.Pointer
	var found [atOnce]*entry[V]
	m.reach(hashes[:len(rows)], &kids, &found)
}

// A Bulk is pairs to be stored together, cloned ahead and hashed: page after page instead of
// all over the tree. The entries are allocated in that order too, so that a scan
// of what was loaded at once runs through memory. It is made by [Builder.Bulk], must not be
// copied, and must be used by one goroutine at a time.
type Bulk[K comparable, V any] struct {
	base   *Map[K, V]
	len    int
	chunks [][]bulkPair[K, V] // each but the last full, so that none is ever copied
}

type bulkPair[K comparable, V any] struct {
	hash  uint64
	key   K
	value V
}

const inChunk = 1 << 10

// Add adds a clone of v under key, or returns the error of [Builder.Isolate].
func (b *Bulk[K, V]) Add(key K, v V) error {
	i, err := b.base.isolate(key, v)
	if err != nil {
		return err
	}
	if b.len%inChunk == 0 {
		b.chunks = append(b.chunks, make([]bulkPair[K, V], 0, min(inChunk, 16+4*b.len)))
	}
	last := &b.chunks[len(b.chunks)-1]
	*last = append(*last, bulkPair[K, V]{b.base.config().hashOf(key), key, i.value})
	b.len++
	return nil
}

// putBulk is Builder.PutBulk.
func (e *Editor[K, V]) putBulk(b *Bulk[K, V]) {
	c := e.current().config()
	if b.base.config().plain != c.plain {
		panic("snapshot: PutBulk of a Bulk for a map with other Options: make it for this Editor")
	}
	if b.len == 0 {
		return
	}
	e.enter()
	defer e.leave()
	pairs := make([]hashed[*bulkPair[K, V]], 0, b.len)
	for _, chunk := range b.chunks {
		for i := range chunk {
			pairs = append(pairs, hashed[*bulkPair[K, V]]{chunk[i].hash, &chunk[i]})
		}
	}
	sortHashed(pairs, make([]hashed[*bulkPair[K, V]], len(pairs)), hashBits) // of equal keys the last stays last
	if !e.empty() {
		for some := range slices.Chunk(pairs, atOnce) {
			fetch(e.cur, some)
			for _, p := range some {
				e.store(p.hash, p.item.key, c.newEntry(p.item.key, p.item.value, e.version))
			}
		}
		return
	}
	rows := make([]hashed[*entry[V]], len(pairs))
	for i, p := range pairs {
		rows[i] = hashed[*entry[V]]{p.hash, c.newEntry(p.item.key, p.item.value, e.version)}
	}
	e.build(c.last(rows), inTurn)
}

// maxBulk is how many pairs wait before they are stored.
const maxBulk = 1 << 20

// SetAll stores clones of all pairs of seq; of equal keys the last wins. It is
// faster than as many calls of Set, and lays the pairs out in the order of All.
// It takes a million pairs at a time before it stores them, so seq must not
// depend on what this Editor holds.
func (e *Editor[K, V]) SetAll(seq iter.Seq2[K, V]) {
	given(seq != nil, "SetAll")
	b := Bulk[K, V]{base: e.current()}
	for k, v := range seq {
		if err := b.Add(k, v); err != nil {
			e.fail(err)
			break
		}
		if b.len == maxBulk {
			e.putBulk(&b)
			b.len, b.chunks = 0, nil
		}
	}
	e.putBulk(&b)
}

// Collect returns a map of the pairs of seq, isolated as o says, at version 1.
// Of equal keys the last wins. A pair that cannot be stored is an error; see
// [Editor.Err].
func Collect[K comparable, V any](o Options[V], seq iter.Seq2[K, V]) (*Map[K, V], error) {
	e := New[K](o).Edit()
	e.SetAll(seq)
	return e.Seal(), e.Err()
}
