package cow

import (
	"context"
	"fmt"
	"runtime"

	"github.com/cowstore/cowstore/cow/internal/line"
)

// The errors of Commit, to be tested with errors.Is.
var (
	// ErrTxEnded says that a transaction was committed or aborted before.
	ErrTxEnded = line.ErrTxEnded

	// ErrSuperseded says that a sink, which decides the order of commits, has put others
	// before: nothing happened, and the caller begins again.
	ErrSuperseded = line.ErrSuperseded
)

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
// error. It takes about five microseconds more than an update.
func (db *DB) Begin() *Tx {
	tx, err := db.BeginContext(context.Background())
	if err != nil {
		return &Tx{db: db, base: db.start(), failed: err}
	}
	return tx
}

// BeginContext is Begin, unless ctx has ended, or ends while others have the writer's place: then
// it returns ctx's cause, as Commit does if ctx has ended before that. It does not give up
// waiting for the function of an update. See also [DB.UpdateContext], for what a sink adds.
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
	switch {
	case tx.db == nil:
		panic("cow: " + what + " of the zero Tx: make one with Begin")
	case tx.held == nil && tx.failed == nil:
		panic("cow: " + what + " of the Tx of an Update, which ends by itself: return " + instead + " from its function")
	}
}

// Commit ends a transaction of Begin, and publishes what it edited as the next version. One that
// changed nothing publishes none. Where Commit returns an error, for which see [DB.Update], nothing
// happens. It also returns ErrTxEnded, if the transaction has ended before, and ErrSuperseded,
// where a sink makes the DB durable or replicates it.
func (tx *Tx) Commit() error {
	tx.begun("Commit", "nil")
	switch {
	case tx.failed != nil && !tx.hasEnded():
		tx.end()
		return tx.failed
	case tx.failed != nil || !tx.held.Claim():
		return fmt.Errorf("cow: %w: begin another", ErrTxEnded)
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
