// Package hook has the interfaces by which a program is told what happens in a DB: for logs,
// traces and metrics. A hook is any value that implements at least one of them; cow.DB.AddHook
// adds it to a DB. Each is asked for nothing else, and costs nothing where no hook has it.
// [Logger] and [Tracer] are ready-made hooks.
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
// hooks; those that it starts elsewhere are. Several hooks of a DB are called in the order in
// which they were added.
package hook

import (
	"context"
	"time"
)

// An UpdateStart is told that an update begins, or a transaction of Begin, before that waits for
// anything.
type UpdateStart interface {
	// OnUpdateStart returns the context for OnUpdateEnd of all hooks, and for OnUpdateStart of
	// the next. It is ctx, of the call, or made from it. The update itself goes by ctx.
	OnUpdateStart(ctx context.Context, s Start) context.Context
}

// An UpdateEnd is told that an update has ended, however it did.
type UpdateEnd interface {
	// OnUpdateEnd is called when the update is published, or has failed, and before its caller
	// knows. For a transaction that was dropped without an end it is called later.
	OnUpdateEnd(ctx context.Context, u Update)
}

// A Start is an update that begins.
type Start struct {
	Transaction bool // it is one of Begin, which another goroutine may end
}

// An Update is an update that has ended.
type Update struct {
	Transaction bool // see Start

	// Version is the version that it published, 0 for none: it has failed, or changed nothing.
	Version uint64

	Attempts int           // how often its function ran; above 1, a sink has put other commits first
	Wait     time.Duration // for its place among the writers, and for what became of other attempts
	Run      time.Duration // of its function, until the next version was made
	Sink     time.Duration // until the sink has acknowledged that; 0: there is none

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
	OnApplied(c Commit)
}

// A Commit is a version that was made elsewhere, and is published here.
type Commit struct {
	Version uint64
	Time    time.Time // at which the commit was made; zero: several came as one
	Tables  func() []Table
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
	OnSwept(ctx context.Context, s Sweep)
}

// A Sweep is a call of Sweep that found something, or failed.
type Sweep struct {
	Rows     int // that were deleted
	Duration time.Duration
	Err      error
}

// An Erased is told that rows were to be erased from the past.
type Erased interface {
	OnErased(ctx context.Context, e Erase)
}

// An Erase is a call of Erase.
type Erase struct {
	Keys     int // that were to be erased, from all that is kept where Err is nil
	Others   int // other DBs that still have some of them
	Duration time.Duration
	Err      error
}

// A SinkChanged is told of the state of what makes the DB durable or replicates it.
type SinkChanged interface {
	OnSinkChanged(s Sink)
}

// A Sink is what makes a DB durable or replicates it, as the DB knows it.
type Sink struct {
	State State
	Since time.Time // when that became so
	Err   error     // why; nil where all is well
}

// A State is that of a Sink.
type State int

// The states.
const (
	None      State = iota // there is no sink
	Connected              // all is well
	Retrying               // what it speaks to is not there, and it tries again
	Refused                // it did not take the last commits, whose updates have failed
	Failed                 // it takes no more: all updates fail
	Closed                 // the DB was closed
)

var states = [...]string{"none", "connected", "retrying", "refused", "failed", "closed"}

// String returns the name of the state, in lower case.
func (s State) String() string {
	if s < 0 || int(s) >= len(states) {
		return "unknown"
	}
	return states[s]
}

// MarshalText returns the name of the state, for JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

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

// An Evicted is told that entries of a memory had to go, as its limits say.
type Evicted interface {
	OnEvicted(ctx context.Context, e Eviction)
}

// An Eviction is the entries that one update evicted.
type Eviction struct {
	Version uint64 // that has them no longer
	Entries int
}

// Is reports whether h implements one of the interfaces.
func Is(h any) bool {
	switch h.(type) {
	case UpdateStart, UpdateEnd, Applied, Compacted, Swept, Erased, SinkChanged, Searched, Evicted:
		return true
	}
	return false
}
