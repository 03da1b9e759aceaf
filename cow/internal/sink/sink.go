// Package sink is how the commits of a cow.DB leave it and come back: it is for
// packages that make a DB durable or replicate it. Only packages below cow can import it. A
// sink begins with [For] of a cow.DB, and Attach.
//
// A [Sink] is attached to a DB. From then on an update is proposed to the sink
// when its function has returned, and published once the sink has acknowledged
// it. What a sink learns from elsewhere it tells a [DB].
//
// A sink that is a log of one writer proposes and acknowledges. One that shares
// the log with others is optimistic: it tries to append its proposals, and when
// somebody else's commits came first it rebases the line on them, and the updates
// that were outstanding run again.
package sink

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
)

// A Sink takes the commits of one DB. Propose and Trim are called in the order of
// the versions, one at a time, while the DB is locked: they must not block, nor
// call the DB.
type Sink interface {
	// Room blocks until there is room for a proposal, or returns why there will be
	// none. It is called before each run of an update's function, in the caller's
	// goroutine, which holds no lock; attempt counts the runs of this update that
	// were superseded. It must return once the Sink is closed, or has failed.
	Room(ctx context.Context, attempt int) error

	// Propose takes c, the commit after the last that was proposed and not
	// refused. An error refuses c alone: its update fails with it.
	Propose(c *Commit) error

	// Trim says that no version below oldest will be asked for any more. It is NoPast
	// while only the published version is kept, whichever that is.
	Trim(oldest uint64)

	// Close acknowledges what was proposed and happens, and lets go of everything:
	// the DB drops the rest. No call begins after it, unless of Room by an update
	// that was about to make it.
	Close() error
}

// A Pinner is a Sink that keeps pins. Pin and Unpin are called like Propose, one after the
// other, and the last has been waited for before the next is called. Wait returns when what
// was asked for is durable, or why it is not.
type Pinner interface {
	Sink

	// Pin keeps a version, until Unpin of the name, or until the name is that of another.
	// The version is published, not below what Trim said, or pinned.
	Pin(name string, version uint64) (wait func() error)

	// Unpin lets go of the version that is kept by a name.
	Unpin(name string) (wait func() error)
}

// An Eraser is a Sink that takes commits with rows that are Erased: it lets go of all that it has
// of their keys from before, in one step with keeping the commit.
type Eraser interface {
	Sink

	// Erases does nothing.
	Erases()
}

// NoPast says that no past version is kept.
const NoPast = math.MaxUint64

// A DB is a cow.DB as its sink sees it. Its methods may be called from any
// goroutine but must not be called by methods of the Sink, except by Close. But for
// Attach, they never wait for an update function. They may iterate more than once
// over what they are given. Rebase and Reset run no update function; they do run
// codecs and the functions of indexes and derived tables.
type DB interface {
	// Tables returns the tables that are stored, in the order in which they were
	// made. It returns an error for one that has no codec.
	Tables() ([]Table, error)

	// Contents returns the published version, and the time at which it was
	// published, or, if that is not known, a time since. Its rows have the
	// error of Tables, if any.
	Contents() Contents

	// Attach makes the DB begin with c and the commits after it, as Reset does,
	// and propose its updates to s from then on. It returns ErrAttached if the DB
	// has a sink. On an error nothing is changed.
	Attach(s Sink, c Contents, past iter.Seq2[*Commit, error]) error

	// Ack says that all proposals up to version happened, and publishes them.
	Ack(version uint64)

	// Rebase says that nothing that is outstanding happened, and that these
	// commits did, the first on the published version: it publishes them, and the
	// updates that are outstanding run again. With no commits, it does that alone.
	// An error is that of Fail, which
	// Rebase has called: a commit does not follow, cannot be decoded, or is
	// refused by an index.
	Rebase(foreign ...*Commit) error

	// Reset says that nothing that is outstanding happened, and that the DB is now
	// what c says, and what the commits of past made of that, which history keeps
	// as far as it goes. What is the same as before stays, and wakes nobody. A
	// version never goes back, and only a DB at version 0 takes another lineage:
	// ErrBehind and ErrLineage. An error is that of Fail, as in Rebase.
	Reset(c Contents, past iter.Seq2[*Commit, error]) error

	// Refuse drops what is outstanding. The updates of the proposals up to version return err,
	// which says whether they happened; those after them run again, as does whatever saw
	// them and proposed nothing. The line goes on.
	Refuse(version uint64, err error)

	// State says in which state the sink is, and why: Retrying, say. Connected, Refused, Failed
	// and Closed follow from what the DB is told by its other methods; after the last two it
	// stays as it is.
	State(s hook.State, err error)

	// Fail drops what is outstanding. These updates and all later ones return an
	// error that wraps err; reads go on. For later ones only the first counts, and
	// that the DB is closed is one: what Close leaves outstanding can have another.
	// See Undecided.
	Fail(err error)
}

