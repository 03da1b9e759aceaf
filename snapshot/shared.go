package snapshot

import "iter"

// A Shared reads a Map without cloning. What it hands out belongs to the map
// and must not be modified, nor anything reached through it: other versions,
// other readers and the past hold the same memory. Package cowtest finds
// those that do it all the same.
//
// The zero Shared is empty. It is a value, to be copied freely, safe for
// concurrent use, and as immutable as its Map.
type Shared[K comparable, V any] struct{ m *Map[K, V] }

// Get returns the stored value of key and whether key is present.
func (s Shared[K, V]) Get(key K) (V, bool) {
	if e := s.m.lookup(key); e != nil {
		return e.value, true
	}
	var zero V
	return zero, false
}

// Len returns the number of keys.
func (s Shared[K, V]) Len() int { return s.m.Len() }

// All returns an iterator over keys and stored values, in the order of Map.All.
func (s Shared[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		s.m.walk(func(e *entry[V]) bool { return yield(s.m.cfg.key(e), e.value) })
	}
}
