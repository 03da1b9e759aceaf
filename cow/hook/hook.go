// Package hook has the interfaces by which a program is told what happens in a DB: for logs,
// traces and metrics. A hook is any value that implements at least one of them; cow.DB.AddHook
// adds it to a DB. Each is asked for nothing else, and costs nothing where no hook has it.
// [Log] and [Trace] return ready-made hooks.
//
// Reads have no hooks. A hook holds no lock of the store, whatever it does:
//
//   - What a call of the program does is told in its goroutine, with its context: updates, sweeps,
//     erasures, searches, evictions, and feeds that are too slow. The call returns when the hook
//     has. A hook that panics there panics to the caller, once all others were called, with
//     everything done and unlocked: what was published stays published. One that panics when an
//     update begins keeps it from beginning.
//   - What no call of the program does is told in a goroutine that the DB starts for that, and
//     which ends when there is no more to tell: commits from elsewhere, the state of a sink, and
//     transactions that were dropped. That comes in order, one after the other. A hook that blocks
//     there holds up nobody but other hooks: the last 1,024 things that happened wait for it, and
//     what happened before them is not told. A panic there ends the process, as it does in any
//     goroutine.
//
// A hook may use the DB, and update it. Updates that it makes in its own goroutine are not told to
// hooks; those that it starts elsewhere are. After a hook has panicked, what the functions update
// that its caller has deferred may not be told either. Where the function of an update searches,
// reads a feed or begins another update, the hook of that is called inside the update, and may do
// what the function may: no update of the same DB.
//
// Several hooks of a DB are called in the order in which they were added. Each is told of what
// happens from then on until it is removed.
package hook

import (
	"context"
	"time"
)

// An UpdateStart is told that an update begins, or a transaction of Begin, before that waits for
// anything.
type UpdateStart interface {
	// OnUpdateStart returns the context for OnUpdateEnd of all hooks, and for OnUpdateStart of
	// the next. It is ctx, of the call, or made from it. The update itself goes by ctx. Of u
	// nothing is known but Transaction.
	OnUpdateStart(ctx context.Context, u Update) context.Context
}

// An UpdateEnd is told that an update has ended, however it did.
type UpdateEnd interface {
	// OnUpdateEnd is called when the update is published, or has failed, and before its caller
	// knows. For a transaction that was dropped without an end it is called later.
	OnUpdateEnd(ctx context.Context, u Update)
}

// An Update is an update or a transaction.
type Update struct {
	Transaction bool // it is one of Begin, which another goroutine may end

	// Version is the version that it published, 0 for none: it has failed, or changed nothing. It
	// is 0, too, where Err is cow.ErrUnknownOutcome: what is published then is told by nobody.
	Version uint64

	Attempts int           // how often its function ran; above 1, a sink has put other commits first
	Wait     time.Duration // for its place among the writers, and for what became of other attempts
	Run      time.Duration // of its function, until the next version was made
	Sink     time.Duration // until the sink has decided, of what it saw too; 0: there is none

	// Err is what the caller gets. It is ErrPanicked or ErrAborted where that is nothing.
	Err error

	// Tables returns the tables that it changed, in the order in which they were made. It is nil
	// where Version is 0. It compares the versions, in time proportional to the changes, and may
	// be called at any time: it keeps both.
	Tables func() []Table
}

// A Table is what was changed in one table of a DB.
type Table struct {
	Name  string // "" for that of a DB that has but one
	Rows  int    // that were added, changed or removed
	Bytes int    // that the rows which were added or changed take, about
}

// An Applied is told that a commit came from elsewhere, such as another replica.
type Applied interface {
	// OnApplied is called once the commit is published here. Of u its Version and its Tables are
	// known, and nothing else.
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
	Version uint64    // of the last commit that its consumer is done with
	Latest  uint64    // the version that is current, never below that
}

// A Swept is told that rows have expired, and were deleted.
type Swept interface {
	// OnSwept is called when a call of Sweep found something, or failed. The rows of r are those
	// that are gone.
	OnSwept(ctx context.Context, r Removal)
}

// An Erased is told that rows were to be erased from the past.
type Erased interface {
	// OnErased is called at the end of a call of Erase that was given a key, or failed. The rows
	// of r are the keys, 0 where its function failed. Where Err is nil, no version that is kept has
	// them.
	OnErased(ctx context.Context, r Removal)
}

// An Evicted is told that entries of a memory had to go, as its limits say.
type Evicted interface {
	// OnEvicted is called when the update that evicted them is published. Only the rows of r are
	// known: how long that took is told of the update.
	OnEvicted(ctx context.Context, r Removal)
}

// A Removal is what a sweep, an erasure or an update that evicts has removed.
type Removal struct {
	Rows     int
	Others   int // other DBs that still have some of what was erased
	Duration time.Duration
	Err      error
}

// A SinkChanged is told of the state of what makes the DB durable or replicates it.
type SinkChanged interface {
	// OnSinkChanged is called when the State is another, and each time that commits are refused.
	// An update that is refused alone, as it is too large for the sink, leaves the state alone.
	OnSinkChanged(s Sink)
}

// A Sink is what makes a DB durable or replicates it, as the DB knows it.
type Sink struct {
	State State
	Since time.Time // when that became so
	Err   error     // why; nil where all is well
}

// A State is that of a Sink. It is empty where there is no sink.
type State string

// The states.
const (
	Connected State = "connected" // all is well
	Retrying  State = "retrying"  // what it speaks to is not there, and it tries again
	Refused   State = "refused"   // it takes no commits for now: the updates of the last have failed
	Failed    State = "failed"    // it takes no more: all updates fail
	Closed    State = "closed"    // the DB was closed
)

// A Searched is told of searches of a memory.
type Searched interface {
	OnSearched(ctx context.Context, s Search)
}

// A Search is a search of a memory that has ended.
type Search struct {
	Kind       string // "text", "vector" or "both"
	Hits       int    // that it returned
	Candidates int    // texts and vectors of the spaces that it looked through
	Duration   time.Duration
	Err        error
}
