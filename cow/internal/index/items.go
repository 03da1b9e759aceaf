package index

import (
	"iter"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

type builder[K comparable, V any] = snapshot.Builder[K, V]

// An Item is one row under one of its index keys.
type Item[I any] struct {
	Key I
	Row *snapshot.RowRef
}

// A tree has items in their order.
type tree[I any] = ordered.Tree[I, *snapshot.RowRef]

// An Order is what an index is whatever the type of its rows: of these it knows that two can
// be compared by their own keys. Most of an index is code for that alone, of which there is
// one for each type of index keys.
type Order[I any] struct {
	Name       string
	unique     bool
	natural[I]                                           // the order of index keys
	cloneKey   func(I) I                                 // nil: index keys need none
	text       text                                      // of index keys
	points     func() points[I]                          // nil if keys are unhashable or the index is not unique
	rows       func(a, b *snapshot.RowRef) int           // orders items with equal index keys
	like       func(r *snapshot.RowRef) *snapshot.RowRef // with the key of r, in no map
	tree       ordered.Order[I, *snapshot.RowRef]
	writers    sync.Pool // of *writer[I]

	// Rows of no map, set when the index is added.
	ends  []ends           // by field
	begun *snapshot.RowRef // of the end of what begins with the text of an index key
}

// Ends are rows that are in no map. An item with one of them is below, or above, all
// items whose index keys agree with its own in the first fields.
type ends struct{ below, above *snapshot.RowRef }

// side returns the place of an item with the row r among those that agree with it in field
// f too: below, above or, for a row that is not an end, 0.
func (x *Order[I]) side(f int, r *snapshot.RowRef) int {
	switch r {
	case x.ends[f].below:
		return -1
	case x.ends[f].above:
		return 1
	case x.begun:
		if f == len(x.fields)-1 {
			return 2 // above what is equal, and what follows it
		}
	}
	return 0
}

// compareTo orders an item with the index key a and one with b by index key, field by
// field. The row of b may be an end, and that of a is none.
func (x *Order[I]) compareTo(a, b I, bRow *snapshot.RowRef) int {
	for f, compare := range x.fields {
		if c := compare(a, b); c != 0 {
			if c > 0 && bRow == x.begun && f == len(x.fields)-1 && x.begins(a, b) {
				return -1
			}
			return c
		}
		if c := x.side(f, bRow); c != 0 {
			return -c
		}
	}
	return 0
}

// begins reports whether i is equal, in the last field, to p and what may follow its text.
func (x *Order[I]) begins(i, p I) bool {
	s, n := x.text.in(unsafe.Pointer(&i)), x.text.in(unsafe.Pointer(&p))
	if x.byBytes {
		return strings.HasPrefix(s, n)
	}
	cut := func(n int) int { // what is not text in the last field counts too
		i := i
		x.text.put(unsafe.Pointer(&i), s[:n])
		return x.fields[len(x.fields)-1](i, p)
	}
	if strings.HasPrefix(s, n) && cut(len(n)) == 0 {
		return true
	}
	at := sort.Search(len(s)+1, func(n int) bool { return cut(runeEnd(s, n)) >= 0 })
	return at <= len(s) && cut(runeEnd(s, at)) == 0
}

// runeEnd returns n, or where the rune ends that s[n] is within.
func runeEnd(s string, n int) int {
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

// find is Find of the trees, of keys of a kind.
func (x *Order[I]) find(keys []I, i I, row *snapshot.RowRef) (from, to int) {
	if row == x.begun {
		return 0, len(keys)
	}
	return findKey(x.kind, unsafe.Pointer(unsafe.SliceData(keys)), len(keys), unsafe.Pointer(&i))
}

// compareItems orders any two items, with ends too.
func (x *Order[I]) compareItems(a, b Item[I]) int {
	for f, compare := range x.fields {
		if c := compare(a.Key, b.Key); c != 0 {
			last := f == len(x.fields)-1
			switch {
			case last && c > 0 && b.Row == x.begun && x.begins(a.Key, b.Key):
				return -1
			case last && c < 0 && a.Row == x.begun && x.begins(b.Key, a.Key):
				return 1
			}
			return c
		}
		if at, bt := x.side(f, a.Row), x.side(f, b.Row); at != 0 || bt != 0 {
			return at - bt
		}
	}
	return x.rows(a.Row, b.Row)
}

// Compare orders index keys.
func (x *Order[I]) Compare(a, b I) int { return x.compareLeading(len(x.fields), a, b) }

// compareLeading compares the first n fields of index keys.
func (x *Order[I]) compareLeading(n int, a, b I) int {
	for _, compare := range x.fields[:n] {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// Own returns an index key that nobody else can modify.
func (x *Order[I]) Own(i I) I {
	if x.cloneKey != nil {
		return x.cloneKey(i)
	}
	return i
}

// Compares calls f, which compares keys, and reports whether it did not panic.
func Compares(f func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	f()
	return
}

// whole returns the ends of items that agree in all fields of their index keys.
func (x *Order[I]) whole() ends { return x.ends[len(x.ends)-1] }

// Bounds say which part of an index a Part is, and keep no items alive.
type Bounds[I any] struct {
	low   Item[I] // without a row: from the first
	high  Item[I] // exclusive; without a row: to the last
	after bool    // low itself is out
}

// IsWhole reports whether there are no bounds.
func (b *Bounds[I]) IsWhole() bool { return b.low.Row == nil && b.high.Row == nil }

// IsAfterLow, IsBeforeHigh and isWithin report whether an item lies on the inner side of
// one of the bounds, or of both.
func (x *Order[I]) IsAfterLow(b *Bounds[I], it Item[I]) bool {
	if b.low.Row == nil {
		return true
	}
	c := x.compareItems(it, b.low)
	return c > 0 || c == 0 && !b.after
}

func (x *Order[I]) IsBeforeHigh(b *Bounds[I], it Item[I]) bool {
	return b.high.Row == nil || x.compareItems(it, b.high) < 0
}

func (x *Order[I]) isWithin(b *Bounds[I], it Item[I]) bool {
	return x.IsAfterLow(b, it) && x.IsBeforeHigh(b, it)
}

// CompareBounds orders bounds by where they begin, and by where they end if they begin at
// the same place.
func (x *Order[I]) CompareBounds(a, b *Bounds[I]) int {
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
func (x *Order[I]) CompareHigh(a, b *Bounds[I]) int {
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
func (x *Order[I]) Check(b *Bounds[I]) {
	for _, it := range [2]*Item[I]{&b.low, &b.high} {
		if it.Row != nil {
			x.compareItems(*it, *it)
		}
	}
}

// Equal returns the bounds of the index key i.
func (x *Order[I]) Equal(i I) Bounds[I] {
	i = x.Own(i)
	return Bounds[I]{low: Item[I]{i, x.whole().below}, high: Item[I]{i, x.whole().above}}
}

// Refusals are the rows that an index refuses, and why.
type refusals = snapshot.Map[*snapshot.RowRef, error]

// items are what an index has for one map. They are immutable.
type items[I any] struct {
	order   *Order[I]
	sorted  tree[I]
	points  points[I] // of a unique index, where keys can be hashed
	surplus tree[I]   // of a unique index: of rows under one key all but one
	refused *refusals // rows that are not in the index, and why; nil: none
}

// points finds the row of an index key in one step. It is immutable.
type points[I any] interface {
	get(i I) (*snapshot.RowRef, bool)
	getMany(keys []I) iter.Seq2[int, *snapshot.RowRef]
	knows(i I) bool                             // false: get does not find i, whether or not it is there
	edit(spare pointsEditor[I]) pointsEditor[I] // spare: nil, or one that rests
	structure() int                             // about how many bytes it takes
}

type pointsEditor[I any] interface {
	get(i I) (*snapshot.RowRef, bool)
	knows(i I) bool
	set(i I, r *snapshot.RowRef)
	delete(i I)
	seal() points[I]
	rest() // lets go of the points
}

// hashed is points as a map.
type hashed[I comparable] struct {
	m *snapshot.Map[I, *snapshot.RowRef]
}

func newHashed[I comparable]() points[I] {
	return hashed[I]{snapshot.New[I](snapshot.Options[*snapshot.RowRef]{Immutable: true})}
}

func (h hashed[I]) get(i I) (*snapshot.RowRef, bool) { return h.m.Get(i) }

func (h hashed[I]) getMany(keys []I) iter.Seq2[int, *snapshot.RowRef] { return h.m.GetMany(keys) }

func (h hashed[I]) knows(i I) bool { return i == i } // a NaN could not be deleted again

func (h hashed[I]) edit(spare pointsEditor[I]) pointsEditor[I] {
	e, ok := spare.(hashedEditor[I])
	if !ok {
		e.e = new(snapshot.Editor[I, *snapshot.RowRef])
	}
	builder[I, *snapshot.RowRef]{}.EditAt(e.e, h.m, h.m.Version()+1)
	return e
}

func (h hashed[I]) structure() int {
	return builder[I, *snapshot.RowRef]{}.Structure(h.m) + h.m.Len()*int(unsafe.Sizeof(*new(I))+unsafe.Sizeof(uintptr(0))+8)
}

type hashedEditor[I comparable] struct {
	e *snapshot.Editor[I, *snapshot.RowRef]
}

func (h hashedEditor[I]) get(i I) (*snapshot.RowRef, bool) { return h.e.Get(i) }
func (h hashedEditor[I]) knows(i I) bool                   { return i == i }
func (h hashedEditor[I]) delete(i I)                       { h.e.Delete(i) }
func (h hashedEditor[I]) seal() points[I]                  { return hashed[I]{h.e.Seal()} }
func (h hashedEditor[I]) rest()                            { *h.e = snapshot.Editor[I, *snapshot.RowRef]{} }

func (h hashedEditor[I]) set(i I, r *snapshot.RowRef) {
	if i == i {
		h.e.Set(i, r)
	}
}

// A collector collects the index keys of one row after the other. The zero collector is
// ready for use.
type collector[I any] struct {
	keys []I
	add  func(I) // adds to keys
}
