package cow

import "context"

// A DB is a set of tables that are updated together: every snapshot shows all
// of them at one version.
//
// The zero DB has no tables and is ready for use. A DB must not be copied. All
// methods may be called from any number of goroutines at once. Reads never
// wait; writes queue. The tables own their values: see the package
// documentation.
type DB struct {
	line  line[Snapshot]
	names map[string]bool // guarded by the writer's place in line
}

// A Snapshot is all tables of a DB at one version. It is immutable, valid
// forever and safe for concurrent use; it must be handled by pointer. The nil
// *Snapshot is that of a DB before its first update.
type Snapshot struct {
	db      *DB
	version uint64
	maps    []any // *snapshot.Map[K, V] by index of table; nil or short: empty
}

// Version returns the version, the number of published updates up to it.
func (s *Snapshot) Version() uint64 {
	if s == nil {
		return 0
	}
	return s.version
}

// Load returns the current snapshot.
func (db *DB) Load() *Snapshot { return db.line.current.Load() }

// Update calls f with a Tx, through which tables are edited, and publishes all
// edits as the next version when f returns nil, in one step. If f returns an
// error, which Update returns, panics, or calls runtime.Goexit, or if f changed
// nothing, nothing is published and the version stays. Updates run one at a
// time; f must not update the DB itself.
func (db *DB) Update(f func(tx *Tx) error) error {
	return db.line.update(func(current *Snapshot) (*Snapshot, error) {
		tx := &Tx{db: db, base: current}
		defer tx.end()
		if err := f(tx); err != nil {
			return nil, err
		}
		return tx.seal(), nil
	})
}

// Wait blocks until the DB has a version above after, and returns the snapshot
// that it then has. It returns ctx's cause, and no snapshot, if ctx ends first.
func (db *DB) Wait(ctx context.Context, after uint64) (*Snapshot, error) {
	return db.line.wait(ctx, func(s *Snapshot) bool { return s.Version() > after })
}
