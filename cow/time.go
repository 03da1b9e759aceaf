package cow

import (
	"context"
	"iter"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/line"
)

// The errors of updates and of the past, to be tested with errors.Is.
var (
	// ErrUnknownOutcome says that a context ended before it was known whether an
	// update happened, or that the sink cannot find out. It may still.
	ErrUnknownOutcome = line.ErrUnknownOutcome

	// ErrClosed says that a DB was closed.
	ErrClosed = line.ErrClosed

	// ErrCompacted says that a version is no longer kept, or never was.
	ErrCompacted = line.ErrCompacted

	// ErrUnpublished says that there is no such version yet.
	ErrUnpublished = line.ErrUnpublished

	// ErrLineage says that a cursor is of another line of versions.
	ErrLineage = line.ErrLineage

	// ErrCursor says that a text is not one that Cursor returns.
	ErrCursor = line.ErrCursor
)

// A Lineage identifies a line of versions. Two snapshots of the same version and the same lineage
// are the same. Each DB has a lineage of its own, and so has each fork. With a sink, a DB keeps its
// lineage however often and wherever it is opened.
type Lineage struct {
	ID     string // 26 letters from A to Z and digits from 2 to 7, random
	Parent string // the ID of the DB whose Fork made this one; "" if none did
	Forked uint64 // the version of the snapshot that it began with
}

// Lineage returns the lineage of the DB.
func (db *DB) Lineage() Lineage { return Lineage(db.line.Lineage()) }

// Cursor returns a version of the DB as text, for Resume and ParseCursor: the ID of the lineage, a
// full stop, and the version in decimal digits. No other DB has the same text, so it serves as the
// id of an event or as an entity tag. See also [Commit.Cursor].
func (db *DB) Cursor(version uint64) string { return db.line.Cursor(version) }

// ParseCursor returns the version of a cursor of this DB, published or not. It returns [ErrCursor]
// for a text that Cursor does not return, and [ErrLineage] for a cursor of another DB, such as a
// fork. The example is that of [DB.Cursor].
func (db *DB) ParseCursor(cursor string) (version uint64, err error) {
	return db.line.ParseCursor(cursor)
}

// A Retention says which past versions At, AsOf and Changes can reach: those that are within every
// limit that is set. A limit of 0 is not set. With Versions 100, these are the current version and
// the 100 before it. With no limit set, no past is kept, and it costs nothing.
type Retention struct {
	Versions int           // at most so many versions before the current one
	Age      time.Duration // versions that were current within the last Age
	Bytes    int64         // while the old rows of all hold back about so many bytes
}

// Retain keeps past versions from now on, within the limits of r, in place of those of an earlier
// call. If r sets no limit, it forgets all of them. While versions are retained, each commit also
// records what it changed. Limits are applied at each read of the past, and at each commit. A
// commit may leave up to a sixteenth more Versions. The latest commit is kept even if it exceeds
// Bytes.
//
// Retain waits for an update whose function is running.
func (db *DB) Retain(r Retention) { db.line.Retain(line.Retention(r)) }

// Compact forgets the retained versions before a version, as if a limit of Retain were exceeded. At
// and AsOf for them, and Changes from before, then return [ErrCompacted]; pins stay. A file that
// the DB is kept in forgets them too. It returns [ErrUnpublished] for a version that is not
// published yet, and takes time proportional to what it forgets.
func (db *DB) Compact(version uint64) error { return db.line.Compact(version) }

// At returns the snapshot of a version: the current one, a retained one or a pinned one. It returns
// [ErrCompacted] for a version that is no longer kept, and [ErrUnpublished] for one that is not
// published yet. It takes time proportional to the changes since then, but at most to an eighth of
// all rows, and never waits for an update.
func (db *DB) At(version uint64) (*Snapshot, error) { return snapshotOf(db.line.At(version)) }

// AsOf returns the snapshot that was current at t; if t is in the future, the current one. It
// returns [ErrCompacted] if t is before the oldest retained version, and always if nothing is
// retained, as the times of versions are not known then. If t has a reading of the monotonic clock,
// as time.Now() has, it is right even if the wall clock was set in between.
func (db *DB) AsOf(t time.Time) (*Snapshot, error) { return snapshotOf(db.line.AsOf(t)) }

func snapshotOf(r *line.Root, err error) (*Snapshot, error) { return (*Snapshot)(r), err }

// Versions returns an iterator over the retained versions and the times at which they were
// published, the oldest first and the current one last. The time of the oldest may be that at which
// it was first retained, and the time of version 0 is the zero time. If nothing is retained, it
// yields only the current version, with the zero time.
func (db *DB) Versions() iter.Seq2[uint64, time.Time] { return db.line.Versions() }

