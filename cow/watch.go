package cow

import (
	"context"
	"fmt"
	"sync"

	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/watch"
)

// A Watched selects what [DB.Watch] and [DB.Notify] wait for: keys of a table, present or not, keys
// or a range of an index, or a whole table. It is made by [Table.OnKeys], [Table.OnAll],
// [Index.OnKeys] and [Index.OnRange]. It is immutable, safe for concurrent use, and may be used
// with the table's DB and with all forks.
type Watched interface {
	// differs reports whether it is not the same in both versions.
	differs(newer, older *line.Root) bool

	// add registers w, and remove takes it out again. Between them, hub knows that somebody
	// is about to register.
	add(db *DB, w *watch.Waiter)
	remove(db *DB, w *watch.Waiter)
	hub(db *DB) entrance
	whose() (*catalog, string)
}

// An entrance is a watch.Hub without its type parameter in the way.
type entrance interface {
	Enter()
	Leave(w *watch.Waiter)
}

type watched[K comparable, V any] struct {
	is  watch.Watched[K, V]
	def *tableDef[K, V]
}

func (w watched[K, V]) differs(newer, older *line.Root) bool {
	return w.is.Differs(w.def.content(newer), w.def.content(older))
}

func (w watched[K, V]) watching(db *DB) *watch.Hub[K]  { return w.def.state(db).watching() }
func (w watched[K, V]) hub(db *DB) entrance            { return w.watching(db) }
func (w watched[K, V]) add(db *DB, c *watch.Waiter)    { w.is.Add(w.watching(db), c) }
func (w watched[K, V]) remove(db *DB, c *watch.Waiter) { w.is.Remove(w.watching(db), c) }
func (w watched[K, V]) whose() (*catalog, string)      { return w.def.catalog, w.def.String() }

// OnAll selects a whole table for Watch. It differs once a row was written or removed.
func (t *Table[K, V]) OnAll() Watched {
	t.made()
	return watched[K, V]{watch.Whole[K, V]{}, t.def}
}

// OnKeys selects keys of the table for Watch. A key differs if only one of two snapshots has it, or
// if they have it at different revisions: so a write of an equal value counts. A row that an update
// wrote and removed again does not count, here and in the other selections. Watch panics for a key
// that cannot be hashed, such as a slice in an interface.
func (t *Table[K, V]) OnKeys(keys ...K) Watched {
	t.made()
	return watched[K, V]{watch.NewKeys[K, V](keys), t.def}
}

// OnKeys selects index keys for Watch. An index key differs once a row came to it, left it, or was
// written under it. Watch panics for an index key that cannot be compared.
func (x *Index[K, V, I]) OnKeys(keys ...I) Watched {
	return watched[K, V]{watch.NewIndexKeys(x.made(), keys), x.of}
}

// OnRange selects a range of the index for Watch. It differs once a row came into it, left it, or
// was written in it. Only the bounds of r count, which must be of this index: to keep no rows
// alive, make it of In(nil).
func (x *Index[K, V, I]) OnRange(r Range[K, V, I]) Watched {
	if def := x.made(); r.span.Index() != def {
		panic(fmt.Sprintf("cow: OnRange of index %q with a Range of another: make it by In or During of this one", def.Name))
	}
	return watched[K, V]{watch.NewPart(x.def, r.span.Bounds), x.of}
}

// Watch blocks until the current snapshot differs from since in any of what is listed, or in any row
// if nothing is listed. It returns that snapshot, or ctx's cause and no snapshot if ctx ends first.
// A nil since has no rows. Writes of other rows never end a Watch. It starts no goroutine.
//
// A commit takes time for the watches that it wakes and those that came since the last commit, but
// not for the others; a commit that clears a table takes time for all watches of it. Watch panics
// if since is a snapshot of another DB, a fork included, or if a Watched is of a table of another
// DB, unless that is a fork.
func (db *DB) Watch(ctx context.Context, since *Snapshot, what ...Watched) (*Snapshot, error) {
	line.Given(ctx, "a Watch")
	a := db.newWatch(since, what, false)
	if s, ok := a.differs(); ok {
		return s, nil
	}
	db.line.PanicInUpdate("a Watch")
	defer a.remove()
	a.add()
	for {
		c := a.changed()
		if s, ok := a.differs(); ok {
			return s, nil
		}
		if err := db.line.Block(ctx, c); err != nil {
			return nil, err
		}
	}
}

