package cow

import (
	"slices"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// An item is one row under one of its index keys.
type item[K comparable, V, I any] struct {
	key I
	row *snapshot.RowRef[K, V]
}

// Bounds are rows that are in no map. An item with one of them is below, or above, all
// items whose index keys agree with its own in the first fields.
type bounds[K comparable, V any] struct{ below, above *snapshot.RowRef[K, V] }

// side returns the place of an item with the row r among those that agree with it:
// below, above or, for a row that is not a bound, 0.
func (b bounds[K, V]) side(r *snapshot.RowRef[K, V]) int {
	switch r {
	case b.below:
		return -1
	case b.above:
		return 1
	}
	return 0
}

// compareTo orders an item with the index key a and one with b by index key, field by
// field, of which the second may have a bound.
func (x *indexDef[K, V, I]) compareTo(a, b I, bRow *snapshot.RowRef[K, V]) int {
	for f, compare := range x.fields {
		if c := compare(a, b); c != 0 {
			return c
		}
		if c := x.bounds[f].side(bRow); c != 0 {
			return -c
		}
	}
	return 0
}

// compareRows orders items with equal index keys by the keys of their rows.
func (x *indexDef[K, V, I]) compareRows(a, b *snapshot.RowRef[K, V]) int {
	if a == b {
		return 0
	}
	return x.compareKeys(a.Key(), b.Key())
}

// compareItems orders any two items, bounds too.
func (x *indexDef[K, V, I]) compareItems(a, b item[K, V, I]) int {
	for f, compare := range x.fields {
		if c := compare(a.key, b.key); c != 0 {
			return c
		}
		if c := x.bounds[f].side(a.row) - x.bounds[f].side(b.row); c != 0 || x.bounds[f].side(a.row) != 0 {
			return c
		}
	}
	return x.compareRows(a.row, b.row)
}

// compare orders index keys.
func (x *indexDef[K, V, I]) compare(a, b I) int {
	for _, compare := range x.fields {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// byKey is the order of items of which no two have equal index keys.
func byKey[K comparable, V, I, R any](x *indexDef[K, V, I]) *ordered.Order[I, R] {
	return &ordered.Order[I, R]{Keys: func(a, b I, _ R) int { return x.compare(a, b) }}
}

// probe returns an item's row of key, to compare others with.
func (x *indexDef[K, V, I]) probe(key K) *snapshot.RowRef[K, V] {
	return builder[K, V]{}.Ref(builder[K, V]{}.Probe(x.empty, key))
}

// all returns the bounds of items that agree in all fields of their index keys.
func (x *indexDef[K, V, I]) all() bounds[K, V] { return x.bounds[len(x.bounds)-1] }

// A collector collects the index keys of one row after the other. The zero collector
// is to be given an add.
type collector[I any] struct {
	keys []I
	add  func(I) // adds to keys
}

// keysOf returns the index keys of a row in order, each once; none for the zero Row.
// They are valid until the next call.
func (x *indexDef[K, V, I]) keysOf(row Row[K, V], c *collector[I]) []I {
	if c.add == nil {
		c.add = func(i I) { c.keys = append(c.keys, x.own(i)) }
	}
	clear(c.keys)
	c.keys = c.keys[:0]
	if row != (Row[K, V]{}) {
		x.keys(row, c.add)
	}
	if len(c.keys) > 1 {
		slices.SortStableFunc(c.keys, x.compare) // so that the first of equal ones stays
		c.keys = slices.CompactFunc(c.keys, func(a, b I) bool { return x.compare(a, b) == 0 })
	}
	return c.keys
}

// own returns an index key that nobody else can modify.
func (x *indexDef[K, V, I]) own(i I) I {
	if x.cloneKey != nil {
		return x.cloneKey(i)
	}
	return i
}
