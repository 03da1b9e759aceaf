package etcd

import (
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/cowstore/cowstore/cow/hook"
)

// A machine that was suspended knows it by the clock that can be set, and one whose clock
// was set back by the other.
func TestAge(t *testing.T) {
	was := time.Now()
	set := func(seconds int64) time.Time { // that clock alone: it is above the 30 bits of ns
		now := was
		*(*uint64)(unsafe.Pointer(&now)) += uint64(seconds << 30)
		require.Equal(t, time.Duration(seconds)*time.Second, now.Round(0).Sub(was.Round(0)))
		require.Zero(t, now.Sub(was))
		return now
	}
	require.Equal(t, time.Duration(0), age(was, was))
	require.Equal(t, time.Minute, age(was, was.Add(time.Minute)))
	require.Equal(t, time.Hour, age(was, set(3600)))
	require.Equal(t, time.Minute, age(was, set(-3600).Add(time.Minute)))
}

// Whether etcd takes updates does not say why the watch is down.
func TestStatusSaysWhyItIsNotConnected(t *testing.T) {
	r := replica(Options{})
	r.told(time.Now())
	r.connected()
	r.disconnected(errSlow)
	r.accepted()
	require.ErrorIs(t, r.Status().Err, errSlow)
	r.connected()
	require.NoError(t, r.Status().Err)
	r.failed(rpctypes.ErrLeaderChanged)
	require.Error(t, r.Status().Err)
	r.accepted()
	require.NoError(t, r.Status().Err)
}

func TestAnErrorNamesTheStoreOnce(t *testing.T) {
	line := new(rebased)
	r := ending(t)
	r.line = line
	other := errors.New("other")
	require.EqualError(t, r.wrap(other), "etcd: p/: other")
	r.fail(ErrRestored)
	require.ErrorIs(t, line.failed, ErrRestored)
	require.EqualError(t, line.failed, "etcd: p/: "+ErrRestored.Error())
	r.fail(other)
	require.ErrorIs(t, line.failed, ErrRestored, "the first counts")
	_, err := r.Fresh(t.Context())
	require.Equal(t, line.failed, err)
}

// A told is a hook that takes down what comes from etcd.
type told struct {
	mu      sync.Mutex
	states  []string
	commits []uint64
}

func (h *told) OnSinkChanged(s hook.Sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, string(s.State))
}

func (h *told) OnApplied(u hook.Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commits = append(h.commits, u.Version)
}

func TestHooksAreToldOfEtcd(t *testing.T) {
	_, client := newFake(t)
	a, b := openAccount(t, client, Options{}), openAccount(t, client, Options{})
	h := new(told)
	a.db.AddHook(h)
	require.NoError(t, a.deposit(t.Context()))
	require.NoError(t, b.deposit(t.Context()))
	_, err := a.replica.Fresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, hook.Connected, a.db.Stats().Sink.State)

	a.endWatch(errSlow)
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.states) >= 2 && len(h.commits) >= 1
	}, time.Minute, time.Millisecond)
	require.NoError(t, a.db.Close())
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.states) >= 3
	}, time.Minute, time.Millisecond)
	require.Equal(t, []string{"retrying", "connected", "closed"}, h.states)
	require.Equal(t, []uint64{2}, h.commits, "its own is not from elsewhere")
}
