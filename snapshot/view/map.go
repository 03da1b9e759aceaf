package view

import (
	"iter"
	"maps"
)

// The entries of a map.
type entries[K comparable, V any] struct{ m map[K]V }

// Len returns the number of keys.
func (e entries[K, V]) Len() int { return len(e.m) }

// IsNil reports whether the map is nil, and not only empty.
func (e entries[K, V]) IsNil() bool { return e.m == nil }

// Has reports whether key is present.
func (e entries[K, V]) Has(key K) bool { _, ok := e.m[key]; return ok }

// Keys returns an iterator over the keys.
func (e entries[K, V]) Keys() iter.Seq[K] { return maps.Keys(e.m) }

// Clone returns a deep copy of the map that belongs to the caller.
func (e entries[K, V]) Clone() map[K]V { return cloned(e.m) }

// String returns how many keys there are.
func (e entries[K, V]) String() string { return count(len(e.m), "key") }

// MarshalJSON returns the JSON of the map.
func (e entries[K, V]) MarshalJSON() ([]byte, error) { return marshal(e.m) }

// A Map shows a map whose elements hold nothing that can be modified. Its order is as
// random as that of a map; slices.Sorted(v.Keys()) has the keys in order.
type Map[K comparable, V any] struct{ entries[K, V] }

// MapOf returns a view of m, which must not be written to.
func MapOf[K comparable, V any](m map[K]V) Map[K, V] { return Map[K, V]{entries[K, V]{m}} }

func (Map[K, V]) check() error { return either(immutable[K]("Map"), immutable[V]("Map")) }

// ViewOf returns a view of the map that r points to.
func (Map[K, V]) ViewOf(r Ref[map[K]V]) Map[K, V] { return Map[K, V]{entries[K, V]{r.value()}} }

// Get returns the element of key, and whether key is present.
func (v Map[K, V]) Get(key K) (V, bool) { e, ok := v.m[key]; return e, ok }

// All returns an iterator over keys and elements.
func (v Map[K, V]) All() iter.Seq2[K, V] { return maps.All(v.m) }

// Values returns an iterator over the elements.
func (v Map[K, V]) Values() iter.Seq[V] { return maps.Values(v.m) }

// MapViews shows a map of what is shown by views. The elements of a map have no
// address: to read one copies it, but not what it points to.
type MapViews[K comparable, T any, W Viewer[T, W]] struct {
	_ shownAs[W]
	entries[K, T]
}

// MapViewsOf returns a view of m, which must not be written to.
func MapViewsOf[W Viewer[T, W], K comparable, T any](m map[K]T) MapViews[K, T, W] {
	return MapViews[K, T, W]{entries: entries[K, T]{m}}
}

func (MapViews[K, T, W]) check() error { return either(immutable[K]("MapViews"), Check[W]()) }

// ViewOf returns a view of the map that r points to.
func (MapViews[K, T, W]) ViewOf(r Ref[map[K]T]) MapViews[K, T, W] {
	return MapViews[K, T, W]{entries: entries[K, T]{r.value()}}
}

// Get returns a view of the element of key, and whether key is present. The view of an
// absent element is the zero one.
func (v MapViews[K, T, W]) Get(key K) (w W, ok bool) {
	if e, ok := v.m[key]; ok {
		return Of[W](Ref[T]{&e}), true
	}
	return w, false
}

// All returns an iterator over keys and views of the elements.
func (v MapViews[K, T, W]) All() iter.Seq2[K, W] {
	return func(yield func(K, W) bool) {
		for k, e := range v.m {
			if !yield(k, Of[W](Ref[T]{&e})) {
				return
			}
		}
	}
}

// Values returns an iterator over views of the elements.
func (v MapViews[K, T, W]) Values() iter.Seq[W] { return second(v.All()) }

// MapPointers shows a map of pointers to what is shown by views.
type MapPointers[K comparable, T any, W Viewer[T, W]] struct {
	_ shownAs[W]
	entries[K, *T]
}

// MapPointersOf returns a view of m, which must not be written to.
func MapPointersOf[W Viewer[T, W], K comparable, T any](m map[K]*T) MapPointers[K, T, W] {
	return MapPointers[K, T, W]{entries: entries[K, *T]{m}}
}

func (MapPointers[K, T, W]) check() error { return either(immutable[K]("MapPointers"), Check[W]()) }

// ViewOf returns a view of the map that r points to.
func (MapPointers[K, T, W]) ViewOf(r Ref[map[K]*T]) MapPointers[K, T, W] {
	return MapPointers[K, T, W]{entries: entries[K, *T]{r.value()}}
}

// Get returns a view of what the element of key points to, not Valid if that is nil,
// and whether key is present.
func (v MapPointers[K, T, W]) Get(key K) (W, bool) {
	p, ok := v.m[key]
	return Of[W](Ref[T]{p}), ok
}

// All returns an iterator over keys and views of what the elements point to.
func (v MapPointers[K, T, W]) All() iter.Seq2[K, W] {
	return func(yield func(K, W) bool) {
		for k, p := range v.m {
			if !yield(k, Of[W](Ref[T]{p})) {
				return
			}
		}
	}
}

// Values returns an iterator over views of what the elements point to.
func (v MapPointers[K, T, W]) Values() iter.Seq[W] { return second(v.All()) }

func second[K, W any](seq iter.Seq2[K, W]) iter.Seq[W] {
	return func(yield func(W) bool) {
		seq(func(_ K, w W) bool { return yield(w) })
	}
}
