package cow

import (
	"fmt"

	"github.com/cowstore/cowstore/snapshot"
)

// A Table is one map of a DB. It is a typed name for the map: the content is
// in the snapshots. It is made by NewTable, immutable, and safe for concurrent
// use.
type Table[K comparable, V any] struct {
	db    *DB
	name  string
	index int
	empty *snapshot.Map[K, V]
}

// NewTable adds an empty table to db, at any time; it queues like an update.
// It panics if db has a table of that name, or if V cannot be kept isolated as
// o says.
func NewTable[K comparable, V any](db *DB, name string, o Options[V]) *Table[K, V] {
	t := &Table[K, V]{db: db, name: name, empty: newMap[K](o)}
	db.line.lock()
	defer db.line.writer.Unlock()
	if db.names[name] {
		panic(fmt.Sprintf("cow: the DB has a table %q already: make each table once and keep it", name))
	}
	if db.names == nil {
		db.names = make(map[string]bool)
	}
	t.index = len(db.names)
	db.names[name] = true
	return t
}

// Name returns the name of the table.
func (t *Table[K, V]) Name() string { return t.name }

// In returns the table's map in a snapshot, empty in one from before the table
// was made. It panics if s is of another DB.
func (t *Table[K, V]) In(s *Snapshot) *snapshot.Map[K, V] {
	if s == nil {
		return t.empty
	}
	if s.db != t.db {
		panic(fmt.Sprintf("cow: table %q looked for in a snapshot of another DB", t.name))
	}
	if t.index < len(s.maps) {
		if m, ok := s.maps[t.index].(*snapshot.Map[K, V]); ok {
			return m
		}
	}
	return t.empty
}

// Edit returns the Editor of the table in an update, the same one each time.
// It panics if the update has ended or is of another DB.
func (t *Table[K, V]) Edit(tx *Tx) *Editor[K, V] {
	if tx.db != t.db {
		panic(fmt.Sprintf("cow: table %q edited in an update of another DB", t.name))
	}
	e := tx.edit(t.index, func() edit {
		return &tableEdit[K, V]{t.In(tx.base).EditAt(tx.Version())}
	})
	return e.(*tableEdit[K, V]).Editor
}

// A tableEdit is an Editor without its type parameters in the way.
type tableEdit[K comparable, V any] struct{ *Editor[K, V] }

func (e *tableEdit[K, V]) seal() (m any, changed bool) {
	next := e.Seal()
	return next, next.Version() == e.Version()
}
