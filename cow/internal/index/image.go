package index

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cowstore/cowstore/snapshot"
)

// A List is the indexes that the maps of one line have. It is immutable.
type List[K comparable, V any] []indexer[K, V]

// An indexer is a *Def without its third type parameter in the way.
type indexer[K comparable, V any] interface {
	build(m *snapshot.Map[K, V]) slot[K, V]

	// rebuild is build after a Clear, or where the changes are not known. Was is the image from
	// before, for the edit to tell what it touched, or nil.
	rebuild(m *snapshot.Map[K, V], was slot[K, V]) (slot[K, V], edit)
	title() string

	// rowsIn returns the rows of the index, but for the first ones, in its order, and how many all
	// are: List.Rows.
	rowsIn(m *snapshot.Map[K, V], skip int) (rows iter.Seq[snapshot.Row[K, V]], n int)
}

// Images are those of all indexes of one map, whose annotation they are.
type images[K comparable, V any] struct {
	slots []slot[K, V]
	few   [2]slot[K, V] // where slots are, if they are no more
}

func newImages[K comparable, V any](n int) *images[K, V] {
	x := new(images[K, V])
	if n <= len(x.few) {
		x.slots = x.few[:n]
	} else {
		x.slots = make([]slot[K, V], n)
	}
	return x
}

// Structure returns about how many bytes they take.
func (x *images[K, V]) Structure() int {
	n := 0
	for _, s := range x.slots {
		n += s.structure()
	}
	return n
}

// A slot is a *image without its third type parameter in the way. It is immutable.
type slot[K comparable, V any] interface {
	def() indexer[K, V]

	// next returns the image for a map that the changes lead to, and the edit that
	// made it, which is to be freed. The changes are valid until it returns.
	next(m *snapshot.Map[K, V], changes []snapshot.Change[K, V]) (slot[K, V], edit)

	// problem returns why no version may have the image, nil if one may: a *Duplicate,
	// or a *snapshot.KeyError for a row that the index refuses.
	problem() error

	structure() int
}

// An edit is a *writer without its type parameter in the way.
type edit interface {
	what() any // what the edit touched, a *Touched[I] (part.go), valid until free
	free()
}

// A Duplicate is an index key of a unique index that two rows have: a cow.IndexError.
type Duplicate struct {
	Name  string
	Index string
	Key   any
}

func (d *Duplicate) Error() string { return "two rows have one index key" }

// Has reports whether x, a *Def, is in the list.
func (list List[K, V]) Has(x any) bool {
	return slices.ContainsFunc(list, func(is indexer[K, V]) bool { return any(is) == x })
}

// A Step leads from one map to the next.
type Step[K comparable, V any] struct {
	Base, Next *snapshot.Map[K, V]

	// Changes are those from Base to Next, unless Base was Cleared: then nobody has looked
	// at what was in it.
	Changes []snapshot.Change[K, V]
	Cleared bool

	Edit *snapshot.Editor[K, V] // which made Next
}

// Next returns the map that a step leads to with its indexes, or the problem that one
// of them has. Tell, if it is not nil, is called with
// each *Def and its *Touched, which is valid until it returns.
func Next[K comparable, V any](step Step[K, V], list List[K, V], tell func(x, touched any)) (*snapshot.Map[K, V], error) {
	var was, cleared *images[K, V]
	if !step.Cleared {
		was = imagesOf(step.Base, list)
	} else if x, to := annotated(step.Base); to == step.Base {
		cleared = x
	}
	next := newImages[K, V](len(list))
	for i, x := range list {
		var s slot[K, V]
		var e edit
		if was == nil {
			s, e = x.rebuild(step.Next, cleared.find(x))
		} else {
			s, e = was.slots[i].next(step.Next, step.Changes)
		}
		if tell != nil {
			tell(x, e.what())
		}
		e.free()
		if err := s.problem(); err != nil {
			return nil, err
		}
		next.slots[i] = s
	}
	return builder[K, V]{}.AnnotateSealed(step.Edit, next), nil
}

// annotated returns the images of the nearest ancestor of m that has some, and that
// ancestor, or nil.
func annotated[K comparable, V any](m *snapshot.Map[K, V]) (*images[K, V], *snapshot.Map[K, V]) {
	x, to := builder[K, V]{}.Annotation(m)
	all, ok := x.(*images[K, V])
	if !ok {
		return nil, nil
	}
	return all, to
}

