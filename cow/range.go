package cow

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sort"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// A Range is a part of an index at one version, in order: all of it, or what
// From, To and the like have narrowed it to. Each of them returns a narrower
// Range; of two bounds at one end the tighter one counts. A Range is an immutable
// value, made by Index.In and Index.During, safe for concurrent use, and valid
// forever; the zero Range panics. It keeps the index of its version alive, rows included.
type Range[K comparable, V, I any] struct {
	content *content[K, V, I]
	low     *item[K, V, I] // nil: from the first
	after   bool           // low itself is out
	high    *item[K, V, I] // nil: to the last; exclusive
	reverse bool
	pending uint64 // the version of the update that the range is of; 0: of none
}

// made panics for the zero Range.
func (r Range[K, V, I]) made() {
	if r.content == nil {
		panic("cow: the zero Range is of no index: make one with Index.In or Index.During")
	}
}

// From narrows the range to index keys equal to or above i.
func (r Range[K, V, I]) From(i I) Range[K, V, I] {
	r.made()
	return r.from(item[K, V, I]{i, r.content.index.all().below}, false)
}

// To narrows the range to index keys below i.
func (r Range[K, V, I]) To(i I) Range[K, V, I] {
	r.made()
	return r.to(item[K, V, I]{i, r.content.index.all().below})
}

// Equal narrows the range to the index key i.
func (r Range[K, V, I]) Equal(i I) Range[K, V, I] {
	r.made()
	return r.Leading(len(r.content.index.fields), i)
}

// Leading narrows the range to the index keys whose first n fields are equal to those
// of i: the fields are what the functions given to [NewIndexFunc] compare. It panics
// if there are fewer than n of them, or if n is below 1.
func (r Range[K, V, I]) Leading(n int, i I) Range[K, V, I] {
	r.made()
	x := r.content.index
	if n < 1 || n > len(x.fields) {
		panic(fmt.Sprintf("cow: Leading(%d) of index %q, whose keys are compared by %d functions", n, x.name, len(x.fields)))
	}
	b := x.bounds[n-1]
	return r.from(item[K, V, I]{i, b.below}, false).to(item[K, V, I]{i, b.above})
}

// Prefix narrows the range to the index keys that begin with p. The index must order
// its keys by their bytes, as NewIndex does strings and bytes.Compare does. It panics
// if they are neither strings nor slices of bytes.
func (r Range[K, V, I]) Prefix(p I) Range[K, V, I] {
	r.made()
	v := reflect.ValueOf(&p).Elem()
	var end []byte
	switch {
	case v.Kind() == reflect.String:
		end = []byte(v.String())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		end = bytes.Clone(v.Bytes())
	default:
		panic(fmt.Sprintf("cow: Prefix of index %q, whose keys are neither strings nor []byte", r.content.index.name))
	}
	r = r.From(p)
	// All of them are below what is next when the last byte counts one up.
	for len(end) > 0 && end[len(end)-1] == 0xff { // not bytes.TrimRight, which goes by runes
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return r
	}
	end[len(end)-1]++
	return r.To(reflect.ValueOf(end).Convert(v.Type()).Interface().(I))
}

// After narrows the range to what comes after the row of that key under i,
// whether or not there is one: to resume an iteration in ascending order.
func (r Range[K, V, I]) After(i I, key K) Range[K, V, I] {
	r.made()
	return r.from(item[K, V, I]{i, r.content.index.probe(key)}, true)
}

// Before narrows the range to what comes before the row of that key under i,
// whether or not there is one: to resume an iteration in descending order.
func (r Range[K, V, I]) Before(i I, key K) Range[K, V, I] {
	r.made()
	return r.to(item[K, V, I]{i, r.content.index.probe(key)})
}

// Reverse returns the same range in the opposite order.
func (r Range[K, V, I]) Reverse() Range[K, V, I] {
	r.reverse = !r.reverse
	return r
}

func (r Range[K, V, I]) from(low item[K, V, I], after bool) Range[K, V, I] {
	low.key = r.content.index.own(low.key)
	c := 1
	if r.low != nil {
		c = r.content.index.compareItems(low, *r.low)
	}
	if c > 0 || c == 0 && after {
		r.low, r.after = &low, after
	}
	return r
}

func (r Range[K, V, I]) to(high item[K, V, I]) Range[K, V, I] {
	high.key = r.content.index.own(high.key)
	if r.high == nil || r.content.index.compareItems(high, *r.high) < 0 {
		r.high = &high
	}
	return r
}

