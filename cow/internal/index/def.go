// Package index has the contents of indexes: the rows of a map in the order of index keys.
// Changes come in, and the next contents go out. Contents are attached to the map, so they
// must hold no map: see Attach of [snapshot.Builder].
//
// From the ground up: def.go, what an index is; content.go, what it has for one map; span.go,
// what reads that. Another kind of index is an indexer whose build makes a slot: lists, forks
// and snapshots carry it without knowing its type.
package index

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
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
	fields      []func(a, b I) int // the order of index keys
	compareKeys func(a, b K) int
	keys        func(row snapshot.Row[K, V], add func(I)) error
	cloneKey    func(I) I                                // nil: index keys need none
	points      func() points[I, *snapshot.RowRef[K, V]] // nil if keys are unhashable or the index is not unique
	exact       bool                                     // equal index keys do not differ
	order       ordered.Order[I, *snapshot.RowRef[K, V]]
	writers     sync.Pool // of *writer[K, V, I]

	// Set when the index is added.
	empty *snapshot.Map[K, V] // of the same Options, for its methods
	ends  []ends[K, V]        // by field
}

// Options are those of an index: see cow.IndexOptions.
type Options[K comparable] struct {
	Unique      bool
	CompareKeys func(a, b K) int
}

// NewOrdered returns the Def of an index by keys that have an order of their own.
func NewOrdered[K comparable, V any, I cmp.Ordered](name string, keys func(row snapshot.Row[K, V], add func(I)), o Options[K]) *Def[K, V, I] {
	x := newDef(name, willing(keys), o, orderOf[I]())
	x.exact = !isFloat(reflect.TypeFor[I]().Kind())
	if o.Unique {
		x.points = newHashed[I, *snapshot.RowRef[K, V]]
	}
	return x
}

// NewCompared returns the Def of an index by keys of any type, in the order of compare,
// one function for each of their fields.
func NewCompared[K comparable, V, I any](name string, keys func(row snapshot.Row[K, V], add func(I)) error, o Options[K], compare []func(a, b I) int) *Def[K, V, I] {
	x := newDef(name, keys, o, slices.Clone(compare)...)
	x.cloneKey = clone.Of[I]()
	return x
}

// NewByRow returns the Def of an index by the keys of the rows themselves.
func NewByRow[K cmp.Ordered, V any](name string) *Def[K, V, K] {
	x := newDef(name, willing(func(row snapshot.Row[K, V], add func(K)) { add(row.Key()) }), Options[K]{}, orderOf[K]())
	// The bytes of a string lie in its row: one that stays would keep a row alive that was replaced.
	kind := reflect.TypeFor[K]().Kind()
	x.exact = kind != reflect.String && !isFloat(kind)
	return x
}

// willing returns keys as a function that refuses no row.
func willing[K comparable, V, I any](keys func(snapshot.Row[K, V], func(I))) func(snapshot.Row[K, V], func(I)) error {
	return func(row snapshot.Row[K, V], add func(I)) error {
		keys(row, add)
		return nil
	}
}

func newDef[K comparable, V, I any](name string, keys func(snapshot.Row[K, V], func(I)) error, o Options[K], fields ...func(a, b I) int) *Def[K, V, I] {
	if len(fields) == 0 {
		panic(fmt.Sprintf("cow: index %q needs a function that compares index keys", name))
	}
	x := &Def[K, V, I]{Name: name, unique: o.Unique, fields: fields, keys: keys, compareKeys: o.CompareKeys}
	x.ends = make([]ends[K, V], len(fields))
	x.order = ordered.Order[I, *snapshot.RowRef[K, V]]{Keys: x.compareTo, Rows: x.compareRows}
	if x.compareKeys == nil {
		x.compareKeys = orderOf[K]()
	}
	if x.compareKeys == nil {
		panic(fmt.Sprintf("cow: index %q needs IndexOptions.CompareKeys: keys of type %v have no order of their own", name, reflect.TypeFor[K]()))
	}
	return x
}

// isFloat reports whether equal numbers may differ, as 0 and -0 do.
func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

// orderOf returns the order of K if it is a number or a string, and nil if not.
func orderOf[K comparable]() func(a, b K) int {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return orderAs[K](strings.Compare)
	case reflect.Int:
		return orderAs[K](cmp.Compare[int])
	case reflect.Int8:
		return orderAs[K](cmp.Compare[int8])
	case reflect.Int16:
		return orderAs[K](cmp.Compare[int16])
	case reflect.Int32:
		return orderAs[K](cmp.Compare[int32])
	case reflect.Int64:
		return orderAs[K](cmp.Compare[int64])
	case reflect.Uint:
		return orderAs[K](cmp.Compare[uint])
	case reflect.Uint8:
		return orderAs[K](cmp.Compare[uint8])
	case reflect.Uint16:
		return orderAs[K](cmp.Compare[uint16])
	case reflect.Uint32:
		return orderAs[K](cmp.Compare[uint32])
	case reflect.Uint64:
		return orderAs[K](cmp.Compare[uint64])
	case reflect.Uintptr:
		return orderAs[K](cmp.Compare[uintptr])
	case reflect.Float32:
		return orderAs[K](cmp.Compare[float32])
	case reflect.Float64:
		return orderAs[K](cmp.Compare[float64])
	}
	return nil
}

// orderAs orders K, whose underlying type is T, as T.
func orderAs[K, T any](compare func(a, b T) int) func(a, b K) int {
	return func(a, b K) int { return compare(*(*T)(unsafe.Pointer(&a)), *(*T)(unsafe.Pointer(&b))) }
}

// An Item is one row under one of its index keys.
type Item[K comparable, V, I any] struct {
	Key I
	Row *snapshot.RowRef[K, V]
}

// Ends are rows that are in no map. An item with one of them is below, or above, all
// items whose index keys agree with its own in the first fields.
type ends[K comparable, V any] struct{ below, above *snapshot.RowRef[K, V] }

// side returns the place of an item with the row r among those that agree with it:
// below, above or, for a row that is not an end, 0.
func (e ends[K, V]) side(r *snapshot.RowRef[K, V]) int {
	switch r {
	case e.below:
		return -1
	case e.above:
		return 1
	}
	return 0
}

// compareTo orders an item with the index key a and one with b by index key, field by
// field. The row of b may be an end, and that of a is none.
func (x *Def[K, V, I]) compareTo(a, b I, bRow *snapshot.RowRef[K, V]) int {
	for f, compare := range x.fields {
		if c := compare(a, b); c != 0 {
			return c
		}
		if c := x.ends[f].side(bRow); c != 0 {
			return -c
		}
	}
	return 0
}

// compareRows orders items with equal index keys by the keys of their rows.
func (x *Def[K, V, I]) compareRows(a, b *snapshot.RowRef[K, V]) int {
	if a == b {
		return 0
	}
	return x.compareKeys(a.Key(), b.Key())
}

// compareItems orders any two items, with ends too.
func (x *Def[K, V, I]) compareItems(a, b Item[K, V, I]) int {
	for f, compare := range x.fields {
		if c := compare(a.Key, b.Key); c != 0 {
			return c
		}
		if at, bt := x.ends[f].side(a.Row), x.ends[f].side(b.Row); at != 0 || bt != 0 {
			return at - bt
		}
	}
	return x.compareRows(a.Row, b.Row)
}

// Compare orders index keys.
func (x *Def[K, V, I]) Compare(a, b I) int {
	for _, compare := range x.fields {
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
