package index

import (
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// build returns the items with these, of which some rows are refused.
func (x *Order[I]) build(all []Item[I], refused *refusals) items[I] {
	order := make([]int, len(all)) // and not all: there would be a sort for each type of it
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return x.compareItems(all[i], all[j]) })
	w := x.writer(&items[I]{
		sorted: ordered.Build(len(all), func(i int) (I, *snapshot.RowRef) {
			it := &all[order[i]]
			return it.Key, it.Row
		}),
	})
	if x.points != nil {
		w.points = x.points().edit(nil)
	}
	for n, at := range order {
		it := all[at]
		if x.unique && n > 0 && x.Compare(all[order[n-1]].Key, it.Key) == 0 {
			w.addSurplus(it)
		}
		if w.points != nil {
			w.points.set(it.Key, it.Row)
		}
	}
	w.refused = refused
	return w.seal()
}

// structure counts the items at the usual fill of the leaves they lie in.
func (c *items[I]) structure() int {
	n := c.sorted.Len() * int(unsafe.Sizeof(Item[I]{})) * 3 / 2
	if c.points != nil {
		n += c.points.structure()
	}
	return n
}

// A writer makes the changes of one update to items that are not published yet.
type writer[I any] struct {
	order   *Order[I]
	sorted  ordered.Editor[I, *snapshot.RowRef]
	points  pointsEditor[I]
	spare   pointsEditor[I] // that points was in an update before; nil: none yet
	surplus tree[I]

	refused    *refusals
	touched    Touched[I]
	adds       []addition[I]
	olds, news collector[I]
}

// An addition is an item to be added; fresh if it does not take the place of another.
type addition[I any] struct {
	item  Item[I]
	fresh bool
}

// writer returns a writer that begins with c.
func (x *Order[I]) writer(c *items[I]) *writer[I] {
	w, ok := x.writers.Get().(*writer[I])
	if !ok {
		w = &writer[I]{order: x}
	}
	w.sorted, w.surplus, w.refused = c.sorted.Edit(&x.tree), c.surplus, c.refused
	if c.points != nil {
		w.points = c.points.edit(w.spare)
	}
	return w
}

func (w *writer[I]) what() any { return &w.touched }

// free keeps what w has allocated for the next update, and nothing of this one. After
// a panic it is not called.
func (w *writer[I]) free() {
	const few = 64
	if cap(w.touched.Items) > few || cap(w.adds) > few || cap(w.olds.keys) > few || cap(w.news.keys) > few {
		return
	}
	if w.points != nil {
		w.points.rest()
		w.spare = w.points
	}
	w.sorted, w.points, w.surplus, w.refused = ordered.Editor[I, *snapshot.RowRef]{}, nil, tree[I]{}, nil
	clear(w.touched.Items)
	clear(w.adds)
	clear(w.olds.keys)
	clear(w.news.keys)
	w.touched = Touched[I]{Items: w.touched.Items[:0]}
	w.adds, w.olds.keys, w.news.keys = w.adds[:0], w.olds.keys[:0], w.news.keys[:0]
	w.order.writers.Put(w)
}

// seal ends the edit.
func (w *writer[I]) seal() items[I] {
	c := items[I]{order: w.order, sorted: w.sorted.Seal(), surplus: w.surplus, refused: w.refused}
	if w.points != nil {
		c.points = w.points.seal()
	}
	return c
}

// change takes out what of the index keys before is not among those after, and notes what is
// to be added. Both are in order.
func (w *writer[I]) change(before, after []I, was, is *snapshot.RowRef) {
	x := w.order
	for _, i := range after {
		for len(before) > 0 && x.Compare(before[0], i) < 0 {
			w.remove(Item[I]{before[0], was})
			before = before[1:]
		}
		had := len(before) > 0 && x.Compare(before[0], i) == 0
		if had {
			before = before[1:]
		}
		w.adds = append(w.adds, addition[I]{Item[I]{i, is}, !had})
	}
	for _, i := range before {
		w.remove(Item[I]{i, was})
	}
}

// add adds what was noted.
func (w *writer[I]) add() {
	for _, a := range w.adds {
		it := a.item
		w.touched.Items = append(w.touched.Items, it)
		if w.order.unique && a.fresh {
			if _, found := w.lookup(it.Key); found {
				w.addSurplus(it)
			}
		}
		w.sorted.Set(it.Key, it.Row, !a.fresh && w.order.exact)
		if w.points != nil {
			w.points.set(it.Key, it.Row)
		}
	}
}

func (w *writer[I]) remove(it Item[I]) {
	w.sorted.Delete(it.Key, it.Row)
	w.touched.Items = append(w.touched.Items, it)
	var other *snapshot.RowRef
	shared := false
	if w.surplus.Len() > 0 {
		if other, shared = w.first(w.sorted.Tree, it.Key); shared {
			w.removeSurplus(it)
		}
	}
	switch {
	case w.points == nil:
	case shared:
		w.points.set(it.Key, other)
	default:
		w.points.delete(it.Key)
	}
}

// addSurplus notes a row more under the key of another, and removeSurplus one less: the row
// itself, or another one if it is the one that was not noted.
func (w *writer[I]) addSurplus(it Item[I]) {
	e := w.surplus.Edit(&w.order.tree)
	e.Set(it.Key, it.Row, false)
	w.surplus = e.Seal()
}

func (w *writer[I]) removeSurplus(it Item[I]) {
	e := w.surplus.Edit(&w.order.tree)
	if !e.Delete(it.Key, it.Row) {
		if row, found := w.first(w.surplus, it.Key); found {
			e.Delete(it.Key, row)
		}
	}
	w.surplus = e.Seal()
}

// refuse returns all with the error of one row more, or without it for nil.
func refuse(all *refusals, row *snapshot.RowRef, err error) *refusals {
	if all == nil {
		all = snapshot.New[*snapshot.RowRef](snapshot.Options[error]{Immutable: true})
	}
	e := all.Edit()
	if err == nil {
		e.Delete(row)
	} else {
		e.Set(row, err)
	}
	return e.Seal()
}

// lookup returns a row under an index key of a unique index.
func (w *writer[I]) lookup(i I) (*snapshot.RowRef, bool) {
	if w.points != nil && w.surplus.Len() == 0 && w.points.knows(i) {
		return w.points.get(i)
	}
	return w.first(w.sorted.Tree, i)
}

// first returns the first row under an index key.
func (w *writer[I]) first(t tree[I], i I) (*snapshot.RowRef, bool) {
	var at ordered.Cursor[I, *snapshot.RowRef]
	at.Seek(t, &bound[I]{Order: &w.order.tree, Key: i, Row: w.order.whole().below})
	if key, row, ok := at.Item(); ok && w.order.Compare(key, i) == 0 {
		return row, true
	}
	return nil, false
}
