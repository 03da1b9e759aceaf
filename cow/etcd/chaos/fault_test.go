package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// waitFor waits until something is so, which it is in the end.
func waitFor(t testing.TB, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 2*time.Minute, 5*time.Millisecond)
}

// changes returns how often a key was written.
func changes(t testing.TB, c *clientv3.Client, key string) int64 {
	t.Helper()
	is, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	if len(is.Kvs) == 0 {
		return 0
	}
	return is.Kvs[0].Version
}

// moveMuted begins a move of which etcd's answer, and the watch, do not arrive, and
// returns when it is in etcd. It must not be the first of its replica, which writes a receipt before.
func (b *bank) moveMuted(t testing.TB, ctx context.Context, c *cluster.Cluster, etcd *clientv3.Client, n int) <-chan error {
	t.Helper()
	before := changes(t, etcd, "bank/head")
	c.Members[0].Proxy.Mute()
	result := make(chan error, 1)
	go func() { result <- b.move(ctx, "w", n, 1, 2, 3) }()
	waitFor(t, func() bool { return changes(t, etcd, "bank/head") == before+1 })
	return result
}

func TestAnAnswerIsLost(t *testing.T) {
	c := start(t, cluster.Options{})
	etcd := direct(t, c)
	b, other := open(t, client(t, c), "bank", quick), open(t, etcd, "bank", quick)
	proxy := c.Members[0].Proxy
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))

	t.Run("and the connection too", func(t *testing.T) {
		result := b.moveMuted(t, t.Context(), c, etcd, 2)
		proxy.Cut()
		proxy.Mend()
		require.NoError(t, <-result)
		require.Equal(t, uint64(2), b.db.Load().Version())
	})
	t.Run("for longer than the caller waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		result := b.moveMuted(t, ctx, c, etcd, 3)
		cancel()
		err := <-result
		require.ErrorIs(t, err, cow.ErrUnknownOutcome)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, uint64(2), b.db.Load().Version(), "it is not known yet")
		proxy.Mend()
		_, err = b.replica.Fresh(t.Context())
		require.NoError(t, err)
		is, _ := b.last.Get("w")
		require.Equal(t, 3, is)
	})
	t.Run("and it is sent again, after others went on", func(t *testing.T) {
		result := b.moveMuted(t, t.Context(), c, etcd, 4)
		require.NoError(t, other.move(t.Context(), "other", 1, 5, 6, 7))
		proxy.Cut()
		time.Sleep(20 * time.Millisecond)
		proxy.Mend()
		require.NoError(t, <-result)
		is, _ := other.last.Get("w")
		require.Equal(t, 4, is)
		require.Equal(t, uint64(4), other.last.Load().Revision("w"))
	})
	t.Run("and etcd has compacted it", func(t *testing.T) {
		before := b.db.Load()
		watch := make(chan error, 1)
		go func() { _, err := b.db.Watch(t.Context(), before, b.last.OnAll()); watch <- err }()
		result := b.moveMuted(t, t.Context(), c, etcd, 5)
		proxy.Cut()
		require.NoError(t, other.move(t.Context(), "other", 2, 5, 6, 7))
		compact(t, etcd)
		proxy.Mend()
		require.NoError(t, <-result)
		require.NoError(t, <-watch)
		_, err := b.replica.Fresh(t.Context())
		require.NoError(t, err)
		require.Equal(t, other.at(other.db.Load()), b.at(b.db.Load()))
		is, _ := b.last.Get("w")
		require.Equal(t, 5, is)
	})
	same(t, other, b)
	require.Equal(t, uint64(7), b.db.Load().Version())
}

// compact compacts etcd up to now.
func compact(t testing.TB, c *clientv3.Client) {
	t.Helper()
	is, err := c.Get(t.Context(), "any")
	require.NoError(t, err)
	_, err = c.Compact(t.Context(), is.Header.Revision, clientv3.WithCompactPhysical())
	require.NoError(t, err)
}

