package index

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sort"
	"unicode/utf8"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// A Span is a part of an index at one version, in order: a cow.Range, which says what
// its methods do. The zero Span is of no index.
type Span[K comparable, V, I any] struct {
	image *image[K, V, I]
	Bounds[K, V, I]
	reverse bool
	pending uint64 // the version of the update that the span is of; 0: of none
}

// Bounds say which part of an index a Span is, and keep no image alive.
type Bounds[K comparable, V, I any] struct {
	low   Item[K, V, I] // without a row: from the first
	high  Item[K, V, I] // exclusive; without a row: to the last
	after bool          // low itself is out
}

// In returns the part of an index within bounds as it is in a map.
func (x *Def[K, V, I]) In(m *snapshot.Map[K, V], b Bounds[K, V, I]) Span[K, V, I] {
	return Span[K, V, I]{image: x.in(m), Bounds: b}
}

// During returns the index as an update has left it so far.
func (x *Def[K, V, I]) During(e *snapshot.Editor[K, V]) Span[K, V, I] {
	return Span[K, V, I]{image: x.during(e), pending: e.Version()}
}

// Index returns the index of the span, nil for the zero Span.
func (s *Span[K, V, I]) Index() *Def[K, V, I] {
	if s.image == nil {
		return nil
	}
	return s.image.index
}

// IsWhole reports whether there are no bounds.
func (b *Bounds[K, V, I]) IsWhole() bool { return b.low.Row == nil && b.high.Row == nil }

// Total returns the number of items within any bounds.
func (s *Span[K, V, I]) Total() int { return s.image.sorted.Len() }

func (s Span[K, V, I]) From(i I) Span[K, V, I]    { return s.from(i, s.Index().whole().below, false) }
func (s Span[K, V, I]) Above(i I) Span[K, V, I]   { return s.from(i, s.Index().whole().above, false) }
func (s Span[K, V, I]) To(i I) Span[K, V, I]      { return s.to(i, s.Index().whole().below) }
func (s Span[K, V, I]) Through(i I) Span[K, V, I] { return s.to(i, s.Index().whole().above) }
func (s Span[K, V, I]) Equal(i I) Span[K, V, I]   { return s.Leading(len(s.Index().fields), i) }

func (s Span[K, V, I]) After(i I, key K) Span[K, V, I]  { return s.from(i, s.Index().probe(key), true) }
func (s Span[K, V, I]) Before(i I, key K) Span[K, V, I] { return s.to(i, s.Index().probe(key)) }

func (s Span[K, V, I]) Leading(n int, i I) Span[K, V, I] {
	x := s.image.index
	if n < 1 || n > len(x.fields) {
		panic(fmt.Sprintf("cow: Leading(%d) of index %q, whose keys have %d fields: give it 1 to %[3]d", n, x.Name, len(x.fields)))
	}
	e := x.ends[n-1]
	return s.from(i, e.below, false).to(i, e.above)
}

func (s Span[K, V, I]) Prefix(p I) Span[K, V, I] {
	x := s.image.index
	x.orderedText("Prefix", p)
	return s.From(p).to(p, x.begun)
}

// orderedText panics, for a method, unless index keys have texts at their ends and are in the
// order of these where all else is equal, as a longer one shows.
func (x *Def[K, V, I]) orderedText(method string, i I) {
	if x.text.none {
		panic(fmt.Sprintf("cow: %s of index %q, whose keys, of type %v, are neither strings nor []byte nor structs that end in one: use From and To", method, x.Name, reflect.TypeFor[I]()))
	}
	longer := i
	x.text.put(unsafe.Pointer(&longer), x.text.in(unsafe.Pointer(&i))+"a")
	for f, compare := range x.fields {
		switch c := compare(i, longer); {
		case c < 0 && f == len(x.fields)-1:
			return
		case c != 0:
			panic(fmt.Sprintf("cow: %s of index %q, which does not order its keys by the text at their ends, ascending, where all else is equal: make an index that does", method, x.Name))
		}
	}
	panic(fmt.Sprintf("cow: %s of index %q, which does not compare the text at the ends of its keys: make an index that does", method, x.Name))
}

