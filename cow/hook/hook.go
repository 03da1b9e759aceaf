// Package hook has the interfaces by which a program is told what happens in a DB: for logs, traces
// and metrics. A hook is any value that implements at least one of them; [cow.DB.AddHook] adds it
// to a DB. An interface that no hook implements costs nothing. [Log] and [Trace] return ready-made
// hooks.
//
// Reads have no hooks. A hook is called without a lock of the DB held:
//
//   - What a call of the program does is told in the goroutine of the call, with its context:
//     updates, sweeps, erasures, searches, evictions, and feeds that are too slow. The call returns
//     when the hook has. If a hook panics there, the other hooks are still called, and then the
//     caller gets the panic. Everything is done and unlocked by then: what was published stays
//     published. A hook that panics when an update begins keeps it from beginning.
//   - What no call of the program does is told in a goroutine that the DB starts, and that ends
//     when there is no more to tell: commits from elsewhere, the state of a sink, and transactions
//     that were dropped. They are told in order, one after the other. A hook that blocks there
//     delays only other hooks: the last 1,024 events wait for it, and earlier ones are not told. A
//     panic there ends the process, as in any goroutine.
//
// A hook may use the DB, and update it. Updates that it makes in its own goroutine are not told to
// hooks; those that it starts elsewhere are. After a hook has panicked, updates by deferred
// functions of its caller may not be told either. If the function of an update searches, reads a
// feed or begins another update, the hooks of that are called inside the update, and must not
// update the same DB.
//
// The hooks of a DB are called in the order in which they were added. Each is told of what happens
// until it is removed.
//
// [cow.DB.AddHook]: https://pkg.go.dev/github.com/cowstore/cowstore/cow#DB.AddHook
package hook

import (
	"context"
	"time"
)

// An UpdateStart is told that an update or a transaction of Begin begins, before it waits for
// anything.
type UpdateStart interface {
	// OnUpdateStart returns ctx, the context of the call, or one made from it. The next hook's
	// OnUpdateStart gets it, and the last one goes to OnUpdateEnd of all hooks. The update itself
	// uses the context of the call. Of u only Transaction is set.
	OnUpdateStart(ctx context.Context, u Update) context.Context
}

// An UpdateEnd is told that an update has ended, with or without an error.
type UpdateEnd interface {
	// OnUpdateEnd is called when the update is published or has failed, before its caller gets the
	// result. For a transaction that was dropped without an end it is called later.
	OnUpdateEnd(ctx context.Context, u Update)
}

// An Update says what became of an update or a transaction, and how long it took.
type Update struct {
	Transaction bool // whether it is a transaction of Begin, which another goroutine may end

	// Version is the version that it published, 0 for none: it has failed, or changed nothing. It
	// is also 0 if Err is cow.ErrUnknownOutcome: no hook is told if that is published later.
	Version uint64

	Attempts int           // runs of its function; above 1, a sink has put other commits first
	Wait     time.Duration // spent waiting for its turn to write, and for what became of earlier attempts
	Run      time.Duration // spent in its function, until the next version was made
	Sink     time.Duration // spent waiting for the sink to decide; 0 without a sink

	// Err is the error that the caller gets. If the caller gets none, as the update panicked or the
	// transaction was aborted, it is ErrPanicked or ErrAborted.
	Err error

	// Tables returns the tables that it changed, in the order in which they were made. It is nil
	// if Version is 0. It compares the version with the one before, in time proportional to the
	// changes. It may be called at any time, and keeps both versions in memory.
	Tables func() []Table
}

// A Table says what a commit changed in one table of a DB.
type Table struct {
	Name  string // "" for a table that cow.New made
	Rows  int    // rows that were added, changed or removed
	Bytes int    // about how many bytes the added and changed rows take
}

// An Applied is told that a commit came from elsewhere, such as another replica.
type Applied interface {
	// OnApplied is called once the commit is published here. Of u only Version and Tables are set.
	OnApplied(u Update)
}

// A Compacted is told that a feed of commits ends because the next one is no longer retained:
// its consumer is too slow, or began too far in the past.
type Compacted interface {
	OnCompacted(ctx context.Context, f Feed)
}

// A Feed is an iteration over the commits of a DB as they come.
type Feed struct {
	Since   time.Time // when it began
	Version uint64    // the version of the last commit that its consumer is done with
	Latest  uint64    // the current version, at least Version
}

// A Swept is told that rows have expired, and were deleted.
type Swept interface {
	// OnSwept is called when a call of Sweep found something, or failed. Rows of r is the number
	// of rows that were deleted.
	OnSwept(ctx context.Context, r Removal)
}

// An Erased is told that rows were erased from the past, or that this failed.
type Erased interface {
	// OnErased is called at the end of a call of Erase that was given a key, or failed. Rows of r is
	// the number of keys, 0 if its function failed. If Err is nil, no version that is kept has them.
	OnErased(ctx context.Context, r Removal)
}

// An Evicted is told that a memory has evicted entries, to stay within its limits.
type Evicted interface {
	// OnEvicted is called when the update that evicted them is published. Of r only Rows is set:
	// how long it took is told with the update.
	OnEvicted(ctx context.Context, r Removal)
}

// A Removal says what a sweep, an erasure or an update that evicts has removed.
type Removal struct {
	Rows     int
	Others   int // other DBs, such as forks, that still have some of what was erased
	Duration time.Duration
	Err      error
}

// A SinkChanged is told when the state of the DB's sink changes: of what makes it durable or
// replicates it.
type SinkChanged interface {
	// OnSinkChanged is called when the State changes, and each time that commits are refused. An
	// update that is too large for the sink is refused alone, and does not change the state.
	OnSinkChanged(s Sink)
}

// A Sink is the state of what makes a DB durable or replicates it.
type Sink struct {
	State State
	Since time.Time // when the state began
	Err   error     // the reason; nil where all is well
}

// A State is the state of a Sink. It is empty where there is no sink.
type State string

// The states of a [Sink].
const (
	Connected State = "connected" // all is well
	Retrying  State = "retrying"  // its server does not answer, and it tries again
	Refused   State = "refused"   // it takes no commits for now: the last updates have failed
	Failed    State = "failed"    // it takes no more commits: all updates fail
	Closed    State = "closed"    // the DB was closed
)

// A Searched is told of searches of a memory.
type Searched interface {
	OnSearched(ctx context.Context, s Search)
}

// A Search says what a search of a memory found, and how long it took.
type Search struct {
	Kind       string // "text", "vector" or "both"
	Hits       int    // results that it returned
	Candidates int    // texts and vectors in the spaces that it searched
	Duration   time.Duration
	Err        error
}
