package cow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// An Index keeps the rows of a Store or Table in the order of index keys, which
// a function computes from their values: zero, one or more for each row. Rows
// under equal index keys are in the order of their own keys. It is part of every
// snapshot, so that it always agrees with the rows.
//
// An Index is made by [NewIndex], [NewMultiIndex], [NewIndexFunc], [NewMultiIndexFunc]
// or [NewOrder], and the zero Index panics. It is immutable, and safe for concurrent use. A fork has the indexes that
// its parent has at that moment, whatever snapshot it begins with. A commit takes a
// few microseconds for each index key that a row gains or loses, and two or three for
// one that stays.
type Index[K comparable, V, I any] struct{ def *indexDef[K, V, I] }

// An indexDef is an Index as maps know it. It holds neither a Store nor a map with
// rows, so that no snapshot keeps more alive than itself.
type indexDef[K comparable, V, I any] struct {
	name        string
	unique      bool
	fields      []func(a, b I) int // the order of index keys
	compareKeys func(a, b K) int
	keys        func(row Row[K, V], add func(I))
	cloneKey    func(I) I                                // nil: index keys need none
	points      func() points[I, *snapshot.RowRef[K, V]] // nil: index keys cannot be hashed, or equal ones make no exception
	empty       *Map[K, V]                               // of the same Options, for its methods
	bounds      []bounds[K, V]                           // by field
	exact       bool                                     // equal index keys do not differ
	order       ordered.Order[I, *snapshot.RowRef[K, V]]
	writers     sync.Pool // of *writer[K, V, I]
}

// IndexOptions say how an index treats equal keys. The zero value is right where
// several rows may have the same index key and K is a number or a string.
type IndexOptions[K comparable] struct {
	// Unique says that no two rows may have the same index key. It is judged
	// when an update's function has returned, so that two rows may swap; an
	// update that leaves two such rows fails with an *IndexError.
	Unique bool

	// CompareKeys orders the keys of rows with equal index keys: negative, zero
	// or positive as a is below, equal to or above b. It must be given where K
	// is neither a number nor a string.
	CompareKeys func(a, b K) int
}

// Indexed is what can have indexes: a *Store or a *Table.
type Indexed[K comparable, V any] interface {
	// reindex replaces the list of indexes, and the current map by an equal one,
	// by what edit returns. Edit may be called again, with another map.
	reindex(what string, edit func(list indexList[K, V], m *Map[K, V]) (indexList[K, V], *Map[K, V], error)) error
}

// An IndexError says which index key of a unique index two rows have. It wraps
// ErrExists.
type IndexError struct {
	Name  string // as in KeyError: which table
	Index string
	Key   any // the caller's own
}

func (e *IndexError) Error() string {
	text := keyText(e.Key)
	if depth.Text.Check(e.Key) == nil { // it may be a slice, which the key of a row cannot be
		text = fmt.Sprintf("%.100s", fmt.Sprint(e.Key))
	}
	return fmt.Sprintf("%s: index %q: two rows under %s", cmp.Or(e.Name, "cow"), e.Index, text)
}

// Format formats Error, whatever the verb: the key may be nested too deeply for fmt.
func (e *IndexError) Format(f fmt.State, verb rune) { format(f, verb, e.Error()) }

// MarshalJSON returns Error as a JSON string: the key may be nested too deeply for encoding/json.
func (e IndexError) MarshalJSON() ([]byte, error) { return json.Marshal(e.Error()) }

func (e *IndexError) Unwrap() error { return ErrExists }

// NewIndex adds an index to a Store or Table, which may have rows already. Key is
// called with a value, isolated, and returns its index key. It must be pure: it runs
// inside updates, in reads of the past and when commits are replayed, must always
// give the same key for equal values, and must not use the Store, the DB or the
// update. NewIndex queues like an update, and waits for the updates that a sink has
// not acknowledged. It returns an *IndexError if the rows that are there do not allow
// a unique index; then there is none. It panics if there is an index of that name.
func NewIndex[K comparable, V any, I cmp.Ordered](of Indexed[K, V], name string, key func(v V) I, o IndexOptions[K]) (*Index[K, V, I], error) {
	return NewMultiIndex(of, name, one(key), o)
}

// NewMultiIndex is NewIndex for rows with any number of index keys: keys calls add
// with each. A row without one is not in the index.
func NewMultiIndex[K comparable, V any, I cmp.Ordered](of Indexed[K, V], name string, keys func(v V, add func(I)), o IndexOptions[K]) (*Index[K, V, I], error) {
	x := newIndexDef(name, valueKeys[K](keys), o, orderOf[I]())
	x.exact = isExact[I]()
	if o.Unique {
		x.points = newHashed[I, *snapshot.RowRef[K, V]]
	}
	return attach(of, x)
}

// NewIndexFunc is NewIndex for index keys of any type, in the order of compare, which
// returns a number that is negative, zero or positive as a is below, equal to or above
// b. If there are several, the second decides where the first finds two equal, and so
// on: one for each field of a composite key, for [Range.Leading].
func NewIndexFunc[K comparable, V, I any](of Indexed[K, V], name string, key func(v V) I, o IndexOptions[K], compare ...func(a, b I) int) (*Index[K, V, I], error) {
	return NewMultiIndexFunc(of, name, one(key), o, compare...)
}

