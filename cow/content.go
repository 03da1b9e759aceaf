package cow

import (
	"slices"

	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/snapshot"
)

// indexes are the contents of all indexes of one map; they are attached to it.
// They must not hold a map: one from before the attachment remembers its ancestor,
// and so on, so that no version would ever be let go.
type indexes[K comparable, V any] struct {
	slots []slot[K, V]
}

// A slot is a content without its third type parameter in the way. It is
// immutable.
type slot[K comparable, V any] interface {
	// derive returns the content for a map that the changes lead to. If the
	// update goes on, what it touches adds to what the slot has touched.
	derive(m *snapshot.Map[K, V], list []snapshot.Change[K, V], goesOn bool) slot[K, V]
	violation() error
}

// indexesOf returns the indexes of m: those attached to it, or those of the
// nearest ancestor brought up to m.
func indexesOf[K comparable, V any](m *snapshot.Map[K, V]) *indexes[K, V] {
	x, to := m.Attached()
	all, ok := x.(*indexes[K, V])
	if !ok {
		return new(indexes[K, V])
	}
	if to == m {
		return all
	}
	next := &indexes[K, V]{slots: make([]slot[K, V], len(all.slots))}
	list := slices.Collect(m.Diff(to))
	for i, s := range all.slots {
		next.slots[i] = s.derive(m, list, to.Version() == m.Version())
	}
	return next
}

// reindex returns next, derived from base by an update, with the indexes of base
// brought up to it, or an error if next violates a unique one.
func reindex[K comparable, V any](next, base *snapshot.Map[K, V]) (*snapshot.Map[K, V], error) {
	if x, _ := next.Attached(); x == nil || next == base {
		return next, nil
	}
	all := indexesOf(next)
	for _, s := range all.slots {
		if err := s.violation(); err != nil {
			return base, err
		}
	}
	if _, to := next.Attached(); to != next && all.slots != nil {
		next = next.Attach(all)
	}
	return next, nil
}

