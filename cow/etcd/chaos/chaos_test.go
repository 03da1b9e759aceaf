package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// A fault happens to a cluster for a while, and is gone when do returns.
type fault struct {
	name string
	do   func(t *testing.T, c *cluster.Cluster, r *rand.Rand)
}

// lying is the fault that needs the liars of the clients.
func lying(liars []*liar) fault {
	return fault{"answers say anything", func(_ *testing.T, _ *cluster.Cluster, r *rand.Rand) {
		for _, l := range liars {
			l.lies.Store(true)
		}
		time.Sleep(time.Duration(500+r.IntN(1500)) * time.Millisecond)
		for _, l := range liars {
			l.lies.Store(false)
		}
	}}
}

func pause(r *rand.Rand) { time.Sleep(time.Duration(100+r.IntN(700)) * time.Millisecond) }

// leader returns the leader, or any member.
func leader(c *cluster.Cluster, r *rand.Rand) *cluster.Member {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if m := c.Leader(ctx); m != nil {
		return m
	}
	return c.Members[r.IntN(len(c.Members))]
}

func ready(t *testing.T, m *cluster.Member) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, m.Ready(ctx))
}

// compactAnyhow compacts what is there, and defragments a member.
func compactAnyhow(m *cluster.Member, defragment bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	direct, err := m.Direct()
	if err != nil {
		return
	}
	defer direct.Close()
	if is, err := direct.Get(ctx, "any"); err == nil {
		_, _ = direct.Compact(ctx, is.Header.Revision, clientv3.WithCompactPhysical())
	}
	if defragment {
		_, _ = direct.Defragment(ctx, direct.Endpoints()[0])
	}
}

// quota is how many bytes each member may have: many times what the store and its past have between
// compactions. In short runs, which fill it too, it is smaller.
func quota() int64 {
	if *long {
		return 48 << 20
	}
	return 16 << 20
}

// fill writes until etcd has no space left, or something else is the matter. A disk may be slow: it
// is each write that has a minute.
func fill(t *testing.T, c *clientv3.Client) {
	put := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Put(ctx, "filler", strings.Repeat("x", 1<<20))
		return err
	}
	var err error
	for n := int64(0); err == nil && n < 2*quota()>>20; n++ {
		err = put()
	}
	require.ErrorIs(t, err, rpctypes.ErrNoSpace)
}

// makeSpace does what etcd's manual says: it compacts, defragments each member, and disarms
// the alarm.
func makeSpace(t *testing.T, c *cluster.Cluster) {
	compactAnyhow(c.Members[0], false)
	for _, m := range c.Members {
		compactAnyhow(m, true)
	}
	direct, err := c.Members[0].Direct()
	require.NoError(t, err)
	defer direct.Close()
	waitFor(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := direct.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
			return false
		}
		_, err := direct.Put(ctx, "filler", "")
		return err == nil
	})
}

var faults = []fault{
	{"the leader is killed", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		m := leader(c, r)
		require.NoError(t, m.Kill())
		pause(r)
		require.NoError(t, m.Start())
		ready(t, m)
	}},
	{"the leader stops and goes on", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		m := leader(c, r)
		require.NoError(t, m.Pause())
		time.Sleep(time.Duration(500+r.IntN(1500)) * time.Millisecond)
		require.NoError(t, m.Continue())
		ready(t, m)
	}},
	{"a connection is cut", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		p := c.Members[r.IntN(len(c.Members))].Proxy
		p.Cut()
		pause(r)
		p.Mend()
	}},
	{"answers are lost", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		for _, m := range c.Members {
			m.Proxy.Mute()
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		for _, m := range c.Members {
			m.Proxy.Cut()
			m.Proxy.Mend()
		}
		pause(r)
	}},
	{"a member is silent", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		p := c.Members[r.IntN(len(c.Members))].Proxy
		p.Mute()
		time.Sleep(time.Duration(500+r.IntN(1500)) * time.Millisecond)
		p.Mend()
	}},
	{"the network is slow", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		for _, m := range c.Members {
			m.Proxy.Delay(time.Duration(r.IntN(50)) * time.Millisecond)
		}
		pause(r)
		for _, m := range c.Members {
			m.Proxy.Mend()
		}
	}},
	{"etcd compacts while replicas are cut off", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		for _, m := range c.Members {
			m.Proxy.Mute()
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		for _, m := range c.Members {
			m.Proxy.Cut()
		}
		compactAnyhow(c.Members[r.IntN(len(c.Members))], r.IntN(2) == 0)
		for _, m := range c.Members {
			m.Proxy.Mend()
		}
		pause(r)
	}},
	{"all members are down", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		for _, m := range c.Members {
			require.NoError(t, m.Kill())
		}
		pause(r)
		for _, m := range c.Members {
			require.NoError(t, m.Start())
		}
		for _, m := range c.Members {
			ready(t, m)
		}
	}},
	{"there is no space left", func(t *testing.T, c *cluster.Cluster, r *rand.Rand) {
		direct, err := c.Members[r.IntN(len(c.Members))].Direct()
		require.NoError(t, err)
		defer direct.Close()
		fill(t, direct)
		pause(r)
		makeSpace(t, c)
	}},
}

// Three members, three replicas and their writers, and faults.
func TestChaos(t *testing.T) {
	enough := func(n int, version uint64) bool { return n >= (len(faults)+2)/3 } // others the next time
	if *long {
		enough = func(n int, version uint64) bool { return n >= 120 && version >= 20_000 }
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := start(t, cluster.Options{Members: 3, Quota: quota()})
	var liars []*liar
	var ledgers []*ledger
	for range 3 {
		l := new(liar)
		liars = append(liars, l)
		ledgers = append(ledgers, openLedger(t, client(t, c, l.option()), quick))
	}
	at := r.IntN(len(faults)) // a short run has some of them
	faults := slices.Concat([]fault{lying(liars)}, faults[at:], faults[:at])
	h := &history{ledgers: ledgers, acked: make(map[string]bool), failed: make(map[string]error)}

	stopped := make(chan struct{})
	stop := sync.OnceFunc(func() { close(stopped) })
	defer stop() // or writers go on while others are tested, if this fails
	ctx, end := context.WithCancel(t.Context())
	var writing, following sync.WaitGroup
	for i, l := range ledgers {
		for w := range 3 {
			writing.Go(func() { h.write(l, 3*i+w, stopped) })
		}
		writing.Go(func() { h.read(l, 100+i, stopped) })
		following.Go(func() {
			if err := l.follow(ctx); err != nil {
				t.Errorf("replica %d: %v", i, err)
			}
		})
	}
	begun := time.Now()
	n := 0
	for ; !enough(n, ledgers[0].db.Load().Version()) && !t.Failed(); n++ {
		f := faults[n%len(faults)]
		version := ledgers[0].db.Load().Version()
		f.do(t, c, r)
		// It goes on after each.
		for _, l := range ledgers {
			waitFor(t, func() bool { return l.db.Load().Version() > version+5 })
		}
		if testing.Verbose() {
			fmt.Printf("%6.1fs  %-42s version %d\n", time.Since(begun).Seconds(), f.name, ledgers[0].db.Load().Version())
		}
	}
	stop()
	writing.Wait()
	lies := int64(0)
	for _, l := range liars {
		l.later.Wait()
		lies += l.told.Load()
	}
	t.Logf("%d faults, %d lies", n, lies)
	require.Positive(t, lies)
	h.verify(t, openLedger(t, direct(t, c), quick), ledgers...)
	end()
	following.Wait()
}
