package cow

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// pins are the snapshots that are kept by name.
type pins[P version[P]] struct {
	mu     sync.Mutex
	byName map[string]P
}

func (p *pins[P]) at(version uint64) (P, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.byName {
		if s.Version() == version {
			return s, true
		}
	}
	return *new(P), false
}

// set keeps a snapshot by name.
func (p *pins[P]) set(name string, s P) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil {
		p.byName = make(map[string]P)
	}
	p.byName[name] = s
}

// has reports whether there is a pin of that name, and remove whether there was.
func (p *pins[P]) has(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.byName[name]
	return ok
}

func (p *pins[P]) remove(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.byName[name]
	delete(p.byName, name)
	return ok
}

// Pin keeps the snapshot of a version, retained or current, until Unpin: At
// finds it however long ago it was. AsOf and Changes do not, as they need what
// lies between as well. A pin of that name is moved. The name may be any text. The errors
// are those of At.
func (s *Store[K, V]) Pin(name string, version uint64) error {
	m, err := s.at(version)
	if err == nil {
		s.pins.set(name, m)
	}
	return err
}

// Unpin lets go of the pin of that name and reports whether there was one.
func (s *Store[K, V]) Unpin(name string) bool { return s.pins.remove(name) }

// Pin is [Store.Pin] for the tables of the DB, in one version.
//
// Where the DB is in a file, see cow/bolt, so is the pin when Pin has returned nil: after the
// file was opened again, however that came, Pins and At have it. After a crash before that it
// is there or not. The errors are then also ErrCompacted for a version that the DB has and
// the file has not, such as one from before the file was made; ErrClosed; and the error that
// writes have failed with, after which the pin may be in the file all the same. Where the DB is
// a replica, see cow/etcd, the pin is of this replica alone, and lives as long as it does.
func (db *DB) Pin(name string, version uint64) error {
	db.pinning.Lock()
	defer db.pinning.Unlock()
	s, err := db.at(version)
	if err != nil {
		return err
	}
	if err := db.tell(func(p door.Pinner) (wait func() error, err error) {
		// At looked when it could be trimmed in between: now the sink cannot.
		_, pinned := db.pins.at(version)
		if h := db.history; !pinned && version != db.published.Load().Version() && (h == nil || version < h.base.version) {
			return nil, compacted(version)
		}
		return p.Pin(name, version), nil
	}); err != nil {
		return err
	}
	db.pins.set(name, s)
	return nil
}

// Unpin is [Store.Unpin]. Where the DB is in a file, so is that when Unpin has returned true, and
// the room that the pin took is free for writes to come. It returns false, and the pin stays, if
// the file can no longer be written.
func (db *DB) Unpin(name string) bool {
	db.pinning.Lock()
	defer db.pinning.Unlock()
	if !db.pins.has(name) || db.tell(func(p door.Pinner) (wait func() error, err error) { return p.Unpin(name), nil }) != nil {
		return false
	}
	return db.pins.remove(name)
}

// tell tells the sink, if it keeps pins, what f says, which is called while the DB is locked,
// and waits until that is durable.
func (db *DB) tell(f func(p door.Pinner) (wait func() error, err error)) error {
	wait, err := db.toTell(f)
	if err != nil || wait == nil {
		return err
	}
	return wait()
}

func (db *DB) toTell(f func(p door.Pinner) (wait func() error, err error)) (wait func() error, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	o := db.outbox.Load()
	for o != nil && o.attaching {
		released := waitFor(&o.released)
		db.mu.Unlock()
		<-released
		db.mu.Lock()
		o = db.outbox.Load()
	}
	if o == nil {
		return nil, nil
	}
	p, ok := o.sink.(door.Pinner)
	switch {
	case !ok:
		return nil, nil
	case o.failed != nil:
		return nil, o.failed
	}
	return f(p)
}

// Pins returns an iterator over the pins as they are when it begins, by name,
// and the snapshots they keep.
func (s *Store[K, V]) Pins() iter.Seq2[string, *Map[K, V]] { return s.pinned() }

// Pins is [Store.Pins] for the tables of the DB, in one version.
func (db *DB) Pins() iter.Seq2[string, *Snapshot] { return db.pinned() }

func (l *line[P]) pinned() iter.Seq2[string, P] {
	return func(yield func(string, P) bool) {
		l.pins.mu.Lock()
		byName := maps.Clone(l.pins.byName)
		l.pins.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			if !yield(name, byName[name]) {
				return
			}
		}
	}
}
