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

// A Lineage identifies a line of versions: two snapshots of one version are the
// same if they are of the same lineage. Each DB has its own, and so has
// each fork. What a sink makes durable or replicates is one lineage, wherever and
// however often it is opened.
type Lineage struct {
	ID     string // 26 letters from A to Z and digits from 2 to 7, random
	Parent string // the ID of the DB whose Fork made this one; "" if none did
	Forked uint64 // the version of the snapshot that it began with
}

// Lineage returns what identifies this line of versions.
func (db *DB) Lineage() Lineage { return Lineage(db.line.Lineage()) }

// Cursor returns a text for a version of this line, from which Resume goes on: the ID of
// the lineage, a full stop, and the version in decimal digits. It serves as an id of an event
// and as an entity tag: it is that of no other process. See also [Commit.Cursor].
func (db *DB) Cursor(version uint64) string { return db.line.Cursor(version) }

// ParseCursor returns the version that a cursor of this line is at, published or not. It
// returns ErrCursor for a text that is not a cursor, to the letter, and ErrLineage for one of
// another line, a fork included.
func (db *DB) ParseCursor(cursor string) (version uint64, err error) {
	return db.line.ParseCursor(cursor)
}

// A Retention says which past versions stay reachable by At, AsOf and Changes: a version is
// while it is within every limit that is set. Versions: 100 is the current one and the 100
// before it. With no limit set there is no history, and it costs nothing.
type Retention struct {
	Versions int           // at most so many versions before the current one
	Age      time.Duration // versions that were current within the last Age
	Bytes    int64         // while the old rows of all hold back about so many bytes
}

// Retain keeps past versions from now on, as r says, or, where r sets no limit,
// forgets all of them. It replaces what an earlier call said. A commit then also
// records what it changed. Limits are applied at each read of the past, and at each
// commit, when up to a sixteenth more Versions may stay until the next; of Bytes the
// latest commit is exempt. Retain waits for the function of an update that is running.
func (db *DB) Retain(r Retention) { db.line.Retain(line.Retention(r)) }

// Compact forgets the retained past before a version, as if a limit of Retain were
// exceeded: for what must not be found there any more. Reads of it, and of Changes from
// before, return ErrCompacted; pins stay. What becomes durable is forgotten there too. It
// returns ErrUnpublished for a version to come, and takes time proportional to what goes.
func (db *DB) Compact(version uint64) error { return db.line.Compact(version) }

// At returns the snapshot of a version: the current one, a retained one, or a
// pinned one. It returns ErrCompacted for one that is gone, and ErrUnpublished
// for one to come. It takes time proportional to the changes since, or at most to
// an eighth of all rows, and never waits for an update.
func (db *DB) At(version uint64) (*Snapshot, error) { return snapshotOf(db.line.At(version)) }

// AsOf returns the snapshot that was current at t; for a time to come, the
// current one. It returns ErrCompacted for a time before the oldest retained
// version, and always where nothing is retained: there the times of versions
// are not known. A t with a reading of the monotonic clock, such as time.Now() or
// a time computed from it, finds what was current then even if the wall clock was
// set meanwhile.
func (db *DB) AsOf(t time.Time) (*Snapshot, error) { return snapshotOf(db.line.AsOf(t)) }

func snapshotOf(r *line.Root, err error) (*Snapshot, error) { return (*Snapshot)(r), err }

// Versions returns an iterator over the retained versions, the oldest first and
// the current one last, and when each was published. For the oldest that may be
// the time at which it was first retained, and for version 0 it is the zero
// time. Where nothing is retained there is the current version alone, at the
// zero time.
func (db *DB) Versions() iter.Seq2[uint64, time.Time] { return db.line.Versions() }

