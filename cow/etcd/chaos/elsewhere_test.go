package chaos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// copyStore copies what is under a prefix to another cluster.
func copyStore(t *testing.T, from, to *clientv3.Client, prefix string) {
	all, err := from.Get(t.Context(), prefix, clientv3.WithPrefix())
	require.NoError(t, err)
	for _, kv := range all.Kvs {
		_, err := to.Put(t.Context(), string(kv.Key), string(kv.Value))
		require.NoError(t, err)
	}
}

func TestAnotherCluster(t *testing.T) {
	c, d := start(t, cluster.Options{}), start(t, cluster.Options{Token: "other"})
	b := open(t, client(t, c), "bank", quick)
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	copyStore(t, direct(t, c), direct(t, d), "bank/")
	for range 10 {
		_, err := direct(t, d).Put(t.Context(), "elsewhere", "x")
		require.NoError(t, err)
	}
	proxy := c.Members[0].Proxy
	proxy.Redirect(d.Members[0].Proxy)
	proxy.Cut()
	proxy.Mend()
	b.mustFail(t, etcd.ErrRestored)
	require.Equal(t, int64(1), changes(t, direct(t, d), "bank/head"))

	again := open(t, client(t, c), "bank", quick) // with a new DB
	require.Equal(t, b.at(b.db.Load()), again.at(again.db.Load()))
	require.NoError(t, again.move(t.Context(), "w", 2, 1, 2, 3))
}

// The watch tells by itself, before what another cluster says is published.
func TestAnotherClusterThatWentOn(t *testing.T) {
	c, d := start(t, cluster.Options{}), start(t, cluster.Options{Token: "other"})
	rare := quick
	rare.Check = time.Hour
	b := open(t, client(t, c), "bank", rare)
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	copyStore(t, direct(t, c), direct(t, d), "bank/")
	there := open(t, direct(t, d), "bank", quick)
	require.NoError(t, there.move(t.Context(), "w", 2, 1, 2, 3))
	require.Equal(t, b.db.Lineage(), there.db.Lineage())
	proxy := c.Members[0].Proxy
	proxy.Redirect(d.Members[0].Proxy)
	proxy.Cut()
	proxy.Mend()
	b.mustFail(t, etcd.ErrRestored)
	require.Equal(t, uint64(1), b.db.Load().Version())
}
