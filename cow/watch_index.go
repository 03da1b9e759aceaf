package cow

import (
	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/snapshot"
)

// Keys returns index keys for Watch. An index key differs once a row came to it,
// left it, or was written under it.
func (x *Index[K, V, I]) Keys(keys ...I) Watched[K, V] {
	w := watchedIndex[K, V, I]{index: x, keys: make([]I, len(keys))}
	for n, i := range keys {
		w.keys[n] = x.own(i)
	}
	return w
}

type watchedIndex[K comparable, V, I any] struct {
	index *Index[K, V, I]
	keys  []I
}

func (w watchedIndex[K, V, I]) differs(newer, older *snapshot.Map[K, V]) bool {
	if newer == older {
		return false
	}
	is, was := w.index.In(newer), w.index.In(older)
	for _, i := range w.keys {
		if !sameRows(is.Equal(i), was.Equal(i)) {
			return true
		}
	}
	return false
}

// sameRows reports whether two ranges have the same rows.
func sameRows[K comparable, V, I any](a, b Range[K, V, I]) bool {
	x, y := a.content.sorted.Iterator(), b.content.sorted.Iterator()
	a.seek(x)
	b.seek(y)
	for {
		is, ok := a.next(x)
		was, had := b.next(y)
		if ok != had || is.row != was.row {
			return false
		}
		if !ok {
			return true
		}
	}
}

func (w watchedIndex[K, V, I]) add(h *hub[K, V], c chan struct{}) {
	x, _ := h.indexes[w.index].(*indexWatches[K, V, I])
	if x == nil {
		x = &indexWatches[K, V, I]{w.index, immutable.NewSortedMap[I, chans](keyOrder[K, V, I]{w.index})}
		h.indexes[w.index] = x
	}
	for _, i := range w.keys {
		cs, ok := x.keys.Get(i)
		if !ok {
			cs = make(chans, 1)
			x.keys = x.keys.Set(i, cs)
		}
		cs[c] = struct{}{}
	}
}

func (w watchedIndex[K, V, I]) remove(h *hub[K, V], c chan struct{}) {
	x, _ := h.indexes[w.index].(*indexWatches[K, V, I])
	if x == nil {
		return // named twice, or names nothing
	}
	for _, i := range w.keys {
		cs, ok := x.keys.Get(i)
		if !ok {
			continue // named twice
		}
		if delete(cs, c); len(cs) == 0 {
			x.keys = x.keys.Delete(i)
		}
	}
	if x.keys.Len() == 0 {
		delete(h.indexes, w.index)
	}
}

// indexWatches are the watches of one index. Index keys may be of a type that
// no hash map takes; what they have is an order.
type indexWatches[K comparable, V, I any] struct {
	index *Index[K, V, I]
	keys  *immutable.SortedMap[I, chans]
}

// wake signals those who watch an index key that the update touched which made
// newer.
func (x *indexWatches[K, V, I]) wake(newer, older *snapshot.Map[K, V]) {
	// Nothing foreign runs here but compare: the index is attached to newer.
	// What it touched is known since the map that had the index before, which
	// is not older where a fork began with a map from At.
	_, since := older.Attached()
	if c := x.index.find(indexesOf(newer)); c != nil && !c.many && since == older {
		for _, i := range c.touched {
			if cs, ok := x.keys.Get(i); ok {
				cs.signal()
			}
		}
		return
	}
	for it := x.keys.Iterator(); !it.Done(); {
		_, cs, _ := it.Next()
		cs.signal()
	}
}

// keyOrder is the order of index keys.
type keyOrder[K comparable, V, I any] struct{ index *Index[K, V, I] }

func (o keyOrder[K, V, I]) Compare(a, b I) int { return min(max(o.index.compare(a, b), -1), 1) }
