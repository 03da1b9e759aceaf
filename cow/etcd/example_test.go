package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
)

type Job struct{ State string }

// Every process that does this has the same jobs.
func ExampleOpen() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{"https://etcd-0:2379"}, // and the others
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
		TLS:                  &tls.Config{ServerName: "etcd"}, // and RootCAs
		Username:             "jobs",
		Password:             "secret",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	var db cow.DB
	jobs := cow.NewTable[string](&db, "jobs",
		cow.Options[Job]{Codec: cow.Versioned[Job]{}})
	replica, err := etcd.Open(ctx, client, "apps/jobs", &db, etcd.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	// In etcd when it returns, and soon on every replica.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err = db.UpdateContext(ctx, func(tx *cow.Tx) error {
		return jobs.Edit(tx).Insert("a", Job{State: "ready"})
	})
	switch {
	case errors.Is(err, cow.ErrExists): // as far as this replica knows
	case errors.Is(err, cow.ErrUnknownOutcome): // it may happen yet
	case err != nil:
		log.Fatal(err)
	}

	// What this replica has, in nanoseconds; no older than a minute; and as new as
	// anybody has been told, by a read of etcd.
	here := db.Load()
	recent, err := replica.Load(time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	fresh, err := replica.Fresh(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(jobs.In(here).Len(), jobs.In(recent).Len(), jobs.In(fresh).Len())

	// For a health check: does the replica follow etcd, and how far behind is it?
	if is := replica.Status(); !is.Connected {
		fmt.Println("not connected since", is.Since, is.Err)
	} else {
		fmt.Println("behind by", is.Latest-is.Version, "versions")
	}
}
