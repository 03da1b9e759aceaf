package cow

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/benbjohnson/immutable"

	"github.com/cowstore/cowstore/snapshot"
)

// indexes are the contents of all indexes of one map; they are attached to it.
// They must not hold a map: see snapshot.Map.Attach.
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
	derive(m *snapshot.Map[K, V], list []snapshot.Change[K, V], watches indexHub[K, V], who []chans) (slot[K, V], []chans)

	// violation returns an *IndexError if two rows are under one key of a unique
	// index.
	violation() error

	structure() int
}

// An indexer is an *indexDef without its third type parameter in the way.
type indexer[K comparable, V any] interface {
	build(m *snapshot.Map[K, V]) slot[K, V]
	title() string
}

// An indexList is the indexes that a Store or Table has. It is immutable.
type indexList[K comparable, V any] []indexer[K, V]

// attached returns the indexes of the nearest ancestor of m that has some, and that
// ancestor, or nil.
func attached[K comparable, V any](m *snapshot.Map[K, V]) (*indexes[K, V], *snapshot.Map[K, V]) {
	x, to := m.Attached()
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
func contentsOf[K comparable, V any](m *snapshot.Map[K, V], list indexList[K, V]) *indexes[K, V] {
	all, to := attached(m)
	var since []snapshot.Change[K, V]
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
func ready[K comparable, V any](m *snapshot.Map[K, V], list indexList[K, V]) *indexes[K, V] {
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
func seal[K comparable, V any](e *Editor[K, V], base *snapshot.Map[K, V], list indexList[K, V], h *hub[K, V], c *changes[K, V]) (*snapshot.Map[K, V], error) {
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
func derive[K comparable, V any](m, base *snapshot.Map[K, V], list indexList[K, V], h *hub[K, V], changes []snapshot.Change[K, V], who []chans) (*snapshot.Map[K, V], []chans, error) {
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
	return m.Attach(next), who, nil
}

// attach builds the index x, adds it to what it is of, and returns it.
func attach[K comparable, V, I any](of Indexed[K, V], x *indexDef[K, V, I]) (*Index[K, V, I], error) {
	// What was built, in case that somebody else publishes a version meanwhile.
	var built *snapshot.Map[K, V]
	var c slot[K, V]
	err := of.reindex("NewIndex", func(list indexList[K, V], m *snapshot.Map[K, V]) (indexList[K, V], *snapshot.Map[K, V], error) {
		for _, other := range list {
			if other.title() == x.name {
				panic(fmt.Sprintf("cow: there is an index %q already: make each index once and keep it", x.name))
			}
		}
		if c == nil {
			x.empty = m.Empty()
			x.high = x.empty.Probe(*new(K)).Ref()
			c = x.build(m)
		} else {
			c, _ = c.derive(m, slices.Collect(m.Diff(built)), nil, nil)
		}
		built = m
		if err := c.violation(); err != nil {
			return nil, nil, err
		}
		all := contentsOf(m, list)
		return append(slices.Clip(list), x), m.Attach(&indexes[K, V]{slots: append(all.slots, c)}), nil
	})
	if err != nil {
		return nil, err
	}
	return &Index[K, V, I]{x}, nil
}

// A content is what an index has for one map. It is immutable.
type content[K comparable, V, I any] struct {
	index  *indexDef[K, V, I]
	sorted *immutable.SortedMap[item[K, V, I], struct{}]
	points points[I, snapshot.Ref[K, V]] // of a unique index, where keys can be hashed
	dups   *immutable.SortedMap[I, int]  // of a unique index: how many rows too many a key has; nil: none
}

// An item is one row under one of its index keys.
type item[K comparable, V, I any] struct {
	key I
	row snapshot.Ref[K, V]
}

// Compare orders items by index key, then by the key of the row. The zero Ref is
// below all, x.high above. The sorted map wants -1, 0 or 1.
func (x *indexDef[K, V, I]) Compare(a, b item[K, V, I]) int {
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
	index *indexDef[K, V, I]
	keys  []I
	add   func(I) // adds to keys
}

func newCollector[K comparable, V, I any](x *indexDef[K, V, I]) *collector[K, V, I] {
	c := &collector[K, V, I]{index: x}
	c.add = func(i I) { c.keys = append(c.keys, x.own(i)) }
	return c
}

// of returns the index keys of a row in order, each once; none for the zero Row.
// They are valid until the next call.
func (c *collector[K, V, I]) of(row Row[K, V]) []I {
	clear(c.keys)
	c.keys = c.keys[:0]
	if row != (Row[K, V]{}) {
		c.index.keys(row, c.add)
	}
	if len(c.keys) > 1 {
		slices.SortStableFunc(c.keys, c.index.compare) // so that the first of equal ones stays
		c.keys = slices.CompactFunc(c.keys, func(a, b I) bool { return c.index.compare(a, b) == 0 })
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

func (x *indexDef[K, V, I]) title() string { return x.name }

// build returns the content for a map from its rows alone.
func (x *indexDef[K, V, I]) build(m *snapshot.Map[K, V]) slot[K, V] {
	var items []item[K, V, I]
	keys := newCollector(x)
	for row := range m.Rows() {
		for _, i := range keys.of(row) {
			items = append(items, item[K, V, I]{i, row.Ref()})
		}
	}
	slices.SortFunc(items, x.Compare)
	b := immutable.NewSortedMapBuilder[item[K, V, I], struct{}](x)
	w := writer[K, V, I]{content: &content[K, V, I]{index: x}}
	if x.points != nil {
		w.points = x.points().edit()
	}
	for n, it := range items {
		b.Set(it, struct{}{})
		if x.unique && n > 0 && x.compare(items[n-1].key, it.key) == 0 {
			w.duplicate(it.key, 1)
		}
		if w.points != nil {
			w.points.set(it.key, it.row)
		}
	}
	w.sorted = b.Map()
	return w.seal()
}

func (c *content[K, V, I]) of() indexer[K, V] { return c.index }

func (c *content[K, V, I]) derive(m *snapshot.Map[K, V], list []snapshot.Change[K, V], watches indexHub[K, V], who []chans) (slot[K, V], []chans) {
	x := c.index
	w := writer[K, V, I]{content: &content[K, V, I]{index: x, sorted: c.sorted, points: c.points, dups: c.dups}}
	watching, _ := watches.(indexWatches[K, V, I])
	if len(list) > 1000 && len(list) > m.Len()/4 {
		return x.build(m), watching.all(who)
	}
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
		for _, i := range after {
			for len(before) > 0 && x.compare(before[0], i) < 0 {
				w.remove(item[K, V, I]{before[0], was.Ref()})
				before = before[1:]
			}
			had := len(before) > 0 && x.compare(before[0], i) == 0
			if had {
				before = before[1:]
			}
			adds = append(adds, item[K, V, I]{i, is.Ref()})
			fresh = append(fresh, !had)
		}
		for _, i := range before {
			w.remove(item[K, V, I]{i, was.Ref()})
		}
	}
	for i, it := range adds {
		w.add(it, fresh[i])
	}
	return w.seal(), watching.look(w.touched, who)
}

// A writer makes the changes of one update to a content that is not published
// yet.
type writer[K comparable, V, I any] struct {
	*content[K, V, I]
	points  pointsEditor[I, snapshot.Ref[K, V]]
	touched []I // index keys
}

// seal ends the edit.
func (w *writer[K, V, I]) seal() *content[K, V, I] {
	if w.points != nil {
		w.content.points = w.points.seal()
	}
	return w.content
}

func (w *writer[K, V, I]) remove(it item[K, V, I]) {
	w.sorted = w.sorted.Delete(it)
	w.touched = append(w.touched, it.key)
	var other snapshot.Ref[K, V]
	shared := false
	if w.dups != nil {
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
	w.touched = append(w.touched, it.key)
	if w.index.unique && fresh {
		if _, found := w.lookup(it.key); found {
			w.duplicate(it.key, 1)
		}
	}
	w.sorted = w.sorted.Set(it, struct{}{})
	if w.points != nil {
		w.points.set(it.key, it.row)
	}
}

// duplicate counts n rows more that a key of a unique index has too many.
func (w *writer[K, V, I]) duplicate(i I, n int) {
	if w.dups == nil {
		w.dups = immutable.NewSortedMap[I, int](keyOrder[K, V, I]{w.index})
	}
	is, _ := w.dups.Get(i)
	if is += n; is > 0 {
		w.dups = w.dups.Set(w.index.own(i), is)
		return
	}
	if w.dups = w.dups.Delete(i); w.dups.Len() == 0 {
		w.dups = nil
	}
}

// lookup returns a row under an index key of a unique index.
func (w *writer[K, V, I]) lookup(i I) (snapshot.Ref[K, V], bool) {
	if w.points != nil && w.dups == nil && w.content.points.knows(i) {
		return w.points.get(i)
	}
	return w.first(i)
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
	if c.dups == nil {
		return nil
	}
	i, _, _ := c.dups.Iterator().Next()
	return &IndexError{Name: c.index.empty.Name(), Index: c.index.name, Key: c.index.own(i)}
}

// structure counts the items at the usual fill of the leaves they lie in.
func (c *content[K, V, I]) structure() int {
	n := c.sorted.Len() * int(unsafe.Sizeof(item[K, V, I]{})) * 3 / 2
	if c.points != nil {
		n += c.points.structure()
	}
	return n
}
