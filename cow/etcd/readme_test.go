package etcd_test

//lint:file-ignore SA4006 the README leaves the checks of later errors to the reader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
)

// The lines of the README do what they say.
func TestReadme(t *testing.T) {
	ctx, client := t.Context(), etcd.NewFakeClient(t)
	lines := func() error {
		var db cow.DB
		jobs := cow.NewTable[string](&db, "jobs", cow.Options[Job]{Codec: cow.Versioned[Job]{}})

		replica, err := etcd.Open(ctx, client, "apps/jobs", &db, etcd.Options{}) // a *clientv3.Client, with its TLS and user
		if err != nil {
			return err
		}
		defer db.Close()

		_, err = jobs.Set("a", Job{State: "ready"}) // in etcd when it returns, and published here
		here := db.Load()                           // what this replica has
		recent, err := replica.Load(time.Minute)    // or an error, if that may be older than a minute
		fresh, err := replica.Fresh(ctx)            // as new as anybody has been told: one read of etcd

		for _, version := range []*cow.Snapshot{here, recent, fresh} {
			job, _ := jobs.In(version).Get("a")
			require.Equal(t, Job{State: "ready"}, job)
		}
		return err
	}
	require.NoError(t, lines())
}