// Pin keeps the snapshot of a version, current or retained, until Unpin: At finds it, however old
// it is. AsOf and Changes do not find it, as they need the versions in between. The name may be any
// text; a pin of that name is moved. The errors are those of At.
//
// If the DB is kept in a file (package bolt), the pin is in the file when Pin has returned nil:
// Pins and At have it after the file is opened again. After a crash during Pin it is there or not.
// Pin then also returns [ErrCompacted] for a version that the DB has but the file has not, such as
// one from before the file was made; [ErrClosed]; and the error with which writes have failed. After
// that error, the pin may be in the file all the same. If the DB is a replica (package etcd), the
// pin belongs to this replica alone, and ends with its process.
func (db *DB) Pin(name string, version uint64) error { return db.line.Pin(name, version) }

// Unpin removes the pin of that name, and reports whether there was one. If the DB is kept in a
// file, the pin is removed from it when Unpin has returned true, and its space in the file is free
// for later writes. If the file can no longer be written, Unpin returns false, and the pin stays.
func (db *DB) Unpin(name string) bool { return db.line.Unpin(name) }

// Pins returns an iterator over the names of the pins, in order, and the snapshots that they keep,
// as they are when the iteration begins.
func (db *DB) Pins() iter.Seq2[string, *Snapshot] {
	return func(yield func(string, *Snapshot) bool) {
		for name, r := range db.line.Pins() {
			if !yield(name, (*Snapshot)(r)) {
				return
			}
		}
	}
}

// Stats are figures about a DB at one moment. Its snapshot has the version and the number of rows.
// Begun is about transactions of Begin alone: it stays zero while the function of an Update runs,
// however slow that is. To see how long updates take, time these functions, or add a hook: see
// [hook.UpdateEnd].
type Stats struct {
	Retained  int // versions before the current one that At and AsOf reach
	Pins      int // versions kept by name
	HeldRows  int // old rows that both keep alive
	HeldBytes int // about how many bytes these rows and the records of them take

	Waiting int         // calls blocked in Wait, in a watch or in Changes
	Feeds   []hook.Feed // the iterations over Changes, the oldest first
	Sink    hook.Sink   // what makes the DB durable or replicates it

	Begun     time.Time // when the transaction of Begin began that is open; zero: none is
	BegunBy   string    // the stack at that moment
	Dropped   int       // transactions that were dropped without Commit or Abort: see DB.Begin
	DroppedBy string    // the stack where the last of them began

	// HeldSnapshots are the old versions that readers hold, the oldest first, at most 16, and nil
	// if TrackSnapshots is off.
	HeldSnapshots []HeldSnapshot
}

// Stats returns the current figures. It takes time proportional to the rows that the pins and the
// HeldSnapshots hold, each counted on its own, and to the commits that were retained since the last
// call. It never waits for an update.
func (db *DB) Stats() Stats {
	s := db.line.Stats()
	var held []HeldSnapshot
	for _, r := range db.line.Held() {
		held = append(held, HeldSnapshot(r))
	}
	return Stats{s.Retained, s.Pins, s.HeldRows, s.HeldBytes, s.Waiting, s.Feeds, s.Sink, s.Begun, s.BegunBy, s.Dropped, s.DroppedBy, held}
}

// A HeldSnapshot is a version that is neither current nor retained nor pinned, but still in memory,
// as somebody holds its Snapshot or one of its Maps.
//
// A version is known to be held after the first garbage collection since it was replaced, sometimes
// after the second. One that is no longer held may be listed until the next collection. Holders
// are, for example, a variable, an iteration, a Watch that waits from it, a Tx that has ended, a
// function Tables of package [hook], or a fork with a table that has not changed since. A Map
// counts as the last version that had it.
//
// Not listed are snapshots of the past that At and AsOf made, versions of which only a single row,
// a view of one or a [Range] is held, versions that are also pinned, and some whole snapshots that
// Retain keeps.
type HeldSnapshot struct {
	Version   uint64
	Published time.Time // or the time of TrackSnapshots, if that was later
	Replaced  time.Time // when the next version was published: it has held memory back since
	Rows      int       // old rows that it keeps alive
	Bytes     int       // about how many bytes these take
}

// TrackSnapshots has the DB track from now on which snapshots are held, or no longer: see
// [HeldSnapshot]. It is off at first, and in each fork, and then costs nothing. When it is on,
// reads cost what they did, and the DB has weak pointers to a part of its versions, of about 200 KB
// at most. A commit takes about 100 ns more where there are many, and about a microsecond where
// there are few.
//
// Between two garbage collections the DB tracks the first 256 versions, then every second one, then
// every fourth, and so on, and each version that was current for a millisecond. If there are more
// than it has room for, it drops some, more of the older ones.
func (db *DB) TrackSnapshots(on bool) { db.line.Track(on) }

// Wait blocks until the current version is above after, and returns its snapshot. If ctx ends
// first, it returns ctx's cause and no snapshot. If after is not published yet, it returns
// [ErrUnpublished] at once.
func (db *DB) Wait(ctx context.Context, after uint64) (*Snapshot, error) {
	return snapshotOf(db.line.Wait(ctx, after, "a Wait"))
}

