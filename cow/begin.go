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

// Begin begins a transaction. Commit publishes it as the next version; Abort ends it without a
// trace. It is an Update without a function. Until it has ended, other updates and transactions
// queue behind it, and Begin itself queues like them: so end it soon, whatever happens.
//
//	tx := db.Begin()
//	defer tx.Abort() // does nothing after Commit
//	…
//	return tx.Commit()
//
// In the goroutine that began it, another Begin, an update, and whatever else would wait for its
// end, panics. [DB.Stats] says who has begun the transaction that is open, but nothing of the
// function of an Update that runs. It also says how many transactions were dropped without an end:
// the garbage collector finds these, and they are aborted. Tests find them with NoTx of package
// cowtest. If Begin fails, as on a closed DB, Commit returns the error. A transaction takes about
// five microseconds more than an update.
func (db *DB) Begin() *Tx {
	tx, err := db.BeginContext(context.Background())
	if err != nil {
		return &Tx{db: db, base: db.start().root(), failed: err}
	}
	return tx
}

// BeginContext is Begin with a context. If ctx has ended, or ends while BeginContext waits for
// other transactions, it returns ctx's cause; it does not stop waiting for the function of an
// update. If ctx has ended before Commit, Commit returns ctx's cause. See also [DB.UpdateContext],
// for what a sink adds.
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

// Commit ends a transaction of Begin, and publishes its edits as the next version. If it changed
// nothing, no version is published. If Commit returns an error, nothing is published; see
// [DB.Update] for these errors. It returns [ErrTxEnded] if the transaction has ended before. With a
// sink, it returns [ErrSuperseded] if commits from elsewhere came first: begin again.
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
