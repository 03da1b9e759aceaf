package cow

import (
	"iter"

	"github.com/cowstore/cowstore/cow/internal/index"
)

// A Range is a part of an index at one version, in order: all of it, or what
// From, To and the like have narrowed it to. Each of them returns a narrower
// Range; of two bounds at one end the tighter one counts. A Range is an immutable
// value, made by Index.In and Index.During, safe for concurrent use, and valid
// forever; the zero Range panics. It keeps the index of its version alive, rows included.
type Range[K comparable, V, I any] struct{ span index.Span[K, V, I] }

// made returns what r is, and panics for the zero Range.
func (r Range[K, V, I]) made() index.Span[K, V, I] {
	if r.span.Index() == nil {
		panic("cow: the zero Range is of no index: make one with Index.In or Index.During")
	}
	return r.span
}

// From narrows the range to index keys equal to or above i.
func (r Range[K, V, I]) From(i I) Range[K, V, I] { return Range[K, V, I]{r.made().From(i)} }

// To narrows the range to index keys below i.
func (r Range[K, V, I]) To(i I) Range[K, V, I] { return Range[K, V, I]{r.made().To(i)} }

// Equal narrows the range to the index key i.
func (r Range[K, V, I]) Equal(i I) Range[K, V, I] { return Range[K, V, I]{r.made().Equal(i)} }

// Leading narrows the range to the index keys whose first n fields are equal to those
// of i: the fields are what the functions given to [NewIndexFunc] compare. It panics
// if there are fewer than n of them, or if n is below 1.
func (r Range[K, V, I]) Leading(n int, i I) Range[K, V, I] {
	return Range[K, V, I]{r.made().Leading(n, i)}
}

// Prefix narrows the range to the index keys that begin with p. The index must order
// its keys by their bytes, as NewIndex does strings and bytes.Compare does. It panics
// if they are neither strings nor slices of bytes.
func (r Range[K, V, I]) Prefix(p I) Range[K, V, I] { return Range[K, V, I]{r.made().Prefix(p)} }

// After narrows the range to what comes after the row of that key under i,
// whether or not there is one: to resume an iteration in ascending order.
func (r Range[K, V, I]) After(i I, key K) Range[K, V, I] {
	return Range[K, V, I]{r.made().After(i, key)}
}

// Before narrows the range to what comes before the row of that key under i,
// whether or not there is one: to resume an iteration in descending order.
func (r Range[K, V, I]) Before(i I, key K) Range[K, V, I] {
	return Range[K, V, I]{r.made().Before(i, key)}
}

// Reverse returns the same range in the opposite order.
func (r Range[K, V, I]) Reverse() Range[K, V, I] { return Range[K, V, I]{r.span.Reverse()} }

// Get returns the row under i, the first in the order of the range if there are
// several, and whether there is one.
func (r Range[K, V, I]) Get(i I) (Row[K, V], bool) { return r.made().Get(i) }

// First returns the first index key and row of the range in its order, and
// whether there is one.
func (r Range[K, V, I]) First() (i I, row Row[K, V], ok bool) {
	for i, row := range r.All() {
		return i, row, true
	}
	return i, row, false
}

// Len returns the number of entries in the range: rows, counted once for each
// of their index keys there. It takes constant time for a whole index, and time
// proportional to their number for less.
func (r Range[K, V, I]) Len() int { return r.made().Len() }

// All returns an iterator over index keys and rows in order. A row is there once
// for each of its index keys. Nothing is cloned until a row is asked for its
// value.
func (r Range[K, V, I]) All() iter.Seq2[I, Row[K, V]] { return r.made().All() }

// Changes returns an iterator over changes as they look from the range: a row that came
// into it is Added, one that left it is Removed, and one that was never in it is left
// out. Of the range only the bounds count; one of In(nil) has no rows to keep alive. It
// takes what Rows of a commit gives, or Diff of a map, and makes a feed one of a part
// of the rows. It panics at a change of another table.
func (r Range[K, V, I]) Changes(all iter.Seq[Change[K, V]]) iter.Seq[Change[K, V]] {
	return r.made().Changes(all)
}
