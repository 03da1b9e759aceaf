// Package check proves what cow and memory promise, with checkers that they must not depend
// on. It has tests only.
//
// TestHistories proves that the stores are linearizable. Several goroutines do everything to
// one cow.Table, one cow.DB of two tables, with and without a sink, or one memory.Memory. Each
// operation is recorded with what went in, what came out, and when, by one clock. Porcupine
// then finds an order of all operations that agrees with the clock, and in which a sequential
// model of sixteen cells gives every answer that was recorded: values, errors and revisions.
//
//   - A write publishes exactly the next version, or none.
//   - A read of version v sees all cells as version v left them.
//   - An operation that starts after another has returned sees at least its version.
//   - A Wait returns a version above the one that it was given, which is the current one.
//   - A merge of a fork brings what the fork wrote, or is a conflict and brings nothing.
//   - What the sink refuses has not happened, and what it supersedes happens once.
//
// The version of an operation is that of the snapshot it read, of the update it was, or the
// one that its verb returned. Get, Take outside of an update, and merges tell none: the
// model checks the rest.
//
// TestStaleReadIsFound and TestTornUpdateIsFound prove that TestHistories can fail. They show
// the clients a DB through a layer with a bug: a reader is given a version before one that it
// has seen, or the two halves of an update become visible one after the other. One such read
// in a history is found each time; the same layer without the bug passes.
//
// TestMachine proves that forks and merges of DBs do what plain maps do: rapid makes up
// updates that end well and badly, forks and merges, and compares every version of every line
// with the model's, those that have long been replaced too. What fails is shrunk to the few
// steps that matter.
//
// TestMain proves that none of it leaves a goroutine behind.
package check