// Pin keeps the snapshot of a version, retained or current, until Unpin: At
// finds it however long ago it was. AsOf and Changes do not, as they need what
// lies between as well. A pin of that name is moved. The name may be any text. The errors
// are those of At.
//
// Where the DB is in a file, see cow/bolt, so is the pin when Pin has returned nil: after the
// file was opened again, however that came, Pins and At have it. After a crash before that it
// is there or not. The errors are then also ErrCompacted for a version that the DB has and
// the file has not, such as one from before the file was made; ErrClosed; and the error that
// writes have failed with, after which the pin may be in the file all the same. Where the DB is
// a replica, see cow/etcd, the pin is of this replica alone, and lives as long as it does.
func (db *DB) Pin(name string, version uint64) error { return db.line.Pin(name, version) }

// Unpin lets go of the pin of that name and reports whether there was one. Where the DB is
// in a file, so is that when Unpin has returned true, and the room that the pin took is free
// for writes to come. It returns false, and the pin stays, if the file can no longer be
// written.
func (db *DB) Unpin(name string) bool { return db.line.Unpin(name) }

// Pins returns an iterator over the pins as they are when it begins, in the order of their names,
// and the snapshots they keep.
func (db *DB) Pins() iter.Seq2[string, *Snapshot] {
	return func(yield func(string, *Snapshot) bool) {
		for name, r := range db.line.Pins() {
			if !yield(name, (*Snapshot)(r)) {
				return
			}
		}
	}
}

// Stats are figures about a DB at one moment. For the numbers of versions and rows, ask
// its snapshot.
type Stats struct {
	Retained  int // versions before the current one that At and AsOf reach
	Pins      int // versions kept by name
	HeldRows  int // old rows that both keep alive
	HeldBytes int // about how many bytes these rows and the records of them take

	Waiting int         // calls blocked in Wait, in a watch or in Changes
	Feeds   []hook.Feed // the iterations over Changes, the oldest first
	Sink    hook.Sink   // what makes the DB durable or replicates it

	Begun     time.Time // when the transaction began that has the writer's place; zero: none has
	BegunBy   string    // the stack at that moment
	Dropped   int       // transactions that were dropped without Commit or Abort: see DB.Begin
	DroppedBy string    // the stack where the last of them began

	// HeldSnapshots are the old versions that readers hold, the oldest first, at most 16, and nil
	// if TrackSnapshots is off.
	HeldSnapshots []HeldSnapshot
}

// Stats returns the figures as they are. It takes time proportional to the rows that each pin
// holds, and each of the HeldSnapshots, and to the commits that were retained since the last call;
// what several hold back is counted for each. It never waits for an update.
func (db *DB) Stats() Stats {
	s := db.line.Stats()
	var held []HeldSnapshot
	for _, r := range db.line.Held() {
		held = append(held, HeldSnapshot(r))
	}
	return Stats{s.Retained, s.Pins, s.HeldRows, s.HeldBytes, s.Waiting, s.Feeds, s.Sink, s.Begun, s.BegunBy, s.Dropped, s.DroppedBy, held}
}

// A HeldSnapshot is a version that is neither current nor retained nor pinned, and is in memory all
// the same, as somebody holds its Snapshot, or a Map of it.
//
// A version is known to be held when garbage was collected since it was replaced, now and then
// twice; one that is held no longer may be named until the next collection. Whoever has it counts: a
// variable, an iteration, a Watch that waits from it, a Tx that has ended, a function Tables of
// package hook, a fork that still has a table as it was. A Map counts as the last version that had
// it. Not found are snapshots of the past that At and AsOf made, and who holds a single row, a view
// of one or a [Range] alone; nor what is held of a version that is also pinned, or one of the whole
// snapshots that Retain keeps between commits.
type HeldSnapshot struct {
	Version   uint64
	Published time.Time // or the time of TrackSnapshots, if that was later
	Replaced  time.Time // when the next version was published: it has held memory back since
	Rows      int       // old rows that it keeps alive
	Bytes     int       // about how many bytes these take
}