func (s Span[K, V, I]) LongestPrefix(i I) (key I, row snapshot.Row[K, V], ok bool) {
	x := s.image.index
	x.orderedText("LongestPrefix", i)
	s.reverse = true
	for {
		// Whatever i begins with is not above it, and begins what is between the two.
		upTo := s.Through(i)
		below, found := upTo.first()
		switch {
		case !found:
			return key, row, false
		case x.compareLeading(len(x.fields)-1, below.Key, i) != 0:
			return key, row, false
		case x.begins(i, below.Key):
			s.reverse = false
			return s.Equal(below.Key).First()
		}
		// What both begin with is what below begins with of i.
		rest := i
		t := x.text.in(unsafe.Pointer(&i))
		n := common(t, x.text.in(unsafe.Pointer(&below.Key)))
		if !x.byBytes {
			n = max(n, sort.Search(len(t), func(n int) bool {
				x.text.put(unsafe.Pointer(&rest), t[:runeEnd(t, n+1)])
				return !x.begins(below.Key, rest)
			}))
		}
		if n == len(t) { // below begins with i, and no key is i: a shorter one may be
			if n == 0 {
				return key, row, false
			}
			for n--; n > 0 && !utf8.RuneStart(t[n]); n-- {
			}
		}
		x.text.put(unsafe.Pointer(&rest), t[:n])
		i = rest
	}
}

// common returns how many bytes two texts begin with both.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// first returns the first item of the span, and whether there is one.
func (s *Span[K, V, I]) first() (it Item[K, V, I], ok bool) {
	var at reader[K, V, I]
	at.begin(s)
	keys, rows := at.next()
	n := len(keys)
	switch {
	case n == 0:
		return it, false
	case s.reverse:
		return Item[K, V, I]{keys[n-1], rows[n-1]}, true
	}
	return Item[K, V, I]{keys[0], rows[0]}, true
}

// places returns how many items of the whole index are below the span, and how many below its
// end.
func (s *Span[K, V, I]) places() (from, to int) {
	x, t := s.image.index, s.image.sorted
	to = t.Len()
	var at ordered.Cursor[I, *snapshot.RowRef[K, V]]
	if s.low.Row != nil {
		s.seekLow(&at)
		from = at.Rank()
	}
	if s.high.Row != nil {
		at.Seek(t, &x.order, s.high.Key, s.high.Row)
		to = max(from, at.Rank())
	}
	return from, to
}

func (s Span[K, V, I]) Skip(n int) Span[K, V, I] {
	from, to := s.places()
	if n = s.within("Skip", n, to-from); s.reverse {
		return s.cut(to-n, from, to, false)
	}
	return s.cut(from+n, from, to, true)
}

func (s Span[K, V, I]) Limit(n int) Span[K, V, I] {
	from, to := s.places()
	if n = s.within("Limit", n, to-from); s.reverse {
		return s.cut(to-n, from, to, true)
	}
	return s.cut(from+n, from, to, false)
}

// within returns n, or what there is if that is less.
func (s *Span[K, V, I]) within(method string, n, most int) int {
	if n < 0 {
		panic(fmt.Sprintf("cow: %s(%d) of index %q: give it 0 or more", method, n, s.image.index.Name))
	}
	return min(n, most)
}

// cut returns what of the span, which is from one place of the whole index to another, is
// above the place at, or below.
func (s Span[K, V, I]) cut(at, from, to int, above bool) Span[K, V, I] {
	x := s.image.index
	switch {
	case above && at == from, !above && at == to:
		return s
	case above && at == to:
		key, row := s.image.sorted.At(at - 1)
		return s.from(key, x.probe(row.Key()), true)
	}
	key, row := s.image.sorted.At(at)
	if above {
		return s.from(key, x.probe(row.Key()), false)
	}
	return s.to(key, x.probe(row.Key()))
}

// During returns the same part as an update has left it so far.
func (s Span[K, V, I]) During(e *snapshot.Editor[K, V]) Span[K, V, I] {
	now := s.Index().During(e)
	now.Bounds, now.reverse = s.Bounds, s.reverse
	return now
}

func (s Span[K, V, I]) Reverse() Span[K, V, I] {
	s.reverse = !s.reverse
	return s
}

func (s Span[K, V, I]) from(i I, row *snapshot.RowRef[K, V], after bool) Span[K, V, I] {
	low := Item[K, V, I]{s.image.index.Own(i), row}
	c := 1
	if s.low.Row != nil {
		c = s.image.index.compareItems(low, s.low)
	}
	if c > 0 || c == 0 && after {
		s.low, s.after = low, after
	}
	return s
}