// find returns the image of an index, or nil.
func (x *images[K, V]) find(def indexer[K, V]) slot[K, V] {
	if x != nil {
		for _, s := range x.slots {
			if s.def() == def {
				return s
			}
		}
	}
	return nil
}

// imagesOf returns the images of these indexes for m: those it has, those of the
// nearest ancestor brought up to m, or built.
func imagesOf[K comparable, V any](m *snapshot.Map[K, V], list List[K, V]) *images[K, V] {
	all, to := annotated(m)
	if to == m && all != nil && slices.EqualFunc(all.slots, list, func(s slot[K, V], x indexer[K, V]) bool { return s.def() == x }) {
		return all
	}
	var since []snapshot.Change[K, V]
	if all != nil && to != m {
		since = slices.Collect(m.Diff(to))
	}
	next := newImages[K, V](len(list))
	for i, x := range list {
		switch s := all.find(x); {
		case s == nil:
			next.slots[i] = x.build(m)
		case to == m:
			next.slots[i] = s
		default:
			next.slots[i] = later(s, m, since)
		}
	}
	return next
}

// later returns the image for a map that the changes lead to, of which nobody is told.
func later[K comparable, V any](s slot[K, V], m *snapshot.Map[K, V], changes []snapshot.Change[K, V]) slot[K, V] {
	s, e := s.next(m, changes)
	e.free()
	return s
}

// Begin makes x an index of maps of the line of m. It is called once, before any other method.
func (x *Def[K, V, I]) Begin(m *snapshot.Map[K, V]) {
	x.empty = builder[K, V]{}.Empty(m)
	end := func() *snapshot.RowRef { return x.probe(*new(K)) }
	x.ends = make([]ends, len(x.fields))
	for i := range x.ends {
		x.ends[i] = ends{end(), end()}
	}
	x.begun = end()
}

// Adder returns a function that adds x to the indexes of a map, unless it has a problem
// there. It may be called again, with a later map. It panics if there is an index of that
// name.
func (x *Def[K, V, I]) Adder() func(list List[K, V], m *snapshot.Map[K, V]) (List[K, V], *snapshot.Map[K, V], error) {
	var built *snapshot.Map[K, V] // of which s is
	var s slot[K, V]
	return func(list List[K, V], m *snapshot.Map[K, V]) (List[K, V], *snapshot.Map[K, V], error) {
		for _, other := range list {
			if other.title() == x.Name {
				panic(fmt.Sprintf("cow: there is an index %q already: make each index once and keep it", x.Name))
			}
		}
		if s == nil {
			x.Begin(m)
			s = x.build(m)
		} else {
			s = later(s, m, slices.Collect(m.Diff(built)))
		}
		built = m
		if err := s.problem(); err != nil {
			return nil, nil, err
		}
		all := imagesOf(m, list)
		return append(slices.Clip(list), x), builder[K, V]{}.Annotate(m, &images[K, V]{slots: append(slices.Clip(all.slots), s)}), nil
	}
}

// Drop removes x from the indexes of a map. It panics if x is not one of them.
func (x *Def[K, V, I]) Drop(list List[K, V], m *snapshot.Map[K, V]) (List[K, V], *snapshot.Map[K, V]) {
	i := slices.Index(list, indexer[K, V](x))
	if i < 0 {
		panic(fmt.Sprintf("cow: Drop of index %q from a table or fork that does not have it: drop each index once, from its own", x.Name))
	}
	list = slices.Delete(slices.Clone(list), i, i+1)
	if len(list) == 0 {
		return nil, builder[K, V]{}.Annotate(m, nil) // nothing would ever take their place
	}
	return list, builder[K, V]{}.Annotate(m, imagesOf(m, list))
}

// An image is what an index has for one map. It is immutable.
type image[K comparable, V, I any] struct {
	index *Def[K, V, I]
	items[I]
}

// in returns the image for m.
func (x *Def[K, V, I]) in(m *snapshot.Map[K, V]) *image[K, V, I] {
	if all, to := annotated(m); to == m && all != nil {
		for _, s := range all.slots {
			if c, ok := s.(*image[K, V, I]); ok && c.index == x {
				return c
			}
		}
	}
	return imagesOf(m, List[K, V]{x}).slots[0].(*image[K, V, I])
}