func TestCompactionDuringACut(t *testing.T) {
	c := start(t, cluster.Options{})
	etcd := direct(t, c)
	b, other := open(t, client(t, c), "bank", quick), open(t, etcd, "bank", quick)
	proxy := c.Members[0].Proxy
	for n := range 5 {
		require.NoError(t, b.move(t.Context(), "w", n+1, n, n, 1))
	}
	cut := func(t *testing.T) {
		waitFor(t, func() bool { return b.replica.Status().Connected })
		proxy.Cut()
		t.Cleanup(proxy.Mend) // if it is never noticed
		waitFor(t, func() bool { return !b.replica.Status().Connected })
	}
	compactAndMend := func(t *testing.T) {
		for range 3 {
			_, err := etcd.Put(t.Context(), "elsewhere", "x")
			require.NoError(t, err)
		}
		compact(t, etcd)
		proxy.Mend()
		_, err := b.replica.Fresh(t.Context())
		require.NoError(t, err)
		waitFor(t, func() bool { return b.replica.Status().Connected })
	}

	t.Run("nothing was missed", func(t *testing.T) {
		before := b.db.Load()
		cut(t)
		compactAndMend(t)
		require.Same(t, before, b.db.Load())
	})
	t.Run("versions were missed", func(t *testing.T) {
		before := b.db.Load()
		feed := b.db.Cursor(before.Version())
		cut(t)
		require.NoError(t, other.move(t.Context(), "other", 1, 0, 1, 1))
		require.NoError(t, other.move(t.Context(), "other", 2, 0, 1, 1))
		compactAndMend(t)
		require.Equal(t, other.at(other.db.Load()), b.at(b.db.Load()))
		var changed []int
		for ch := range b.from.In(b.db.Load()).Diff(b.from.In(before)) {
			changed = append(changed, ch.Key)
		}
		require.Equal(t, []int{0}, changed)
		for _, err := range b.db.Resume(t.Context(), feed) {
			require.ErrorIs(t, err, cow.ErrCompacted)
			break
		}
		require.NoError(t, b.move(t.Context(), "w", 6, 3, 4, 1))
	})
	same(t, other, b)
}

// mustFail demands that updates fail with an error, in the end, and reads go on.
func (b *bank) mustFail(t *testing.T, with error) {
	t.Helper()
	// Before anything is written, which a cluster that was restored might take.
	waitFor(t, func() bool { return errors.Is(b.replica.Status().Err, with) && !b.replica.Status().Connected })
	var err error
	waitFor(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err = b.db.UpdateContext(ctx, func(tx *cow.Tx) error { b.last.Edit(tx).Set("must fail", 1); return nil })
		return err != nil && ctx.Err() == nil
	})
	require.ErrorIs(t, err, with)
	require.ErrorIs(t, b.replica.Status().Err, with)
	_, err = b.replica.Fresh(t.Context())
	require.ErrorIs(t, err, with)
	waitFor(t, func() bool { _, err := b.replica.Load(time.Millisecond); return err != nil })
	require.Zero(t, b.sum(b.db.Load()))
}

func TestARestoredBackup(t *testing.T) {
	for _, lost := range []string{"the store", "elsewhere"} {
		t.Run("of "+lost, func(t *testing.T) {
			c := start(t, cluster.Options{})
			m := c.Members[0]
			b := open(t, client(t, c), "bank", quick)
			require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
			require.NoError(t, m.Kill())
			backup := t.TempDir()
			require.NoError(t, os.CopyFS(backup, os.DirFS(m.Dir())))
			require.NoError(t, m.Start())
			require.NoError(t, m.Ready(t.Context()))
			if lost == "the store" {
				require.NoError(t, b.move(t.Context(), "w", 2, 1, 2, 3), "a restart is no more than a pause")
			} else { // then the replica would wait for a revision that is long in coming
				is, err := direct(t, c).Put(t.Context(), "elsewhere", "x")
				require.NoError(t, err)
				waitFor(t, func() bool { return b.replica.Status().Revision >= is.Header.Revision })
			}
			version := b.db.Load().Version()
			require.NoError(t, m.Kill())
			require.NoError(t, os.RemoveAll(m.Dir()))
			require.NoError(t, os.CopyFS(m.Dir(), os.DirFS(backup)))
			require.NoError(t, m.Start())
			b.mustFail(t, etcd.ErrRestored)
			require.Equal(t, version, b.db.Load().Version())
		})
	}
}

