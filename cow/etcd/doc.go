// Package etcd makes a cow.DB a replica: the same store on many machines, by etcd. Reads
// stay what they are, all in memory and without a lock, and a snapshot is of one version;
// writes go through etcd, and every replica goes through the same versions in the same order,
// though one that was cut off for long may leave some out.
//
//	var db cow.DB
//	jobs := cow.NewTable[string](&db, "jobs", cow.Options[Job]{Codec: cow.Versioned[Job]{}})
//	replica, err := etcd.Open(ctx, client, "apps/jobs", &db, etcd.Options{})
//	…
//	defer db.Close()
//
// # What is promised
//
// An update that has returned nil is in etcd, whole, over all tables, and will be published
// by every replica as that version, or by one that was cut off together with later ones; the
// replica that made it has published it. Updates that
// publish are strictly serializable: each ran on the version right before its own.
//
// An update that fails, or changes nothing, was judged on what its replica had, which may
// be older than what another has been told: with Options.Linearizable it is not. The Load
// of a DB returns what its replica has. [Replica.Fresh] returns a snapshot that has
// everything acknowledged anywhere before it was called, and [Replica.Load] one that is no
// older than one asks for.
//
// An update whose error wraps [cow.ErrUnknownOutcome] may still happen: its context, or the DB,
// ended before it was known, or etcd refused both to take it and to call it off. Any other
// error says that it did not happen and will not: it can be made again.
//
// History, feeds, watches, indexes and forks work on each replica as in one process, and
// a cursor of one is good on all. The past is not in etcd: a replica knows what it has seen
// since Open, as far as it retains that. If it was cut off for so long that etcd has
// compacted what it missed, it goes on from what is there now: watches wake for what is
// different, and feeds return [cow.ErrCompacted]. Pins are not in etcd either: a pin is of the
// DB whose Pin was called, and other replicas do not have it. It stays when the contents are
// loaded anew, and is gone when the process ends.
//
// What db.Erase erases is gone from the past of each replica when it publishes that version: on
// those that did not call it, writes wait while the past is made anew. A replica that was away
// loads what is there, and has no past. Replicas of a program that does not know Erase stop at
// such a commit: bring out the new one everywhere first. What etcd itself keeps of older revisions
// is the operator's to compact and defragment.
//
// # The way of a commit
//
//  1. Update waits for room, runs its function on the newest version the replica has, or
//     has proposed, and proposes what that changed (sink.go).
//  2. The first proposals that wait make a group: as many as fit into one transaction
//     of etcd. It ends before a row that it has already, since etcd takes a key once
//     (send.go).
//  3. The transaction writes the rows, the head and the replica's receipt, if the head in etcd
//     is still the one that the group was made from, and the receipt the one before. Otherwise
//     it does nothing. One is on its way at a time.
//  4. The watch tells what happened in etcd, revision by revision. One that has this
//     replica's group acknowledges it: the updates are published and return. Any other is
//     published as it is; what was proposed is superseded, and the functions
//     run again on the newer version (follow.go).
//  5. If no answer comes, the same transaction is sent again, until the watch has told. If
//     etcd refuses it, it is called off: the receipt is removed, if the head is still the same.
//     Either that is answered, and it did not happen and never will, or the head has moved, and
//     the watch tells (proof.go).
//
// A replica that has just replaced the head leaves the next turn to others, if there are any
// (turns.go).
//
// # Why no update is lost, and none happens twice
//
// Each transaction replaces the head, on the condition that it is the one that the replica
// has published. So heads make one line; the commits of a group follow the version
// before them, and no other's are between. A head names its version, its replica and the
// number of the group, so that no two are equal, not even after a backup was restored: of
// a transaction that is sent many times at most one takes place, and when any other
// head is there, or the receipt is not the one before, none will.
//
// The answer to a transaction decides nothing; the order of the watch does. A revision counts only
// as a whole: the receipt says how many rows each commit has and which it removed, and what does
// not add up is loaded anew.
//
// # What an answer of etcd proves
//
//	succeeded                        it happened
//	its guard did not hold           it did not, or an earlier request of the same did: the line tells
//	no space                         nothing: etcd applies the transaction that crosses the quota, and
//	                                 answers so; the next ones it does not apply
//	timeouts, cancelled, stopped,    nothing: it may have happened, or happen later
//	unavailable, any gRPC code
//	too large, too many operations,  that this request did not happen; but the client, or a proxy, may
//	too many requests, no permission have sent it before, and that one did
//
// So no error is taken for an answer. The comment in proof.go has the whole table, and where the
// source of etcd says so.
//
// # The schema
//
// The store has the schema of each table: its keys, its codec, and the fields of its values. A
// replica that opens with a table that has another is refused, with both spelled out: see
// [cow.ErrSchema], and Options.Accept of the table. One that lacks a table of the store is refused,
// with its name, unless [Options].KeepUnknown is set; a table that comes while it runs is
// left alone.
//
// A replica with more fields in a table, or a newer version of its codec, records them when
// it opens. Those that run, and would lose what it writes, fail with [cow.ErrSchema] before they see
// any of it: their updates fail, and reads go on. So that they need not, bring out
// programs as cow.Versioned says, with the version that comes next in Newest.
//
// Replicas of format 1, of earlier versions of this package, cannot run beside these: stop
// all of them first, or let them fail. The first replica of this version makes the store one of
// format 2, once it has decoded all rows, in one transaction with the head. No transaction of
// format 1 happens after it, since its head is gone; their updates fail with [ErrFormat], which
// says that they read up to format 1, and their reads stay as they are. Nothing that they
// acknowledged is lost.
//
// # Failures
//
//   - No answer, no leader, no connection: requests are repeated and reads go on. Updates wait,
//     until their contexts end.
//   - etcd refuses a transaction, for lack of space or of permission: it is called off, and its
//     updates return that error. They did not happen. As long as there is no space, or no permission,
//     each update fails so, after one request and without waiting; reads go on. When there is space
//     again, and the alarm is disarmed, the next update happens.
//   - A user loses the permission to write while an update is on its way, so that it cannot be called
//     off either: that update alone returns [cow.ErrUnknownOutcome].
//   - The watch ends: another begins after the last revision that is known. One that is silent
//     while there is something new is given up: see Options.Check.
//   - etcd has compacted what was missed: the contents are loaded and compared. The
//     receipt of this replica tells whether the group on its way was part of it.
//   - A key that no replica wrote, a wrong checksum, a newer format, another schema: updates fail
//     from then on with an error that names the key, and the versions stay as they are.
//   - Another cluster answers, or one that has forgotten what it told: likewise, with
//     ErrRestored. Open the store with a new DB.
//   - The client is closed before the DB: likewise.
//
// # What is not promised
//
// Whoever can write to etcd can make it say anything: checksums are no signatures. A row
// that somebody else removes while no replica runs, or changes while a replica is cut off for
// so long that etcd compacts it, is not noticed. A cluster that was
// restored under the same token, and has gone further since than any revision that a
// replica knows, cannot be told from one that has not; etcd's own advice is a new token.
//
// All writes of a store share one head: that is what makes versions dense and updates
// serializable, and it bounds them. Replicas that write at the same time take turns.
// Stores under other prefixes have nothing to do with it.
package etcd
