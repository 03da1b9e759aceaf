package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

func TestMain(m *testing.M) {
	cluster.Main()
	os.Exit(m.Run())
}

func TestReplicas(t *testing.T) { require.NoError(t, run(t.Context(), 200*time.Millisecond)) }

func TestCheckFindsWhatIsLost(t *testing.T) {
	c, err := cluster.Start(t.Context(), t.TempDir(), cluster.Options{NoSync: true})
	require.NoError(t, err)
	defer c.Close()
	l, err := open(t.Context(), c)
	require.NoError(t, err)
	defer l.db.Close()
	require.NoError(t, l.transfer("a", 1, 2, 3))
	require.NoError(t, l.check(&told{done: map[string]int{"a": 1}}))
	require.ErrorContains(t, l.check(&told{done: map[string]int{"a": 2}}), "there are 1")
}
