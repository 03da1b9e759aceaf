// Package cow holds state that is read far more often than it is written, as
// a line of immutable snapshots.
//
// A [DB] is a set of tables under one version, and a [Table] is a map in it; [New] makes a table
// with a DB of its own. Readers load the current snapshot with one atomic load, and may keep it for
// as long as they like. It never changes, and no lock, writer or other reader ever makes them wait.
// Writers queue on a mutex. An update builds the next version in private, out of cloned values,
// through an [Editor]. When its function returns nil, one pointer swap publishes the whole version.
// After an error, a panic or runtime.Goexit nothing of it remains.
//
// Values are isolated: they are cloned when they go in and when they come out, unless their type
// makes that pointless or [Options] say otherwise. Package [snapshot] has the rules. Values that
// nobody can modify are not cloned, such as time zones and errors made by errors.New. An error of
// your own type that you compare by its pointer is cloned, unless you name it: see [Sentinel].
//
// A value may be nested as deeply as memory allows: only the program's own functions take stack for
// it. JSON is limited to 10,000 levels, as encoding/json reads no more. For a deeper value,
// MarshalJSON and codecs return [ErrTooDeep], with table and key; for a deeper key, verbs return
// it. A text that would show such a key says so in its place.
//
// # Words
//
//   - DB, table, row: a table is a map of a DB; a row is a key, its value and its revision
//   - snapshot: all tables of a DB at one version; map: one table of it
//   - version: the number of a snapshot; revision: the version that wrote a row
//   - verb: a method of a table for one key or all; update: one call of Update or of a verb
//     that writes, or a transaction of Begin; transaction: a [Tx], its several tables
//   - commit: a published update, with its net changes; net changes: what differs between two
//     versions, each key at most once; feed: commits as they come
//   - the writer's place: held by the update whose function runs, or from Begin to Commit
//   - tip: the latest version, published or proposed; published: what readers see
//   - sink: what makes a DB durable or replicates it; proposed, acknowledged, superseded;
//     outbox: the list of what is proposed and not acknowledged yet
//   - derived: of a table, that it follows from others
//   - index, index key, range; image: what an index has for one map; watch: what waits until
//     keys or a range differ
//   - retained: kept by Retain; pinned: kept by name
//   - lineage: the identity of a line of versions; cursor: a place to go on from, as text: a
//     lineage and a version, or an index key and the key of a row
//   - fork: a DB that goes on from a snapshot of another; of a merge: ours, the DB that
//     Merge is called on; theirs, the other; base, the version that both come from
//   - isolated: cloned, so that nobody else holds it; shared: not cloned, on purpose
//   - view: accessors of a value that is not cloned
//   - hook: a value of the program that is told what happens
//   - expired: of a row, that its time has come; due: a snapshot that has one; swept: deleted
//     because of it
//
// # Three ways to read
//
// Where a value holds a slice, a map or a pointer, Get clones it: the caller may modify
// what it got. [Views] show any value as it is stored, through accessors that command
// cowview generates: nothing is cloned or allocated, and there is no way to write. A slice or
// map of plain elements needs no generator, as package view has its views. For a table tags of
// []string:
//
//	lists := cow.NewViews[view.Slice[string]](tags)
//	list, ok := lists.Get("ada") // list.Len(), list.At(0), list.Values()
//	own := list.Clone()          // a copy to change
//
// The method Shared of a [Map] has the same reads without a clone: m.Shared().Get(key). They return
// the stored value itself, which must not be modified. They are for types that have no views;
// package cowtest finds code that breaks the rule.
//
// GetMany looks up many keys in one call. In a table larger than the processor's caches it takes
// about half the time of single lookups, as these wait for memory one after the other.
//
// # Order
//
// Versions are dense: each published update of a DB has the version of the one before it plus one.
// An operation that starts after another has returned, in any goroutine, sees at least the version
// that the other saw or published. It may see a later one: each read of a Table, such as Get, is of
// the version that is current then, so that two in a row may be of two versions. To read what must
// agree, call Load once, and read from that snapshot.
//
// # The past
//
// A snapshot lives as long as somebody holds it. The methods about the past are those of the DB,
// which [Table.DB] returns; [Table.In] returns the map of a table in a snapshot. [DB.Retain] keeps
// past versions for [DB.At] and [DB.AsOf], within limits, and [DB.Pin] keeps one by name. Of a
// version, only what its commit changed is kept. [DB.Fork] begins a new line from any version, and
// [DB.Merge] brings its changes back. Merge also undoes a commit: base is the snapshot after it,
// and theirs the one before. [DB.Changes] iterates over commits as they come, and [DB.Commits] over
// those so far. [DB.Watch] waits until keys, index keys or a whole map differ from a snapshot. An
// [Index] keeps rows in order, in the past and inside an update too. All of it is off until it is
// used.
//
// # What happens
//
// Nothing is logged. [DB.AddHook] adds a hook, a value of the program. It is told of updates, with
// what they changed and what they waited for, of commits from elsewhere, of feeds, sweeps and
// erasures, and of the state of what stores or replicates the DB: see package [hook]. [DB.Stats]
// has the figures of the moment. After [DB.TrackSnapshots], these name the old versions that
// readers hold.
//
// # What is stored
//
// Packages bolt and etcd keep the tables of a DB that have a [Codec]. Beside the rows they keep the
// schema of each table, which says what the rows are. They refuse a program that would read them as
// something else: see [ErrSchema]. [Versioned] is how a type changes.
//
// # The way of a commit
//
// All versions are made in one way. A sink is what makes the DB durable or replicates it; without
// one, steps 5 and 6 are left out. .github/ARCHITECTURE.md has the functions of each step.
//
//  1. Clone: a verb that is given a value clones it before it queues (verbs.go). What is given
//     a function, such as Update and Modify, has no such step: its Editor clones in step 3.
//  2. Take the writer's place, a mutex (internal/line/line.go). A transaction of Begin leaves a
//     mark there instead, and takes the mutex when it commits (internal/line/held.go).
//  3. Edit the latest version, the tip: through an [Editor] alone for an update
//     of one table, where there is neither a sink nor a derived table (table.go), or else
//     through a [Tx], which brings derived tables up to the others (db.go).
//  4. Seal: this ends the edit (table.go). If anybody asks, the net changes are computed, once:
//     indexes are brought up to them (internal/index/image.go), those whom they concern are
//     looked up (internal/watch/hub.go), for history and feeds they become a [Commit], and
//     for a sink the rows are encoded (db.go, sink.go). Up to here a panic, an error or
//     runtime.Goexit ends the update without a trace. No user code that could change the
//     outcome runs after this step.
//  5. Propose: a second mutex is taken, for a moment, to give the Commit its time and the rows to
//     the sink. The update waits, outside of both mutexes, until they are acknowledged
//     (internal/sink/sink.go). The next updates begin with its version meanwhile, unseen by
//     readers.
//  6. Acknowledge: the sink has made the rows safe. If others' commits came first, what was
//     proposed is superseded (internal/line/attached.go), and the update begins again at step 2;
//     Commit of a transaction returns [ErrSuperseded] instead.
//  7. Publish, under the second mutex: without a sink the Commit gets its time here. History takes
//     the Commit (internal/line/history.go), then one pointer is swapped (publish, in
//     internal/line/line.go). Where rows expire, an alarm is set for the first
//     (internal/line/expiry.go).
//  8. Wake whoever waits (watch.go), after the swap. Then, outside of both mutexes, what
//     Tx.Defer was given is called, and after that the hooks that are told of updates.
//
// A Commit is made only for a sink or a history, which a feed turns on. Without an index or a watch too, the
// changes are not even computed, and publishing is the swap.
//
// # Lineage
//
// Each DB has a [Lineage], and a fork one of its own. A cursor is a lineage and a version as text,
// such as the id of an event. [DB.Resume] goes on after it, or returns an error if the commits are
// no longer kept, or if the cursor is of another lineage.
//
// # Erasing
//
// Delete leaves a row in the past. [DB.Erase] takes one out of every version that is kept, and
// leaves all others as they were. A past version is the current one with commits undone. So Erase
// replays the commits without the row, beside readers and writers, and replaces those that were
// kept (erase.go, internal/line/erase.go).
//
// # Following
//
// To see every commit, range over Changes; if it reports [ErrCompacted], begin again from a snapshot.
// To see only the outcome, watch and compare. That misses no row and needs no history, and from a
// nil snapshot it gives all rows first:
//
//	var seen *cow.Snapshot
//	for {
//		now, err := db.Watch(ctx, seen, byState.OnRange(ready))
//		if err != nil {
//			return err
//		}
//		for c := range ready.Changes(jobs.In(now).Diff(jobs.In(seen))) {
//			…
//		}
//		seen = now
//	}
//
// # Updates inside updates
//
// An update function must not update, or wait for, the same DB: it would wait for itself. In the
// goroutine of the update, at any depth, or in the one that began the transaction, that panics, and
// the DB is unharmed. If the function waits for updates that it starts from another goroutine, or
// through iter.Pull, that is not detected: they deadlock. Reading the DB inside an update is fine,
// and shows the published version. What the update depends on must be read from its Editor or Tx,
// which may have later versions: see step 5.
package cow
