package chaos_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

var long = flag.Bool("long", false, "run the long forms")

func TestMain(m *testing.M) {
	cluster.Main()
	os.Exit(m.Run())
}

// patience is how long a test may take in its short form: seconds are usual.
const patience = 8 * time.Minute

// start starts members for a test. One that hangs ends with the stacks of this project's
// goroutines: those of all are too many to be read.
func start(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	if !*long {
		alarm := time.AfterFunc(patience, func() {
			all := make([]byte, 16<<20)
			stacks := strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n")
			stacks = slices.DeleteFunc(stacks, func(s string) bool { return !strings.Contains(s, "cowstore/cow/") })
			panic(fmt.Sprintf("%s has taken %v:\n\n%s", t.Name(), patience, strings.Join(stacks, "\n\n")))
		})
		t.Cleanup(func() { alarm.Stop() })
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.NoSync = true
	c, err := cluster.Start(ctx, t.TempDir(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// client returns a client of all members, by their proxies.
func client(t testing.TB, c *cluster.Cluster, o ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	is, err := c.Client(o...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = is.Close() })
	return is
}

// direct returns a client of the first member, not by its proxy.
func direct(t testing.TB, c *cluster.Cluster) *clientv3.Client {
	t.Helper()
	is, err := c.Members[0].Direct()
	require.NoError(t, err)
	t.Cleanup(func() { _ = is.Close() })
	return is
}

// A bank moves money between two tables, whose sum is 0.
type bank struct {
	db       cow.DB
	from, to *cow.Table[int, int]
	last     *cow.Table[string, int] // the number of the last move of each writer
	replica  *etcd.Replica
}

func newBank() *bank {
	b := new(bank)
	number := cow.Options[int]{Codec: cow.Versioned[int]{}}
	b.from = cow.NewTable[int](&b.db, "from", number)
	b.to = cow.NewTable[int](&b.db, "to", number)
	b.last = cow.NewTable[string](&b.db, "last/writers", number)
	return b
}

// quick are options for tests: what waits for time waits less.
var quick = etcd.Options{Timeout: time.Second, Check: 200 * time.Millisecond, Attempts: 10_000}

// open opens a bank, which the end of the test closes.
func open(t testing.TB, client *clientv3.Client, prefix string, o etcd.Options) *bank {
	t.Helper()
	b := newBank()
	b.db.Retain(cow.Retention{Versions: 1 << 20})
	require.NoError(t, b.open(t.Context(), client, prefix, o))
	t.Cleanup(func() { _ = b.db.Close() })
	return b
}

func (b *bank) open(ctx context.Context, client *clientv3.Client, prefix string, o etcd.Options) (err error) {
	b.replica, err = etcd.Open(ctx, client, prefix, &b.db, o)
	return err
}

// move moves an amount, as the n-th move of a writer.
func (b *bank) move(ctx context.Context, writer string, n, from, to, amount int) error {
	add := func(n int) func(v *int, _ bool) error { return func(v *int, _ bool) error { *v += n; return nil } }
	return b.db.UpdateContext(ctx, func(tx *cow.Tx) error {
		if err := b.from.Edit(tx).Upsert(from, add(-amount)); err != nil {
			return err
		}
		if err := b.to.Edit(tx).Upsert(to, add(amount)); err != nil {
			return err
		}
		return b.last.Edit(tx).Upsert(writer, func(v *int, _ bool) error {
			if *v+1 != n {
				return errOrder
			}
			*v = n
			return nil
		})
	})
}

// sum returns the sum of both tables.
func (b *bank) sum(s *cow.Snapshot) (n int) {
	for _, v := range b.from.In(s).All() {
		n += v
	}
	for _, v := range b.to.In(s).All() {
		n += v
	}
	return n
}
