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

// A Part is a part of the items of an index, in order. Its methods narrow it: see cow.Range.
type Part[I any] struct {
	*items[I]
	Bounds[I]
	reverse bool
}

// Total returns the number of items within any bounds.
func (p *Part[I]) Total() int { return p.sorted.Len() }

func (p *Part[I]) From(i I)    { p.from(i, p.order.whole().below, false) }
func (p *Part[I]) Above(i I)   { p.from(i, p.order.whole().above, false) }
func (p *Part[I]) To(i I)      { p.to(i, p.order.whole().below) }
func (p *Part[I]) Through(i I) { p.to(i, p.order.whole().above) }
func (p *Part[I]) Equal(i I)   { p.Leading(len(p.order.fields), i) }
func (p *Part[I]) Reverse()    { p.reverse = !p.reverse }

func (p *Part[I]) Leading(n int, i I) {
	x := p.order
	if n < 1 || n > len(x.fields) {
		panic(fmt.Sprintf("cow: Leading(%d) of index %q, whose keys have %d fields: give it 1 to %[3]d", n, x.Name, len(x.fields)))
	}
	e := x.ends[n-1]
	p.from(i, e.below, false)
	p.to(i, e.above)
}

func (p *Part[I]) Prefix(text I) {
	x := p.order
	x.orderedText("Prefix", text)
	p.From(text)
	p.to(text, x.begun)
}

