package cow

import (
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/snapshot"
)

// OnKeys returns index keys for Watch. An index key differs once a row came to it,
// left it, or was written under it.
func (x *Index[K, V, I]) OnKeys(keys ...I) Watched[K, V] {
	x.made()
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

func (w watchedIndex[K, V, I]) differs(newer, older *Map[K, V]) bool {
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

// OnRange returns the rows of a part of the index for Watch. It differs once a row came
// into it, left it, or was written in it. Of r, which must be of this index, only the
// bounds count; one of In(nil) has no rows to keep alive. A commit compares each index
// key that it touches with all ranges which are watched.
func (x *Index[K, V, I]) OnRange(r Range[K, V, I]) Watched[K, V] {
	x.made()
	if r.content == nil || r.content.index != x.def {
		panic(fmt.Sprintf("cow: OnRange of index %q with a Range of another: make it by In or During of this one", x.def.name))
	}
	return watchedRange[K, V, I]{Range[K, V, I]{low: r.low, after: r.after, high: r.high}, x.def}
}

type watchedRange[K comparable, V, I any] struct {
	bounds Range[K, V, I] // without a content, not to keep one alive
	index  *indexDef[K, V, I]
}

func (w watchedRange[K, V, I]) in(m *Map[K, V]) Range[K, V, I] {
	r := w.index.in(m)
	r.low, r.after, r.high = w.bounds.low, w.bounds.after, w.bounds.high
	return r
}

func (w watchedRange[K, V, I]) differs(newer, older *Map[K, V]) bool {
	return newer != older && !sameRows(w.in(newer), w.in(older))
}

func (w watchedRange[K, V, I]) add(h *hub[K, V], c chan struct{}) {
	register(h, w.index, c, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
		x.ranges = append(slices.Clip(x.ranges), rangeWatch[K, V, I]{w.bounds, chans{c: {}}})
		return x, func() {}
	})
}

func (w watchedRange[K, V, I]) remove(h *hub[K, V], c chan struct{}) {
	register(h, w.index, nil, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
		x.ranges = slices.DeleteFunc(slices.Clone(x.ranges), func(r rangeWatch[K, V, I]) bool {
			_, is := r.who[c]
			return is && r.of == w.bounds
		})
		return x, func() {}
	})
}

// sameRows reports whether two ranges have the same rows.
func sameRows[K comparable, V, I any](a, b Range[K, V, I]) bool {
	x, y := a.read(), b.read()
	var is, was []*snapshot.RowRef[K, V]
	for {
		if len(is) == 0 {
			_, is = x.next()
		}
		if len(was) == 0 {
			_, was = y.next()
		}
		n := min(len(is), len(was))
		if n == 0 {
			return len(is) == len(was)
		}
		if !slices.Equal(is[:n], was[:n]) {
			return false
		}
		is, was = is[n:], was[n:]
	}
}

// Index keys are found by comparing, which is foreign code, so that hub.mu must not
// be held: registering is, and what is published is a new map of watches.

func (w watchedIndex[K, V, I]) add(h *hub[K, V], c chan struct{}) {
	for some := range slices.Chunk(w.keys, atOnce) {
		register(h, w.index, c, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
			var of []chans
			e := x.keys.Edit(byKey[K, V, I, chans](w.index))
			for _, i := range some {
				_, cs, ok := e.Get(byKey[K, V, I, chans](w.index), i, nil)
				if !ok {
					cs = make(chans, 1)
					e.Set(i, cs, true)
				}
				of = append(of, cs)
			}
			x.keys = e.Seal()
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
		register(h, w.index, nil, func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func()) {
			var of []chans
			e := x.keys.Edit(byKey[K, V, I, chans](w.index))
			for _, i := range some {
				_, _ = recovered(func() (_ struct{}, _ error) { // a key that was never added
					if _, cs, ok := e.Get(byKey[K, V, I, chans](w.index), i, nil); ok {
						of = append(of, cs)
						if _, is := cs[c]; is && len(cs) == 1 {
							e.Delete(i, nil)
						}
					}
					return
				})
			}
			x.keys = e.Seal()
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
func register[K comparable, V, I any](h *hub[K, V], of *indexDef[K, V, I], c chan struct{}, edit func(x indexWatches[K, V, I]) (indexWatches[K, V, I], func())) {
	h.registering.Lock() // so that nobody else edits chans, or replaces the watches
	defer h.registering.Unlock()
	x, _ := h.watchesOf(of).(indexWatches[K, V, I])
	x.of = of
	x, finish := edit(x)
	h.step(c, func() {
		finish()
		if x.keys.Len() == 0 && len(x.ranges) == 0 {
			delete(h.indexes, of)
		} else {
			h.indexes[of] = x
		}
	})
}
