package cow

import (
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/keycode"
)

// A Table is one map of a DB. It is a typed name for the map: the content is in
// the snapshots. It is made by NewTable, or, for a fork, by Of, and the zero Table panics;
// it is immutable and safe for concurrent use.
type Table[K comparable, V any] struct {
	db  *DB
	def *tableDef[K, V]
}

// A tableDef is what a table is in a DB and all its forks.
type tableDef[K comparable, V any] struct {
	schema *schema
	name   string
	index  int
	empty  *Map[K, V]
	codec  Codec[V]
	accept []string
	update func(tx *Tx) error // Options.Derive

	keys    *keycode.Codec[K]
	keysErr error // why K cannot be encoded
}

// made panics for the zero Table.
func (t *Table[K, V]) made() {
	if t.def == nil {
		panic("cow: the zero Table is of no DB: make one with NewTable")
	}
}

// NewTable adds an empty table to db, and to all forks it comes from or has, at
// any time. It panics if db has a table of that name, if V cannot be kept isolated
// as o says, or if db was made durable or replicated already.
func NewTable[K comparable, V any](db *DB, name string, o Options[V]) *Table[K, V] {
	db.own()
	d := &tableDef[K, V]{schema: db.schema(), name: name, empty: newMap[K](o, fmt.Sprintf("cow: table %q", name)), codec: o.Codec, accept: slices.Clone(o.Accept), update: o.Derive}
	d.keys, d.keysErr = keycode.New[K]()
	d.schema.add(d, &d.index)
	return &Table[K, V]{db, d}
}

// Of returns the same table of another DB: a fork of that which t is of, or what
// that was forked from. It panics if db is neither.
func (t *Table[K, V]) Of(db *DB) *Table[K, V] {
	t.made()
	if db.schema() != t.def.schema {
		panic(fmt.Sprintf("cow: table %q looked for in another DB", t.def.name))
	}
	return &Table[K, V]{db, t.def}
}

// Name returns the name of the table.
func (t *Table[K, V]) Name() string {
	t.made()
	return t.def.name
}

// In returns the table's map in a snapshot, empty in one from before the table
// was made. It panics if s is of another DB, unless one is a fork of the other.
func (t *Table[K, V]) In(s *Snapshot) *Map[K, V] {
	t.made()
	return t.def.in(s)
}

// During returns the table's map as an update has it so far; what is edited later does
// not change it. Of a derived table that is the map the update began with, until the
// table is derived. It panics if the update has ended or is of another DB, unless one is
// a fork of the other.
func (t *Table[K, V]) During(tx *Tx) *Map[K, V] {
	t.made()
	if tx.db.schema() != t.def.schema {
		panic(fmt.Sprintf("cow: table %q looked for in an update of another DB", t.def.name))
	}
	if e := tx.edited(t.def.index); e != nil {
		return e.(*tableEdit[K, V]).Map()
	}
	return t.In(tx.base)
}

// Edit returns the Editor of the table in an update, the same one each time.
// It panics if the update has ended or is of another DB, unless one is a fork of
// the other, and for a derived table outside of a function Derive.
func (t *Table[K, V]) Edit(tx *Tx) *Editor[K, V] {
	t.made()
	return t.def.edit(tx)
}

func (d *tableDef[K, V]) title() string { return d.name }

func (d *tableDef[K, V]) in(s *Snapshot) *Map[K, V] {
	if s == nil {
		return d.empty
	}
	if s.of.schema != d.schema {
		panic(fmt.Sprintf("cow: table %q looked for in a snapshot of another DB", d.name))
	}
	if m, ok := s.table(d.index).(*Map[K, V]); ok {
		return m
	}
	return d.empty
}

func (d *tableDef[K, V]) edit(tx *Tx) *Editor[K, V] {
	if tx.db.schema() != d.schema {
		panic(fmt.Sprintf("cow: table %q edited in an update of another DB", d.name))
	}
	if d.update != nil && !tx.deriving.Load() {
		panic(fmt.Sprintf("cow: table %q is derived: only Options.Derive may edit it", d.name))
	}
	e := tx.edit(d.index, func() edit {
		base := d.in(tx.base)
		return &tableEdit[K, V]{builder[K, V]{}.EditAt(base, tx.Version()), base, d}
	})
	return e.(*tableEdit[K, V]).Editor
}

func (d *tableDef[K, V]) exclusive(s, other *Snapshot) (rows, bytes int) {
	return d.in(s).Exclusive(d.in(other))
}

func (d *tableDef[K, V]) structure(s *Snapshot) int { return builder[K, V]{}.Structure(d.in(s)) }

func (d *tableDef[K, V]) derive(tx *Tx) error {
	if d.update == nil {
		return nil
	}
	return d.update(tx)
}

func (d *tableDef[K, V]) isDerived() bool { return d.update != nil }

// indexList returns the indexes that the table has in db.
func (d *tableDef[K, V]) indexList(db *DB) indexList[K, V] {
	if all := db.indexes.Load(); all != nil && d.index < len(*all) {
		list, _ := (*all)[d.index].(indexList[K, V])
		return list
	}
	return nil
}

func (t *Table[K, V]) reindex(what string, edit func(list indexList[K, V], m *Map[K, V]) (indexList[K, V], *Map[K, V], error)) error {
	t.made()
	return t.db.amend(what, func(current *Snapshot) (*Snapshot, error) {
		list, m, err := edit(t.def.indexList(t.db), t.In(current))
		if err != nil {
			return nil, err
		}
		var all []any
		if is := t.db.indexes.Load(); is != nil {
			all = append(all, *is...)
		}
		for t.def.index >= len(all) {
			all = append(all, nil)
		}
		all[t.def.index] = list
		t.db.indexes.Store(&all) // before the map: what derives from it looks here
		next := &Snapshot{of: t.db.origin(), version: current.Version()}
		if current != nil {
			next.maps = append(next.maps, current.maps...)
		}
		next.set(t.def.index, m)
		return next, nil
	})
}

// A tableEdit is an Editor without its type parameters in the way.
type tableEdit[K comparable, V any] struct {
	*Editor[K, V]
	base *Map[K, V]
	def  *tableDef[K, V]
}

func (e *tableEdit[K, V]) discard() { builder[K, V]{}.Discard(e.Editor) }

func (e *tableEdit[K, V]) seal(db *DB, wanted bool) (m any, n tableNet, err error) {
	list := e.def.indexList(db)
	x, _ := db.hubs.Load(e.def.index)
	h, _ := x.(*hub[K, V])
	var c *changes[K, V]
	if wanted || len(list) > 0 {
		c = new(changes[K, V])
	}
	next, err := seal(e.Editor, e.base, list, h, c)
	if err != nil || next == e.base {
		return nil, nil, err
	}
	return next, c, nil
}
