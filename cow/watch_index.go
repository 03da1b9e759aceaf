package cow

import (
	"slices"

	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/snapshot"
)

// OnKeys returns index keys for Watch. An index key differs once a row came to it,
// left it, or was written under it.
func (x *Index[K, V, I]) OnKeys(keys ...I) Watched[K, V] {
	w := watchedIndex[K, V, I]{index: x.def, keys: make([]I, len(keys))}
	for n, i := range keys {
		w.keys[n] = x.def.own(i)
	}
	return w
}

type watchedIndex[K comparable, V, I any] struct {
	index *indexDef[K, V, I]
	keys  []I
}

func (w watchedIndex[K, V, I]) differs(newer, older *snapshot.Map[K, V]) bool {
	for _, i := range w.keys {
		w.index.compare(i, i) // which panics for a bad key, in this goroutine
	}
	if newer == older {
		return false
	}
	is, was := w.index.in(newer), w.index.in(older)
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

// Index keys are found by comparing, which is foreign code, so that hub.mu must not
// be held: registering is, and what is published is a new map of watches.

func (w watchedIndex[K, V, I]) add(h *hub[K, V], c chan struct{}) {
	for some := range slices.Chunk(w.keys, atOnce) {
		w.register(h, c, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
			var of []chans
			for _, i := range some {
				cs, ok := x.keys.Get(i)
				if !ok {
					cs = make(chans, 1)
					x.keys = x.keys.Set(i, cs)
				}
				of = append(of, cs)
			}
			return x, func() {
				for _, cs := range of {
					cs[c] = struct{}{}
				}
			}
		})
	}
}

func (w watchedIndex[K, V, I]) remove(h *hub[K, V], c chan struct{}) {
	for some := range slices.Chunk(w.keys, atOnce) {
		w.register(h, nil, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
			var of []chans
			for _, i := range some {
				_, _ = recovered(func() (_ struct{}, _ error) { // a key that was never added
					if cs, ok := x.keys.Get(i); ok {
						of = append(of, cs)
						if _, is := cs[c]; is && len(cs) == 1 {
							x.keys = x.keys.Delete(i)
						}
					}
					return
				})
			}
			return x, func() {
				for _, cs := range of {
					delete(cs, c)
				}
			}
		})
	}
}

// register replaces the watches of the index by what edit makes of them, and calls
// what edit returns with h.mu held.
func (w watchedIndex[K, V, I]) register(h *hub[K, V], c chan struct{}, edit func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func())) {
	h.registering.Lock() // so that nobody else edits chans, or replaces the watches
	defer h.registering.Unlock()
	x, ok := h.watchesOf(w.index).(indexWatches[K, V, I])
	if !ok {
		x = indexWatches[K, V, I]{w.index, immutable.NewSortedMap[I, chans](keyOrder[K, V, I]{w.index})}
	}
	x, finish := edit(x)
	h.step(c, func() {
		finish()
		if x.keys.Len() == 0 {
			delete(h.indexes, w.index)
		} else {
			h.indexes[w.index] = x
		}
	})
}

// keyOrder is the order of index keys.
type keyOrder[K comparable, V, I any] struct{ index *indexDef[K, V, I] }

func (o keyOrder[K, V, I]) Compare(a, b I) int { return min(max(o.index.compare(a, b), -1), 1) }
