package watch

import (
	"reflect"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// A Watched is something in a map to wait for.
type Watched[K comparable, V any] interface {
	// Differs reports whether it is not the same in both maps.
	Differs(newer, older *snapshot.Map[K, V]) bool

	// Add registers c with h, in steps, and Remove takes it out again.
	Add(h *Hub[K], c *Waiter)
	Remove(h *Hub[K], c *Waiter)
}

// Whole is the whole map.
type Whole[K comparable, V any] struct{}

func (Whole[K, V]) Differs(newer, older *snapshot.Map[K, V]) bool {
	for range newer.Diff(older) {
		return true
	}
	return false
}

func (Whole[K, V]) Add(h *Hub[K], c *Waiter) {
	h.step(c, func() { h.whole[c] = struct{}{} })
}

func (Whole[K, V]) Remove(h *Hub[K], c *Waiter) {
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

func (keys Keys[K, V]) Add(h *Hub[K], c *Waiter) {
	for some := range slices.Chunk(keys, atOnce) {
		h.step(c, func() {
			for _, k := range some {
				if k != k {
					continue // never there, and could not be removed
				}
				cs := h.keys[k]
				if cs == nil {
					cs = make(waiters, 1)
					h.keys[k] = cs
				}
				cs[c] = struct{}{}
			}
		})
	}
}

func (keys Keys[K, V]) Remove(h *Hub[K], c *Waiter) {
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
				h.keys = make(map[K]waiters) // a map keeps the memory it once needed
			}
		})
	}
}

// Parts are parts of an index.
type Parts[K comparable, V, I any] struct {
	index  *index.Def[K, V, I]
	bounds []index.Bounds[I]
}

// NewPart returns the part of an index within bounds as a Watched.
func NewPart[K comparable, V, I any](x *index.Def[K, V, I], b index.Bounds[I]) Parts[K, V, I] {
	return Parts[K, V, I]{x, []index.Bounds[I]{b}}
}

// NewIndexKeys returns keys of an index as a Watched.
func NewIndexKeys[K comparable, V, I any](x *index.Def[K, V, I], keys []I) Parts[K, V, I] {
	w := Parts[K, V, I]{x, make([]index.Bounds[I], len(keys))}
	for n, i := range keys {
		w.bounds[n] = x.Equal(i)
	}
	return w
}

func (w Parts[K, V, I]) Differs(newer, older *snapshot.Map[K, V]) bool {
	for n := range w.bounds {
		w.index.Check(&w.bounds[n]) // which panics for a bad key, in this goroutine
	}
	if newer == older {
		return false
	}
	is, was := w.index.In(newer, index.Bounds[I]{}), w.index.In(older, index.Bounds[I]{})
	for _, b := range w.bounds {
		is.Bounds, was.Bounds = b, b
		if !is.HasSameRows(&was.Part) {
			return true
		}
	}
	return false
}

func (w Parts[K, V, I]) Add(h *Hub[K], c *Waiter) {
	for some := range slices.Chunk(w.bounds, atOnce) {
		register(h, w.index, &w.index.Order, c, func(x indexWatchers[I]) (indexWatchers[I], func()) {
			all := make([]waiters, len(some))
			for n := range some {
				var is *interval[I]
				x.parts, is = x.parts.with(x.order, &some[n])
				all[n] = is.who
			}
			return x, func() {
				for _, cs := range all {
					cs[c] = struct{}{}
				}
			}
		})
	}
}

func (w Parts[K, V, I]) Remove(h *Hub[K], c *Waiter) {
	for some := range slices.Chunk(w.bounds, atOnce) {
		register(h, w.index, &w.index.Order, nil, func(x indexWatchers[I]) (indexWatchers[I], func()) {
			left := x
			var all []waiters
			if !index.Compares(func() {
				for n := range some {
					if is := left.parts.find(x.order, &some[n]); is != nil { // unless it was never added
						all = append(all, is.who)
						if _, has := is.who[c]; has && len(is.who) == 1 {
							left.parts = left.parts.without(x.order, &some[n])
						}
					}
				}
			}) {
				left, all = x.withoutComparing(c)
			}
			return left, func() {
				for _, cs := range all {
					delete(cs, c)
				}
			}
		})
	}
}

// register replaces the watchers of an index, def, by what edit makes of them, and calls what
// edit returns with h.mu held. Index keys are found by comparing, which is foreign code,
// so that h.mu must not be held meanwhile: registering is.
func register[K comparable, I any](h *Hub[K], def any, order *index.Order[I], c *Waiter, edit func(x indexWatchers[I]) (indexWatchers[I], func())) {
	h.registering.Lock() // so that nobody else edits waiters, or replaces the watchers
	defer h.registering.Unlock()
	x, _ := h.watchersOf(def).(indexWatchers[I])
	x.order = order
	x, finish := edit(x)
	h.step(c, func() {
		finish()
		if x.parts == nil {
			delete(h.indexes, def)
		} else {
			h.indexes[def] = x
		}
	})
}

// indexWatchers are watchers, immutable but for the waiters.
type indexWatchers[I any] struct {
	order *index.Order[I]
	parts *interval[I]
}

// withoutComparing returns x where c is in no waiters, once it is taken out of all that it
// returns: for keys that can be compared no more. Intervals that nobody watches go when
// there are no others.
func (x indexWatchers[I]) withoutComparing(c *Waiter) (left indexWatchers[I], all []waiters) {
	others := false
	x.parts.all(func(n *interval[I]) {
		_, has := n.who[c]
		if has {
			all = append(all, n.who)
		}
		others = others || len(n.who) > 1 || len(n.who) == 1 && !has
	})
	if !others {
		x.parts = nil
	}
	return x, all
}

func (x indexWatchers[I]) touched(t any, who []waiters) []waiters {
	touched := t.(*index.Touched[I])
	found := who
	add := func(n *interval[I]) { found = append(found, n.who) }
	if len(touched.Items) > 1 {
		seen := make(map[*interval[I]]struct{})
		add = func(n *interval[I]) {
			if _, twice := seen[n]; !twice {
				seen[n] = struct{}{}
				found = append(found, n.who)
			}
		}
	}
	if !index.Compares(func() {
		if touched.Any {
			x.parts.all(func(n *interval[I]) {
				if touched.Concerns(&n.bounds) {
					add(n)
				}
			})
		}
		for _, it := range touched.Items {
			x.parts.around(x.order, it, add)
		}
	}) {
		return x.all(who) // whoever watches a key that cannot be compared gets the panic
	}
	return found
}

func (x indexWatchers[I]) all(who []waiters) []waiters {
	x.parts.all(func(n *interval[I]) { who = append(who, n.who) })
	return who
}
