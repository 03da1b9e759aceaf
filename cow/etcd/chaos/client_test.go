package chaos_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// A client that was closed does not come back: nobody waits for it.
func TestTheClientIsClosed(t *testing.T) {
	c := start(t, cluster.Options{})
	etcd, client := direct(t, c), client(t, c)
	b := open(t, client, "bank", quick)
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	result := b.moveMuted(t, t.Context(), c, etcd, 2)
	require.NoError(t, client.Close())
	require.ErrorIs(t, <-result, cow.ErrUnknownOutcome, "it is in etcd")

	const why = "the client was closed"
	err := b.move(t.Context(), "w", 2, 1, 2, 3)
	require.ErrorContains(t, err, why)
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	_, err = b.replica.Fresh(t.Context())
	require.ErrorContains(t, err, why)
	require.False(t, b.replica.Status().Connected)
	require.ErrorContains(t, b.replica.Status().Err, why)
	require.ErrorContains(t, b.db.Close(), why)
	require.Equal(t, uint64(1), b.db.Load().Version())

	again := newBank()
	require.ErrorContains(t, again.open(context.Background(), client, "bank", quick), why)
	require.NoError(t, again.move(t.Context(), "w", 1, 1, 2, 3), "it is a DB of its own")
}

// What the client does not send is too large, as what etcd does not take.
func TestTheClientSendsLess(t *testing.T) {
	c := start(t, cluster.Options{})
	o := quick
	o.MaxBytes, o.Check = 10<<20, time.Second
	s := openTexts(t, client(t, c), "texts", o)
	_, err := s.table.Set("k", strings.Repeat("x", 3<<20))
	require.ErrorIs(t, err, etcd.ErrTooLarge)
	require.ErrorContains(t, err, "MaxCallSendMsgSize")
	_, err = s.table.Set("k", strings.Repeat("x", 1<<20))
	require.NoError(t, err)
}
