package cow

import (
	"fmt"
	"iter"

	"github.com/cowstore/cowstore/cow/internal/index"
)

// A Range is a part of an index at one version, in order: all of it, or what
// From, To and the like have narrowed it to. Each of them returns a narrower
// Range; of two bounds at one end the tighter one counts. A Range is an immutable
// value, made by Index.In and Index.During, safe for concurrent use, and valid
// forever; the zero Range panics. It keeps the index of its version alive, rows included.
//
// To find a place in a Range of n entries, to count what is below it and to skip what is
// before it takes time proportional to log n.
type Range[K comparable, V, I any] struct {
	span index.Span[K, V, I]
	e    *Editor[K, V] // of During; nil: of a snapshot
}

// made returns what r is, to be narrowed if r is a copy, and panics for the zero Range.
func (r *Range[K, V, I]) made() *index.Span[K, V, I] {
	if r.span.Index() == nil {
		panic("cow: the zero Range is of no index: make one with Index.In or Index.During")
	}
	return &r.span
}

// From narrows the range to index keys equal to or above i.
func (r Range[K, V, I]) From(i I) Range[K, V, I] {
	r.made().From(i)
	return r
}

// Above narrows the range to index keys above i.
func (r Range[K, V, I]) Above(i I) Range[K, V, I] {
	r.made().Above(i)
	return r
}

// To narrows the range to index keys below i; see Through for i too.
func (r Range[K, V, I]) To(i I) Range[K, V, I] {
	r.made().To(i)
	return r
}

// Through narrows the range to index keys equal to or below i.
func (r Range[K, V, I]) Through(i I) Range[K, V, I] {
	r.made().Through(i)
	return r
}

// Equal narrows the range to the index key i.
func (r Range[K, V, I]) Equal(i I) Range[K, V, I] {
	r.made().Equal(i)
	return r
}

// Leading narrows the range to the index keys whose first n fields are equal to those of i: the
// fields are what the functions given to [NewIndexFunc] or [NewOrder] compare or, without these,
// those of a struct; a key with a method Compare has one. It panics if there are fewer than n of
// them, or if n is below 1.
func (r Range[K, V, I]) Leading(n int, i I) Range[K, V, I] {
	r.made().Leading(n, i)
	return r
}

// Prefix narrows the range to the index keys that begin with p. Keys that are structs must
// be equal to p in all fields but the last, which begins with that of p. The order of the
// index decides what is equal, so that one that takes no account of case finds what
// begins with p in any; it must compare texts from their beginnings, rune by rune. Prefix panics if keys are
// neither strings nor []byte nor structs with one at the end, or are not in ascending order of
// that.
func (r Range[K, V, I]) Prefix(p I) Range[K, V, I] {
	r.made().Prefix(p)
	return r
}

// After narrows the range to what comes after the row of that key under i,
// whether or not there is one: to resume an iteration in ascending order.
func (r Range[K, V, I]) After(i I, key K) Range[K, V, I] {
	r.made().After(i, key)
	return r
}

// Before narrows the range to what comes before the row of that key under i,
// whether or not there is one: to resume an iteration in descending order.
func (r Range[K, V, I]) Before(i I, key K) Range[K, V, I] {
	r.made().Before(i, key)
	return r
}

// Skip narrows the range to what comes after its first n entries, so that
// Skip(n).First() is the entry that n others are before. Where that is, is fixed then: see
// Limit. It panics if n is negative.
func (r Range[K, V, I]) Skip(n int) Range[K, V, I] {
	r.made().Skip(n)
	return r
}

// Limit narrows the range to its first n entries. It fixes the place where these end, and not
// their number. A watch, TakeFirst and Delete look at the range as it is later: there an entry that
// came in before that place is in it too. If there are n entries or fewer, the range stays as it is.
// Limit panics if n is negative.
func (r Range[K, V, I]) Limit(n int) Range[K, V, I] {
	r.made().Limit(n)
	return r
}

// Cursor returns the place of the row of that key under i as text, for Resume: what a page of
// rows ends with, to be sent to whoever asks for the next. Both keys must be numbers,
// booleans, strings, arrays or structs of these, or come back from JSON as they were; else it
// returns an error. The text tells both keys to whoever has it.
func (r Range[K, V, I]) Cursor(i I, key K) (string, error) {
	return r.made().Index().Cursor(i, key)
}