// orderedText panics, for a method, unless index keys have texts at their ends and are in the
// order of these where all else is equal, as a longer one shows.
func (x *Order[I]) orderedText(method string, i I) {
	if x.text.none {
		panic(fmt.Sprintf("cow: %s of index %q, whose keys, of type %v, are neither strings nor []byte nor structs that end in one: make an index whose keys do", method, x.Name, reflect.TypeFor[I]()))
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

// longestPrefix returns the first item with the longest key that i begins with.
func (p Part[I]) longestPrefix(i I) (it Item[I], ok bool) {
	x := p.order
	x.orderedText("LongestPrefix", i)
	p.reverse = true
	for {
		// Whatever i begins with is not above it, and begins what is between the two.
		upTo := p
		upTo.Through(i)
		below, found := upTo.first()
		switch {
		case !found:
			return it, false
		case x.compareLeading(len(x.fields)-1, below.Key, i) != 0:
			return it, false
		case x.begins(i, below.Key):
			p.reverse = false
			p.Equal(below.Key)
			return p.first()
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
				return it, false
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

// first returns the first item of the part, and whether there is one.
func (p *Part[I]) first() (it Item[I], ok bool) {
	var at reader[I]
	at.begin(p)
	keys, rows := at.next()
	n := len(keys)
	switch {
	case n == 0:
		return it, false
	case p.reverse:
		return Item[I]{keys[n-1], rows[n-1]}, true
	}
	return Item[I]{keys[0], rows[0]}, true
}

// places returns how many items of the whole index are below the part, and how many below its
// end.
func (p *Part[I]) places() (from, to int) {
	to = p.sorted.Len()
	var at ordered.Cursor[I, *snapshot.RowRef]
	if low := p.lowest(); low.Order != nil {
		at.Seek(p.sorted, &low)
		from = at.Rank()
	}
	if high := p.highest(); high.Order != nil {
		at.Seek(p.sorted, &high)
		to = max(from, at.Rank())
	}
	return from, to
}

func (p *Part[I]) Skip(n int) {
	from, to := p.places()
	if n = p.within("Skip", n, to-from); p.reverse {
		p.cut(to-n, from, to, false)
	} else {
		p.cut(from+n, from, to, true)
	}
}

func (p *Part[I]) Limit(n int) {
	from, to := p.places()
	if n = p.within("Limit", n, to-from); p.reverse {
		p.cut(to-n, from, to, true)
	} else {
		p.cut(from+n, from, to, false)
	}
}

// within returns n, or what there is if that is less.
func (p *Part[I]) within(method string, n, most int) int {
	if n < 0 {
		panic(fmt.Sprintf("cow: %s(%d) of index %q: give it 0 or more", method, n, p.order.Name))
	}
	return min(n, most)
}

// cut leaves what of the part, which is from one place of the whole index to another, is
// above the place at, or below.
func (p *Part[I]) cut(at, from, to int, above bool) {
	switch {
	case above && at == from, !above && at == to:
	case above && at == to:
		key, row := p.sorted.At(at - 1)
		p.from(key, p.order.like(row), true)
	case above:
		key, row := p.sorted.At(at)
		p.from(key, p.order.like(row), false)
	default:
		key, row := p.sorted.At(at)
		p.to(key, p.order.like(row))
	}
}

func (p *Part[I]) from(i I, row *snapshot.RowRef, after bool) {
	low := Item[I]{p.order.Own(i), row}
	c := 1
	if p.low.Row != nil {
		c = p.order.compareItems(low, p.low)
	}
	if c > 0 || c == 0 && after {
		p.low, p.after = low, after
	}
}

func (p *Part[I]) to(i I, row *snapshot.RowRef) {
	high := Item[I]{p.order.Own(i), row}
	if p.high.Row == nil || p.order.compareItems(high, p.high) < 0 {
		p.high = high
	}
}

// get returns the first row under an index key of the whole.
func (p Part[I]) get(i I) (*snapshot.RowRef, bool) {
	if p.points != nil && p.surplus.Len() == 0 && p.IsWhole() && p.points.knows(i) {
		return p.points.get(i)
	}
	p.Equal(i)
	it, ok := p.first()
	return it.Row, ok
}

// getMany returns an iterator over the places in keys of those under which there are rows, and
// the first row of each.
func (p Part[I]) getMany(keys []I) iter.Seq2[int, *snapshot.RowRef] {
	if p.points != nil && p.surplus.Len() == 0 && p.IsWhole() && !slices.ContainsFunc(keys, func(i I) bool { return !p.points.knows(i) }) {
		return p.points.getMany(keys)
	}
	return func(yield func(int, *snapshot.RowRef) bool) {
		for n, i := range keys {
			if ref, ok := p.get(i); ok && !yield(n, ref) {
				return
			}
		}
	}
}

func (p *Part[I]) Len() int {
	from, to := p.places()
	return to - from
}

// A reader reads the items of a part, as many at a time as lie together. In one in
// the opposite order the last come first, but each run is in the order of the index.
type reader[I any] struct {
	reverse bool
	at      ordered.Cursor[I, *snapshot.RowRef]
	end     bound[I]
}

// A bound is an end of a part.
type bound[I any] = ordered.Bound[I, *snapshot.RowRef]

// lowest and highest are the ends of the part, without an Order where there is none.
func (p *Part[I]) lowest() (b bound[I]) {
	if p.low.Row != nil {
		b = bound[I]{Order: &p.order.tree, Key: p.low.Key, Row: p.low.Row, After: p.after}
	}
	return b
}

func (p *Part[I]) highest() (b bound[I]) {
	if p.high.Row != nil {
		b = bound[I]{Order: &p.order.tree, Key: p.high.Key, Row: p.high.Row}
	}
	return b
}

// begin makes r read a part.
func (r *reader[I]) begin(p *Part[I]) {
	from := p.lowest()
	r.end = p.highest()
	if r.reverse = p.reverse; r.reverse {
		from, r.end = r.end, from
	}
	switch {
	case from.Order != nil:
		r.at.Seek(p.sorted, &from)
	case r.reverse:
		r.at.End(p.sorted)
	default:
		r.at.Start(p.sorted)
	}
}

// next returns the next items, none at the end.
func (r *reader[I]) next() (keys []I, rows []*snapshot.RowRef) {
	if r.reverse {
		return r.at.Prev(&r.end)
	}
	return r.at.Next(&r.end)
}

// HasSameRows reports whether two parts with the same bounds, neither in the opposite
// order, have the same rows. It skips what they share.
func (p *Part[I]) HasSameRows(other *Part[I]) bool {
	var x, y reader[I]
	x.begin(p)
	y.begin(other)
	var is, was []*snapshot.RowRef
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

// Touched is what a commit touches in one index: the items that go, and those that come
// or get another row.
type Touched[I any] struct {
	Items []Item[I]
	Any   bool // it may be any item; Items are none

	was, is *items[I] // before and after, of Any; nil: that is not known
}

// Concerns reports whether the rows within bounds are not the same, or may not be, of Any.
func (t *Touched[I]) Concerns(b *Bounds[I]) bool {
	return t.was == nil || !(&Part[I]{items: t.is, Bounds: *b}).HasSameRows(&Part[I]{items: t.was, Bounds: *b})
}
