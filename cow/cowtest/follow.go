package cowtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Follow makes follower, a DB at version 0 with the same tables as db, a replica of db until the
// end of the test. An update of db returns once follower has its commit too, replayed from the
// bytes of its rows alone. The two then have equal tables, derived ones included. If db was at
// version 0 as well, revisions are also equal. An update of follower returns an error.
//
// A commit that cannot be replayed fails the test, and later updates of db. At the end of the test
// both DBs are closed.
func Follow(t testing.TB, follower, db *cow.DB) {
	t.Helper()
	requireSameTables(t, follower, db)
	leader := Attach(t, db, SinkOptions{})
	replica := Attach(t, follower, SinkOptions{
		Of:      leader,
		Propose: func(*sink.Commit) error { return errFollower },
	})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for {
			commits, err := leader.Await(ctx, 1)
			if err != nil {
				return
			}
			if err := replica.Rebase(commits...); err != nil {
				t.Errorf("cowtest: the follower: %v", err)
				leader.Fail(err)
				return
			}
			leader.Ack(len(commits))
		}
	})
	t.Cleanup(func() { // before the DBs are closed
		stop()
		done.Wait()
	})
}

var errFollower = errors.New("cowtest: the DB follows another, which is the one to update")

// requireSameTables ends the test if two DBs do not have the same tables.
func requireSameTables(t testing.TB, a, b *cow.DB) {
	t.Helper()
	of, errA := sink.For(a).Tables()
	as, errB := sink.For(b).Tables()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatalf("cowtest: the DB cannot be followed: %v", err)
	}
	if len(of) != len(as) {
		t.Fatalf("cowtest: the DB cannot follow one with other tables: %d and not %d", len(of), len(as))
	}
	for i := range of {
		if of[i].Name != as[i].Name {
			t.Fatalf("cowtest: the DB cannot follow one with other tables: %q and not %q", of[i].Name, as[i].Name)
		}
		text, err := of[i].Schema("")
		if err == nil {
			_, err = as[i].Schema(text)
		}
		if err != nil {
			t.Fatalf("cowtest: the DB cannot follow one with other tables: %v", err)
		}
	}
}
