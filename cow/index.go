package cow

import (
	"fmt"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/cow/internal/line"
)

// An Index keeps the rows of a Table in the order of index keys. A function computes these from a
// row: none, one or more. Rows under equal index keys are in the order of their own keys. An index
// is part of every snapshot, so it always agrees with the rows.
//
// An Index is made by [NewIndex], [NewMultiIndex], [NewIndexFunc] or [NewOrder]; the zero Index
// panics. It is immutable, and safe for concurrent use. A fork has the indexes that its parent has
// at that moment, whatever snapshot it begins with. A commit takes a few microseconds for each
// index key that a row gains or loses, and two or three for one that stays.
type Index[K comparable, V, I any] struct {
	def *index.Def[K, V, I]
	of  *tableDef[K, V]
}

// IndexOptions say how an index treats equal keys. The zero value is right where
// several rows may have the same index key and K has an order of its own.
type IndexOptions[K comparable] struct {
	// Unique says that no two rows may have the same index key. It is checked when an update's
	// function has returned, so that two rows may swap keys. An update that leaves two such rows
	// fails with an *IndexError.
	Unique bool

	// CompareKeys orders rows with equal index keys by their own keys. It returns a negative
	// number, zero or a positive number as a is below, equal to or above b, and must not return
	// zero for keys that differ. It must be given if the type of keys has no order: see NewIndex.
	// The order of time.Time finds one instant in two zones equal, which differ as keys: an
	// update that would have both under one index key panics, so let keys be in UTC.
	CompareKeys func(a, b K) int
}

// NewIndex adds an index to a Table, which may have rows already. The function key gets a row and
// returns its index key. It must read the value by r.Shared() and not modify it, as r.Value()
// clones the value at each call. It must be pure, as it runs inside updates, in reads of the past
// and when commits are replayed: it must always return the same key for the same row, and must not
// use the DB or the update. The revision of the row is the version that wrote it, or will.
//
// An index key that is a part of a longer string in the value keeps the whole string in memory,
// even when the row is replaced under the same index key: see strings.Clone.
//
// NewIndex queues like an update, and waits for the updates that a sink has not acknowledged. If
// the rows do not allow a unique index, it returns an *IndexError and makes no index. It panics if
// the table has an index of that name.
//
// Index keys are in the order of their type. If that has a method Compare(I) int, as time.Time and
// netip.Addr have, the method decides. Integers, floats, strings, booleans and bytes are in their
// usual order. Arrays and structs of all these, up to 1,024 in all, are in the order of the first
// element or field that differs. For other types NewIndex panics: see [NewIndexFunc].
func NewIndex[K comparable, V any, I comparable](t *Table[K, V], name string, key func(r Row[K, V]) I, o IndexOptions[K]) (*Index[K, V, I], error) {
	if key == nil {
		return NewMultiIndex[K, V, I](t, name, nil, o)
	}
	return NewMultiIndex(t, name, func(r Row[K, V], add func(I)) { add(key(r)) }, o)
}

// NewMultiIndex is NewIndex for rows with any number of index keys: the function keys calls add
// with each. To add a key twice is to add it once. A row without an index key is not in the index.
func NewMultiIndex[K comparable, V any, I comparable](t *Table[K, V], name string, keys func(r Row[K, V], add func(I)), o IndexOptions[K]) (*Index[K, V, I], error) {
	return addIndex(t, index.NewOrdered[K](name, keys, index.Options[K](o)))
}

// NewIndexFunc is NewMultiIndex for index keys of any type. They are in the order of compare, which
// returns a negative number if a is below b, zero if they are equal, and a positive number if a is
// above b. If there are several functions, each decides where those before it find two keys equal:
// one for each field of a composite key, for [Range.Leading]. Without any, index keys are in the
// order of their type: see [NewIndex].
//
// If the function keys returns an error, the index refuses the row. An update that leaves such a
// row fails with a *KeyError that wraps the error, and so does NewIndexFunc. In versions from
// before the index was made, such a row is not in the index.
func NewIndexFunc[K comparable, V any, I any](t *Table[K, V], name string, keys func(r Row[K, V], add func(I)) error, o IndexOptions[K], compare ...func(a, b I) int) (*Index[K, V, I], error) {
	return addIndex(t, index.NewCompared[K](name, keys, index.Options[K](o), compare))
}

