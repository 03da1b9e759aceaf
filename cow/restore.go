package cow

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cowstore/cowstore/snapshot"
)

// ErrNotEmpty says that a DB cannot be restored, as it has had an update, or a sink makes
// it durable or replicates it.
var ErrNotEmpty = errors.New("the DB is not at version 0, or has a sink")

// maxRestored is far above what a DB gets to, and far enough below what a version can be.
const maxRestored = 1 << 54

// Restore makes a DB that is at version 0 go on from where another one was: at the version
// and of the lineage of a cursor, published at that time, so that cursors of the other are
// this one's too. It is for backups in a format of one's own. F is called once with a Tx,
// and writes the rows with [Table.Restore], which keeps their revisions; what it writes by
// other verbs is as new as the version. Derived tables follow. If f returns an error,
// which Restore returns, or panics, nothing happens.
//
// There must be one line of versions of a lineage: whoever restores a copy and goes on with
// both has two versions of one name. Readers and writers need not wait for f: if one of
// them is first to publish a version, or a sink is attached, Restore does nothing and
// returns ErrNotEmpty. A text that is not a cursor, or one of version 0 or above 1<<54, is ErrCursor. All
// tables and indexes are made before.
func (db *DB) Restore(cursor string, at time.Time, f func(tx *Tx) error) error {
	lineage, version, err := parseCursor(cursor)
	if err == nil && (version == 0 || version > maxRestored) {
		err = ErrCursor
	}
	if err != nil {
		return fmt.Errorf("cow: %.100q: %w", cursor, err)
	}
	base := db.published.Load()
	if base.Version() > 0 || db.outbox.Load() != nil {
		return fmt.Errorf("cow: %w", ErrNotEmpty)
	}
	tx := &Tx{db: db, base: base, version: version}
	defer tx.end()
	if err := f(tx); err != nil {
		return err
	}
	d, err := tx.seal(true) // not false, which is for updates in the writer's place: see hub.scratch
	if err != nil {
		return err
	}
	if d.next == base { // there are no rows
		d.next = db.same(base, version)
	}
	d.commit = nil // it is not one update
	db.lock("Restore")
	defer db.writer.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.published.Load() != base || db.outbox.Load() != nil {
		return fmt.Errorf("cow: %w", ErrNotEmpty)
	}
	db.adopt(d, lineage, nanos(at))
	return nil
}

// Restore sets a row as it was, in an update of [DB.Restore]: at the revision at which it
// was written, from 1 to the version that is restored. Elsewhere it panics. The errors are
// those of Editor.Insert, and that of another revision.
func (t *Table[K, V]) Restore(tx *Tx, key K, v V, revision uint64) error {
	t.made()
	if tx.version == 0 {
		panic("cow: Table.Restore outside of DB.Restore: use Edit")
	}
	if revision == 0 || revision > tx.version {
		return t.def.rowError(key, fmt.Errorf("revision %d of version %d", revision, tx.version))
	}
	e := t.def.edit(tx)
	row := builder[K, V]{}.Batch(e, 1)
	if err := row.Add(key, v, revision); err != nil {
		return err
	}
	builder[K, V]{}.PutBatches(e, []*snapshot.Batch[K, V]{row}, inParallel)
	return nil
}

// adopt publishes a version that is not the one after the last: with its lineage, and as
// the oldest of the past. The caller holds mu.
func (db *DB) adopt(d draft[*Snapshot], lineage string, at int64) {
	db.take(lineage)
	if h := db.history; h != nil {
		db.history = newHistory(d.next, h.limit)
		db.history.base.at, db.history.base.elapsed = at, math.MinInt64
	}
	db.last = at
	db.publish(d)
}

// take makes a lineage that of the DB.
func (db *DB) take(lineage string) {
	if lineage != db.identify().id.String() {
		db.identity.Store(&identity{id: named(lineage)})
	}
}

// same returns the snapshot that has what base has, as another version.
func (db *DB) same(base *Snapshot, version uint64) *Snapshot {
	next := &Snapshot{of: db.origin(), version: version}
	if base != nil {
		next.maps = base.maps
	}
	return next
}
