package cow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A follower goes by the commits alone: it sweeps neither what its own clock says is due, nor does
// it keep what the leader has swept. The clock of a bubble is years behind that outside of it.
func TestAFollowerDecidesNoExpiry(t *testing.T) {
	type follower struct {
		db   *cow.DB
		rows *cow.Table[string, time.Time]
	}
	newFollower := func() (f follower) {
		f.db = new(cow.DB)
		f.rows = cow.NewTable[string](f.db, "rows", cow.Options[time.Time]{
			Codec:   jsonCodec[time.Time]{},
			Expires: func(until time.Time) time.Time { return until },
		})
		return f
	}
	inBubble := func(is bool, f func(t *testing.T)) {
		if is {
			synctest.Test(t, f)
		} else {
			f(t)
		}
	}
	for _, behind := range []bool{true, false} { // is the leader's clock
		// Each row is written and swept, one that stays by all clocks beside it.
		var contents sink.Contents
		var commits []*sink.Commit
		var shown []map[string]time.Time
		inBubble(behind, func(t *testing.T) {
			leader := newFollower()
			out := cowtest.Attach(t, leader.db, cowtest.SinkOptions{})
			contents = out.Contents()
			do := func(update func() error) {
				err := outcome(update)
				_, waited := out.Await(t.Context(), 1)
				require.NoError(t, waited)
				commits = append(commits, out.Ack(1)...)
				require.NoError(t, <-err)
				shown = append(shown, collect(leader.rows.Load()))
			}
			now := time.Now()
			set := func(key string, until time.Time) {
				do(func() error { _, err := leader.rows.Set(key, until); return err })
			}
			set("stays", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
			set("later", now.Add(time.Hour).UTC())
			if behind {
				set("due", now.UTC())
			} else {
				set("due", now.Add(-time.Minute).UTC())
			}
			set("other", now.Add(2*time.Hour).UTC())
			do(func() error { _, err := leader.db.Sweep(context.Background()); return err })
			require.Len(t, shown[4], 3)
			set("after", now.Add(time.Hour).UTC())
		})
		inBubble(!behind, func(t *testing.T) {
			f := newFollower()
			in := cowtest.Attach(t, f.db, cowtest.SinkOptions{Contents: contents, Propose: func(*sink.Commit) error { return errRefused }})
			for i, c := range commits {
				require.NoError(t, in.Rebase(c))
				require.EqualValues(t, i+1, f.db.Load().Version())
				require.Equal(t, shown[i], collect(f.rows.Load()), "behind: %v", behind)
				require.Equal(t, behind && i > 0, f.db.Load().Due(), "it says so")
				_, err := f.db.Sweep(t.Context())
				if behind && i > 0 {
					require.ErrorIs(t, err, errRefused, "the leader sweeps")
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, shown[i], collect(f.rows.Load()))
			}
		})
	}
}