// The errors of a DB.
var (
	ErrAttached = errors.New("the DB has a sink already")
	ErrLineage  = errors.New("the DB is of another lineage")
	ErrBehind   = errors.New("the DB is at a later version")
	ErrGap      = errors.New("the commit does not follow the version before it")
)

// ErrSchema is cow.ErrSchema.
var ErrSchema = errors.New("other tables are stored than the program has")

// Undecided is an error for Fail that says that what is outstanding may have happened, or
// happen yet: these updates, and no later ones, return one that wraps
// cow.ErrUnknownOutcome too.
type Undecided struct{ Err error }

// Error is that of Err.
func (u Undecided) Error() string { return u.Err.Error() }

func (u Undecided) Unwrap() error { return u.Err }

// A Table is a table that is stored.
type Table struct {
	Name string

	// Schema returns what is to be recorded of the table beside its rows, given what is
	// recorded, "" if nothing is. It is pure. An error wraps ErrSchema: the rows would be
	// read as what they are not, or lose what the table has no place for.
	Schema func(recorded string) (string, error)
}

// Contents are the rows of a DB at one version.
type Contents struct {
	Lineage string // empty: that of the DB
	Version uint64
	Time    time.Time             // when the version was published
	Rows    iter.Seq2[Row, error] // of all tables, in any order, none Removed; nil: there are none

	// Pins are the pinned versions, the oldest first. Of a Pinner they take the place of
	// those that the DB has; others have none.
	Pins []Pin
}

// A Pin is a pinned version. Of one below that of Contents, Rows are those that it has and
// the next one, or Contents, has not, none Removed; others have none. They are asked for
// after the rows of Contents.
type Pin struct {
	Version uint64
	Names   []string
	Rows    iter.Seq2[Row, error]
}

// A Row is one row of a table, or that it is gone. Whoever gets one must not
// modify the bytes, and whoever gives one must leave them as they are.
type Row struct {
	Table    int // in DB.Tables
	Key      []byte
	Value    []byte
	Removed  bool
	Erased   bool   // of a commit: so is all that there was of the key before it
	Revision uint64 // the version that wrote it
}

// A Commit is the net changes of one update to stored tables, a key at most once.
// It is immutable.
type Commit struct {
	Lineage string
	Version uint64
	Time    time.Time
	Rows    []Row

	void atomic.Bool
}

// Void reports whether the line has dropped the commit, which was proposed: it
// must not happen any more. A sink asks before it uses a proposal, and after it
// called Rebase, Reset or Fail. Once it reports true of a commit it does so of all that
// were proposed after it: asked from the first on, what is not void is without a gap.
func (c *Commit) Void() bool { return c.void.Load() }

// Drop makes the commit void. It is for lines.
func (c *Commit) Drop() { c.void.Store(true) }

// For returns what a *cow.DB is for its sink. Package cow sets it.
var For func(db any) DB
