package cow

import (
	"context"
	"reflect"
	"slices"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// A Watched is something in a Store or Table to wait for: keys, present or not,
// or keys or a range of an index. It is made by Store.OnKeys, Table.OnKeys, Index.OnKeys
// and Index.OnRange, immutable, and safe for concurrent use.
type Watched[K comparable, V any] interface {
	// differs reports whether it is not the same in both maps.
	differs(newer, older *Map[K, V]) bool

	// add registers c with h, in steps, and remove takes it out again.
	add(h *hub[K, V], c chan struct{})
	remove(h *hub[K, V], c chan struct{})
}

// OnKeys returns keys of the Store for Watch.
func (s *Store[K, V]) OnKeys(keys ...K) Watched[K, V] { return newWatchedKeys[K, V](keys) }

// OnKeys returns keys of the table for Watch.
func (t *Table[K, V]) OnKeys(keys ...K) Watched[K, V] { return newWatchedKeys[K, V](keys) }

// Watch blocks until the current snapshot differs from since in what is watched:
// any of what is listed, or, if nothing is, the whole map. It returns that
// snapshot, or ctx's cause and no snapshot if ctx ends first. A nil since is the empty
// map. A key differs once it was written, even with an equal value; other writes never
// end a Watch. Watch starts no goroutine, and a commit pays for the watches it wakes,
// not for those there are. It panics for a key that cannot be hashed, or compared.
func (s *Store[K, V]) Watch(ctx context.Context, since *Map[K, V], of ...Watched[K, V]) (*Map[K, V], error) {
	h := s.hub.Load()
	if h == nil {
		s.hub.CompareAndSwap(nil, newHub[K, V]())
		h = s.hub.Load()
	}
	if s.watches.Load() == nil {
		wake := s.wake
		s.watches.CompareAndSwap(nil, &wake)
	}
	return watch(ctx, &s.line, h, since, func(m *Map[K, V]) *Map[K, V] { return m }, of)
}

// wake signals those who watch the Store.
func (s *Store[K, V]) wake(newer, _ *Map[K, V]) { s.hub.Load().fire(newer.Version()) }

// Watch is Store.Watch for this table: it blocks until what is watched differs
// from what it was in since, a snapshot of the DB that the Table is of. To watch a
// fork, use [Table.Of]; Watch panics for a snapshot of another DB.
func (t *Table[K, V]) Watch(ctx context.Context, since *Snapshot, of ...Watched[K, V]) (*Snapshot, error) {
	t.made()
	db := t.db
	if since != nil && since.of != db.origin() {
		panic("cow: Watch from a snapshot of another DB: use the Table's Of to watch that")
	}
	x, ok := db.hubs.Load(t.def.index)
	if !ok {
		x, _ = db.hubs.LoadOrStore(t.def.index, newHub[K, V]())
	}
	if db.watches.Load() == nil {
		wake := db.wake
		db.watches.CompareAndSwap(nil, &wake)
	}
	return watch(ctx, &db.line, x.(*hub[K, V]), since, t.In, of)
}

// wake signals those who watch tables.
func (db *DB) wake(newer, older *Snapshot) {
	for table, h := range db.hubs.Range {
		if i := table.(int); newer.table(i) != older.table(i) {
			h.(interface{ fire(version uint64) }).fire(newer.version)
		}
	}
}

// watch is Watch of the map that in finds in a snapshot.
func watch[P version[P], K comparable, V any](ctx context.Context, l *line[P], h *hub[K, V], since P, in func(P) *Map[K, V], of []Watched[K, V]) (P, error) {
	older := in(since)
	if len(of) == 0 {
		of = []Watched[K, V]{watchedMap[K, V]{}}
	}
	differs := func() (P, bool) {
		s := l.published.Load()
		newer := in(s)
		for _, w := range of {
			if w.differs(newer, older) {
				return s, true
			}
		}
		return s, false
	}
	// At first without registering: so what panics for a bad key leaves nothing
	// behind.
	if s, ok := differs(); ok {
		return s, nil
	}
	l.panicInUpdate("a Watch")
	// A publication swaps, and then looks for who waits; this makes itself known,
	// and then looks at what is published. So one of the two sees the other.
	c := make(chan struct{}, 1)
	h.waiting.Add(1)
	defer func() {
		for _, w := range of {
			w.remove(h, c)
		}
		h.forget(c)
		h.waiting.Add(-1)
	}()
	for _, w := range of {
		w.add(h, c)
	}
	for {
		if s, ok := differs(); ok {
			return s, nil
		}
		if err := l.block(ctx, c); err != nil {
			return *new(P), err
		}
	}
}

// watchedMap watches a whole map.
type watchedMap[K comparable, V any] struct{}

func (watchedMap[K, V]) differs(newer, older *Map[K, V]) bool {
	for range newer.Diff(older) {
		return true
	}
	return false
}

func (watchedMap[K, V]) add(h *hub[K, V], c chan struct{}) {
	h.step(c, func() { h.whole[c] = struct{}{} })
}

func (watchedMap[K, V]) remove(h *hub[K, V], c chan struct{}) {
	h.step(nil, func() { delete(h.whole, c) })
}

// watchedKeys watches keys.
type watchedKeys[K comparable, V any] []K

func newWatchedKeys[K comparable, V any](keys []K) watchedKeys[K, V] {
	keys = slices.Clone(keys)
	if depth.Key.Shallow(reflect.TypeFor[K]()) {
		return keys
	}
	// One that is nested too deeply is never there, and cannot be in a Go map.
	return slices.DeleteFunc(keys, func(k K) bool { return depth.Key.Check(k) != nil })
}

func (keys watchedKeys[K, V]) differs(newer, older *Map[K, V]) bool {
	for _, k := range keys {
		is, _ := newer.Row(k)
		if was, _ := older.Row(k); is != was {
			return true
		}
	}
	return false
}

// atOnce is how many keys are registered in one step, so that no commit waits for
// long.
const atOnce = 1024

func (keys watchedKeys[K, V]) add(h *hub[K, V], c chan struct{}) {
	for some := range slices.Chunk(keys, atOnce) {
		h.step(c, func() {
			for _, k := range some {
				if k != k {
					continue // never there, and could not be removed
				}
				cs := h.keys[k]
				if cs == nil {
					cs = make(chans, 1)
					h.keys[k] = cs
				}
				cs[c] = struct{}{}
			}
		})
	}
}

func (keys watchedKeys[K, V]) remove(h *hub[K, V], c chan struct{}) {
	for some := range slices.Chunk(keys, atOnce) {
		h.step(nil, func() {
			for _, k := range some {
				cs := h.keys[k]
				delete(cs, c)
				if len(cs) == 0 {
					delete(h.keys, k)
				}
			}
			if len(h.keys) == 0 {
				h.keys = make(map[K]chans) // a map keeps the memory it once needed
			}
		})
	}
}