func (s Span[K, V, I]) to(i I, row *snapshot.RowRef[K, V]) Span[K, V, I] {
	high := Item[K, V, I]{s.image.index.Own(i), row}
	if s.high.Row == nil || s.image.index.compareItems(high, s.high) < 0 {
		s.high = high
	}
	return s
}

func (s Span[K, V, I]) Get(i I) (snapshot.Row[K, V], bool) {
	if p := s.image.points; p != nil && s.image.dups.Len() == 0 && s.IsWhole() && p.knows(i) {
		ref, ok := p.get(i)
		if !ok {
			return snapshot.Row[K, V]{}, false
		}
		return s.row(ref), true
	}
	_, row, ok := s.Equal(i).First()
	return row, ok
}

func (s Span[K, V, I]) First() (i I, row snapshot.Row[K, V], ok bool) {
	it, ok := s.first()
	if !ok {
		return i, row, false
	}
	return s.image.index.Own(it.Key), s.row(it.Row), true
}

func (s Span[K, V, I]) Len() int {
	from, to := s.places()
	return to - from
}

// Each calls yield with the index keys and rows in order, until it returns false.
func (s Span[K, V, I]) Each(yield func(I, snapshot.Row[K, V]) bool) {
	x := s.image.index
	deref := s.deref()
	limit := 1 // whoever wants the first row should not pay for more
	var at reader[K, V, I]
	at.begin(&s)
	for {
		keys, rows := at.next()
		if len(keys) == 0 {
			return
		}
		for len(keys) > 0 {
			some := min(len(keys), limit)
			limit = min(8*limit, 64)
			if s.reverse {
				from := len(keys) - some
				builder[K, V]{}.Prefetch(rows[from:])
				for i := len(keys) - 1; i >= from; i-- {
					if !yield(x.Own(keys[i]), deref.Row(rows[i])) {
						return
					}
				}
				keys, rows = keys[:from], rows[:from]
				continue
			}
			builder[K, V]{}.Prefetch(rows[:some])
			for i, key := range keys[:some] {
				if x.cloneKey != nil {
					key = x.cloneKey(key)
				}
				if !yield(key, deref.Row(rows[i])) {
					return
				}
			}
			keys, rows = keys[some:], rows[some:]
		}
	}
}

// deref makes rows of what the span has.
func (s *Span[K, V, I]) deref() snapshot.Deref[K, V] {
	return builder[K, V]{}.Deref(s.image.index.empty, s.pending)
}

// row returns the row of an item.
func (s *Span[K, V, I]) row(ref *snapshot.RowRef[K, V]) snapshot.Row[K, V] { return s.deref().Row(ref) }

// A reader reads the items of a span, as many at a time as lie together. In a span in
// the opposite order the last come first, but each run is in the order of the index.
type reader[K comparable, V, I any] struct {
	reverse bool
	at, end ordered.Cursor[I, *snapshot.RowRef[K, V]]
}

// begin makes r read a span.
func (r *reader[K, V, I]) begin(s *Span[K, V, I]) {
	from, to := &r.at, &r.end
	if r.reverse = s.reverse; r.reverse {
		from, to = to, from
	}
	x, t := s.image.index, s.image.sorted
	if s.low.Row == nil {
		from.Start(t)
	} else {
		s.seekLow(from)
	}
	if s.high.Row == nil {
		to.End(t)
	} else {
		to.Seek(t, &x.order, s.high.Key, s.high.Row)
	}
}

// seekLow goes to the place where the span, which has a low bound, begins.
func (s *Span[K, V, I]) seekLow(c *ordered.Cursor[I, *snapshot.RowRef[K, V]]) {
	x := s.image.index
	c.Seek(s.image.sorted, &x.order, s.low.Key, s.low.Row)
	if s.after {
		if key, row, ok := c.Item(); ok && !x.IsAfterLow(&s.Bounds, Item[K, V, I]{key, row}) {
			c.Step() // over low itself
		}
	}
}

// next returns the next items, none at the end.
func (r *reader[K, V, I]) next() (keys []I, rows []*snapshot.RowRef[K, V]) {
	if r.reverse {
		return r.at.Prev(&r.end)
	}
	return r.at.Next(&r.end)
}

