package cow

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// indexes are the contents of all indexes of one map; they are attached to it.
// They must not hold a map: see snapshot.Builder.
type indexes[K comparable, V any] struct {
	slots []slot[K, V]
}

// Structure returns about how many bytes they take.
func (x *indexes[K, V]) Structure() int {
	n := 0
	for _, s := range x.slots {
		n += s.structure()
	}
	return n
}

// A slot is a content without its third type parameter in the way. It is
// immutable.
type slot[K comparable, V any] interface {
	of() indexer[K, V]

	// derive returns the content for a map that the changes lead to, and who, to
	// which it adds those of the watches that watch what is touched.
	derive(m *Map[K, V], list []Change[K, V], watches indexHub[K, V], who []chans) (slot[K, V], []chans)

	// violation returns an *IndexError if two rows are under one key of a unique
	// index.
	violation() error

	structure() int
}

// An indexer is an *indexDef without its third type parameter in the way.
type indexer[K comparable, V any] interface {
	build(m *Map[K, V]) slot[K, V]
	title() string
}

// An indexList is the indexes that a Store or Table has. It is immutable.
type indexList[K comparable, V any] []indexer[K, V]

// attached returns the indexes of the nearest ancestor of m that has some, and that
// ancestor, or nil.
func attached[K comparable, V any](m *Map[K, V]) (*indexes[K, V], *Map[K, V]) {
	x, to := builder[K, V]{}.Attached(m)
	all, ok := x.(*indexes[K, V])
	if !ok {
		return nil, nil
	}
	return all, to
}

// find returns the content of an index, or nil.
func (x *indexes[K, V]) find(of indexer[K, V]) slot[K, V] {
	if x != nil {
		for _, s := range x.slots {
			if s.of() == of {
				return s
			}
		}
	}
	return nil
}

// contentsOf returns the contents of these indexes for m: attached to it, those of
// the nearest ancestor brought up to m, or built.
func contentsOf[K comparable, V any](m *Map[K, V], list indexList[K, V]) *indexes[K, V] {
	all, to := attached(m)
	var since []Change[K, V]
	if all != nil && to != m {
		since = slices.Collect(m.Diff(to))
	}
	next := &indexes[K, V]{slots: make([]slot[K, V], len(list))}
	for i, x := range list {
		switch s := all.find(x); {
		case s == nil:
			next.slots[i] = x.build(m)
		case to == m:
			next.slots[i] = s
		default:
			next.slots[i], _ = s.derive(m, since, nil, nil)
		}
	}
	return next
}

// ready returns the contents of these indexes for m without work, or nil.
func ready[K comparable, V any](m *Map[K, V], list indexList[K, V]) *indexes[K, V] {
	all, to := attached(m)
	if all == nil || to != m || len(all.slots) != len(list) {
		return nil
	}
	for i, s := range all.slots {
		if s.of() != list[i] {
			return nil
		}
	}
	return all
}

// seal ends the edit e of base, and returns the map it made, with its indexes, or
// base if nothing was changed, after it looked up whom the commit will wake. C gets
// the changes, which are computed here and nowhere else; it is nil where nobody but
// watches needs them.
func seal[K comparable, V any](e *Editor[K, V], base *Map[K, V], list indexList[K, V], h *hub[K, V], c *changes[K, V]) (*Map[K, V], error) {
	if err := e.Err(); err != nil {
		return nil, err
	}
	watched := h.watched()
	if c == nil {
		if !watched {
			return e.Seal(), nil
		}
		c = &h.scratch
		defer func() { *c = changes[K, V]{} }() // not to keep rows alive
	}
	c.compare(e, base.Version())
	m := e.Seal()
	if len(c.list) == 0 {
		return base, nil
	}
	var s signal
	if watched {
		s = h.look(m.Version(), c.list, list)
	}
	if len(list) > 0 {
		var err error
		if m, s.who, err = derive(m, base, list, h, c.list, s.who); err != nil {
			return nil, err
		}
		if watched {
			h.expect(s)
		}
	}
	return m, nil
}

// derive returns m, which the changes made of base, with its indexes, and adds to
// who those whom that wakes.
func derive[K comparable, V any](m, base *Map[K, V], list indexList[K, V], h *hub[K, V], changes []Change[K, V], who []chans) (*Map[K, V], []chans, error) {
	all := ready(base, list)
	if all == nil {
		all = contentsOf(base, list)
	}
	next := &indexes[K, V]{slots: make([]slot[K, V], len(list))}
	for i, slot := range all.slots {
		var watches indexHub[K, V]
		if h.watched() {
			watches = h.watchesOf(list[i])
		}
		next.slots[i], who = slot.derive(m, changes, watches, who)
		if err := next.slots[i].violation(); err != nil {
			return nil, nil, err
		}
	}
	return builder[K, V]{}.Attach(m, next), who, nil
}

