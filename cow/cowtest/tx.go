package cowtest

import (
	"runtime"
	"testing"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// NoTx makes the test fail if it ends with a transaction of db open, or has dropped one without
// Commit or Abort since NoTx was called. The failure shows where the transaction began. Call it at
// the beginning of a test, for any number of DBs.
func NoTx(t testing.TB, db *cow.DB) {
	t.Helper()
	before := db.Stats().Dropped
	t.Cleanup(func() {
		// The collector finds what was dropped, and tells of it some time later.
		for wait := time.Millisecond; db.Stats().Begun != (time.Time{}) && wait < time.Second; wait *= 2 {
			runtime.GC()
			time.Sleep(wait)
		}
		st := db.Stats()
		if !st.Begun.IsZero() {
			t.Errorf("cowtest: a transaction is open, which began %v ago:\n%s", time.Since(st.Begun), st.BegunBy)
		}
		if st.Dropped > before {
			t.Errorf("cowtest: transactions dropped without Commit or Abort: %d; the last began here:\n%s", st.Dropped-before, st.DroppedBy)
		}
	})
}