// TrackSnapshots has the DB know which snapshots are held, from now on or no longer: see
// [HeldSnapshot]. Off, as it is at first, it costs nothing. On, reads cost what they did, and the DB
// has weak pointers to a part of its versions, about 200 KB at most. A commit takes about 100 ns
// more where many come at once, and about a microsecond where few do. Between two collections of
// garbage the DB knows the first 256 versions, of the next one in two, then one in four, and so on,
// and each that was current for a millisecond; where it knows more than there is room for, again
// the fewer, the older they are. A fork has it off.
func (db *DB) TrackSnapshots(on bool) { db.line.Track(on) }

// Wait blocks until there is a version above after, and returns the snapshot
// that is current then. It returns ctx's cause, and no snapshot, if ctx ends
// first, and ErrUnpublished at once if after itself is a version to come.
func (db *DB) Wait(ctx context.Context, after uint64) (*Snapshot, error) {
	return snapshotOf(db.line.Wait(ctx, after, "a Wait"))
}

// A Commit is one published update: its version, its time, and the net changes of
// every key, a key at most once. What changed is read typed, by [Table.Rows]. A Commit is
// made once, for history and feeds alike. It is immutable, safe for concurrent use, and stays
// valid.
type Commit line.Commit

func (c *Commit) commit() *line.Commit { return (*line.Commit)(c) }

// Version returns the version that the update published.
func (c *Commit) Version() uint64 { return c.commit().Version() }

// Time returns the time of the update, never before that of the version before.
func (c *Commit) Time() time.Time { return c.commit().Time() }

// Cursor returns a text, fit for an event id, from which Resume goes on after this
// Commit.
func (c *Commit) Cursor() string { return c.commit().Cursor() }

// Changes returns an iterator over the commits above version since, in order
// and without gaps. When it has caught up it waits for the next. It ends with
// an error and no Commit: ctx's cause when ctx ends; ErrCompacted when the next
// commit is no longer retained, because the consumer was too slow or began too far
// in the past; or ErrUnpublished when since is a version to come. To resume, begin
// with the version of the last Commit, or with its Cursor: see Resume.
//
// Without Retain, the last 256 commits are kept, fewer if they are large, from
// the moment the first iteration over Changes begins; they count as history, as
// if Retain had said so, until it says otherwise. Retain of nothing ends the
// iterations that there are, at the next commit, with ErrCompacted. A consumer
// holds nothing back but the Commit that it is at, and never makes a writer wait.
// Changes starts no goroutine.
func (db *DB) Changes(ctx context.Context, since uint64) iter.Seq2[*Commit, error] {
	return commits(db.line.Changes(ctx, since))
}

// Commits returns an iterator over the commits above version since, in order and without
// gaps, up to the version that is published when the iteration begins, where it ends: what
// has happened so far. It never blocks and needs no context. It ends early with an error
// and no Commit: ErrCompacted when the next commit is not retained, or no longer, or
// ErrUnpublished when since is a version to come. To go on later, begin with the version of
// the last Commit.
//
// What there is to see is what Retain keeps, or, while there are iterations over Changes,
// what is kept for them; Commits itself sees to nothing. An iteration holds nothing back
// but the Commit that it is at. An update function may use it.
func (db *DB) Commits(since uint64) iter.Seq2[*Commit, error] {
	return commits(db.line.Commits(since))
}

// Resume is Changes from a cursor, the text that Commit.Cursor or Cursor gave:
// wherever it was kept meanwhile. It ends with ErrCursor for any other text, and
// with ErrLineage for a cursor of another DB, a fork included.
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

// Rows returns an iterator over what the commit changed in this table, a key at most once:
// what was added and removed within it is not there, and a key set to an equal
// value counts as changed. It panics if the commit is neither of the table's DB nor of a fork.
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

// Fork returns a new DB that begins with s, a snapshot of db, current or past,
// or of another fork of it. It takes constant time for each table, shares with s what nobody
// can modify, and is independent of db from then on. Its versions go on from
// s's. It has the same tables, which [Table.Of] finds, with the indexes that they have in
// db at that moment, a Lineage of its own, no sink, and no history, pins or watches. If s
// is from before an index was made, the first update of the fork builds it; if it has rows that
// the index refuses, or two under one key of a unique one, that update must put it right.
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
