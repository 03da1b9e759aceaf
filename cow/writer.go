package cow

import (
	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// A writer makes the changes of one update to a content that is not published
// yet.
type writer[K comparable, V, I any] struct {
	index  *indexDef[K, V, I]
	sorted ordered.Editor[I, *snapshot.RowRef[K, V]]
	points pointsEditor[I, *snapshot.RowRef[K, V]]
	dups   ordered.Tree[I, int]

	touched    []item[K, V, I]
	adds       []addition[K, V, I]
	olds, news collector[I]
}

// An addition is an item to be added; fresh if it does not take the place of another.
type addition[K comparable, V, I any] struct {
	item  item[K, V, I]
	fresh bool
}

// writer returns a writer that begins with c.
func (x *indexDef[K, V, I]) writer(c *content[K, V, I]) *writer[K, V, I] {
	w, ok := x.writers.Get().(*writer[K, V, I])
	if !ok {
		w = &writer[K, V, I]{index: x}
	}
	w.sorted, w.points, w.dups = c.sorted.Edit(&x.order), nil, c.dups
	if c.points != nil {
		w.points = c.points.edit()
	}
	return w
}

// free keeps what w has allocated for the next update, and nothing of this one. After
// a panic it is not called.
func (w *writer[K, V, I]) free() {
	const few = 64
	if cap(w.touched) > few || cap(w.adds) > few || cap(w.olds.keys) > few || cap(w.news.keys) > few {
		return
	}
	w.sorted, w.points, w.dups = ordered.Editor[I, *snapshot.RowRef[K, V]]{}, nil, ordered.Tree[I, int]{}
	clear(w.touched)
	clear(w.adds)
	clear(w.olds.keys)
	clear(w.news.keys)
	w.touched, w.adds, w.olds.keys, w.news.keys = w.touched[:0], w.adds[:0], w.olds.keys[:0], w.news.keys[:0]
	w.index.writers.Put(w)
}

// seal ends the edit.
func (w *writer[K, V, I]) seal() *content[K, V, I] {
	c := &content[K, V, I]{index: w.index, sorted: w.sorted.Seal(), dups: w.dups}
	if w.points != nil {
		c.points = w.points.seal()
	}
	return c
}

func (w *writer[K, V, I]) remove(it item[K, V, I]) {
	w.sorted.Delete(it.key, it.row)
	w.touched = append(w.touched, it)
	var other *snapshot.RowRef[K, V]
	shared := false
	if w.dups.Len() > 0 {
		if other, shared = w.first(it.key); shared {
			w.duplicate(it.key, -1)
		}
	}
	switch {
	case w.points == nil:
	case shared:
		w.points.set(it.key, other)
	default:
		w.points.delete(it.key)
	}
}

// add adds an item, or puts a new row in its place; fresh if there is none.
func (w *writer[K, V, I]) add(it item[K, V, I], fresh bool) {
	w.touched = append(w.touched, it)
	if w.index.unique && fresh {
		if _, found := w.lookup(it.key); found {
			w.duplicate(it.key, 1)
		}
	}
	w.sorted.Set(it.key, it.row, !fresh && w.index.exact)
	if w.points != nil {
		w.points.set(it.key, it.row)
	}
}

// duplicate counts n rows more that a key of a unique index has too many.
func (w *writer[K, V, I]) duplicate(i I, n int) {
	e := w.dups.Edit(byKey[K, V, I, int](w.index))
	_, is, _ := e.Get(byKey[K, V, I, int](w.index), i, 0)
	if is += n; is > 0 {
		e.Set(w.index.own(i), is, true)
	} else {
		e.Delete(i, 0)
	}
	w.dups = e.Seal()
}

// lookup returns a row under an index key of a unique index.
func (w *writer[K, V, I]) lookup(i I) (*snapshot.RowRef[K, V], bool) {
	if w.points != nil && w.dups.Len() == 0 && w.points.knows(i) {
		return w.points.get(i)
	}
	return w.first(i)
}

// first returns the first row under an index key.
func (w *writer[K, V, I]) first(i I) (*snapshot.RowRef[K, V], bool) {
	at := w.sorted.Seek(&w.index.order, i, w.index.all().below)
	if keys, rows := at.Next(); len(keys) > 0 && w.index.compare(keys[0], i) == 0 {
		return rows[0], true
	}
	return nil, false
}
