package cow

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// The errors of Commit, to be tested with errors.Is.
var (
	// ErrTxEnded says that a transaction was committed or aborted before.
	ErrTxEnded = line.ErrTxEnded

	// ErrSuperseded says that a sink, which decides the order of commits, has put others
	// before: nothing happened, and the caller begins again.
	ErrSuperseded = line.ErrSuperseded
)

// A Tx is a transaction: one update of a DB, through whose tables it edits. It is made by
// Update, whose function it is handed to, or by Begin. It must not be copied, and must be
// used by one goroutine at a time. Once it has ended, verbs of it and its Editors panic.
type Tx struct {
	db   *DB
	base *line.Root
	want line.Want

	held    *line.Held      // of Begin; nil: in an update
	failed  error           // Begin has not got the writer's place
	dropped runtime.Cleanup // for one that nobody ends

	deferred []func() // by Defer

	version uint64 // of what is replayed; 0: in an update

	deriving atomic.Bool // the function has returned, and derived tables follow
	afresh   bool        // what follows does from all there is

	mu    sync.Mutex
	ended bool
	edits []tableEdit
	few   [2]tableEdit
}

// A tableEdit is the edit of one table.
type tableEdit struct {
	place int
	edit  edit
}

type edit interface {
	// seal ends the edit and returns the map it made, or nil for no change, and
	// what it changed, if that is wanted.
	seal(db *DB, want line.Want) (content any, n line.Net, err error)
	discard()
}

// Begin begins a transaction, which its Commit publishes as the next version, and its Abort
// ends without a trace: an Update whose function is the program's own text. It has the
// writer's place until then, for which other updates and transactions wait, in their order,
// and Begin waits too: it must be ended soon, whatever happens.
//
//	tx := db.Begin()
//	defer tx.Abort() // does nothing after Commit
//	…
//	return tx.Commit()
//
// In the goroutine that began it, another Begin, an update, and whatever else would wait for
// the end, panics. Whoever has the place is in Stats; so is how many transactions were
// dropped without an end, which the garbage collector finds, and aborts: package cowtest has
// NoTx, for tests. If Begin itself fails, as for a DB that was closed, Commit returns the
// error. It takes about two microseconds more than an update.
func (db *DB) Begin() *Tx {
	tx, err := db.BeginContext(context.Background())
	if err != nil {
		return &Tx{db: db, base: db.start(), failed: err}
	}
	return tx
}

// BeginContext is Begin, unless ctx ends while others have the writer's place: then it returns
// ctx's cause, as Commit does if ctx has ended before that. It does not give up waiting for
// the function of an update. See also [DB.UpdateContext], for what a sink adds.
func (db *DB) BeginContext(ctx context.Context) (*Tx, error) {
	h, err := db.line.Hold(ctx)
	if err != nil {
		return nil, err
	}
	tx := &Tx{db: db, base: h.Base(), held: h}
	tx.dropped = runtime.AddCleanup(tx, (*line.Held).Drop, h)
	return tx, nil
}

// begun panics for the Tx of an Update, which was asked to do what.
func (tx *Tx) begun(what, instead string) {
	if tx.held == nil && tx.failed == nil {
		panic("cow: " + what + " of the Tx of an Update, which ends by itself: return " + instead + " from its function")
	}
}

// Commit ends a transaction of Begin, and publishes what it edited as the next version, or
// returns an error, for which see [DB.Update], and nothing happens. It also returns ErrTxEnded,
// if the transaction has ended before, and ErrSuperseded, where a sink makes the DB durable
// or replicates it.
func (tx *Tx) Commit() error {
	tx.begun("Commit", "nil")
	switch {
	case tx.failed != nil:
		tx.end()
		return tx.failed
	case !tx.held.Claim():
		return fmt.Errorf("cow: %w", ErrTxEnded)
	}
	defer tx.end()
	tx.dropped.Stop()
	return tx.held.Commit(func(_ *line.Root, want line.Want) (line.Draft, error) {
		tx.want = want
		return tx.seal()
	})
}

// Abort ends a transaction of Begin without a trace. It does nothing if the transaction has
// ended already.
func (tx *Tx) Abort() {
	tx.begun("Abort", "an error")
	if tx.failed == nil && !tx.held.Claim() {
		return
	}
	defer tx.end()
	if tx.failed == nil {
		tx.dropped.Stop()
		tx.held.Abort()
	}
}

