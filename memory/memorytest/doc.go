// Package memorytest tests that a memory of agents keeps what it was told, with
// any number of callers at once. It is for any backend with a [Backend] in front
// of it, and knows none:
//
//	func TestMemory(t *testing.T) {
//		memorytest.Test(t, func(t testing.TB) memorytest.Backend { return newAdapter() })
//	}
//
// What a backend can do beyond Put and Get it says by having the methods of
// [Deleter], [Lister], [Inserter], [Modifier], [Taker], [Conditional], [Batcher],
// [Snapshotter] and [Vectors]; the tests of what it has not are skipped.
//
// The adapter must not copy values itself: that would hide what is tested for.
//
// The tests do not need the race detector, though it may tell more. Where the
// moment matters, they make it: the function that is given to Modify or Batch, or
// a method of a stored value that the backend calls, does the other operation in the
// middle of the first. It waits a tenth of a second for it at most, for a
// backend may rightly make it wait. What does not call its caller back is
// done by several goroutines at once, many times.
package memorytest