// First returns the first index key in a map, and whether there is one. Known is false for a map
// that has no image of x: to make one takes time.
func (x *Def[K, V, I]) First(m *snapshot.Map[K, V]) (key I, some, known bool) {
	all, to := annotated(m)
	s, known := all.find(x).(*image[K, V, I])
	if to != m || !known {
		return key, false, false
	}
	key, _, some = s.sorted.First()
	return key, some, true
}

// during returns the image for what an edit has made so far.
func (x *Def[K, V, I]) during(e *snapshot.Editor[K, V]) *image[K, V, I] {
	m := e.Map()
	if all, to := annotated(m); to != m || all.find(x) == nil {
		list := List[K, V]{x}
		if all != nil && all.find(x) != nil {
			list = list[:0]
			for _, s := range all.slots {
				list = append(list, s.def())
			}
		}
		m = builder[K, V]{}.AnnotateDuring(e, imagesOf(m, list)) // so that the next time only what is written since counts
	}
	return x.in(m)
}

func (x *Def[K, V, I]) title() string { return x.Name }

// build returns the image for a map from its rows alone.
func (x *Def[K, V, I]) build(m *snapshot.Map[K, V]) slot[K, V] {
	all := make([]Item[I], 0, m.Len())
	var keys collector[I]
	var refused *refusals
	for row := range m.Rows() {
		of, err := x.keysOf(row, &keys)
		ref := builder[K, V]{}.Ref(row)
		if err != nil {
			refused = refuse(refused, ref, err)
		}
		for _, i := range of {
			all = append(all, Item[I]{i, ref})
		}
	}
	return &image[K, V, I]{x, x.Order.build(all, refused)}
}

func (x *Def[K, V, I]) rebuild(m *snapshot.Map[K, V], was slot[K, V]) (slot[K, V], edit) {
	w := x.writer(&items[I]{})
	s := x.build(m)
	w.touched.Any = true
	if was != nil {
		w.touched.was, w.touched.is = &was.(*image[K, V, I]).items, &s.(*image[K, V, I]).items
	}
	return s, w
}

func (c *image[K, V, I]) def() indexer[K, V] { return c.index }

func (c *image[K, V, I]) next(m *snapshot.Map[K, V], changes []snapshot.Change[K, V]) (slot[K, V], edit) {
	x := c.index
	if len(changes) > 1000 && len(changes) > m.Len()/4 {
		return x.rebuild(m, nil)
	}
	w := x.writer(&c.items)
	// Everything that goes first, so that a key may move from row to row.
	for _, change := range changes {
		was, is := change.Rows()
		before, wasRefused := x.keysOf(was, &w.olds)
		after, isRefused := x.keysOf(is, &w.news)
		old, new := builder[K, V]{}.Ref(was), builder[K, V]{}.Ref(is)
		if wasRefused != nil {
			w.refused = refuse(w.refused, old, nil)
		}
		if isRefused != nil {
			w.refused = refuse(w.refused, new, isRefused)
		}
		w.change(before, after, old, new)
	}
	w.add()
	return &image[K, V, I]{x, w.seal()}, w
}

func (c *image[K, V, I]) problem() error {
	var first *snapshot.RowRef // by key, of those that are refused
	key := builder[K, V]{}.KeyOf
	for row := range c.refused.Keys() {
		if first == nil || c.index.compareKeys(key(row), key(first)) < 0 {
			first = row
		}
	}
	if first != nil {
		err, _ := c.refused.Get(first)
		err = fmt.Errorf("index %.100q: %w", c.index.Name, err)
		return &snapshot.KeyError[K]{Name: builder[K, V]{}.Name(c.index.empty), Key: key(first), Err: err}
	}
	i, _, ok := c.surplus.First()
	if !ok {
		return nil
	}
	return &Duplicate{Name: builder[K, V]{}.Name(c.index.empty), Index: c.index.Name, Key: c.index.Own(i)}
}

// Names returns the names of the indexes, in the order in which they were made.
func (list List[K, V]) Names() (names []string) {
	for _, x := range list {
		names = append(names, x.title())
	}
	return names
}

// Rows returns an iterator over the rows of m in the order of the index of a name, after so many of
// them, and how many there are; false if there is no such index.
func (list List[K, V]) Rows(m *snapshot.Map[K, V], name string, skip int) (rows iter.Seq[snapshot.Row[K, V]], n int, ok bool) {
	for _, x := range list {
		if x.title() == name {
			rows, n = x.rowsIn(m, skip)
			return rows, n, true
		}
	}
	return nil, 0, false
}
