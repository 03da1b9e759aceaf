// Replicas runs three etcd members and three replicas of a store on this machine. While
// clerks move money on all of them, it kills one member after the other, the leader first,
// and shows that nothing was lost.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

const (
	members  = 3
	clerks   = 4 // of each replica
	accounts = 10
)

func main() {
	cluster.Main()
	if err := run(context.Background(), time.Second); err != nil {
		log.Fatal(err)
	}
}

// A ledger is a replica: accounts, whose sum is 0, and how many transfers each clerk made.
type ledger struct {
	db       cow.DB
	accounts *cow.Table[int, int]
	done     *cow.Table[string, int]
	replica  *etcd.Replica
}

func open(ctx context.Context, c *cluster.Cluster) (*ledger, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	l := new(ledger)
	number := cow.Options[int]{Codec: cow.Versioned[int]{}}
	l.accounts = cow.NewTable[int](&l.db, "accounts", number)
	l.done = cow.NewTable[string](&l.db, "done", number)
	l.replica, err = etcd.Open(ctx, client, "ledger", &l.db, etcd.Options{})
	return l, err
}

func (l *ledger) transfer(clerk string, from, to, amount int) error {
	add := func(n int) func(v *int, _ bool) error { return func(v *int, _ bool) error { *v += n; return nil } }
	return l.db.Update(func(tx *cow.Tx) error {
		e := l.accounts.Edit(tx)
		return errors.Join(e.Upsert(from, add(-amount)), e.Upsert(to, add(amount)), l.done.Edit(tx).Upsert(clerk, add(1)))
	})
}

// An account of what was acknowledged, and of errors.
type told struct {
	mu       sync.Mutex
	done     map[string]int
	contends int
	failed   error
}

func (t *told) work(l *ledger, name string, stop *atomic.Bool) {
	for i := 1; !stop.Load(); i++ {
		err := l.transfer(name, i%accounts, (i+len(name))%accounts, i%100)
		t.mu.Lock()
		switch {
		case err == nil:
			t.done[name]++
		case errors.Is(err, etcd.ErrContended):
			t.contends++
		default:
			t.failed = err
			stop.Store(true)
		}
		t.mu.Unlock()
	}
}

func (t *told) sum() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.done {
		n += d
	}
	return n
}

func run(ctx context.Context, span time.Duration) error {
	dir, err := os.MkdirTemp("", "replicas")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := cluster.Start(ctx, dir, cluster.Options{Members: members})
	if err != nil {
		return err
	}
	defer c.Close()
	var ledgers []*ledger
	for range members {
		l, err := open(ctx, c)
		if err != nil {
			return err
		}
		defer l.db.Close()
		ledgers = append(ledgers, l)
	}

	t := &told{done: make(map[string]int)}
	var stop atomic.Bool
	var working sync.WaitGroup
	for i, l := range ledgers {
		for n := range clerks {
			working.Go(func() { t.work(l, fmt.Sprintf("clerk %d.%d", i, n), &stop) })
		}
	}
	defer working.Wait()
	defer stop.Store(true)

	fmt.Printf("%-36s %12s   %s\n", "", "acknowledged", "versions of the replicas")
	show := func(what string) {
		fmt.Printf("%-36s %12d  ", what, t.sum())
		for _, l := range ledgers {
			fmt.Printf(" %7d", l.db.Load().Version())
		}
		fmt.Println()
	}
	time.Sleep(span)
	show("all is well")
	for range members {
		m := c.Leader(ctx)
		if m == nil {
			return errors.New("there is no leader")
		}
		if err := m.Kill(); err != nil {
			return err
		}
		show("the leader is killed")
		time.Sleep(3 * span)
		show("another leads")
		if err := m.Start(); err != nil {
			return err
		}
		if err := m.Ready(ctx); err != nil {
			return err
		}
		time.Sleep(span)
		show("it is back")
	}
	stop.Store(true)
	working.Wait()
	if t.failed != nil {
		return t.failed
	}
	for i, l := range ledgers {
		if _, err := l.replica.Fresh(ctx); err != nil {
			return err
		}
		if err := l.check(t); err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
	}
	show("the end")
	fmt.Println("every transfer that was acknowledged is there, once, on every replica")
	return nil
}

// check compares a ledger with what its clerks were told.
func (l *ledger) check(t *told) error {
	s := l.db.Load()
	for clerk, n := range t.done {
		if is, _ := l.done.In(s).Get(clerk); is != n {
			return fmt.Errorf("%s was told of %d transfers, and there are %d", clerk, n, is)
		}
	}
	sum := 0
	for _, v := range l.accounts.In(s).All() {
		sum += v
	}
	if sum != 0 {
		return fmt.Errorf("the accounts sum up to %d", sum)
	}
	return nil
}
