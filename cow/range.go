package cow

import (
	"iter"

	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/snapshot"
)

// A Range is a part of an index at one version, in order: all of it, or what
// From, To and the like have narrowed it to. Each of them returns a narrower
// Range; of two bounds at one end the tighter one counts. A Range is an immutable
// value, made by Index.In and Index.During, safe for concurrent use, and valid
// forever.
type Range[K comparable, V, I any] struct {
	content *content[K, V, I]
	low     *item[K, V, I] // nil: from the first; inclusive
	high    *item[K, V, I] // nil: to the last; exclusive
	reverse bool
	pending uint64 // the version of the update that the range is of; 0: of none
}

// From narrows the range to index keys equal to or above i.
func (r Range[K, V, I]) From(i I) Range[K, V, I] { return r.from(item[K, V, I]{key: i}) }

// To narrows the range to index keys below i.
func (r Range[K, V, I]) To(i I) Range[K, V, I] { return r.to(item[K, V, I]{key: i}) }

// Equal narrows the range to the index key i.
func (r Range[K, V, I]) Equal(i I) Range[K, V, I] {
	return r.From(i).to(item[K, V, I]{i, r.content.index.high})
}

// After narrows the range to what comes after the row of that key under i,
// whether or not there is one: to resume an iteration in ascending order.
func (r Range[K, V, I]) After(i I, key K) Range[K, V, I] {
	row := item[K, V, I]{i, r.content.index.empty.Probe(key).Ref()}
	it := r.content.sorted.Iterator()
	it.Seek(row)
	next, _, ok := it.Next()
	if ok && r.content.index.Compare(next, row) == 0 {
		next, _, ok = it.Next()
	}
	if !ok {
		return r.from(row).to(row) // nothing
	}
	return r.from(next)
}

// Before narrows the range to what comes before the row of that key under i,
// whether or not there is one: to resume an iteration in descending order.
func (r Range[K, V, I]) Before(i I, key K) Range[K, V, I] {
	return r.to(item[K, V, I]{i, r.content.index.empty.Probe(key).Ref()})
}

// Reverse returns the same range in the opposite order.
func (r Range[K, V, I]) Reverse() Range[K, V, I] {
	r.reverse = !r.reverse
	return r
}

func (r Range[K, V, I]) from(low item[K, V, I]) Range[K, V, I] {
	low.key = r.content.index.own(low.key)
	if r.low == nil || r.content.index.Compare(low, *r.low) > 0 {
		r.low = &low
	}
	return r
}

func (r Range[K, V, I]) to(high item[K, V, I]) Range[K, V, I] {
	high.key = r.content.index.own(high.key)
	if r.high == nil || r.content.index.Compare(high, *r.high) < 0 {
		r.high = &high
	}
	return r
}

// Get returns the row under i, the first in the order of the range if there are
// several, and whether there is one.
func (r Range[K, V, I]) Get(i I) (Row[K, V], bool) {
	if p := r.content.points; p != nil && r.content.dups == nil && r.low == nil && r.high == nil && p.knows(i) {
		ref, ok := p.get(i)
		if !ok {
			return Row[K, V]{}, false
		}
		return r.row(ref), true
	}
	for _, row := range r.Equal(i).All() {
		return row, true
	}
	return Row[K, V]{}, false
}

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
// of their number for less.
func (r Range[K, V, I]) Len() int {
	if r.low == nil && r.high == nil {
		return r.content.sorted.Len()
	}
	n := 0
	it := r.content.sorted.Iterator()
	for r.seek(it); ; n++ {
		if _, ok := r.next(it); !ok {
			return n
		}
	}
}

// All returns an iterator over index keys and rows in order. A row is there once
// for each of its index keys. Nothing is cloned until a row is asked for its
// value.
func (r Range[K, V, I]) All() iter.Seq2[I, Row[K, V]] {
	return func(yield func(I, Row[K, V]) bool) {
		x := r.content.index
		var keys [32]I
		var rows [32]Row[K, V]
		it := r.content.sorted.Iterator()
		r.seek(it)
		// Whoever wants the first row should not pay for more.
		for limit, more := 1, true; more; limit = min(8*limit, len(rows)) {
			n := 0
			for n < limit {
				var at item[K, V, I]
				if at, more = r.next(it); !more {
					break
				}
				keys[n], rows[n] = at.key, r.row(at.row)
				n++
			}
			snapshot.Prefetch(rows[:n])
			for i := range rows[:n] {
				if !yield(x.own(keys[i]), rows[i]) {
					return
				}
			}
		}
	}
}

// row returns the row of an item.
func (r *Range[K, V, I]) row(ref snapshot.Ref[K, V]) Row[K, V] {
	row := r.content.index.empty.Deref(ref)
	if r.pending != 0 {
		row = row.Pending(r.pending)
	}
	return row
}

// An iterator is where an iteration over items is.
type iterator[K comparable, V, I any] = immutable.SortedMapIterator[item[K, V, I], struct{}]

// seek puts it, of the whole index, before the first item of the range.
func (r *Range[K, V, I]) seek(it *iterator[K, V, I]) {
	switch {
	case !r.reverse && r.low == nil:
		it.First()
	case !r.reverse:
		it.Seek(*r.low)
	case r.high == nil:
		it.Last()
	default:
		if it.Seek(*r.high); it.Done() {
			it.Last()
		} else {
			it.Prev() // from the first that is too high
		}
	}
}

// next returns the next item of the range, and false if there is none.
func (r *Range[K, V, I]) next(it *iterator[K, V, I]) (at item[K, V, I], ok bool) {
	if r.reverse {
		at, _, ok = it.Prev()
		ok = ok && (r.low == nil || r.content.index.Compare(at, *r.low) >= 0)
	} else {
		at, _, ok = it.Next()
		ok = ok && (r.high == nil || r.content.index.Compare(at, *r.high) < 0)
	}
	if !ok {
		return item[K, V, I]{}, false
	}
	return at, true
}
