package cow

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
)

// A DB is a set of tables that are updated together: every snapshot shows all
// of them at one version.
//
// The zero DB has no tables and is ready for use. A DB must not be copied once it
// was used: writes to a copy panic. All methods may be called from any number of
// goroutines at once. Reads never wait; writes queue. The tables own their values: see
// the package documentation.
type DB struct {
	line[*Snapshot]
	from    atomic.Pointer[origin]
	pinning sync.Mutex            // held while one pin is made durable, or let go of
	hubs    sync.Map              // index of table → its *hub, where there was a Watch
	indexes atomic.Pointer[[]any] // by index of table: an indexList; set in the writer's place
}

// An origin is what snapshots know of the DB that they are of. It does not hold the
// DB, which a snapshot must not keep alive.
type origin struct{ schema *schema }

// A schema is the tables that a DB and its forks have.
type schema struct {
	mu      sync.Mutex
	tables  []table
	derived atomic.Bool // some are
	sealed  bool        // a sink is attached: there will be no more tables
}

// A table is a tableDef without its type parameters in the way.
type table interface {
	title() string
	exclusive(s, other *Snapshot) (rows, bytes int)
	structure(s *Snapshot) int
	shown(s *Snapshot) (json.RawMessage, error)
	merge(tx *Tx, base, theirs *Snapshot, resolve any) ([]MergeConflict, error)
	isDerived() bool
	derive(tx *Tx) error
	stored
}

// origin returns what snapshots of db know of it.
func (db *DB) origin() *origin {
	if o := db.from.Load(); o != nil {
		return o
	}
	db.from.CompareAndSwap(nil, &origin{new(schema)})
	return db.from.Load()
}

// schema returns the tables of db.
func (db *DB) schema() *schema { return db.origin().schema }

// add adds a table, whose index it sets.
func (s *schema) add(t table, index *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.tables {
		if other.title() == t.title() {
			panic(fmt.Sprintf("cow: the DB has a table %q already: make each table once and keep it", t.title()))
		}
	}
	if s.sealed {
		panic(fmt.Sprintf("cow: table %q comes too late: make all tables before the DB is made durable or replicated", t.title()))
	}
	*index = len(s.tables) // before anyone can find t
	s.tables = append(s.tables, t)
	if t.isDerived() {
		s.derived.Store(true)
	}
}

// seal says whether there may be no more tables, and reports whether that is new.
func (s *schema) seal(sealed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.sealed
	s.sealed = sealed
	return is != sealed
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
// nothing, if two rows end up under one key of a unique index, which is an
// *IndexError, or if it set what cannot be stored, which is a *KeyError,
// nothing is published and the version stays. Updates run one at a time; f must not
// update the DB itself, and what it reads must come from the Tx: DB.Load shows the
// published version.
//
// Where a sink makes the DB durable or replicates it, Update returns once its
// version is published, which is after the sink has acknowledged it. When commits
// from elsewhere came first, what f did is dropped without a trace and f is called
// again, with a newer version: it must be repeatable. An update that failed, or
// changed nothing, after it saw a version that was not acknowledged yet waits for
// what becomes of that, and runs again if need be.
func (db *DB) Update(f func(tx *Tx) error) error {
	return db.UpdateContext(context.Background(), f)
}

// UpdateContext is Update, unless ctx has ended before f is called, or when it has
// returned nil: then nothing happens, and it returns ctx's cause. It does not give up
// waiting for the function of another update. Once its changes are proposed to a
// sink, they are never taken back: if ctx ends then, they may happen or not, and
// UpdateContext returns an error that wraps ErrUnknownOutcome too.
func (db *DB) UpdateContext(ctx context.Context, f func(tx *Tx) error) error {
	_, err := db.run(ctx, f)
	return err
}

// run is UpdateContext that returns the version that was published, or 0 for none.
func (db *DB) run(ctx context.Context, f func(tx *Tx) error) (uint64, error) {
	return db.update(ctx, func(base *Snapshot, wanted bool) (draft[*Snapshot], error) {
		tx := &Tx{db: db, base: base}
		defer tx.end()
		if err := f(tx); err != nil {
			return draft[*Snapshot]{}, err
		}
		return tx.seal(wanted)
	})
}

// Close ends what makes the DB durable or replicates it: updates that are under way
// are acknowledged or fail, and later ones return an error that wraps ErrClosed.
// Reads go on. Without a sink Close does nothing. The sink is closed once: every call
// returns when that is done, with the same result. An update that closes its DB fails.
func (db *DB) Close() error {
	if o := db.outbox.Load(); o != nil {
		return db.close(o)
	}
	return nil
}
