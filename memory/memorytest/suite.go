package memorytest

import (
	"runtime/debug"
	"testing"
)

// Test tests the backends that open returns: a new and empty one for each test. Open may
// use its t to fail or skip the test, and to clean up after it.
func Test(t *testing.T, open func(t testing.TB) Backend) {
	t.Helper()
	TestWith(t, Options{}, open)
}

// TestWith is [Test] with [Options].
func TestWith(t *testing.T, o Options, open func(t testing.TB) Backend) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			// The other tests are run also if the backend panics in one.
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panic: %v\n%s", r, debug.Stack())
				}
			}()
			c.run(&probe{tb: t, b: open(t), o: o, grace: grace, patience: patience})
		})
	}
}

// checks returns all tests, in the order that they are read best.
func checks() []check {
	var all []check
	for _, group := range [][]check{
		basicChecks, callerChecks(), readerChecks(), typeChecks(), vectorChecks(), spaceChecks, insertChecks, updateChecks,
		conditionalChecks, deleteChecks, failureChecks(), tornChecks, snapshotChecks, searchChecks,
	} {
		all = append(all, group...)
	}
	return all
}
