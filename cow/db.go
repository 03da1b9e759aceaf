package cow

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A DB is a set of tables that are updated together: every snapshot shows all
// of them at one version.
//
// The zero DB has no tables and is ready for use. A DB must not be copied. All
// methods may be called from any number of goroutines at once. Reads never
// wait; writes queue. The tables own their values: see the package
// documentation. Where a method speaks of P, that is *Snapshot.
type DB struct {
	line[*Snapshot]
	tables atomic.Pointer[schema]
	hubs   sync.Map // index of table → its *tableHub, where there was a Watch
}

// A schema is the tables that a DB and its forks have.
type schema struct {
	mu     sync.Mutex
	tables []table
}

// A table is a Table without its type parameters in the way.
type table interface {
	Name() string
	exclusive(s, other *Snapshot) (rows, bytes int)
	merge(tx *Tx, base, theirs *Snapshot, resolve any) ([]MergeConflict, error)
}

// schema returns the tables of db.
func (db *DB) schema() *schema {
	if s := db.tables.Load(); s != nil {
		return s
	}
	db.tables.CompareAndSwap(nil, new(schema))
	return db.tables.Load()
}

// add adds a table, and returns its index.
func (s *schema) add(t table) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.tables {
		if other.Name() == t.Name() {
			panic(fmt.Sprintf("cow: the DB has a table %q already: make each table once and keep it", t.Name()))
		}
	}
	s.tables = append(s.tables, t)
	return len(s.tables) - 1
}

// all returns the tables, which nobody may modify.
func (s *schema) all() []table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables[:len(s.tables):len(s.tables)]
}

// Update calls f with a Tx, through which tables are edited, and publishes all
// edits as the next version when f returns nil, in one step. If f returns an
// error, which Update returns, panics, or calls runtime.Goexit, if f changed
// nothing, or if two rows end up under one key of a unique index, which is an
// *IndexError, nothing is published and the version stays.
// Updates run one at a time; f must not update the DB itself.
func (db *DB) Update(f func(tx *Tx) error) error {
	return db.update(func(current *Snapshot, logged bool) (*Snapshot, delta, error) {
		tx := &Tx{db: db, base: current}
		defer tx.end()
		if err := f(tx); err != nil {
			return nil, nil, err
		}
		return tx.seal(logged)
	})
}