// Notify is Watch for use in a select. It returns a channel at once, which is closed when the
// current snapshot may differ from since in what is listed; if it differs already, the channel is
// closed already. Sometimes another commit closes it: one that was under way when Notify was
// called, one that changed a large part of a table, or any of the table of an index that was dropped.
// To be sure, compare the snapshots. No goroutine is started. Stop must be called when the channel is
// no longer needed, and may be called more than once: until then the channel is registered.
func (db *DB) Notify(since *Snapshot, what ...Watched) (changed <-chan struct{}, stop func()) {
	a := db.newWatch(since, what, true)
	if _, ok := a.differs(); ok {
		a.waiter.Signal()
		return a.waiter.C, func() {}
	}
	added := false
	defer func() {
		if !added {
			a.remove()
		}
	}()
	a.add()
	c := a.changed()
	if _, ok := a.differs(); ok {
		a.waiter.Signal()
		c = a.waiter.C
	}
	added = true
	a.older = nil // or stop would keep it alive
	return c, sync.OnceFunc(a.remove)
}

// A watching is one Watch, or Notify.
type watching struct {
	db     *DB
	older  *line.Root
	what   []Watched // none: anything, of tables to come too
	waiter *watch.Waiter
}

func (db *DB) newWatch(since *Snapshot, what []Watched, closes bool) *watching {
	if since != nil && since.root().Owner() != db.owner() {
		panic("cow: Watch from a snapshot of another DB: give it one of the DB that is watched")
	}
	for _, w := range what {
		if w == nil {
			panic("cow: Watch for nil: make it with OnKeys, OnRange or OnAll")
		}
		if s, table := w.whose(); s != db.catalog() {
			panic(fmt.Sprintf("cow: Watch for what is of %s of another DB: call Watch of that DB", table))
		}
	}
	return &watching{db, since.root(), what, watch.NewWaiter(closes)}
}

// differs returns the current snapshot, and whether it differs. It is asked at first without
// registering, so that what panics for a bad key leaves nothing behind.
func (a *watching) differs() (*Snapshot, bool) {
	s := a.db.Load()
	for _, w := range a.what {
		if w.differs(s.root(), a.older) {
			return s, true
		}
	}
	if len(a.what) == 0 {
		for _, t := range a.db.catalog().all() {
			if t.differs(s.root(), a.older) {
				return s, true
			}
		}
	}
	return s, false
}

// changed returns what is signaled, or closed, when that may have come.
func (a *watching) changed() <-chan struct{} {
	if len(a.what) == 0 {
		return a.db.line.Next()
	}
	return a.waiter.C
}

// add registers. A publication swaps, and then looks for who waits; this makes itself known,
// and then the caller looks at what is published. So one of the two sees the other.
func (a *watching) add() {
	a.db.line.WakeBy(a.db.wake)
	for _, w := range a.what {
		w.hub(a.db).Enter()
	}
	for _, w := range a.what {
		w.add(a.db, a.waiter)
	}
}

func (a *watching) remove() {
	for _, w := range a.what {
		w.remove(a.db, a.waiter)
	}
	for _, w := range a.what {
		w.hub(a.db).Leave(a.waiter)
	}
}

// watching returns the Hub, made at the first call.
func (s *tableState[K, V]) watching() *watch.Hub[K] {
	if h := s.hub.Load(); h != nil {
		return h
	}
	s.hub.CompareAndSwap(nil, watch.New[K]())
	return s.hub.Load()
}

// wake wakes those who watch tables in which two versions differ: a line.Wake.
func (db *DB) wake(newer, older *line.Root, table int) {
	if newer.Version() == older.Version() {
		return // an index was made or dropped
	}
	states := *db.states.Load() // whoever watches has made some
	if table >= 0 {
		if table < len(states) && newer.Table(table) != older.Table(table) { // the same: it erased what only the past has
			states[table].fire(newer.Version(), newer.Table(table))
		}
		return
	}
	for i, s := range states {
		if is := newer.Table(i); is != older.Table(i) {
			s.fire(newer.Version(), is)
		}
	}
}
