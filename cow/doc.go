// Package cow holds state that is read far more often than it is written, as
// a line of immutable snapshots.
//
// A [Store] is one map, a [DB] several tables under one version. Readers load
// the current snapshot with one atomic load and may keep it for as long as they
// like: it never changes, and no lock, writer or other reader ever makes
// them wait. Writers queue on a mutex. An update builds the next version in
// private out of cloned values, through an [Editor]; when its function returns
// nil, one pointer swap publishes it whole, and on an error, a panic or
// runtime.Goexit nothing of it was ever there.
//
// Values are isolated: what goes in is cloned, and what comes out, unless the
// type of the value makes that pointless or [Options] say otherwise. The rules
// are those of package snapshot.
//
// # Order
//
// Versions are dense: each published update of a Store or DB has the version
// of the one before it plus one. An operation that starts after another has
// returned, in any goroutine, sees at least the version that the other saw or
// published.
//
// # The past
//
// A snapshot lives as long as somebody holds it. Retain keeps past versions for
// At and AsOf, within limits, and Pin keeps one by name; Fork begins a new line
// from any of them, and Merge brings its changes back. Changes iterates over
// commits as they come, Watch waits for what somebody is interested in, and an
// [Index] keeps rows in order. All of it is off until it is used.
//
// # Updates inside updates
//
// An update function must not update, or wait for, the same store: it would
// wait for itself. That panics, with the store unharmed, when it happens in
// the goroutine of the update. Where that cannot be seen, as when the function
// starts a goroutine and waits for it, or is a hundred frames deep in a stack
// that is a hundred deep below it, it is a deadlock. Reading the store
// inside an update is fine, and shows the version before it.
package cow
