// Package check proves what the packages of this module's parent promise, with
// checkers that the parent must not depend on. It has tests only.
//
// TestHistories proves that the stores are linearizable. Several goroutines do
// everything to one cow.Store, cow.DB of two tables or memory.Memory, at once;
// each operation is recorded with what went in, what came out, and when, by one
// clock. Porcupine then finds an order of all operations that agrees with the
// clock, and in which a sequential model of sixteen cells gives every answer that
// was recorded, values, errors and revisions:
//
//   - a write publishes exactly the next version, or none;
//   - a read of version v sees all cells as version v left them;
//   - what starts after another operation returned sees at least its version.
//
// The version of an operation is that of the snapshot it read, or of the update
// it was. For Set, Insert, SetIf, Take and Modify outside of an update it is that of
// the commit in the change feed that wrote, or removed, the value, which is unique.
// Only Get, and Delete outside of an update, stay without a version, and all verbs in
// every other history, as the store has no feed there: the model checks the rest.
//
// TestStaleReadIsFound and TestTornUpdateIsFound prove that TestHistories can
// fail. They give it the real stores behind a layer with a bug: a reader is given
// the version before the one it has seen already; the two halves of an update
// become visible one after the other. One such read in a history is found each
// time; the same layer without it passes.
//
// TestDBMachine and TestMemoryMachine prove that what a DB and a Memory do is
// what plain maps do: rapid makes up updates that end well and badly, reads of the
// past, forks and merges, and compares every version of every line with the
// model's, those that have long been replaced too. What fails is shrunk to the few
// steps that matter.
//
// TestMain proves that no goroutine is left behind by any of it.
package check