// NewMultiIndexFunc is NewMultiIndex for index keys of any type; see [NewIndexFunc].
func NewMultiIndexFunc[K comparable, V, I any](of Indexed[K, V], name string, keys func(v V, add func(I)), o IndexOptions[K], compare ...func(a, b I) int) (*Index[K, V, I], error) {
	if len(compare) == 0 {
		panic(fmt.Sprintf("cow: index %q needs a function that compares index keys", name))
	}
	x := newIndexDef(name, valueKeys[K](keys), o, slices.Clone(compare)...)
	x.cloneKey = clone.Of[I]()
	return attach(of, x)
}

// NewOrder adds an index by the keys of the rows themselves.
func NewOrder[K cmp.Ordered, V any](of Indexed[K, V], name string) *Index[K, V, K] {
	x := newIndexDef(name, func(row Row[K, V], add func(K)) { add(row.Key()) }, IndexOptions[K]{}, orderOf[K]())
	// The bytes of a string lie in its row: one that stays would keep a row alive that was replaced.
	x.exact = isExact[K]() && reflect.TypeFor[K]().Kind() != reflect.String
	made, _ := attach(of, x) // only a unique index can fail
	return made
}

// one returns the keys of a row that has one.
func one[V, I any](key func(V) I) func(V, func(I)) {
	return func(v V, add func(I)) { add(key(v)) }
}

func valueKeys[K comparable, V, I any](keys func(V, func(I))) func(Row[K, V], func(I)) {
	return func(row Row[K, V], add func(I)) { keys(row.Value(), add) }
}

func newIndexDef[K comparable, V, I any](name string, keys func(Row[K, V], func(I)), o IndexOptions[K], fields ...func(a, b I) int) *indexDef[K, V, I] {
	x := &indexDef[K, V, I]{name: name, unique: o.Unique, fields: fields, keys: keys, compareKeys: o.CompareKeys}
	x.bounds = make([]bounds[K, V], len(fields))
	x.order = ordered.Order[I, *snapshot.RowRef[K, V]]{Keys: x.compareTo, Rows: x.compareRows}
	if x.compareKeys == nil {
		x.compareKeys = orderOf[K]()
	}
	if x.compareKeys == nil {
		panic(fmt.Sprintf("cow: index %q needs IndexOptions.CompareKeys: keys of type %v have no order of their own", name, reflect.TypeFor[K]()))
	}
	return x
}

// made panics for the zero Index.
func (x *Index[K, V, I]) made() {
	if x.def == nil {
		panic("cow: the zero Index is of nothing: make one with NewIndex, NewMultiIndex or NewOrder")
	}
}

// Name returns the name of the index.
func (x *Index[K, V, I]) Name() string {
	x.made()
	return x.def.name
}

// Drop removes the index from a Store or Table that has it. Snapshots can still be
// asked for it, at the cost of one from before it was made, and so can watches. It
// queues like an update, waits for the updates that a sink has not acknowledged, and
// panics if there is no such index.
func (x *Index[K, V, I]) Drop(of Indexed[K, V]) {
	x.made()
	_ = of.reindex("dropping an index", func(list indexList[K, V], m *Map[K, V]) (indexList[K, V], *Map[K, V], error) {
		i := slices.IndexFunc(list, func(other indexer[K, V]) bool { return other == indexer[K, V](x.def) })
		if i < 0 {
			panic(fmt.Sprintf("cow: Drop of index %q from something that does not have it", x.def.name))
		}
		list = slices.Delete(slices.Clone(list), i, i+1)
		return list, builder[K, V]{}.Attach(m, contentsOf(m, list)), nil
	})
}

// In returns the index as it is in a map: a snapshot of its Store, or what its
// Table has in a snapshot. A map that comes from before the index was made, or
// from At, is indexed there and then, in time proportional to its rows, or to how
// many were written since.
func (x *Index[K, V, I]) In(m *Map[K, V]) Range[K, V, I] {
	x.made()
	return x.def.in(m)
}

func (x *indexDef[K, V, I]) in(m *Map[K, V]) Range[K, V, I] {
	if all, to := attached(m); to == m && all != nil {
		for _, s := range all.slots {
			if c, ok := s.(*content[K, V, I]); ok && c.index == x {
				return Range[K, V, I]{content: c}
			}
		}
	}
	s := contentsOf(m, indexList[K, V]{x}).slots[0]
	return Range[K, V, I]{content: s.(*content[K, V, I])}
}

// During returns the index as an update has left it so far. The revision of a row
// that the update wrote is Pending.
func (x *Index[K, V, I]) During(e *Editor[K, V]) Range[K, V, I] {
	x.made()
	m := e.Map()
	if all, to := attached(m); to != m || all.find(x.def) == nil {
		list := indexList[K, V]{x.def}
		if all != nil && all.find(x.def) != nil {
			list = list[:0]
			for _, s := range all.slots {
				list = append(list, s.of())
			}
		}
		m = builder[K, V]{}.AttachDuring(e, contentsOf(m, list)) // so that the next time only what is written since counts
	}
	r := x.def.in(m)
	r.pending = e.Version()
	return r
}

// isExact reports whether numbers or strings of type I that are equal do not differ, as
// 0 and -0 do.
func isExact[I cmp.Ordered]() bool {
	switch reflect.TypeFor[I]().Kind() {
	case reflect.Float32, reflect.Float64:
		return false
	}
	return true
}

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
