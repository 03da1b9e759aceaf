package cow

import (
	"fmt"

	"github.com/cowstore/cowstore/snapshot"
)

// A Table is one map of a DB and of its forks. It is a typed name for the map:
// the content is in the snapshots. It is made by NewTable, immutable, and safe
// for concurrent use.
type Table[K comparable, V any] struct {
	db     *DB // the one it was made for
	schema *schema
	name   string
	index  int
	empty  *snapshot.Map[K, V]
}

// NewTable adds an empty table to db, and to all forks it comes from or has, at
// any time. A NewIndex of the table is for db. It panics if db has a table of that
// name, or if V cannot be kept isolated as o says.
func NewTable[K comparable, V any](db *DB, name string, o Options[V]) *Table[K, V] {
	t := &Table[K, V]{db: db, schema: db.schema(), name: name, empty: newMap[K](o)}
	t.index = t.schema.add(t)
	return t
}

// Name returns the name of the table.
func (t *Table[K, V]) Name() string { return t.name }

// In returns the table's map in a snapshot, empty in one from before the table
// was made. It panics if s is of another DB, unless one is a fork of the other.
func (t *Table[K, V]) In(s *Snapshot) *snapshot.Map[K, V] {
	if s == nil {
		return t.empty
	}
	if s.db.schema() != t.schema {
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
	if tx.db.schema() != t.schema {
		panic(fmt.Sprintf("cow: table %q edited in an update of another DB", t.name))
	}
	e := tx.edit(t.index, func() edit {
		base := t.In(tx.base)
		return &tableEdit[K, V]{base.EditAt(tx.Version()), base}
	})
	return e.(*tableEdit[K, V]).Editor
}

func (t *Table[K, V]) exclusive(s, other *Snapshot) (rows, bytes int) {
	return t.In(s).Exclusive(t.In(other))
}

func (t *Table[K, V]) amend(f func(m *snapshot.Map[K, V]) (*snapshot.Map[K, V], error)) error {
	return t.db.amend(func(current *Snapshot) (*Snapshot, error) {
		m, err := f(t.In(current))
		if err != nil {
			return nil, err
		}
		next := &Snapshot{db: t.db, version: current.Version()}
		if current != nil {
			next.maps = append(next.maps, current.maps...)
		}
		for t.index >= len(next.maps) {
			next.maps = append(next.maps, nil)
		}
		next.maps[t.index] = m
		return next, nil
	})
}

// A tableEdit is an Editor without its type parameters in the way.
type tableEdit[K comparable, V any] struct {
	*Editor[K, V]
	base *snapshot.Map[K, V]
}

func (e *tableEdit[K, V]) seal(logged bool) (m any, d delta, err error) {
	next, err := reindex(e.Seal(), e.base)
	if err != nil || next == e.base {
		return nil, nil, err
	}
	if logged {
		d = newChanges(next, e.base)
	}
	return next, d, nil
}
