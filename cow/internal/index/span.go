package index

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cowstore/cowstore/snapshot"
)

// A Span is a part of an index at one version, with the rows: a cow.Range, which says what its
// methods do. The zero Span is of no index.
type Span[K comparable, V, I any] struct {
	Part[I]
	index   *Def[K, V, I]
	pending uint64 // the version of the update that the span is of; 0: of none
}

// In returns the part of an index within bounds as it is in a map.
func (x *Def[K, V, I]) In(m *snapshot.Map[K, V], b Bounds[I]) Span[K, V, I] {
	return Span[K, V, I]{Part: Part[I]{items: &x.in(m).items, Bounds: b}, index: x}
}

// During returns the index as an update has left it so far.
func (x *Def[K, V, I]) During(e *snapshot.Editor[K, V]) Span[K, V, I] {
	return Span[K, V, I]{Part: Part[I]{items: &x.during(e).items}, index: x, pending: e.Version()}
}

// Index returns the index of the span, nil for the zero Span.
func (s *Span[K, V, I]) Index() *Def[K, V, I] { return s.index }

func (s *Span[K, V, I]) After(i I, key K)  { s.from(i, s.index.probe(key), true) }
func (s *Span[K, V, I]) Before(i I, key K) { s.to(i, s.index.probe(key)) }

// During makes s the same part as an update has left it so far.
func (s *Span[K, V, I]) During(e *snapshot.Editor[K, V]) {
	s.items, s.pending = &s.index.during(e).items, e.Version()
}

func (s *Span[K, V, I]) Get(i I) (snapshot.Row[K, V], bool) {
	ref, ok := s.get(i)
	if !ok {
		return snapshot.Row[K, V]{}, false
	}
	return s.deref().Row(ref), true
}

func (s *Span[K, V, I]) GetMany(keys []I) iter.Seq2[int, snapshot.Row[K, V]] {
	part, deref := s.Part, s.deref()
	return func(yield func(int, snapshot.Row[K, V]) bool) {
		var places [64]int
		var refs [len(places)]*snapshot.RowRef
		for from := 0; from < len(keys); from += len(places) {
			n := 0
			for i, ref := range part.getMany(keys[from:min(from+len(places), len(keys))]) {
				places[n], refs[n] = from+i, ref
				n++
			}
			builder[K, V]{}.Prefetch(refs[:n])
			for i, ref := range refs[:n] {
				if !yield(places[i], deref.Row(ref)) {
					return
				}
			}
		}
	}
}

func (s *Span[K, V, I]) First() (i I, row snapshot.Row[K, V], ok bool) {
	return s.item(s.first())
}

func (s *Span[K, V, I]) LongestPrefix(i I) (key I, row snapshot.Row[K, V], ok bool) {
	return s.item(s.longestPrefix(i))
}

// item returns an item as others may have it.
func (s *Span[K, V, I]) item(it Item[I], found bool) (i I, row snapshot.Row[K, V], ok bool) {
	if !found {
		return i, row, false
	}
	return s.order.Own(it.Key), s.deref().Row(it.Row), true
}

// rowsIn is List.Rows.
func (x *Def[K, V, I]) rowsIn(m *snapshot.Map[K, V], skip int) (rows iter.Seq[snapshot.Row[K, V]], n int) {
	s := x.In(m, Bounds[I]{})
	n = s.Len()
	s.Skip(min(skip, n))
	return func(yield func(snapshot.Row[K, V]) bool) {
		s.Each(func(_ I, row snapshot.Row[K, V]) bool { return yield(row) })
	}, n
}

// Each calls yield with the index keys and rows in order, until it returns false.
func (s *Span[K, V, I]) Each(yield func(I, snapshot.Row[K, V]) bool) {
	deref := s.deref()
	ahead := 16 // whoever wants the first few rows should not pay for more
	var at reader[I]
	at.begin(&s.Part)
	for {
		keys, rows := at.next()
		if len(keys) == 0 {
			return
		}
		for len(keys) > 0 {
			some := min(len(keys), ahead)
			ahead = 64
			from := 0
			if s.reverse {
				from = len(keys) - some
			}
			builder[K, V]{}.Prefetch(rows[from : from+some])
			if !s.some(keys[from:from+some], rows[from:from+some], deref, yield) {
				return
			}
			if s.reverse {
				keys, rows = keys[:from], rows[:from]
			} else {
				keys, rows = keys[some:], rows[some:]
			}
		}
	}
}

// some calls yield with items that lie together, until it returns false, which it returns then.
// It is a function of its own so that the loop that most ranges take keeps few variables over a call.
func (s *Span[K, V, I]) some(keys []I, rows []*snapshot.RowRef, deref snapshot.Deref[K, V], yield func(I, snapshot.Row[K, V]) bool) bool {
	rows = rows[:len(keys)]
	if !s.reverse && s.order.cloneKey == nil {
		for i, key := range keys {
			if !yield(key, deref.Row(rows[i])) {
				return false
			}
		}
		return true
	}
	for i := range keys {
		if s.reverse {
			i = len(keys) - 1 - i
		}
		if !yield(s.order.Own(keys[i]), deref.Row(rows[i])) {
			return false
		}
	}
	return true
}

// deref makes rows of what the span has.
func (s *Span[K, V, I]) deref() snapshot.Deref[K, V] {
	return builder[K, V]{}.Deref(s.index.empty, s.pending)
}

func (s *Span[K, V, I]) Changes(of iter.Seq[snapshot.Change[K, V]]) iter.Seq[snapshot.Change[K, V]] {
	x, b := s.index, s.Bounds
	return func(yield func(snapshot.Change[K, V]) bool) { x.changes(&b, of, yield) }
}

// changes calls yield with changes as they look from within bounds, until it returns false.
func (x *Def[K, V, I]) changes(b *Bounds[I], of iter.Seq[snapshot.Change[K, V]], yield func(snapshot.Change[K, V]) bool) {
	var keys collector[I]
	in := func(row snapshot.Row[K, V]) bool {
		all, _ := x.keysOf(row, &keys)
		return slices.ContainsFunc(all, func(i I) bool { return x.isWithin(b, Item[I]{i, builder[K, V]{}.Ref(row)}) })
	}
	for c := range of {
		if !(builder[K, V]{}).Concerns(c, x.empty) {
			panic(fmt.Sprintf("cow: Changes of index %q for a change of another table: give it those of its own", x.Name))
		}
		was, is := c.Rows()
		if seen, ok := (builder[K, V]{}).Part(c, in(was), in(is)); ok && !yield(seen) {
			return
		}
	}
}
