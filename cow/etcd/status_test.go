package etcd

import (
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
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