// IsAfterLow, IsBeforeHigh and isWithin report whether an item lies on the inner side of
// one of the bounds, or of both.
func (x *Def[K, V, I]) IsAfterLow(b *Bounds[K, V, I], it Item[K, V, I]) bool {
	if b.low.Row == nil {
		return true
	}
	c := x.compareItems(it, b.low)
	return c > 0 || c == 0 && !b.after
}

func (x *Def[K, V, I]) IsBeforeHigh(b *Bounds[K, V, I], it Item[K, V, I]) bool {
	return b.high.Row == nil || x.compareItems(it, b.high) < 0
}

func (x *Def[K, V, I]) isWithin(b *Bounds[K, V, I], it Item[K, V, I]) bool {
	return x.IsAfterLow(b, it) && x.IsBeforeHigh(b, it)
}

// CompareBounds orders bounds by where they begin, and by where they end if they begin at
// the same place.
func (x *Def[K, V, I]) CompareBounds(a, b *Bounds[K, V, I]) int {
	switch {
	case a.low.Row == nil && b.low.Row == nil:
	case a.low.Row == nil:
		return -1
	case b.low.Row == nil:
		return 1
	default:
		if c := x.compareItems(a.low, b.low); c != 0 {
			return c
		}
	}
	switch {
	case a.after == b.after:
		return x.CompareHigh(a, b)
	case a.after:
		return 1
	}
	return -1
}

// CompareHigh orders bounds by where they end.
func (x *Def[K, V, I]) CompareHigh(a, b *Bounds[K, V, I]) int {
	switch {
	case a.high.Row == nil && b.high.Row == nil:
		return 0
	case a.high.Row == nil:
		return 1
	case b.high.Row == nil:
		return -1
	}
	return x.compareItems(a.high, b.high)
}

// Check panics, as the functions that compare index keys do, for bounds with a key that
// cannot be compared.
func (x *Def[K, V, I]) Check(b *Bounds[K, V, I]) {
	for _, it := range [2]*Item[K, V, I]{&b.low, &b.high} {
		if it.Row != nil {
			x.compareItems(*it, *it)
		}
	}
}

// Equal returns the bounds of the index key i.
func (x *Def[K, V, I]) Equal(i I) Bounds[K, V, I] {
	i = x.Own(i)
	return Bounds[K, V, I]{low: Item[K, V, I]{i, x.whole().below}, high: Item[K, V, I]{i, x.whole().above}}
}

func (s Span[K, V, I]) Changes(of iter.Seq[snapshot.Change[K, V]]) iter.Seq[snapshot.Change[K, V]] {
	x := s.image.index
	return func(yield func(snapshot.Change[K, V]) bool) {
		var keys collector[I]
		in := func(row snapshot.Row[K, V]) bool {
			all, _ := x.keysOf(row, &keys)
			return slices.ContainsFunc(all, func(i I) bool {
				return x.isWithin(&s.Bounds, Item[K, V, I]{i, builder[K, V]{}.Ref(row)})
			})
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
}

// HasSameRows reports whether two spans with the same bounds, neither in the opposite
// order, have the same rows. It skips what they share.
func (s Span[K, V, I]) HasSameRows(other Span[K, V, I]) bool {
	var x, y reader[K, V, I]
	x.begin(&s)
	y.begin(&other)
	var is, was []*snapshot.RowRef[K, V]
	for {
		if len(is) == 0 && len(was) == 0 {
			for ordered.SkipShared(&x.at, &y.at) {
			}
		}
		if len(is) == 0 {
			_, is = x.next()
		}
		if len(was) == 0 {
			_, was = y.next()
		}
		n := min(len(is), len(was))
		if n == 0 {
			return len(is) == len(was)
		}
		if !slices.Equal(is[:n], was[:n]) {
			return false
		}
		is, was = is[n:], was[n:]
	}
}

// Concerns reports whether the rows within bounds are not the same, or may not be, of Any.
func (t *Touched[K, V, I]) Concerns(b *Bounds[K, V, I]) bool {
	if t.was == nil {
		return true
	}
	was, is := Span[K, V, I]{image: t.was, Bounds: *b}, Span[K, V, I]{image: t.is, Bounds: *b}
	return !is.HasSameRows(was)
}
