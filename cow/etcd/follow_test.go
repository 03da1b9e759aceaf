package etcd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// What does not follow the published version is not told to the DB, which could only fail:
// the contents are loaded instead.
func TestAGapIsNotPublished(t *testing.T) {
	other := replica(Options{})
	other.name = "other"
	other.propose(t, []sink.Row{set(0, "x", "1")}, []sink.Row{set(0, "y", "1")})
	first := other.group(other.now(), 1).events(11)

	line := new(rebased)
	r := replica(Options{})
	r.line = line
	r.known.at.version = 5
	err := r.apply(first, 5)
	require.ErrorIs(t, err, errGap)
	require.False(t, isFinal(err))
	require.Zero(t, line.n)
	require.Equal(t, uint64(5), r.now().version)

	r.known.at.version = 6
	require.NoError(t, r.apply(first, 5))
	require.Equal(t, 1, line.n)
	require.Equal(t, uint64(8), r.now().version)
	require.Equal(t, int64(11), r.now().revision)
	require.ErrorIs(t, r.apply(first, 5), ErrRestored, "twice")
	require.Equal(t, 1, line.n)
}

// Who loads what it has missed does not follow etcd, which may not answer for long.
func TestWhoLoadsAgainIsNotConnected(t *testing.T) {
	f, client := newFake(t)
	a := openAccount(t, client, Options{})
	is := func(connected bool, state hook.State) func() bool {
		return func() bool {
			return a.replica.Status().Connected == connected && a.db.Stats().Sink.State == state
		}
	}
	require.Eventually(t, is(true, hook.Connected), time.Minute, time.Millisecond)
	speak := f.silent()
	defer speak()
	a.endWatch(errGap)
	require.Eventually(t, is(false, hook.Retrying), time.Minute, time.Millisecond)
	speak()
	require.Eventually(t, is(true, hook.Connected), time.Minute, time.Millisecond)
	require.NoError(t, a.replica.Status().Err)
	require.NoError(t, a.deposit(t.Context()))
}
