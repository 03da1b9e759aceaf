package cow

import (
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// A Tx is one update of a DB. It must not be copied, or used after the update
// function has returned, which panics.
type Tx struct {
	db   *DB
	base *Snapshot

	version uint64 // of what is replayed; 0: in an update

	deriving atomic.Bool // the function has returned, and derived tables follow

	mu    sync.Mutex
	ended bool
	edits []edit // by index of table; nil where the table is not edited
}

type edit interface {
	// seal ends the edit and returns the map it made, or nil for no change, and
	// what it changed, if that is wanted.
	seal(db *DB, wanted bool) (m any, n tableNet, err error)
	discard()
}

// Version returns the version that the update will publish, if it does: an update that
// fails, or changes nothing though it returns nil, leaves the number to the next.
func (tx *Tx) Version() uint64 {
	if tx.version != 0 {
		return tx.version
	}
	return tx.base.Version() + 1
}

// Base returns the snapshot that the update began with. Where a sink decides, that
// may be a version that is not acknowledged yet, and may never be: it must not leave
// the update, to be forked for instance.
func (tx *Tx) Base() *Snapshot { return tx.base }

// edit returns the edit of the table with that index, made by begin if there
// is none yet.
func (tx *Tx) edit(table int, begin func() edit) edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.live()
	if tx.edits == nil && tx.base != nil {
		tx.edits = make([]edit, 0, max(table+1, len(tx.base.maps)))
	}
	for table >= len(tx.edits) {
		tx.edits = append(tx.edits, nil)
	}
	if tx.edits[table] == nil {
		tx.edits[table] = begin()
	}
	return tx.edits[table]
}

// edited returns the edit of the table with that index, or nil.
func (tx *Tx) edited(table int) edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.live()
	if table < len(tx.edits) {
		return tx.edits[table]
	}
	return nil
}

// live panics if the update has ended.
func (tx *Tx) live() {
	if tx.ended {
		panic("cow: Tx used after its update ended: it must not be kept")
	}
}

// seal ends all edits and returns the snapshot they make, which is the base if
// they changed nothing.
func (tx *Tx) seal(wanted bool) (d draft[*Snapshot], err error) {
	if err := tx.derive(); err != nil {
		return d, err
	}
	// What follows runs functions of indexes, which must not find the lock held.
	edits := tx.close()
	next := &Snapshot{of: tx.db.origin(), version: tx.Version()}
	if tx.base != nil {
		next.maps = append(next.maps, tx.base.maps...)
	}
	var c *dbCommit
	if wanted {
		c = new(dbCommit)
		c.changes = &c.of
	}
	d.next = tx.base
	for i, e := range edits {
		if e == nil {
			continue
		}
		m, n, err := e.seal(tx.db, wanted)
		if err != nil {
			return d, err
		}
		if m == nil {
			continue
		}
		next.set(i, m)
		d.next = next
		if wanted {
			c.of.set(i, n)
		}
	}
	if !wanted || d.next == tx.base {
		return d, nil
	}
	d.commit = &c.Commit
	if tx.version == 0 && tx.db.outbox.Load() != nil {
		d.sent = new(door.Commit)
		d.sent.Rows, err = tx.db.encode(&c.of, next.version)
	}
	return d, err
}

// derive brings derived tables up to the others.
func (tx *Tx) derive() error {
	if !tx.db.schema().derived.Load() {
		return nil
	}
	tx.deriving.Store(true)
	for _, t := range tx.db.schema().all() {
		if err := t.derive(tx); err != nil {
			return err
		}
	}
	return nil
}

// close makes any later use of the Tx panic, and returns its edits.
func (tx *Tx) close() []edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
	return tx.edits
}

// end makes any later use of the Tx and its Editors panic.
func (tx *Tx) end() {
	for _, e := range tx.close() {
		if e != nil {
			e.discard()
		}
	}
}