func TestStaleReads(t *testing.T) {
	c := start(t, cluster.Options{})
	b := open(t, client(t, c), "bank", quick)
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	s, err := b.replica.Load(time.Minute)
	require.NoError(t, err)
	require.Same(t, b.db.Load(), s)
	c.Members[0].Proxy.Cut()
	waitFor(t, func() bool { _, err = b.replica.Load(500 * time.Millisecond); return err != nil })
	require.ErrorIs(t, err, etcd.ErrStale)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = b.replica.Fresh(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotZero(t, b.db.Load().Version())
	c.Members[0].Proxy.Mend()
	waitFor(t, func() bool { _, err := b.replica.Load(500 * time.Millisecond); return err == nil })
}

// A logbook is a slog.Handler that keeps messages.
type logbook struct {
	slog.Handler
	status func() etcd.Status // handlers may ask for it
	mu     sync.Mutex
	lines  []string
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != nil {
		_ = l.status()
	}
	l.lines = append(l.lines, fmt.Sprint(r.Level, " ", r.Message))
	return nil
}

// has reports whether there was such a line, in this order after those asked for before.
func (l *logbook) has(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.lines, line)
	l.lines = l.lines[i+1:]
	return i >= 0
}

func TestWhatIsLogged(t *testing.T) {
	c := start(t, cluster.Options{})
	book := new(logbook)
	o := quick
	o.Log = slog.New(book)
	b := open(t, client(t, c), "bank", o)
	book.mu.Lock()
	book.status = b.replica.Status
	book.mu.Unlock()
	waitFor(t, func() bool { return book.has("INFO connected to etcd") })
	c.Members[0].Proxy.Cut()
	waitFor(t, func() bool { return book.has("WARN disconnected from etcd") })
	for range 3 {
		_, err := direct(t, c).Put(t.Context(), "elsewhere", "x")
		require.NoError(t, err)
	}
	compact(t, direct(t, c))
	c.Members[0].Proxy.Mend()
	waitFor(t, func() bool { return book.has("INFO the store is loaded again") })
	other := direct(t, c)
	waitFor(t, func() bool { // not seen if it is there before the replica is loaded
		_, err := other.Put(t.Context(), "bank/other", "y")
		return err == nil && book.has("ERROR the replica has failed")
	})
	require.ErrorIs(t, b.replica.Status().Err, etcd.ErrDamaged)
	for range 2 {
		_, err := b.replica.Fresh(t.Context())
		require.Equal(t, b.replica.Status().Err, err)
	}
	require.False(t, book.has("ERROR the replica has failed"), "again")
}

func TestClose(t *testing.T) {
	c := start(t, cluster.Options{})
	etcd := direct(t, c)
	t.Run("waits for what is on its way", func(t *testing.T) {
		b := open(t, client(t, c), "bank", quick)
		require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
		result := b.moveMuted(t, t.Context(), c, etcd, 2)
		time.AfterFunc(100*time.Millisecond, c.Members[0].Proxy.Mend)
		require.NoError(t, b.db.Close())
		require.NoError(t, <-result)
		receipts, err := etcd.Get(t.Context(), "bank/writers/", clientv3.WithPrefix())
		require.NoError(t, err)
		require.Zero(t, receipts.Count)
	})
	t.Run("but not forever", func(t *testing.T) {
		b := open(t, client(t, c), "bank", quick)
		require.NoError(t, b.move(t.Context(), "w", 3, 1, 2, 3))
		result := b.moveMuted(t, t.Context(), c, etcd, 4)
		require.ErrorIs(t, b.db.Close(), cow.ErrUnknownOutcome)
		require.ErrorIs(t, <-result, cow.ErrUnknownOutcome)
		require.ErrorIs(t, b.move(t.Context(), "w", 5, 1, 1, 1), cow.ErrClosed)
		_, err := b.replica.Fresh(t.Context())
		require.ErrorIs(t, err, cow.ErrClosed)
		require.ErrorIs(t, b.replica.Status().Err, cow.ErrClosed)
		c.Members[0].Proxy.Mend()
	})
	t.Run("leaves no goroutine", func(t *testing.T) {
		waitFor(t, func() bool {
			all := make([]byte, 1<<20)
			return !strings.Contains(string(all[:runtime.Stack(all, true)]), "etcd.(*Replica)")
		})
	})
}