// NewOrder adds an index by the keys of the rows themselves. They are in the order of compare, as
// in [NewIndexFunc], or, without it, in that of their type. NewOrder panics if the type has no
// order.
func NewOrder[K comparable, V any](t *Table[K, V], name string, compare ...func(a, b K) int) *Index[K, V, K] {
	made, _ := addIndex(t, index.NewByRow[K, V](name, compare)) // only a unique index can fail
	return made
}

// addIndex adds the index x to a table, and returns it.
func addIndex[K comparable, V, I any](t *Table[K, V], x *index.Def[K, V, I]) (*Index[K, V, I], error) {
	t.made()
	t.db.line.PanicMade(fmt.Sprintf("index %q", x.Name))
	add := x.Adder()
	err := t.reindex("making an index", func(list index.List[K, V], m *Map[K, V]) (index.List[K, V], *Map[K, V], error) {
		list, m, err := add(list, m)
		return list, m, indexError(err)
	})
	if err != nil {
		return nil, err
	}
	return &Index[K, V, I]{x, t.def}, nil
}

// made returns what x is, and panics for the zero Index.
func (x *Index[K, V, I]) made() *index.Def[K, V, I] {
	if x.def == nil {
		panic("cow: the zero Index is of nothing: make one with NewIndex, NewMultiIndex, NewIndexFunc or NewOrder")
	}
	return x.def
}

// Name returns the name of the index.
func (x *Index[K, V, I]) Name() string { return x.made().Name }

// Drop removes the index from a Table. In and watches still work with it, but each map is then
// indexed when it is asked for: see In. Drop queues like an update, waits for the updates that a
// sink has not acknowledged, and panics if t has no such index.
func (x *Index[K, V, I]) Drop(t *Table[K, V]) {
	def := x.made()
	_ = t.reindex("dropping an index", func(list index.List[K, V], m *Map[K, V]) (index.List[K, V], *Map[K, V], error) {
		list, m = def.Drop(list, m)
		return list, m, nil
	})
}

// In returns the whole index of a map, which is that of its Table in a snapshot; nil is the empty
// map. A map from before the index was made, or of a snapshot that At returned, is indexed by this
// call, in time proportional to its rows, or to the rows written since. In panics for a map of
// another table.
func (x *Index[K, V, I]) In(m *Map[K, V]) Range[K, V, I] {
	x.belongs(m, "map")
	return Range[K, V, I]{span: x.def.In(m, index.Bounds[I]{})}
}

// belongs panics unless m, from what, is a map of the index's table.
func (x *Index[K, V, I]) belongs(m *Map[K, V], what string) {
	if x.made(); !(builder[K, V]{}).Akin(m, x.of.empty) {
		panic(fmt.Sprintf("cow: %v of %v asked about the %s of another table: give it that of its own", x, x.of, what))
	}
}

// During returns the whole index as the update has made it so far. In an update of several tables,
// that is x.During(table.Edit(tx)) with the index's table. The revision of a row that the update
// wrote is Pending. During panics for an Editor of another table.
func (x *Index[K, V, I]) During(e *Editor[K, V]) Range[K, V, I] {
	x.belongs(e.Map(), "Editor")
	return Range[K, V, I]{x.def.During(e), e}
}

// reindex replaces the indexes of t, and its current map by an equal one, by what edit
// returns. Edit may be called again, with another map.
func (t *Table[K, V]) reindex(what string, edit func(list index.List[K, V], m *Map[K, V]) (index.List[K, V], *Map[K, V], error)) error {
	t.made()
	db, d := t.db, t.def
	return db.line.Amend(what, func(current *line.Root) (*line.Root, error) {
		s := d.state(db)
		list, m, err := edit(s.list(), d.content(current))
		if err != nil {
			return nil, err
		}
		s.indexes.Store(&list) // before the map: what is made from it looks here
		next := line.Make(current, db.owner(), current.Version())
		next.Set(d.at, m)
		return next.Root, nil
	})
}
