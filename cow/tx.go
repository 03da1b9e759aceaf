package cow

import "sync"

// A Tx is one update of a DB. It must not be copied, or used after the update
// function has returned, which panics.
type Tx struct {
	db   *DB
	base *Snapshot

	mu    sync.Mutex
	ended bool
	edits []edit // by index of table; nil where the table is not edited
}

type edit interface {
	// seal ends the edit and returns the map it made, or nil for no change,
	// and what it changed, where that is logged.
	seal(logged bool) (m any, d delta, err error)
	Discard()
}

// Version returns the version that the update will publish.
func (tx *Tx) Version() uint64 { return tx.base.Version() + 1 }

// edit returns the edit of the table with that index, made by begin if there
// is none yet.
func (tx *Tx) edit(table int, begin func() edit) edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended {
		panic("cow: Tx used after its update ended: it must not be kept")
	}
	for table >= len(tx.edits) {
		tx.edits = append(tx.edits, nil)
	}
	if tx.edits[table] == nil {
		tx.edits[table] = begin()
	}
	return tx.edits[table]
}

// seal ends all edits and returns the snapshot they make, which is the base if
// they changed nothing, and what they changed, where that is logged.
func (tx *Tx) seal(logged bool) (*Snapshot, delta, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
	next := &Snapshot{db: tx.db, version: tx.Version()}
	if tx.base != nil {
		next.maps = append(next.maps, tx.base.maps...)
	}
	var all *tables
	if logged {
		all = new(tables)
	}
	changed := false
	for i, e := range tx.edits {
		if e == nil {
			continue
		}
		m, d, err := e.seal(logged)
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			continue
		}
		for i >= len(next.maps) {
			next.maps = append(next.maps, nil)
		}
		next.maps[i] = m
		changed = true
		if logged {
			for i >= len(all.list) {
				all.list = append(all.list, nil)
			}
			all.list[i] = d
		}
	}
	if !changed {
		return tx.base, nil, nil
	}
	if !logged {
		return next, nil, nil
	}
	return next, all, nil
}

// end makes any later use of the Tx and its Editors panic.
func (tx *Tx) end() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
	for _, e := range tx.edits {
		if e != nil {
			e.Discard()
		}
	}
}
