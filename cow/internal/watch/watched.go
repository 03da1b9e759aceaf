package watch

import (
	"reflect"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// A Watched is something in a map to wait for.
type Watched[K comparable, V any] interface {
	// Differs reports whether it is not the same in both maps.
	Differs(newer, older *snapshot.Map[K, V]) bool

	// Add registers c with h, in steps, and Remove takes it out again.
	Add(h *Hub[K], c chan struct{})
	Remove(h *Hub[K], c chan struct{})
}

// Whole is the whole map.
type Whole[K comparable, V any] struct{}

func (Whole[K, V]) Differs(newer, older *snapshot.Map[K, V]) bool {
	for range newer.Diff(older) {
		return true
	}
	return false
}

func (Whole[K, V]) Add(h *Hub[K], c chan struct{}) {
	h.step(c, func() { h.whole[c] = struct{}{} })
}

func (Whole[K, V]) Remove(h *Hub[K], c chan struct{}) {
	h.step(nil, func() { delete(h.whole, c) })
}

// Keys are keys, present or not.
type Keys[K comparable, V any] []K

// NewKeys returns the keys as a Watched.
func NewKeys[K comparable, V any](keys []K) Keys[K, V] {
	keys = slices.Clone(keys)
	if depth.Key.Shallow(reflect.TypeFor[K]()) {
		return keys
	}
	// One that is nested too deeply is never there, and cannot be in a Go map.
	return slices.DeleteFunc(keys, func(k K) bool { return depth.Key.Check(k) != nil })
}

func (keys Keys[K, V]) Differs(newer, older *snapshot.Map[K, V]) bool {
	for _, k := range keys {
		is, _ := newer.Row(k)
		if was, _ := older.Row(k); is != was {
			return true
		}
	}
	return false
}

func (keys Keys[K, V]) Add(h *Hub[K], c chan struct{}) {
	for some := range slices.Chunk(keys, atOnce) {
		h.step(c, func() {
			for _, k := range some {
				if k != k {
					continue // never there, and could not be removed
				}
				cs := h.keys[k]
				if cs == nil {
					cs = make(chans, 1)
					h.keys[k] = cs
				}
				cs[c] = struct{}{}
			}
		})
	}
}

func (keys Keys[K, V]) Remove(h *Hub[K], c chan struct{}) {
	for some := range slices.Chunk(keys, atOnce) {
		h.step(nil, func() {
			for _, k := range some {
				cs := h.keys[k]
				delete(cs, c)
				if len(cs) == 0 {
					delete(h.keys, k)
				}
			}
			if len(h.keys) == 0 {
				h.keys = make(map[K]chans) // a map keeps the memory it once needed
			}
		})
	}
}

// IndexRange is the part of an index within bounds.
type IndexRange[K comparable, V, I any] struct {
	Index  *index.Def[K, V, I]
	Bounds index.Bounds[K, V, I]
}

func (w IndexRange[K, V, I]) Differs(newer, older *snapshot.Map[K, V]) bool {
	return newer != older && !w.Index.In(newer, w.Bounds).HasSameRows(w.Index.In(older, w.Bounds))
}

func (w IndexRange[K, V, I]) Add(h *Hub[K], c chan struct{}) {
	register(h, w.Index, c, func(x indexWatchers[K, V, I]) (indexWatchers[K, V, I], func()) {
		x.ranges = append(slices.Clip(x.ranges), rangeWatchers[K, V, I]{w.Bounds, chans{c: {}}})
		return x, func() {}
	})
}

func (w IndexRange[K, V, I]) Remove(h *Hub[K], c chan struct{}) {
	register(h, w.Index, nil, func(x indexWatchers[K, V, I]) (indexWatchers[K, V, I], func()) {
		x.ranges = slices.DeleteFunc(slices.Clone(x.ranges), func(r rangeWatchers[K, V, I]) bool {
			_, is := r.who[c]
			return is && r.bounds == w.Bounds
		})
		return x, func() {}
	})
}

// IndexKeys are keys of an index.
type IndexKeys[K comparable, V, I any] struct {
	index *index.Def[K, V, I]
	keys  []I
}

// NewIndexKeys returns keys of an index as a Watched.
func NewIndexKeys[K comparable, V, I any](x *index.Def[K, V, I], keys []I) IndexKeys[K, V, I] {
	w := IndexKeys[K, V, I]{x, make([]I, len(keys))}
	for n, i := range keys {
		w.keys[n] = x.Own(i)
	}
	return w
}

func (w IndexKeys[K, V, I]) Differs(newer, older *snapshot.Map[K, V]) bool {
	for _, i := range w.keys {
		w.index.Compare(i, i) // which panics for a bad key, in this goroutine
	}
	if newer == older {
		return false
	}
	is, was := w.index.In(newer, index.Bounds[K, V, I]{}), w.index.In(older, index.Bounds[K, V, I]{})
	for _, i := range w.keys {
		if !is.Equal(i).HasSameRows(was.Equal(i)) {
			return true
		}
	}
	return false
}

func (w IndexKeys[K, V, I]) Add(h *Hub[K], c chan struct{}) {
	for some := range slices.Chunk(w.keys, atOnce) {
		register(h, w.index, c, func(x indexWatchers[K, V, I]) (indexWatchers[K, V, I], func()) {
			var all []chans
			e := x.keys.Edit(index.ByKey[chans](w.index))
			for _, i := range some {
				_, cs, ok := e.Get(index.ByKey[chans](w.index), i, nil)
				if !ok {
					cs = make(chans, 1)
					e.Set(i, cs, true)
				}
				all = append(all, cs)
			}
			x.keys = e.Seal()
			return x, func() {
				for _, cs := range all {
					cs[c] = struct{}{}
				}
			}
		})
	}
}

func (w IndexKeys[K, V, I]) Remove(h *Hub[K], c chan struct{}) {
	for some := range slices.Chunk(w.keys, atOnce) {
		register(h, w.index, nil, func(x indexWatchers[K, V, I]) (indexWatchers[K, V, I], func()) {
			var all []chans
			e := x.keys.Edit(index.ByKey[chans](w.index))
			for _, i := range some {
				_ = compares(func() { // unless it was never added
					if _, cs, ok := e.Get(index.ByKey[chans](w.index), i, nil); ok {
						all = append(all, cs)
						if _, is := cs[c]; is && len(cs) == 1 {
							e.Delete(i, nil)
						}
					}
				})
			}
			x.keys = e.Seal()
			return x, func() {
				for _, cs := range all {
					delete(cs, c)
				}
			}
		})
	}
}

// compares calls f, which compares index keys, and reports whether it did not panic.
func compares(f func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	f()
	return
}

// register replaces the watchers of an index by what edit makes of them, and calls what
// edit returns with h.mu held. Index keys are found by comparing, which is foreign code,
// so that h.mu must not be held meanwhile: registering is.
func register[K comparable, V, I any](h *Hub[K], def *index.Def[K, V, I], c chan struct{}, edit func(x indexWatchers[K, V, I]) (indexWatchers[K, V, I], func())) {
	h.registering.Lock() // so that nobody else edits chans, or replaces the watchers
	defer h.registering.Unlock()
	x, _ := h.watchersOf(def).(indexWatchers[K, V, I])
	x.index = def
	x, finish := edit(x)
	h.step(c, func() {
		finish()
		if x.keys.Len() == 0 && len(x.ranges) == 0 {
			delete(h.indexes, def)
		} else {
			h.indexes[def] = x
		}
	})
}

// indexWatchers are watchers, immutable but for the chans. Index keys may be of a type
// that no hash map takes; what they have is an order.
type indexWatchers[K comparable, V, I any] struct {
	index  *index.Def[K, V, I]
	keys   ordered.Tree[I, chans]
	ranges []rangeWatchers[K, V, I]
}

type rangeWatchers[K comparable, V, I any] struct {
	bounds index.Bounds[K, V, I]
	who    chans
}

func (x indexWatchers[K, V, I]) touched(t any, who []chans) []chans {
	touched := t.(*index.Touched[K, V, I])
	if touched.Any {
		return x.all(who)
	}
	found := who
	if !compares(func() {
		for _, it := range touched.Items {
			if _, cs, ok := x.keys.Get(index.ByKey[chans](x.index), it.Key, nil); ok {
				found = append(found, cs)
			}
		}
		for _, w := range x.ranges {
			if slices.ContainsFunc(touched.Items, func(it index.Item[K, V, I]) bool { return x.index.IsWithin(&w.bounds, it) }) {
				found = append(found, w.who)
			}
		}
	}) {
		return x.all(who) // whoever watches a key that cannot be compared gets the panic
	}
	return found
}

func (x indexWatchers[K, V, I]) all(who []chans) []chans {
	at := x.keys.Start()
	for _, cs := at.Next(); len(cs) > 0; _, cs = at.Next() {
		who = append(who, cs...)
	}
	for _, w := range x.ranges {
		who = append(who, w.who)
	}
	return who
}