// attach builds the index x, adds it to what it is of, and returns it.
func attach[K comparable, V, I any](of Indexed[K, V], x *indexDef[K, V, I]) (*Index[K, V, I], error) {
	// What was built, in case that somebody else publishes a version meanwhile.
	var built *Map[K, V]
	var c slot[K, V]
	err := of.reindex("NewIndex", func(list indexList[K, V], m *Map[K, V]) (indexList[K, V], *Map[K, V], error) {
		for _, other := range list {
			if other.title() == x.name {
				panic(fmt.Sprintf("cow: there is an index %q already: make each index once and keep it", x.name))
			}
		}
		if c == nil {
			x.empty = builder[K, V]{}.Empty(m)
			for i := range x.bounds {
				x.bounds[i] = bounds[K, V]{x.probe(*new(K)), x.probe(*new(K))}
			}
			c = x.build(m)
		} else {
			c, _ = c.derive(m, slices.Collect(m.Diff(built)), nil, nil)
		}
		built = m
		if err := c.violation(); err != nil {
			return nil, nil, err
		}
		all := contentsOf(m, list)
		return append(slices.Clip(list), x), builder[K, V]{}.Attach(m, &indexes[K, V]{slots: append(all.slots, c)}), nil
	})
	if err != nil {
		return nil, err
	}
	return &Index[K, V, I]{x}, nil
}

// A content is what an index has for one map. It is immutable.
type content[K comparable, V, I any] struct {
	index  *indexDef[K, V, I]
	sorted ordered.Tree[I, *snapshot.RowRef[K, V]]
	points points[I, *snapshot.RowRef[K, V]] // of a unique index, where keys can be hashed
	dups   ordered.Tree[I, int]              // of a unique index: how many rows too many a key has
}

func (x *indexDef[K, V, I]) title() string { return x.name }

// build returns the content for a map from its rows alone.
func (x *indexDef[K, V, I]) build(m *Map[K, V]) slot[K, V] {
	var items []item[K, V, I]
	var keys collector[I]
	for row := range m.Rows() {
		for _, i := range x.keysOf(row, &keys) {
			items = append(items, item[K, V, I]{i, builder[K, V]{}.Ref(row)})
		}
	}
	slices.SortFunc(items, x.compareItems)
	w := x.writer(&content[K, V, I]{
		index:  x,
		sorted: ordered.Build(len(items), func(i int) (I, *snapshot.RowRef[K, V]) { return items[i].key, items[i].row }),
	})
	if x.points != nil {
		w.points = x.points().edit()
	}
	for n, it := range items {
		if x.unique && n > 0 && x.compare(items[n-1].key, it.key) == 0 {
			w.duplicate(it.key, 1)
		}
		if w.points != nil {
			w.points.set(it.key, it.row)
		}
	}
	return w.seal()
}

func (c *content[K, V, I]) of() indexer[K, V] { return c.index }

func (c *content[K, V, I]) derive(m *Map[K, V], list []Change[K, V], watches indexHub[K, V], who []chans) (slot[K, V], []chans) {
	x := c.index
	watching, _ := watches.(indexWatches[K, V, I])
	if len(list) > 1000 && len(list) > m.Len()/4 {
		return x.build(m), watching.all(who)
	}
	w := x.writer(c)
	// Everything that goes first, so that a key may move from row to row.
	for _, change := range list {
		was, is := change.Rows()
		before, after := x.keysOf(was, &w.olds), x.keysOf(is, &w.news)
		for _, i := range after {
			for len(before) > 0 && x.compare(before[0], i) < 0 {
				w.remove(item[K, V, I]{before[0], builder[K, V]{}.Ref(was)})
				before = before[1:]
			}
			had := len(before) > 0 && x.compare(before[0], i) == 0
			if had {
				before = before[1:]
			}
			w.adds = append(w.adds, addition[K, V, I]{item[K, V, I]{i, builder[K, V]{}.Ref(is)}, !had})
		}
		for _, i := range before {
			w.remove(item[K, V, I]{i, builder[K, V]{}.Ref(was)})
		}
	}
	for _, a := range w.adds {
		w.add(a.item, a.fresh)
	}
	next, who := w.seal(), watching.look(w.touched, who)
	w.free()
	return next, who
}

func (c *content[K, V, I]) violation() error {
	i, _, ok := c.dups.First()
	if !ok {
		return nil
	}
	return &IndexError{Name: builder[K, V]{}.Name(c.index.empty), Index: c.index.name, Key: c.index.own(i)}
}

// structure counts the items at the usual fill of the leaves they lie in.
func (c *content[K, V, I]) structure() int {
	n := c.sorted.Len() * int(unsafe.Sizeof(item[K, V, I]{})) * 3 / 2
	if c.points != nil {
		n += c.points.structure()
	}
	return n
}
