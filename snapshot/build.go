package snapshot

import (
	"cmp"
	"iter"
	"slices"
	"unsafe"
)

// This builds a tree of all its entries at once. They are sorted by their hashes, and
// then each page is made as large as it gets to be, and each directory over what it
// has: nothing is looked up, split or copied.

// A hashed is an entry with the hash of its key.
type hashed[V any] struct {
	hash  uint64
	entry *entry[V]
}

// A Batch is rows that are ready to be stored, with all foreign code behind them. It is
// made by [Builder.Batch], must not be copied, and must be used by one goroutine at a time.
type Batch[K comparable, V any] struct {
	base    *Map[K, V]
	version uint64 // of the edit
	rows    []hashed[V]
}

// batch is Builder.Batch.
func (e *Editor[K, V]) batch(n int) *Batch[K, V] {
	return &Batch[K, V]{e.base, e.version, make([]hashed[V], 0, n)}
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
	b.rows = append(b.rows, hashed[V]{c.hashOf(key), c.newEntry(key, i.value, min(revision, b.version))})
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
			for _, r := range b.rows {
				e.store(r.hash, c.key(r.entry), r.entry)
			}
		}
		return
	}
	// Sorted by their first bits here, and the rest by as many goroutines as each has.
	var from, to [fan]int
	for _, b := range batches {
		for _, r := range b.rows {
			to[slotAt(r.hash, 0)]++
		}
	}
	for i, at := 0, 0; i < fan; i++ {
		from[i] = at
		at, to[i] = at+to[i], at
	}
	rows := make([]hashed[V], total)
	for _, b := range batches {
		for _, r := range b.rows {
			i := slotAt(r.hash, 0)
			rows[to[i]] = r
			to[i]++
		}
	}
	each(fan, func(i int) {
		part := rows[from[i]:to[i]]
		sortHashed(part, make([]hashed[V], len(part)), hashBits-fanBits)
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
func (e *Editor[K, V]) build(rows []hashed[V], each func(n int, do func(i int))) {
	m := e.writable()
	m.len = len(rows)
	e.writes = max(e.writes, many)
	var later []subtree[V]
	m.root.lay(0, fan, 0, rows, &later)
	each(len(later), func(i int) { later[i].to.lay(0, fan, fanBits, later[i].rows, nil) })
}

// A subtree is the rows of a directory below the root.
type subtree[V any] struct {
	to   *directory[V]
	rows []hashed[V]
}

// lay lays rows out in the n slots of d at from, all of which their hashes lead to, by
// depth bits to d. If later is not nil, d is the root, and later gets the directories
// below it. It recurses as deep as a path has bits.
func (d *directory[V]) lay(from, n uint64, depth uint, rows []hashed[V], later *[]subtree[V]) {
	switch {
	case len(rows) == 0:
	case len(rows) <= capacity(maxBuckets):
		d.fill(from, n, pageOf(rows))
	case n > 1:
		i := splitAt(rows, splitBit(depth, n))
		d.lay(from, n/2, depth, rows[:i], later)
		d.lay(from+n/2, n/2, depth, rows[i:], later)
	case depth+fanBits < pathBits:
		c := new(directory[V])
		d.fill(from, 1, unsafe.Pointer(c))
		if later != nil {
			*later = append(*later, subtree[V]{c, rows})
		} else {
			c.lay(0, fan, depth+fanBits, rows, nil)
		}
	default:
		entries := make([]*entry[V], len(rows))
		for i, r := range rows {
			entries[i] = r.entry
		}
		d.fill(from, 1, bagKid(entries))
	}
}

// pageOf returns the kid that holds a page of rows.
func pageOf[V any](rows []hashed[V]) unsafe.Pointer {
	n := bucketsFor(len(rows))
	page := newPage[V](n)
	for _, r := range rows {
		insert(page, n, r.hash, r.entry)
	}
	return pageKid(page, n)
}

// splitAt returns the index of the first of rows, sorted, whose hash has a bit.
func splitAt[V any](rows []hashed[V], bit uint) int {
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
func (c *config[K, V]) last(rows []hashed[V]) []hashed[V] {
	kept := rows[:0]
	for i, r := range rows {
		again := false
		for j := i + 1; j < len(rows) && rows[j].hash == r.hash && !again; j++ {
			again = c.is(rows[j].entry, c.key(r.entry))
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
func sortHashed[V any](rows, spare []hashed[V], n uint) {
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

// putAll is Builder.PutAll.
func (e *Editor[K, V]) putAll(seq iter.Seq2[K, Isolated[V]]) {
	b := bulk[K, V]{editor: e}
	for k, v := range seq {
		b.add(k, v)
	}
	b.flush()
}

// A bulk stores pairs sorted by their hashes: page after page instead of all
// over the tree. The entries are allocated in that order too, so that a scan
// of what was loaded at once runs through memory.
type bulk[K comparable, V any] struct {
	editor *Editor[K, V]
	pairs  []bulkPair[K, V]
	order  []bulkIndex
}

type bulkPair[K comparable, V any] struct {
	key   K
	value Isolated[V]
}

type bulkIndex struct {
	hash uint64
	i    int
}

// maxBulk is how many pairs wait before they are stored.
const maxBulk = 1 << 20

func (b *bulk[K, V]) add(key K, v Isolated[V]) {
	c := b.editor.current().config()
	c.check(v)
	if err := c.checkKey(key); err != nil {
		b.editor.fail(err)
		return
	}
	b.order = append(b.order, bulkIndex{c.hashOf(key), len(b.pairs)})
	b.pairs = append(b.pairs, bulkPair[K, V]{key, v})
	if len(b.pairs) == maxBulk {
		b.flush()
	}
}

func (b *bulk[K, V]) flush() {
	if len(b.pairs) == 0 {
		return
	}
	slices.SortFunc(b.order, func(x, y bulkIndex) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.i, y.i)) // of equal keys the last stays last
	})
	b.editor.enter()
	defer b.editor.leave()
	if b.editor.empty() {
		rows := make([]hashed[V], len(b.order))
		for i, o := range b.order {
			p := &b.pairs[o.i]
			rows[i] = hashed[V]{o.hash, b.editor.newEntry(p.key, p.value)}
		}
		b.editor.build(b.editor.cur.config().last(rows), inTurn)
	} else {
		for _, o := range b.order {
			p := &b.pairs[o.i]
			b.editor.store(o.hash, p.key, b.editor.newEntry(p.key, p.value))
		}
	}
	clear(b.pairs)
	b.pairs, b.order = b.pairs[:0], b.order[:0]
}

// SetAll stores clones of all pairs of seq; of equal keys the last wins. It is
// faster than as many calls of Set, and lays the pairs out in the order of All.
// It takes a million pairs at a time before it stores them, so seq must not
// depend on what this Editor holds.
func (e *Editor[K, V]) SetAll(seq iter.Seq2[K, V]) {
	e.putAll(func(yield func(K, Isolated[V]) bool) {
		for k, v := range seq {
			i, err := e.isolate(k, v)
			if err != nil {
				e.fail(err)
				return
			}
			if !yield(k, i) {
				return
			}
		}
	})
}

// Collect returns a map of the pairs of seq, isolated as o says, at version 1.
// Of equal keys the last wins. A pair that cannot be stored is an error; see
// [Editor.Err].
func Collect[K comparable, V any](o Options[V], seq iter.Seq2[K, V]) (*Map[K, V], error) {
	e := New[K](o).Edit()
	e.SetAll(seq)
	return e.Seal(), e.Err()
}
