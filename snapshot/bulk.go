package snapshot

import (
	"cmp"
	"iter"
	"slices"
)

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
	if key != key {
		b.editor.fail(c.keyError(key, ErrKey))
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
