// Package index has the images of indexes: of one map, its rows in the order of index keys.
// Changes come in, and the next image goes out. The images are the map's annotation, so that
// they must hold no map: see Annotate of [snapshot.Builder].
//
// From the ground up: def.go, what an index is; image.go, what it has for one map; span.go,
// what reads that. Another kind of index is an indexer whose build makes a slot: lists, forks
// and snapshots carry it without knowing its type.
package index

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/clone"
)

type builder[K comparable, V any] = snapshot.Builder[K, V]

// A Def is an index as maps know it. It holds no map with rows, so that no snapshot keeps
// more alive than itself. Its order must not change.
type Def[K comparable, V, I any] struct {
	Name        string
	unique      bool
	natural[I]  // the order of index keys
	compareKeys func(a, b K) int
	keys        func(row snapshot.Row[K, V], add func(I)) error
	cloneKey    func(I) I                                // nil: index keys need none
	points      func() points[I, *snapshot.RowRef[K, V]] // nil if keys are unhashable or the index is not unique
	text        text                                     // of index keys
	order       ordered.Order[I, *snapshot.RowRef[K, V]]
	writers     sync.Pool // of *writer[K, V, I]

	// Set when the index is added.
	empty *snapshot.Map[K, V]    // of the same Options, for its methods
	ends  []ends[K, V]           // by field
	begun *snapshot.RowRef[K, V] // of the end of what begins with the text of an index key
}

// Options are those of an index: see cow.IndexOptions.
type Options[K comparable] struct {
	Unique      bool
	CompareKeys func(a, b K) int
}

// NewOrdered returns the Def of an index by keys in their own order.
func NewOrdered[K comparable, V any, I comparable](name string, keys func(row snapshot.Row[K, V], add func(I)), o Options[K]) *Def[K, V, I] {
	x := newDef(name, willing(keys), o, nil)
	if o.Unique && x.equals {
		x.points = newHashed[I, *snapshot.RowRef[K, V]]
	}
	return x
}

// NewCompared returns the Def of an index by keys of any type, in the order of compare,
// one function for each of their fields, or in their own.
func NewCompared[K comparable, V, I any](name string, keys func(row snapshot.Row[K, V], add func(I)) error, o Options[K], compare []func(a, b I) int) *Def[K, V, I] {
	return newDef(name, keys, o, slices.Clone(compare))
}

// NewByRow returns the Def of an index by the keys of the rows themselves, in the order of
// compare or in their own.
func NewByRow[K comparable, V any](name string, compare []func(a, b K) int) *Def[K, V, K] {
	o := Options[K]{CompareKeys: orderOf[K]().compare()}
	if o.CompareKeys == nil {
		o.CompareKeys = natural[K]{fields: compare}.compare()
	}
	x := newDef(name, willing(func(row snapshot.Row[K, V], add func(K)) { add(row.Key()) }), o, slices.Clone(compare))
	// The bytes of a string lie in its row: one that stays would keep a row alive that was replaced.
	x.exact = x.exact && x.plain
	return x
}

// willing returns keys as a function that refuses no row.
func willing[K comparable, V, I any](keys func(snapshot.Row[K, V], func(I))) func(snapshot.Row[K, V], func(I)) error {
	if keys == nil {
		return nil
	}
	return func(row snapshot.Row[K, V], add func(I)) error {
		keys(row, add)
		return nil
	}
}

// newDef makes a Def in the order of fields, or, without any, in that of I.
func newDef[K comparable, V, I any](name string, keys func(snapshot.Row[K, V], func(I)) error, o Options[K], fields []func(a, b I) int) *Def[K, V, I] {
	if keys == nil || slices.ContainsFunc(fields, func(compare func(a, b I) int) bool { return compare == nil }) {
		panic(fmt.Sprintf("cow: index %q made with a nil function: give it one", name))
	}
	x := &Def[K, V, I]{Name: name, unique: o.Unique, natural: natural[I]{fields: fields}, keys: keys, compareKeys: o.CompareKeys, cloneKey: clone.Of[I](), text: textOf(reflect.TypeFor[I]())}
	if len(fields) == 0 {
		if x.natural = orderOf[I](); len(x.fields) == 0 {
			panic(fmt.Sprintf("cow: index %q needs a function that compares its keys, of type %v, which have no order of their own: give one to NewIndexFunc or NewOrder", name, reflect.TypeFor[I]()))
		}
	}
	x.ends = make([]ends[K, V], len(x.fields))
	x.order = ordered.Order[I, *snapshot.RowRef[K, V]]{Keys: x.compareTo, Rows: x.compareRows}
	if x.kind != 0 {
		x.order.Find = func(keys []I, i I, row *snapshot.RowRef[K, V]) (from, to int) {
			if row == x.begun {
				return 0, len(keys)
			}
			return findKey(x.kind, unsafe.Pointer(unsafe.SliceData(keys)), len(keys), unsafe.Pointer(&i))
		}
	}
	if x.compareKeys == nil {
		x.compareKeys = orderOf[K]().compare()
	}
	if x.compareKeys == nil {
		panic(fmt.Sprintf("cow: index %q needs IndexOptions.CompareKeys: keys of type %v have no order of their own", name, reflect.TypeFor[K]()))
	}
	return x
}

// An Item is one row under one of its index keys.
type Item[K comparable, V, I any] struct {
	Key I
	Row *snapshot.RowRef[K, V]
}