// A Commit is one published update: its version, its time, and the net changes, each key at most
// once. [Table.Rows] returns the changes in a table. A Commit is immutable, safe for concurrent
// use, and valid forever.
type Commit line.Commit

func (c *Commit) commit() *line.Commit { return (*line.Commit)(c) }

// Version returns the version that the update published.
func (c *Commit) Version() uint64 { return c.commit().Version() }

// Time returns the time at which the update was published. It is never before that of an earlier
// version.
func (c *Commit) Time() time.Time { return c.commit().Time() }

// Cursor returns the version of the Commit as text, such as for the id of an event. [DB.Resume]
// goes on after it.
func (c *Commit) Cursor() string { return c.commit().Cursor() }

// Changes returns an iterator over the commits above version since, in order and without gaps. When
// it has caught up, it waits for the next. It ends with an error, and no Commit: with ctx's cause
// when ctx ends; with [ErrCompacted] when the next commit is no longer retained, because the consumer
// was too slow or began too far in the past; with [ErrUnpublished] if version since is not published
// yet. To go on later, pass the version of the last Commit, or give its Cursor to Resume.
//
// Without Retain, the last 256 commits are kept, fewer if they are large, from the moment that the
// first iteration begins. They count as retained, until Retain is called. After Retain without a
// limit, running iterations end at the next commit, with ErrCompacted. A consumer keeps only the
// Commit that it is at alive, and never makes a writer wait. Changes starts no goroutine.
func (db *DB) Changes(ctx context.Context, since uint64) iter.Seq2[*Commit, error] {
	return commits(db.line.Changes(ctx, since))
}

// Commits returns an iterator over the commits above version since, in order and without gaps, up
// to the version that is current when the iteration begins. It never blocks and needs no context.
// It ends early with an error, and no Commit: with [ErrCompacted] if the next commit is not retained,
// with [ErrUnpublished] if version since is not published yet. To go on later, pass the version of
// the last Commit.
//
// The commits are those that Retain keeps, or that are kept for iterations over Changes. Commits
// itself keeps none, but for the one that it is at. It may be used in an update function.
func (db *DB) Commits(since uint64) iter.Seq2[*Commit, error] {
	return commits(db.line.Commits(since))
}

// Resume is Changes from a cursor, the text that Commit.Cursor or DB.Cursor returned, in this
// process or an earlier one. It ends with [ErrCursor] for any other text, and with [ErrLineage] for a
// cursor of another DB, such as a fork.
func (db *DB) Resume(ctx context.Context, cursor string) iter.Seq2[*Commit, error] {
	return commits(db.line.Resume(ctx, cursor))
}

func commits(all iter.Seq2[*line.Commit, error]) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		for c, err := range all {
			if !yield((*Commit)(c), err) {
				return
			}
		}
	}
}

// Rows returns an iterator over the changes of a commit in this table, each key at most once. A row
// that the commit added and removed again is left out; a key that was set to an equal value is
// Changed. It panics if the commit is neither of the table's DB nor of a fork.
func (t *Table[K, V]) Rows(c *Commit) iter.Seq[Change[K, V]] {
	t.made()
	if o := c.commit().Owner(); o == nil || o.Tables != line.Tables(t.def.catalog) {
		panic("cow: Rows of a Commit of another DB: it must be of the table's own, or of a fork")
	}
	if n, ok := c.commit().Net(t.def.at).(*changes[K, V]); ok {
		return n.all()
	}
	return func(func(Change[K, V]) bool) {}
}

// Fork returns a new DB that begins with s: a snapshot of db, current or past, or of another fork
// of it. It takes constant time for each table, as the rows are shared, and then is independent of
// db. Its versions go on from that of s. It has the same tables, which [Table.Of] returns, with the
// indexes that they have in db at that moment. It has a Lineage of its own, and no sink, history,
// pins or watches.
//
// If s is from before an index was made, the first update of the fork builds the index. If that
// finds rows that the index refuses, or two under one key of a unique index, the update fails
// unless it changes them.
func (db *DB) Fork(s *Snapshot) *DB {
	if s != nil && s.root().Owner().Tables != line.Tables(db.catalog()) {
		panic("cow: Fork from a snapshot of another DB: call Fork of that one, or give it a snapshot of this")
	}
	f := new(DB)
	var states []state
	for _, t := range db.catalog().all() {
		states = append(states, db.state(t.place()).fork())
	}
	f.states.Store(&states)
	owner := &line.Owner{Tables: db.catalog()}
	db.catalog().related(db)
	db.catalog().related(f)
	// Never nil, so that it tells which DB it is of.
	db.line.Fork(&f.line, line.Make(s.root(), owner, s.Version()).Root)
	return f
}