// Get returns the row under i, the first in the order of the range if there are
// several, and whether there is one.
func (r Range[K, V, I]) Get(i I) (Row[K, V], bool) {
	r.made()
	if p := r.content.points; p != nil && r.content.dups.Len() == 0 && r.low == nil && r.high == nil && p.knows(i) {
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
// proportional to their number for less.
func (r Range[K, V, I]) Len() int {
	r.made()
	if r.low == nil && r.high == nil {
		return r.content.sorted.Len()
	}
	n := 0
	for keys := range r.runs() {
		n += len(keys)
	}
	return n
}

// All returns an iterator over index keys and rows in order. A row is there once
// for each of its index keys. Nothing is cloned until a row is asked for its
// value.
func (r Range[K, V, I]) All() iter.Seq2[I, Row[K, V]] {
	r.made()
	return func(yield func(I, Row[K, V]) bool) {
		x := r.content.index
		limit := 1 // whoever wants the first row should not pay for more
		for keys, rows := range r.runs() {
			for n := len(keys); n > 0; n = len(keys) {
				some := min(n, limit)
				from := 0
				if r.reverse {
					from = n - some
				}
				if some > 1 {
					builder[K, V]{}.Prefetch(rows[from : from+some])
				}
				for i := range some {
					if r.reverse {
						i = some - 1 - i
					}
					if !yield(x.own(keys[from+i]), r.row(rows[from+i])) {
						return
					}
				}
				if r.reverse {
					keys, rows = keys[:from], rows[:from]
				} else {
					keys, rows = keys[some:], rows[some:]
				}
				limit = min(8*limit, 64)
			}
		}
	}
}

// row returns the row of an item.
func (r *Range[K, V, I]) row(ref *snapshot.RowRef[K, V]) Row[K, V] {
	row := builder[K, V]{}.Deref(r.content.index.empty, ref)
	if r.pending != 0 {
		row = builder[K, V]{}.Pending(row, r.pending)
	}
	return row
}

// runs returns an iterator over the items of the range; see reader.
func (r *Range[K, V, I]) runs() iter.Seq2[[]I, []*snapshot.RowRef[K, V]] {
	return func(yield func([]I, []*snapshot.RowRef[K, V]) bool) {
		at := r.read()
		for {
			keys, rows := at.next()
			if len(keys) == 0 || !yield(keys, rows) {
				return
			}
		}
	}
}

// A reader reads the items of a range, as many at a time as lie together. In a range
// in the opposite order the last come first, but each run is in the order of the index.
type reader[K comparable, V, I any] struct {
	of   *Range[K, V, I]
	at   ordered.Cursor[I, *snapshot.RowRef[K, V]]
	done bool
}

func (r *Range[K, V, I]) read() reader[K, V, I] {
	x, t := r.content.index, r.content.sorted
	switch {
	case !r.reverse && r.low == nil:
		return reader[K, V, I]{of: r, at: t.Start()}
	case !r.reverse:
		return reader[K, V, I]{of: r, at: t.Seek(&x.order, r.low.key, r.low.row)}
	case r.high == nil:
		return reader[K, V, I]{of: r, at: t.End()}
	}
	return reader[K, V, I]{of: r, at: t.Seek(&x.order, r.high.key, r.high.row)}
}

// next returns the next items, none at the end.
func (r *reader[K, V, I]) next() (keys []I, rows []*snapshot.RowRef[K, V]) {
	if r.done {
		return nil, nil
	}
	if r.of.reverse {
		keys, rows = r.at.Prev()
		if n := len(keys); n > 0 && !r.of.isAfterLow(keys[0], rows[0]) {
			i := sort.Search(n, func(i int) bool { return r.of.isAfterLow(keys[i], rows[i]) })
			keys, rows, r.done = keys[i:], rows[i:], true
		}
		return keys, rows
	}
	keys, rows = r.at.Next()
	if len(keys) > 0 && !r.of.isAfterLow(keys[0], rows[0]) { // low itself, which the place is before
		if keys, rows = keys[1:], rows[1:]; len(keys) == 0 {
			keys, rows = r.at.Next()
		}
	}
	if n := len(keys); n > 0 && !r.of.isBeforeHigh(keys[n-1], rows[n-1]) {
		i := sort.Search(n, func(i int) bool { return !r.of.isBeforeHigh(keys[i], rows[i]) })
		keys, rows, r.done = keys[:i], rows[:i], true
	}
	return keys, rows
}

// isAfterLow and isBeforeHigh report on which side of a bound an item lies.
func (r *Range[K, V, I]) isAfterLow(k I, ref *snapshot.RowRef[K, V]) bool {
	if r.low == nil {
		return true
	}
	c := r.content.index.compareWith(k, ref, r.low)
	return c > 0 || c == 0 && !r.after
}

func (r *Range[K, V, I]) isBeforeHigh(k I, ref *snapshot.RowRef[K, V]) bool {
	return r.high == nil || r.content.index.compareWith(k, ref, r.high) < 0
}

// has reports whether an item lies between the bounds.
func (r *Range[K, V, I]) has(k I, ref *snapshot.RowRef[K, V]) bool {
	return r.isAfterLow(k, ref) && r.isBeforeHigh(k, ref)
}

// compareWith orders an item and a bound.
func (x *indexDef[K, V, I]) compareWith(k I, ref *snapshot.RowRef[K, V], bound *item[K, V, I]) int {
	if c := x.compareTo(k, bound.key, bound.row); c != 0 {
		return c
	}
	return x.compareRows(ref, bound.row)
}

// Changes returns an iterator over changes as they look from the range: a row that came
// into it is Added, one that left it is Removed, and one that was never in it is left
// out. Of the range only the bounds count; one of In(nil) has no rows to keep alive. It
// takes what Rows of a commit gives, or Diff of a map, and makes a feed one of a part
// of the rows.
func (r Range[K, V, I]) Changes(of iter.Seq[Change[K, V]]) iter.Seq[Change[K, V]] {
	r.made()
	return func(yield func(Change[K, V]) bool) {
		x := r.content.index
		var keys collector[I]
		in := func(row Row[K, V]) bool {
			return slices.ContainsFunc(x.keysOf(row, &keys), func(i I) bool { return r.has(i, builder[K, V]{}.Ref(row)) })
		}
		for c := range of {
			was, is := c.Rows()
			if seen, ok := (builder[K, V]{}).Part(c, in(was), in(is)); ok && !yield(seen) {
				return
			}
		}
	}
}