// Ends are rows that are in no map. An item with one of them is below, or above, all
// items whose index keys agree with its own in the first fields.
type ends[K comparable, V any] struct{ below, above *snapshot.RowRef[K, V] }

// side returns the place of an item with the row r among those that agree with it in field
// f too: below, above or, for a row that is not an end, 0.
func (x *Def[K, V, I]) side(f int, r *snapshot.RowRef[K, V]) int {
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
func (x *Def[K, V, I]) compareTo(a, b I, bRow *snapshot.RowRef[K, V]) int {
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
func (x *Def[K, V, I]) begins(i, p I) bool {
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

// compareRows orders items with equal index keys by the keys of their rows.
func (x *Def[K, V, I]) compareRows(a, b *snapshot.RowRef[K, V]) int {
	if a == b {
		return 0
	}
	c := x.compareKeys(a.Key(), b.Key())
	if k := a.Key(); c == 0 && k != b.Key() && k == k {
		panic(fmt.Sprintf("cow: index %q has two rows under one index key whose own keys differ but compare as equal: give a comparison of keys that tells them apart", x.Name))
	}
	return c
}

// compareItems orders any two items, with ends too.
func (x *Def[K, V, I]) compareItems(a, b Item[K, V, I]) int {
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
	return x.compareRows(a.Row, b.Row)
}

// Compare orders index keys.
func (x *Def[K, V, I]) Compare(a, b I) int { return x.compareLeading(len(x.fields), a, b) }

// compareLeading compares the first n fields of index keys.
func (x *Def[K, V, I]) compareLeading(n int, a, b I) int {
	for _, compare := range x.fields[:n] {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// ByKey is the order of items of which no two have equal index keys.
func ByKey[R any, K comparable, V, I any](x *Def[K, V, I]) *ordered.Order[I, R] {
	return &ordered.Order[I, R]{Keys: func(a, b I, _ R) int { return x.Compare(a, b) }}
}

// Own returns an index key that nobody else can modify.
func (x *Def[K, V, I]) Own(i I) I {
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

// probe returns an item's row of key, to compare others with.
func (x *Def[K, V, I]) probe(key K) *snapshot.RowRef[K, V] {
	return builder[K, V]{}.Ref(builder[K, V]{}.Probe(x.empty, key))
}

// whole returns the ends of items that agree in all fields of their index keys.
func (x *Def[K, V, I]) whole() ends[K, V] { return x.ends[len(x.ends)-1] }

// A collector collects the index keys of one row after the other. The zero collector is
// ready for use.
type collector[I any] struct {
	keys []I
	add  func(I) // adds to keys
}

// keysOf returns the index keys of a row in order, each once; none for the zero Row, and
// none for one that is refused, with the error. They are valid until the next call.
func (x *Def[K, V, I]) keysOf(row snapshot.Row[K, V], c *collector[I]) ([]I, error) {
	if c.add == nil {
		c.add = func(i I) { c.keys = append(c.keys, x.Own(i)) }
	}
	clear(c.keys)
	c.keys = c.keys[:0]
	if row == (snapshot.Row[K, V]{}) {
		return nil, nil
	}
	if err := x.keys(row, c.add); err != nil {
		return nil, err
	}
	if len(c.keys) > 1 {
		slices.SortStableFunc(c.keys, x.Compare) // so that the first of equal ones stays
		c.keys = slices.CompactFunc(c.keys, func(a, b I) bool { return x.Compare(a, b) == 0 })
	}
	return c.keys, nil
}

// points finds the row of an index key in one step. It is immutable.
type points[I, R any] interface {
	get(i I) (R, bool)
	knows(i I) bool // false: get does not find i, whether or not it is there
	edit() pointsEditor[I, R]
	structure() int // about how many bytes it takes
}

type pointsEditor[I, R any] interface {
	get(i I) (R, bool)
	knows(i I) bool
	set(i I, r R)
	delete(i I)
	seal() points[I, R]
}

// hashed is points as a map.
type hashed[I comparable, R any] struct{ m *snapshot.Map[I, R] }

func newHashed[I comparable, R any]() points[I, R] {
	return hashed[I, R]{snapshot.New[I](snapshot.Options[R]{Immutable: true})}
}

func (h hashed[I, R]) get(i I) (R, bool)        { return h.m.Get(i) }
func (h hashed[I, R]) knows(i I) bool           { return i == i } // a NaN could not be deleted again
func (h hashed[I, R]) edit() pointsEditor[I, R] { return hashedEditor[I, R]{h.m.Edit()} }

func (h hashed[I, R]) structure() int {
	return builder[I, R]{}.Structure(h.m) + h.m.Len()*int(unsafe.Sizeof(*new(I))+unsafe.Sizeof(*new(R))+8)
}

type hashedEditor[I comparable, R any] struct{ e *snapshot.Editor[I, R] }

func (h hashedEditor[I, R]) get(i I) (R, bool)  { return h.e.Get(i) }
func (h hashedEditor[I, R]) knows(i I) bool     { return i == i }
func (h hashedEditor[I, R]) delete(i I)         { h.e.Delete(i) }
func (h hashedEditor[I, R]) seal() points[I, R] { return hashed[I, R]{h.e.Seal()} }

func (h hashedEditor[I, R]) set(i I, r R) {
	if i == i {
		h.e.Set(i, r)
	}
}
