// Package memorytest tests that a memory of agents keeps what it was told, with
// any number of callers at once. It tests any memory that has an adapter, which is
// a [Backend]:
//
//	func TestMemory(t *testing.T) {
//		memorytest.Test(t, func(t testing.TB) memorytest.Backend { return newAdapter() })
//	}
//
// A Backend can Put and Get. If it can do more it has the methods of [Deleter], [Lister],
// [Inserter], [Modifier], [Taker], [Conditional], [Batcher], [Snapshotter] or [Vectors];
// the tests of what it does not have are skipped.
//
// The adapter must not copy values itself: that would hide what is tested for.
//
// The tests do not need the race detector, though it may find more. Where the moment
// matters, they choose it: a function that is given to Modify or Batch, or a method of a
// stored value that the backend calls, does a second operation in the middle of the
// first. It waits for that a tenth of a second at most, as a backend may rightly make it
// wait. Operations that call nothing of the test are done by several goroutines at once,
// many times.
package memorytest
