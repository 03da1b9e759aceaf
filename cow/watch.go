package cow

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/snapshot"
)

// A Watched is something in a Store or Table to wait for: keys, present or not,
// or index keys. It is made by Store.Keys, Table.Keys and Index.Keys, immutable,
// and safe for concurrent use.
type Watched[K comparable, V any] interface {
	// differs reports whether it is not the same in both maps.
	differs(newer, older *snapshot.Map[K, V]) bool

	// add registers c with h, and remove takes it out again. The caller holds
	// h.mu.
	add(h *hub[K, V], c chan struct{})
	remove(h *hub[K, V], c chan struct{})
}

// Keys returns keys of the Store for Watch.
func (s *Store[K, V]) Keys(keys ...K) Watched[K, V] { return watchedKeys[K, V](keys) }

// Keys returns keys of the table for Watch.
func (t *Table[K, V]) Keys(keys ...K) Watched[K, V] { return watchedKeys[K, V](keys) }

// Watch blocks until the current snapshot differs from since in what is watched:
// any of what is listed, or, if nothing is, the whole map. It returns that
// snapshot, or ctx's cause and no snapshot if ctx ends first. A key differs once it
// was written, even with an equal value; other writes never end a Watch. Watch
// starts no goroutine, and a commit pays for the watches it wakes, not for
// those there are.
func (s *Store[K, V]) Watch(ctx context.Context, since *snapshot.Map[K, V], of ...Watched[K, V]) (*snapshot.Map[K, V], error) {
	h := s.hub.Load()
	if h == nil {
		s.hub.CompareAndSwap(nil, newHub[K, V]())
		h = s.hub.Load()
	}
	if s.watches.Load() == nil {
		wake := h.wake
		s.watches.CompareAndSwap(nil, &wake)
	}
	return watch(ctx, &s.line, h, since, func(m *snapshot.Map[K, V]) *snapshot.Map[K, V] { return m }, of)
}

// Watch is Store.Watch for this table: it blocks until what is watched differs
// from what it was in since, a snapshot of a DB or fork, and watches that one. The
// nil snapshot is that of the DB that the table was made for.
func (t *Table[K, V]) Watch(ctx context.Context, since *Snapshot, of ...Watched[K, V]) (*Snapshot, error) {
	db := t.db
	if since != nil {
		db = since.db
	}
	t.In(since) // panics if it is of another DB
	x, ok := db.hubs.Load(t.index)
	if !ok {
		x, _ = db.hubs.LoadOrStore(t.index, &tableHub[K, V]{t, newHub[K, V]()})
	}
	if db.watches.Load() == nil {
		wake := db.wake
		db.watches.CompareAndSwap(nil, &wake)
	}
	return watch(ctx, &db.line, x.(*tableHub[K, V]).hub, since, t.In, of)
}

// watch is Watch of the map that in finds in a snapshot.
func watch[P version[P], K comparable, V any](ctx context.Context, l *line[P], h *hub[K, V], since P, in func(P) *snapshot.Map[K, V], of []Watched[K, V]) (P, error) {
	older := in(since)
	if len(of) == 0 {
		of = []Watched[K, V]{watchedMap[K, V]{}}
	}
	// A publication swaps, and then looks for who waits; this makes itself known,
	// and then looks at what is published. So one of the two sees the other.
	c := make(chan struct{}, 1)
	h.add(c, of)
	defer h.remove(c, of)
	for checked := false; ; {
		s := l.current.Load()
		newer := in(s)
		for _, w := range of {
			if w.differs(newer, older) {
				return s, nil
			}
		}
		if !checked {
			l.panicInUpdate("a Watch")
			checked = true
		}
		if err := l.block(ctx, c); err != nil {
			return *new(P), err
		}
	}
}

// A hub knows who watches one map of a Store or DB.
type hub[K comparable, V any] struct {
	waiting atomic.Int64

	mu      sync.Mutex
	whole   chans
	keys    map[K]chans
	indexes map[any]indexHub[K, V] // by *Index
}

// chans are the channels of those who watch one thing. Each has room for one
// signal, and needs no second.
type chans map[chan struct{}]struct{}

func (cs chans) signal() {
	for c := range cs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// An indexHub knows who watches one index.
type indexHub[K comparable, V any] interface {
	wake(newer, older *snapshot.Map[K, V])
}

func newHub[K comparable, V any]() *hub[K, V] {
	return &hub[K, V]{whole: make(chans), keys: make(map[K]chans), indexes: make(map[any]indexHub[K, V])}
}

func (h *hub[K, V]) add(c chan struct{}, of []Watched[K, V]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range of {
		w.add(h, c)
	}
	h.waiting.Add(1)
}

func (h *hub[K, V]) remove(c chan struct{}, of []Watched[K, V]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range of {
		w.remove(h, c)
	}
	h.waiting.Add(-1)
}

// wake signals those who watch what differs between two versions. What they
// wait for they look at themselves.
func (h *hub[K, V]) wake(newer, older *snapshot.Map[K, V]) {
	if newer == older || h.waiting.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.whole.signal()
	if len(h.keys) > 0 {
		for c := range newer.Diff(older) {
			h.keys[c.Key].signal()
		}
	}
	for _, x := range h.indexes {
		x.wake(newer, older)
	}
}

// tableHub is a hub without its type parameters in the way.
type tableHub[K comparable, V any] struct {
	table *Table[K, V]
	hub   *hub[K, V]
}

func (h *tableHub[K, V]) wakeTable(newer, older *Snapshot) {
	h.hub.wake(h.table.In(newer), h.table.In(older))
}

// wake signals those who watch tables.
func (db *DB) wake(newer, older *Snapshot) {
	for _, h := range db.hubs.Range {
		h.(interface{ wakeTable(newer, older *Snapshot) }).wakeTable(newer, older)
	}
}

// watchedMap watches a whole map.
type watchedMap[K comparable, V any] struct{}

func (watchedMap[K, V]) differs(newer, older *snapshot.Map[K, V]) bool {
	for range newer.Diff(older) {
		return true
	}
	return false
}

func (watchedMap[K, V]) add(h *hub[K, V], c chan struct{})    { h.whole[c] = struct{}{} }
func (watchedMap[K, V]) remove(h *hub[K, V], c chan struct{}) { delete(h.whole, c) }

// watchedKeys watches keys.
type watchedKeys[K comparable, V any] []K

func (keys watchedKeys[K, V]) differs(newer, older *snapshot.Map[K, V]) bool {
	for _, k := range keys {
		is, _ := newer.Row(k)
		if was, _ := older.Row(k); is != was {
			return true
		}
	}
	return false
}

func (keys watchedKeys[K, V]) add(h *hub[K, V], c chan struct{}) {
	for _, k := range keys {
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
}

func (keys watchedKeys[K, V]) remove(h *hub[K, V], c chan struct{}) {
	for _, k := range keys {
		cs := h.keys[k]
		delete(cs, c)
		if len(cs) == 0 {
			delete(h.keys, k)
		}
	}
	if len(h.keys) == 0 {
		h.keys = make(map[K]chans) // a map keeps the memory it once needed
	}
}
