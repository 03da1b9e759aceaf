// Figures measures replicas beside raw transactions of etcd, in one run: three members on
// this machine, which sync.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

var (
	span    = flag.Duration("span", 5*time.Second, "how long each figure is measured")
	members = flag.Int("members", 3, "how many members etcd has")
	rows    = flag.Int("rows", 100_000, "how many rows to load; 0: none")
)

func main() {
	cluster.Main()
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A store is a replica with one table.
type store struct {
	db      cow.DB
	table   *cow.Table[int, int]
	replica *etcd.Replica
}

func open(ctx context.Context, c *cluster.Cluster, prefix string) (*store, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	s := new(store)
	s.table = cow.NewTable[int](&s.db, "numbers", cow.Options[int]{Codec: cow.Versioned[int]{}})
	s.replica, err = etcd.Open(ctx, client, prefix, &s.db, etcd.Options{Attempts: 1 << 20})
	return s, err
}

// rate returns how often n goroutines together do f in a second.
func rate(n int, f func(w, i int) error) (float64, error) {
	var done atomic.Int64
	var failed error
	var once sync.Once
	var all sync.WaitGroup
	begun := time.Now()
	for w := range n {
		all.Go(func() {
			for i := 0; time.Since(begun) < *span; i++ {
				if err := f(w, i); err != nil {
					once.Do(func() { failed = err })
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds(), failed
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := cluster.Start(ctx, dir, cluster.Options{Members: *members, Quota: 6 << 30})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Printf("%s, %d processors, %d members, %v each\n\n", runtime.Version(), runtime.NumCPU(), *members, *span)
	if err := commits(ctx, c); err != nil {
		return err
	}
	if err := delay(ctx, c); err != nil {
		return err
	}
	if err := reads(ctx, c); err != nil {
		return err
	}
	if err := load(ctx, c); err != nil {
		return err
	}
	return recovery(ctx, c)
}

// commits compares transactions of one row.
func commits(ctx context.Context, c *cluster.Cluster) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	raw := func(key func(w int) string) func(w, i int) error {
		return func(w, i int) error { // read, and write if nobody else has
			for {
				k := key(w)
				is, err := client.Get(ctx, k)
				if err != nil {
					return err
				}
				revision := int64(0)
				if len(is.Kvs) > 0 {
					revision = is.Kvs[0].ModRevision
				}
				did, err := client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(k), "=", revision)).Then(clientv3.OpPut(k, fmt.Sprint(i))).Commit()
				if err != nil || did.Succeeded {
					return err
				}
			}
		}
	}
	blind := func(w, i int) error { // no read before
		_, err := client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision("none"), "=", 0)).Then(clientv3.OpPut(fmt.Sprint("blind", w), fmt.Sprint(i))).Commit()
		return err
	}
	s, err := open(ctx, c, "commits")
	if err != nil {
		return err
	}
	defer s.db.Close()
	update := func(key func(w int) int) func(w, i int) error {
		return func(w, i int) error {
			return s.db.Update(func(tx *cow.Tx) error {
				return s.table.Edit(tx).Upsert(key(w), func(v *int, _ bool) error { *v++; return nil })
			})
		}
	}
	distinct := func(w int) int { return w }
	distinctRaw := func(w int) string { return fmt.Sprint("raw", w) }
	fmt.Println("commits/s                     transaction   read and transaction   replica")
	for _, writers := range []int{1, 64} {
		a, err1 := rate(writers, blind)
		b, err2 := rate(writers, raw(distinctRaw))
		r, err3 := rate(writers, update(distinct))
		if err := first(err1, err2, err3); err != nil {
			return err
		}
		fmt.Printf("%2d writers, distinct keys %14.0f %20.0f %12.0f\n", writers, a, b, r)
	}
	b, err1 := rate(64, raw(func(int) string { return "hot" }))
	r, err2 := rate(64, update(func(int) int { return -1 }))
	if err := first(err1, err2); err != nil {
		return err
	}
	fmt.Printf("64 writers, one key %21s %20.0f %12.0f\n", "", b, r)

	others := []*store{s}
	for range 2 {
		o, err := open(ctx, c, "commits")
		if err != nil {
			return err
		}
		defer o.db.Close()
		others = append(others, o)
	}
	var each [3]atomic.Int64
	r, err = rate(63, func(w, _ int) error {
		o := others[w%3]
		err := o.db.Update(func(tx *cow.Tx) error {
			return o.table.Edit(tx).Upsert(w, func(v *int, _ bool) error { *v++; return nil })
		})
		each[w%3].Add(1)
		return err
	})
	fmt.Printf("63 writers, three replicas %14s %20s %12.0f   (%d, %d, %d)\n\n", "", "", r, each[0].Load(), each[1].Load(), each[2].Load())
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// delay measures from the begin of an update to when another replica has published it.
func delay(ctx context.Context, c *cluster.Cluster) error {
	a, err1 := open(ctx, c, "delay")
	b, err2 := open(ctx, c, "delay")
	if err := first(err1, err2); err != nil {
		return err
	}
	defer a.db.Close()
	defer b.db.Close()
	var here, there []time.Duration
	for begun := time.Now(); time.Since(begun) < *span; {
		seen := make(chan time.Time, 1)
		version := b.db.Load().Version()
		go func() {
			_, _ = b.db.Wait(ctx, version)
			seen <- time.Now()
		}()
		start := time.Now()
		if _, err := a.table.Set(1, len(here)); err != nil {
			return err
		}
		here = append(here, time.Since(start))
		there = append(there, (<-seen).Sub(start))
	}
	slices.Sort(here)
	slices.Sort(there)
	at := func(all []time.Duration, p float64) time.Duration {
		return all[int(p*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	fmt.Printf("from the call of Update            p50        p99\n")
	fmt.Printf("until it returns            %10v %10v\n", at(here, .5), at(here, .99))
	fmt.Printf("until another replica has it%10v %10v\n\n", at(there, .5), at(there, .99))
	return nil
}

// reads compares reads.
func reads(ctx context.Context, c *cluster.Cluster) error {
	s, err := open(ctx, c, "commits")
	if err != nil {
		return err
	}
	defer s.db.Close()
	var alone cow.DB
	memory := cow.NewTable[int](&alone, "numbers", cow.Options[int]{})
	for k, v := range s.table.All() {
		if _, err := memory.Set(k, v); err != nil {
			return err
		}
	}
	const atOnce = 1000
	many := func(t *cow.Table[int, int]) func(w, i int) error {
		return func(w, _ int) error {
			for i := range atOnce {
				_, _ = t.Get(i & 63)
			}
			return nil
		}
	}
	client, err := c.Client()
	if err != nil {
		return err
	}
	n := runtime.GOMAXPROCS(0)
	a, err1 := rate(n, many(s.table))
	b, err2 := rate(n, many(memory))
	g, err3 := rate(n, func(int, int) error { _, err := client.Get(ctx, "hot"); return err })
	z, err4 := rate(n, func(int, int) error { _, err := client.Get(ctx, "hot", clientv3.WithSerializable()); return err })
	fmt.Printf("reads/s: replica %.3g, DB in memory %.3g, etcd's Get %.3g, and serializable %.3g\n\n", a*atOnce, b*atOnce, g, z)
	return first(err1, err2, err3, err4)
}

// load measures Open.
func load(ctx context.Context, c *cluster.Cluster) error {
	if *rows == 0 {
		return nil
	}
	s, err := open(ctx, c, "load")
	if err != nil {
		return err
	}
	const writers, each = 32, 100
	begun := time.Now()
	var all sync.WaitGroup
	var next atomic.Int64
	errs := make(chan error, writers)
	for range writers {
		all.Go(func() {
			for {
				at := int(next.Add(each)) - each
				if at >= *rows {
					return
				}
				if err := s.db.Update(func(tx *cow.Tx) error {
					for i := range each {
						s.table.Edit(tx).Set(at+i, i)
					}
					return nil
				}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	wrote := time.Since(begun)
	begun = time.Now()
	again, err := open(ctx, c, "load")
	if err != nil {
		return err
	}
	fmt.Printf("%d rows: written in %v, opened in %v\n", again.table.Len(), wrote.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	return first(again.db.Close(), s.db.Close())
}

// recovery measures for how long updates wait when a leader dies.
func recovery(ctx context.Context, c *cluster.Cluster) error {
	if *members < 3 {
		return nil
	}
	s, err := open(ctx, c, "recovery")
	if err != nil {
		return err
	}
	defer s.db.Close()
	var waited []time.Duration
	for i := range 5 {
		if _, err := s.table.Set(1, -i-1); err != nil {
			return err
		}
		m := c.Leader(ctx)
		if m == nil {
			return fmt.Errorf("there is no leader")
		}
		begun := time.Now()
		if err := m.Kill(); err != nil {
			return err
		}
		if _, err := s.table.Set(1, i); err != nil {
			return err
		}
		waited = append(waited, time.Since(begun).Round(10*time.Millisecond))
		if err := first(m.Start(), m.Ready(ctx)); err != nil {
			return err
		}
	}
	slices.Sort(waited)
	fmt.Printf("an update that begins when the leader is killed returns after %v\n", waited)
	return nil
}