// Resume narrows the range to what comes after a cursor in its order, whether or not that row
// is still there. It returns an error that wraps ErrCursor for a text that is not a cursor of
// this index. A cursor that was made up leads to another place of the range, and to nothing
// else.
func (r Range[K, V, I]) Resume(cursor string) (Range[K, V, I], error) {
	if err := r.made().Resume(cursor); err != nil {
		return Range[K, V, I]{}, fmt.Errorf("%w: index %.100q: %w", ErrCursor, r.span.Index().Name, err)
	}
	return r, nil
}

// Reverse returns the same range in the opposite order.
func (r Range[K, V, I]) Reverse() Range[K, V, I] {
	r.made().Reverse()
	return r
}

// Get returns the row under i, the first in the order of the range if there are
// several, and whether there is one.
func (r Range[K, V, I]) Get(i I) (Row[K, V], bool) { return r.made().Get(i) }

// GetMany returns an iterator over the places in keys of those under which there is a row, in the
// order of keys, and what Get returns for each. The rows are read together, and so is the index,
// if it is unique and whole.
func (r Range[K, V, I]) GetMany(keys []I) iter.Seq2[int, Row[K, V]] { return r.made().GetMany(keys) }

// First returns the first index key and row of the range in its order, and
// whether there is one. The last is that of Reverse.
func (r Range[K, V, I]) First() (i I, row Row[K, V], ok bool) { return r.made().First() }

// LongestPrefix returns the longest index key of the range that i begins with, the first row
// under it in the order of the index, and whether there is one: such as the route for a path. Prefix says what keys may
// be. It looks for a key as often as others that i does not begin with lie between.
func (r Range[K, V, I]) LongestPrefix(i I) (key I, row Row[K, V], ok bool) {
	return r.made().LongestPrefix(i)
}

// Len returns the number of entries in the range: rows, counted once for each
// of their index keys there. To(i).Len() is the rank of i. It takes constant time for a whole
// index.
func (r Range[K, V, I]) Len() int { return r.made().Len() }

// All returns an iterator over index keys and rows in order. A row is there once
// for each of its index keys. Nothing is cloned until a row is asked for its
// value.
func (r Range[K, V, I]) All() iter.Seq2[I, Row[K, V]] {
	return func(yield func(I, Row[K, V]) bool) {
		r := r // so that the one outside stays off the heap
		r.made().Each(yield)
	}
}

// during makes r the range as its update has left it so far.
func (r *Range[K, V, I]) during(method string) *index.Span[K, V, I] {
	s := r.made()
	if r.e == nil {
		panic(fmt.Sprintf("cow: %s of a range of index %q in a snapshot: make it by During, in an update", method, s.Index().Name))
	}
	s.During(r.e)
	return s
}

// TakeFirst removes the row of the first entry that the range has by now from the update it
// was made in, and returns what First would have. It panics unless the range was made by
// During, and when the update has ended.
func (r Range[K, V, I]) TakeFirst() (i I, row Row[K, V], ok bool) {
	if i, row, ok = r.during("TakeFirst").First(); ok {
		r.e.Delete(row.Key())
	}
	return i, row, ok
}

// Delete removes the rows that the range has by now from the update it was made in, and
// returns how many. It panics unless the range was made by During, and when the update
// has ended.
func (r Range[K, V, I]) Delete() (n int) {
	r.during("Delete").Each(func(_ I, row Row[K, V]) bool {
		if r.e.Delete(row.Key()) {
			n++
		}
		return true
	})
	return n
}

// Changes returns an iterator over changes as they look from the range: a row that came
// into it is Added, one that left it is Removed, and one that was never in it is left
// out. Of the range only the bounds count; one of In(nil) has no rows to keep alive. It
// takes what Rows of a commit gives, or Diff of a map, and makes a feed one of a part
// of the rows. It panics at a change of another table.
func (r Range[K, V, I]) Changes(all iter.Seq[Change[K, V]]) iter.Seq[Change[K, V]] {
	return r.made().Changes(all)
}
