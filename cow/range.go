package cow

import (
	"fmt"
	"iter"

	"github.com/cowstore/cowstore/cow/internal/index"
)

// A Range is a part of an index at one version, in order: the whole index, or what From, To and the
// other methods have narrowed it to. Each of them returns a narrower Range; of two bounds at the
// same end the tighter one counts. A Range is made by [Index.In] and [Index.During]; the zero Range
// panics. It is an immutable value, safe for concurrent use, and valid forever. It keeps the index
// of its version alive, with the rows.
//
// In a Range of n entries, to find a place, to count the entries below it and to skip those before
// it takes time proportional to log n.
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

// To narrows the range to index keys below i; Through keeps i too.
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

// Leading narrows the range to the index keys whose first n fields are equal to those of i. The
// fields are what the functions given to [NewIndexFunc] or [NewOrder] compare, or, without
// functions, the fields of a struct. A key with a method Compare has one field. Leading panics if
// there are fewer than n fields, or if n is below 1.
func (r Range[K, V, I]) Leading(n int, i I) Range[K, V, I] {
	r.made().Leading(n, i)
	return r
}

// Prefix narrows the range to the index keys that begin with p. Keys must be strings, []byte, or
// structs whose last field is one of these; structs must be equal to p in all other fields. The
// order of the index decides what is equal: one that ignores case finds keys that begin with p in
// any case. It must compare texts from their beginnings, rune by rune. Prefix panics if keys are of
// another type, or not in ascending order.
func (r Range[K, V, I]) Prefix(p I) Range[K, V, I] {
	r.made().Prefix(p)
	return r
}

// After narrows the range to the rows after that of key under index key i, which need not be there.
// It resumes an iteration in ascending order.
func (r Range[K, V, I]) After(i I, key K) Range[K, V, I] {
	r.made().After(i, key)
	return r
}

// Before narrows the range to the rows before that of key under index key i, which need not be
// there. It resumes an iteration in descending order.
func (r Range[K, V, I]) Before(i I, key K) Range[K, V, I] {
	r.made().Before(i, key)
	return r
}

// Skip narrows the range to what comes after its first n entries, so that Skip(n).First() is the
// entry with n others before it. Like Limit, it fixes a place and not a number. It panics if n is
// negative.
func (r Range[K, V, I]) Skip(n int) Range[K, V, I] {
	r.made().Skip(n)
	return r
}

// Limit narrows the range to its first n entries. It fixes the place where these end, which is before
// the next entry, and not their number: a watch, TakeFirst and Delete look at the range later, and
// then an entry that came in before that place is in it too. If there are n entries or fewer, the
// range stays as it is. Limit panics if n is negative.
func (r Range[K, V, I]) Limit(n int) Range[K, V, I] {
	r.made().Limit(n)
	return r
}

// Cursor returns the place of the row of key under index key i as text, for Resume. A page of rows
// ends with it, and the reader sends it back to ask for the next page, of this process or another,
// where a table and an index of the same names and types of keys have it. The text shows both keys to
// the reader. They must be numbers, booleans, strings, arrays or structs of these, or come back
// from JSON as they were; otherwise Cursor returns an error. The example is that of [Range.Resume].
func (r Range[K, V, I]) Cursor(i I, key K) (string, error) {
	return r.made().Index().Cursor(i, key)
}

// Resume narrows the range to what comes after a cursor in its order, whether or not that row is
// still there. For a text that is not a cursor of this index it returns an error that wraps
// [ErrCursor]. A forged cursor can lead to another place in the range, but not outside of it.
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

// Get returns the row under index key i, and whether there is one. If there are several, it is the
// first in the order of the range.
func (r Range[K, V, I]) Get(i I) (Row[K, V], bool) { return r.made().Get(i) }

// GetMany returns an iterator over those index keys that have a row. It yields the index of each in
// keys, in order, and the row that Get returns for it. The rows are read together, which is faster
// than one by one; so is the index, if it is unique and the range is all of it.
func (r Range[K, V, I]) GetMany(keys []I) iter.Seq2[int, Row[K, V]] { return r.made().GetMany(keys) }

// First returns the first index key and row of the range, and whether there is one. To get the
// last, call Reverse().First().
func (r Range[K, V, I]) First() (i I, row Row[K, V], ok bool) { return r.made().First() }

// LongestPrefix returns the longest index key of the range that i begins with, the first row under
// it in the order of the index, and whether there is one. It finds the route for a path, for
// example. Keys are of the types that Prefix takes. After the first lookup, it makes at most one
// for each index key between the result and i.
func (r Range[K, V, I]) LongestPrefix(i I) (key I, row Row[K, V], ok bool) {
	return r.made().LongestPrefix(i)
}

// Len returns the number of entries in the range: each row counts once for each of its index keys
// there. To(i).Len() is the rank of i. For a whole index it takes constant time.
func (r Range[K, V, I]) Len() int { return r.made().Len() }

// All returns an iterator over index keys and rows, in order; rows with equal index keys are in the
// order of their own keys. It yields a row once for each of its
// index keys. Nothing is cloned until a row is asked for its value.
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

// TakeFirst removes the row of the first entry that the range has now, in the update that the range
// is of, and returns what First would have returned. It panics unless the range was made by During,
// and after the update has ended.
func (r Range[K, V, I]) TakeFirst() (i I, row Row[K, V], ok bool) {
	if i, row, ok = r.during("TakeFirst").First(); ok {
		r.e.Delete(row.Key())
	}
	return i, row, ok
}

// Delete removes the rows that the range has now, in the update that the range is of, and returns
// how many. It panics unless the range was made by During, and after the update has ended.
func (r Range[K, V, I]) Delete() (n int) {
	r.during("Delete").Each(func(_ I, row Row[K, V]) bool {
		if r.e.Delete(row.Key()) {
			n++
		}
		return true
	})
	return n
}

// Changes returns an iterator over those changes that concern the range, as seen from it: a row
// that came into the range is Added, and one that left it is Removed. Its argument is what
// [Table.Rows] of a commit or Diff of a map returns, in whose order they come, which may be any. So
// it makes a feed of a part of the rows. Only
// the bounds of the range count: to keep no rows alive, make it of In(nil). It panics at a change
// of another table.
func (r Range[K, V, I]) Changes(all iter.Seq[Change[K, V]]) iter.Seq[Change[K, V]] {
	return r.made().Changes(all)
}
