package cow

import (
	"iter"
	"maps"
	"slices"
	"sync"
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

// Pin keeps the snapshot of a version, retained or current, until Unpin: At
// finds it however long ago it was. AsOf and Changes do not, as they need what
// lies between as well. A pin of that name is moved. The errors are those of At.
func (l *line[P]) Pin(name string, version uint64) error {
	s, err := l.at(version)
	if err != nil {
		return err
	}
	l.pins.mu.Lock()
	defer l.pins.mu.Unlock()
	if l.pins.byName == nil {
		l.pins.byName = make(map[string]P)
	}
	l.pins.byName[name] = s
	return nil
}

// Unpin lets go of the pin of that name and reports whether there was one.
func (l *line[P]) Unpin(name string) bool {
	l.pins.mu.Lock()
	defer l.pins.mu.Unlock()
	_, ok := l.pins.byName[name]
	delete(l.pins.byName, name)
	return ok
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
