// Package index has the images of indexes: of one map, its rows in the order of index keys.
// Changes come in, and the next image goes out. The images are the map's annotation, so that
// they must hold no map: see Annotate of [snapshot.Builder].
//
// From the ground up: order.go, the orders that types have; items.go, the items of an index, for
// which only the type of its keys counts, part.go, what reads them, and writer.go, what changes them;
// def.go, what an index is; image.go, what it has for one map; span.go, a part of that with its rows;
// cursor.go, places in it as text. A Def is the only kind of index there is. Another kind is an
// indexer whose build makes a slot, and a slot whose next makes an edit (image.go has the three
// interfaces): lists, forks and snapshots carry it without knowing its type. What still knows a Def
// has to be made for the new kind too: Adder, Drop, Begin, in and during of image.go, which add,
// remove and look for it; its reads, as span.go has them; the public type with them, as Index and
// Range of package cow are, and addIndex there; and, for watches of a part, a Watched, watchers and
// an On function. What an edit tells its watchers may be of a type of its own.
// Where one immutable value can be the whole index, as for full texts, none of that is needed: keep
// it as a row of a derived table, by cow.NewDerived, as memory/internal/derive does. It is not seen
// in an update before its end, refuses no row, and wakes whoever watches the row, for any change.
package index

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/clone"
)

// A Def is an index as maps know it. It holds no map with rows, so that no snapshot keeps
// more alive than itself. Its order must not change.
type Def[K comparable, V, I any] struct {
	Order[I]
	compareKeys func(a, b K) int
	keys        func(row snapshot.Row[K, V], add func(I)) error
	empty       *snapshot.Map[K, V] // of the same Options, for its methods; set when the index is added
}

// HasOrder reports whether keys of type K have an order of their own.
func HasOrder[K any]() bool { return orderOf[K]().compare() != nil }

// Options are those of an index: see cow.IndexOptions.
type Options[K comparable] struct {
	Unique      bool
	CompareKeys func(a, b K) int
}

// NewOrdered returns the Def of an index by keys in their own order.
func NewOrdered[K comparable, V any, I comparable](name string, keys func(row snapshot.Row[K, V], add func(I)), o Options[K]) *Def[K, V, I] {
	x := newDef(name, willing(keys), o, nil)
	if o.Unique && x.equals {
		x.points = newHashed[I]
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
	x := &Def[K, V, I]{keys: keys, compareKeys: o.CompareKeys}
	x.Name, x.unique, x.natural, x.cloneKey, x.text = name, o.Unique, natural[I]{fields: fields}, clone.Of[I](), textOf(reflect.TypeFor[I]())
	if len(fields) == 0 {
		if x.natural = orderOf[I](); len(x.fields) == 0 {
			panic(fmt.Sprintf("cow: index %q needs a function that compares its keys, of type %v, which have no order of their own: give one to NewIndexFunc or NewOrder", name, reflect.TypeFor[I]()))
		}
	}
	x.rows, x.like = x.compareRows, func(r *snapshot.RowRef) *snapshot.RowRef { return x.probe(builder[K, V]{}.KeyOf(r)) }
	x.tree = ordered.Order[I, *snapshot.RowRef]{Keys: x.compareTo, Rows: x.rows}
	if x.kind != 0 {
		x.tree.Find = x.find
	}
	if x.compareKeys == nil {
		x.compareKeys = orderOf[K]().compare()
	}
	if x.compareKeys == nil {
		panic(fmt.Sprintf("cow: index %q needs IndexOptions.CompareKeys: keys of type %v have no order of their own", name, reflect.TypeFor[K]()))
	}
	return x
}

// compareRows orders items with equal index keys by the keys of their rows.
func (x *Def[K, V, I]) compareRows(a, b *snapshot.RowRef) int {
	if a == b {
		return 0
	}
	k, other := builder[K, V]{}.KeyOf(a), builder[K, V]{}.KeyOf(b)
	c := x.compareKeys(k, other)
	if c == 0 && k != other && k == k {
		panic(fmt.Sprintf("cow: index %q has two rows under one index key whose own keys differ but compare as equal: give a comparison of keys that tells them apart", x.Name))
	}
	return c
}

// probe returns an item's row of key, to compare others with.
func (x *Def[K, V, I]) probe(key K) *snapshot.RowRef {
	return builder[K, V]{}.Ref(builder[K, V]{}.Probe(x.empty, key))
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