// attach builds the index x, adds it to what it is of, and returns it.
func attach[K comparable, V, I any](of Indexed[K, V], x *Index[K, V, I]) (*Index[K, V, I], error) {
	err := of.amend(func(m *snapshot.Map[K, V]) (*snapshot.Map[K, V], error) {
		x.empty = m.Empty()
		x.high = x.empty.Probe(*new(K)).Ref()
		c := x.build(m)
		if err := c.violation(); err != nil {
			return nil, err
		}
		all := indexesOf(m)
		return m.Attach(&indexes[K, V]{slots: append(slices.Clip(all.slots), c)}), nil
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// A content is what an index has for one map. It is immutable.
type content[K comparable, V, I any] struct {
	index  *Index[K, V, I]
	sorted *immutable.SortedMap[item[K, V, I], struct{}]
	points points[I, snapshot.Ref[K, V]] // of a unique index, where keys can be hashed
	dups   int                           // of a unique index: items with the index key of another

	// The index keys that the update touched which made this; nil for very
	// many. For watches.
	touched []I
	many    bool
}

// An item is one row under one of its index keys.
type item[K comparable, V, I any] struct {
	key I
	row snapshot.Ref[K, V]
}

// maxTouched is how many touched keys a content lists.
const maxTouched = 1024

// Compare orders items by index key, then by the key of the row. The zero Ref is
// below all, x.high above. The sorted map wants -1, 0 or 1.
func (x *Index[K, V, I]) Compare(a, b item[K, V, I]) int {
	c := x.compare(a.key, b.key)
	if c == 0 && a.row != b.row {
		none := snapshot.Ref[K, V]{}
		switch {
		case a.row == none || b.row == x.high:
			return -1
		case b.row == none || a.row == x.high:
			return 1
		}
		c = x.compareKeys(a.row.Key(), b.row.Key())
	}
	return min(max(c, -1), 1)
}

// A collector collects the index keys of one row after the other.
type collector[K comparable, V, I any] struct {
	index *Index[K, V, I]
	keys  []I
	add   func(I) // adds to keys
}

func newCollector[K comparable, V, I any](x *Index[K, V, I]) *collector[K, V, I] {
	c := &collector[K, V, I]{index: x}
	c.add = func(i I) {
		if !x.has(c.keys, i) {
			c.keys = append(c.keys, x.own(i))
		}
	}
	return c
}

// of returns the index keys of a row, each once; none for the zero Row. They
// are valid until the next call.
func (c *collector[K, V, I]) of(row Row[K, V]) []I {
	clear(c.keys)
	c.keys = c.keys[:0]
	if row != (Row[K, V]{}) {
		c.index.keys(row, c.add)
	}
	return c.keys
}

func (x *Index[K, V, I]) has(keys []I, i I) bool {
	return slices.ContainsFunc(keys, func(k I) bool { return x.compare(k, i) == 0 })
}

// own returns an index key that nobody else can modify.
func (x *Index[K, V, I]) own(i I) I {
	if x.cloneKey != nil {
		return x.cloneKey(i)
	}
	return i
}

// build returns the content for a map from its rows alone.
func (x *Index[K, V, I]) build(m *snapshot.Map[K, V]) *content[K, V, I] {
	var items []item[K, V, I]
	keys := newCollector(x)
	for row := range m.Rows() {
		for _, i := range keys.of(row) {
			items = append(items, item[K, V, I]{i, row.Ref()})
		}
	}
	slices.SortFunc(items, x.Compare)
	b := immutable.NewSortedMapBuilder[item[K, V, I], struct{}](x)
	c := &content[K, V, I]{index: x, many: true}
	var p pointsEditor[I, snapshot.Ref[K, V]]
	if x.points != nil {
		p = x.points().edit()
	}
	for n, it := range items {
		b.Set(it, struct{}{})
		if x.unique && n > 0 && x.compare(items[n-1].key, it.key) == 0 {
			c.dups++
		}
		if p != nil {
			p.set(it.key, it.row)
		}
	}
	c.sorted = b.Map()
	if p != nil {
		c.points = p.seal()
	}
	return c
}

func (c *content[K, V, I]) derive(m *snapshot.Map[K, V], list []snapshot.Change[K, V], goesOn bool) slot[K, V] {
	if len(list) > 1000 && len(list) > m.Len()/4 {
		return c.index.build(m)
	}
	x := c.index
	next := &content[K, V, I]{index: x, sorted: c.sorted, points: c.points, dups: c.dups}
	if goesOn {
		next.touched, next.many = slices.Clip(c.touched), c.many
	}
	w := writer[K, V, I]{content: next}
	if c.points != nil {
		w.points = c.points.edit()
	}
	// Everything that goes first, so that a key may move from row to row.
	adds := make([]item[K, V, I], 0, len(list))
	fresh := make([]bool, 0, len(list))
	olds, news := newCollector(x), newCollector(x)
	for _, change := range list {
		was, is := change.Rows()
		before, after := olds.of(was), news.of(is)
		for _, i := range before {
			if !x.has(after, i) {
				w.remove(item[K, V, I]{i, was.Ref()})
			}
		}
		for _, i := range after {
			adds = append(adds, item[K, V, I]{i, is.Ref()})
			fresh = append(fresh, !x.has(before, i))
		}
	}
	for i, it := range adds {
		w.add(it, fresh[i])
	}
	if w.points != nil {
		next.points = w.points.seal()
	}
	return next
}

// A writer makes the changes of one update to a content that is not published
// yet.
type writer[K comparable, V, I any] struct {
	*content[K, V, I]
	points pointsEditor[I, snapshot.Ref[K, V]]
}

func (w *writer[K, V, I]) remove(it item[K, V, I]) {
	w.sorted = w.sorted.Delete(it)
	if i := it.key; w.index.apart != nil {
		w.touch(w.index.apart(i)) // or what was removed would live on
	} else {
		w.touch(i)
	}
	var other snapshot.Ref[K, V]
	shared := false
	if w.dups > 0 {
		if other, shared = w.first(it.key); shared {
			w.dups--
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
	w.touch(it.key)
	if w.index.unique && fresh {
		if _, found := w.lookup(it.key); found {
			w.dups++
		}
	}
	w.sorted = w.sorted.Set(it, struct{}{})
	if w.points != nil {
		w.points.set(it.key, it.row)
	}
}

// lookup returns a row under an index key of a unique index.
func (w *writer[K, V, I]) lookup(i I) (snapshot.Ref[K, V], bool) {
	if w.points != nil && w.dups == 0 && w.content.points.knows(i) {
		return w.points.get(i)
	}
	return w.first(i)
}

func (w *writer[K, V, I]) touch(i I) {
	if len(w.touched) == maxTouched {
		w.touched, w.many = nil, true
	}
	if !w.many {
		w.touched = append(w.touched, i)
	}
}

// first returns the first row under an index key.
func (c *content[K, V, I]) first(i I) (snapshot.Ref[K, V], bool) {
	it := c.sorted.Iterator()
	it.Seek(item[K, V, I]{key: i})
	if at, _, ok := it.Next(); ok && c.index.compare(at.key, i) == 0 {
		return at.row, true
	}
	return snapshot.Ref[K, V]{}, false
}

func (c *content[K, V, I]) violation() error {
	if c.dups == 0 {
		return nil
	}
	e := &IndexError{Index: c.index.name}
	var last item[K, V, I]
	for it := c.sorted.Iterator(); !it.Done(); {
		at, _, _ := it.Next()
		if last.row != (snapshot.Ref[K, V]{}) && c.index.compare(last.key, at.key) == 0 {
			e.Key = c.index.own(at.key)
			break
		}
		last = at
	}
	return e
}
