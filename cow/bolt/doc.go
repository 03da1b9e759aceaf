// Package bolt keeps a [cow.DB] in one file, by go.etcd.io/bbolt: what is acknowledged
// survives a crash of the process and of the machine. Reads stay in memory, as without a file.
//
//	var db cow.DB
//	jobs := cow.NewTable[string](&db, "jobs", cow.Options[Job]{Codec: cow.Versioned[Job]{}})
//	db.Retain(cow.Retention{Versions: 1000})
//	file, err := bolt.Open("jobs.db", &db, bolt.Options{})
//	…
//	defer db.Close()
//
// # What is promised
//
// An update that has returned nil is on disk, with [Always]. It is there whole or not at
// all, over all tables, and so is every version before it. Readers see no version before
// it is on disk. With [Every] an update returns earlier: then a crash loses the updates of at
// most that length of time, and never part of an update.
//
// An update whose error wraps [cow.ErrUnknownOutcome] may be on disk, such as one that a failed
// write has cut off, and so may those that a crash has cut off before they returned.
//
// The lineage of the DB, its versions, their times and the revisions of rows are in the
// file. If the DB was told to Retain the past, so is that: At, AsOf, Changes and Resume
// with a cursor from before a restart go on where they were, or say ErrCompacted.
// The lineage changes, and then cursors say [cow.ErrLineage], exactly when versions that
// somebody saw may be gone: after an unclean end with Every, where the page that tells of the
// last transaction is lost, in a backup, and in what [Restore] and [Salvage] make; and where
// the file has a text for it that no DB has made. If Retain is called after Open, the file
// keeps the past from the next write on.
//
// [Load] loads a file into a DB that is not kept in it, to look at what the file has. The file
// stays as it is.
//
// # Pins
//
// What db.Pin and db.Unpin have done is on disk when they return, with Every too: after
// Open, Pins and At have the pinned versions as they were, whatever of the past around them
// was trimmed, compacted or never kept. A pin that a crash cuts off is there or not. Of a version
// that the DB has and the file does not, such as one from before the file was made, Pin returns
// [cow.ErrCompacted]. Open replaces what pins db had by those of the file; a new file gets
// those of db.
//
// A pin takes no room for what is current, or in the retained past. A row that is then
// written over or deleted is kept once, for all the pins that have it: a pinned version
// takes at most the room of its rows, and of what it shares with others nothing. Unpin, in one
// transaction, frees what no other pin has; like all that is freed, it is in old pages until
// writes use them, or until Compact. Open reads all of that, and makes one pinned version from
// the other, with the derived tables and indexes that db has now; where there are pins it holds
// the encoded rows of the whole file in memory meanwhile.
//
// What db.Erase erases goes in one transaction from the tables, from the retained past and from
// what is kept for pins: after a crash all of it is gone, or nothing. The pages that it was in are
// free then, and have it until writes use them, or until [Compact]; [Info].Erased says so. Backups
// that were made before have it.
//
// A backup has the pins, and so has what [Compact] and [Salvage] make; what [Restore] makes has
// those up to its version. Of a damaged row that is kept for a pin, Salvage reports it and
// takes the rest of the pinned version. It leaves all pins out if it cannot read what the file
// says of itself.
//
// # The schema
//
// The file has the schema of each table: its keys, its codec, and the fields of its values. A
// program that has a table with another is refused, with both spelled out, since it would
// read keys as what they are not, or drop fields at the next write: see [cow.ErrSchema], and
// Options.Accept of the table. One that lacks a table of the file is refused, with its name,
// unless [Options].KeepUnknown is set.
//
// A file of format 1, which earlier versions of this package wrote, has no schema, so that
// only rows that cannot be decoded are noticed. Open makes it one of format 2, with the schema
// of the DB, once all rows are decoded. Nothing else is changed. Earlier versions
// refuse the file from then on, with [ErrFormat]: keep a copy to go back to them.
//
// # What is not promised
//
// A disk that says that it has synced what it has not can lose anything; what is then
// missing is found, mostly. After a failed sync the operating system may show what is not
// on disk: it is right to restart the machine, or to go back to a backup, where a disk
// has failed.
//
// The page that tells where the last transaction is can be damaged, or be as it was earlier.
// Then the version before opens, in a new lineage if the last was acknowledged: the file has a
// mark of that in another page. The mark is synced with the next transaction, and not by
// itself: if the machine loses power before that, and then that page is damaged too, it looks
// like a crash in the middle of the transaction, which keeps the lineage. After db.Close the
// page has a copy, and nothing is lost. A file of a version of this package that made no
// marks begins a new lineage whenever one of these pages is bad.
//
// Whoever can write to the file can make it say anything: checksums are no signatures.
// A file is in the byte order of the machine.
//
// # While it is open
//
// The file must stay at its path, and nothing else may write to it. The lock keeps other DBs
// out, here and in other processes, but not those who copy, moves, removes or cuts off files.
// Before each transaction, and after its sync and before anything of it is acknowledged, the
// file is looked at: the one at the path must be the one that is open, with the length, time
// of modification and meta pages that it was left with. If not, updates fail with
// [ErrChanged] from then on, and reads go on. With Every, what is not yet on disk is
// acknowledged only while the file at the path is the one that is open, and not shorter than
// it was. A path that cannot be looked at any more, as after chroot or without permission,
// counts as changed.
//
// What others write to the file during a transaction is not found then, unless it shows by
// the length or the meta pages, nor what they write at the same tick of the file system's
// clock, or with the time set back; nor that they cut the file off in a transaction which
// itself makes it longer. What they overwrite in the rows is found by its checksums: see
// Damage. On Windows the time is not looked at, and the system keeps a file that is open from
// being replaced or cut off.
//
// For a transaction, with all the updates that are in it, this takes two calls of stat, a read of
// the first page and the head of the second, and a write of 24 bytes: one page more for the
// next sync. BenchmarkCommit shows it, most of all on a file system in memory.
//
// A page of a mapped file that is gone, or that the disk cannot read, is an error of the
// transaction that meets it, and does not end the process: nothing else reads through the
// mapping. After any such fault the file is unlocked and unmapped, at once or at the latest by
// db.Close, and can be opened again. Only if bbolt faults while it opens a file that somebody
// cuts off in that very moment does the mapping stay, without the lock.
//
// # How it is written
//
// Updates build on each other while one transaction is being synced; the next takes all
// that have come meanwhile. Before that it waits for the writers of the last transaction, if they
// usually write again immediately, for at most half as long as that took. A transaction has
// the rows, or with a past, the commits, and a few bytes that say what the file has. Commits
// that the DB no longer retains are moved from the log to the tables, some hundreds at once,
// and when the DB is closed: until then, and after a crash, the file has a somewhat longer
// past than the DB. See format.go.
//
// The file does not shrink. What a large update, or its commit in the log, took is free once
// it is replaced, for writes to come, and until they have used it every transaction writes
// the list of free pages: 8 bytes for each page of 4096, so 250 KB after 128 MB. [Check] says
// how much is free, and [Compact] gives it back. [File.Space] says it of an open file.
//
// # Damage
//
// Every row, commit and table has a checksum, and every table a count and a hash of its
// rows. Open reads all of it, page by page, and not through the mapped file. What does not
// fit is a [Damage], by table and key where these are known, else by page, and Open refuses. [Check]
// lists all of it. Go back to a backup then, or take what is left by [Salvage].
//
// # When to use a database instead
//
// All rows are in memory, and loading takes time proportional to them. One process has
// the file. If the data is larger than memory, several processes write it, or it is asked
// for in SQL, use a database; if readers need no snapshots, bbolt alone is enough.
package bolt