// Defer has f called when the transaction has been published, or has succeeded without a
// change: by Commit or Update, before it returns, without a lock, the last f first. If it
// fails, or its outcome is unknown, f is not called, and so it is when commits are replayed.
func (tx *Tx) Defer(f func()) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.use()
	tx.deferred = append(tx.deferred, f)
}

// use panics if the Tx has ended. The caller holds mu.
func (tx *Tx) use() {
	if tx.ended {
		panic("cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort")
	}
}

// succeeded calls what was deferred.
func (tx *Tx) succeeded() {
	for _, f := range tx.deferred {
		defer f() // all of them, even if one panics
	}
}

// Changes returns an iterator over what a transaction has changed in the table so far, as
// Rows of its Commit will: net, a key at most once. The revision of a row that it wrote is the
// version that it will publish. The errors are those of Edit, which panics.
func (t *Table[K, V]) Changes(tx *Tx) iter.Seq[Change[K, V]] {
	t.made()
	if tx.db.schema() != t.def.schema {
		t.def.panicForeign()
	}
	e := tx.edit(t.def.at, nil)
	if e == nil {
		return func(func(Change[K, V]) bool) {}
	}
	return slices.Values(builder[K, V]{}.Net(e.(*mapEdit[K, V]).Editor, nil))
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
// the update, to be forked for instance. To the function that derives a table for the first
// time all that there is is new: Base is empty then.
func (tx *Tx) Base() *Snapshot {
	if tx.afresh {
		return (*Snapshot)(line.Make(nil, tx.db.owner(), 0).Root)
	}
	return (*Snapshot)(tx.base)
}

// edit returns the edit of the table at that place, made by begin if there is none yet.
// Without begin it returns nil then.
func (tx *Tx) edit(place int, begin func() edit) edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.use()
	i, ok := slices.BinarySearchFunc(tx.edits, place, func(e tableEdit, place int) int { return e.place - place })
	switch {
	case ok:
		return tx.edits[i].edit
	case begin == nil:
		return nil
	case tx.edits == nil:
		tx.edits = tx.few[:0]
	}
	e := begin()
	tx.edits = slices.Insert(tx.edits, i, tableEdit{place, e})
	return e
}

// seal ends all edits and returns the version they make, which is the base if
// they changed nothing.
func (tx *Tx) seal() (d line.Draft, err error) {
	if err := tx.derive(); err != nil {
		return d, err
	}
	d.Next = tx.base
	var next line.Making
	// What follows runs functions of indexes, which must not find the lock held.
	for _, e := range tx.close() {
		content, n, err := e.edit.seal(tx.db, tx.want)
		if err != nil {
			return line.Draft{}, err
		}
		if content == nil {
			continue
		}
		if next.Root == nil {
			next = line.Make(tx.base, tx.db.owner(), tx.Version())
			d.Next, d.Table = next.Root, e.place
			if tx.want.Commit {
				d.Commit = new(line.Commit)
			}
		} else {
			d.Table = line.Several
		}
		next.Set(e.place, content)
		if d.Commit != nil {
			d.Commit.Add(e.place, n)
		}
	}
	if next.Root != nil && tx.deriving.Load() {
		for _, t := range tx.db.schema().all() {
			if t.isDerived() && next.Root.Table(t.place()) == nil {
				next.Set(t.place(), t.none()) // so that it is known to be derived
			}
		}
	}
	if len(tx.deferred) > 0 {
		d.Then = tx.succeeded
	}
	if tx.want.Sent && next.Root != nil {
		d.Sent = new(sink.Commit)
		d.Sent.Rows, err = tx.db.schema().encode(d.Commit, next.Root.Version())
	}
	return d, err
}

// derive brings derived tables up to the others.
func (tx *Tx) derive() error {
	s := tx.db.schema()
	if !s.derived.Load() {
		return nil
	}
	tx.deriving.Store(true)
	defer func() { tx.afresh = false }()
	for _, t := range s.all() {
		tx.afresh = t.isDerived() && tx.base.Table(t.place()) == nil
		if err := t.derive(tx); err != nil {
			return err
		}
	}
	return nil
}

// close makes any later use of the Tx panic, and returns its edits.
func (tx *Tx) close() []tableEdit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
	return tx.edits
}

// end makes any later use of the Tx and its Editors panic.
func (tx *Tx) end() {
	for _, e := range tx.close() {
		e.edit.discard()
	}
}
