package chaos_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// What no replica has written is refused: by a replica that follows, with what it has,
// and by one that opens, which stays empty.
func TestDamage(t *testing.T) {
	c := start(t, cluster.Options{})
	direct, client := direct(t, c), client(t, c)
	flip := func(at int) func(v []byte) []byte {
		return func(v []byte) []byte { v = bytes.Clone(v); v[(at+len(v))%len(v)] ^= 1; return v }
	}
	for i, is := range []struct {
		name, key string // after the prefix
		change    func(v []byte) []byte
		later     bool // whoever opens later cannot know
	}{
		{name: "a key of others", key: "zzz", change: func([]byte) []byte { return []byte("hello") }},
		{name: "a key of others before all", key: "a", change: func([]byte) []byte { return []byte("hello") }},
		{name: "a table that is no name", key: "rows/%2/x", change: func([]byte) []byte { return []byte("hello") }},
		{name: "a row of others", key: "rows/from/x", change: func([]byte) []byte { return []byte("hello") }},
		{name: "an empty row", key: "rows/from/x", change: func([]byte) []byte { return nil }},
		{name: "a changed row", key: "rows/last%2Fwriters/w", change: flip(3)},
		{name: "the same row", key: "rows/last%2Fwriters/w", change: flip(0), later: true},
		{name: "a row that is gone", key: "rows/last%2Fwriters/w", change: nil, later: true},
		{name: "a changed head", key: "head", change: flip(5)},
		{name: "an empty head", key: "head", change: func([]byte) []byte { return nil }},
		{name: "no head", key: "head", change: nil},
		{name: "a newer format", key: "head", change: func([]byte) []byte { return []byte{3, 0, 0} }},
	} {
		t.Run(is.name, func(t *testing.T) {
			prefix := fmt.Sprint("bank", i)
			b := open(t, client, prefix, quick)
			require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
			key := prefix + "/" + is.key
			if is.change == nil {
				_, err := direct.Delete(t.Context(), key)
				require.NoError(t, err)
			} else {
				was, err := direct.Get(t.Context(), key)
				require.NoError(t, err)
				var value []byte
				if len(was.Kvs) > 0 {
					value = was.Kvs[0].Value
				}
				value = is.change(value)
				if is.name == "the same row" {
					value = was.Kvs[0].Value
				}
				_, err = direct.Put(t.Context(), key, string(value))
				require.NoError(t, err)
			}
			with := etcd.ErrDamaged
			if is.name == "a newer format" {
				with = etcd.ErrFormat
			}
			b.mustFail(t, with)
			require.ErrorContains(t, b.replica.Status().Err, fmt.Sprintf("%q", key))
			require.Equal(t, uint64(1), b.db.Load().Version())
			if is.later {
				return
			}
			again := newBank()
			err := again.open(t.Context(), client, prefix, quick)
			require.ErrorIs(t, err, with)
			require.ErrorContains(t, err, fmt.Sprintf("%q", key))
			require.Zero(t, again.db.Load().Version())
			require.NoError(t, again.move(t.Context(), "w", 1, 1, 2, 3), "it is a DB of its own")
		})
	}
	t.Run("a transaction of others", func(t *testing.T) {
		b := open(t, client, "torn", quick)
		require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
		other := open(t, client, "other", quick)
		for n := range 2 {
			require.NoError(t, other.move(t.Context(), "w", n+1, 1, 2, 3))
		}
		head, err := direct.Get(t.Context(), "other/head")
		require.NoError(t, err)
		_, err = direct.Put(t.Context(), "torn/head", string(head.Kvs[0].Value))
		require.NoError(t, err)
		b.mustFail(t, etcd.ErrRestored)
	})
}

func TestOpen(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	t.Run("several begin a store", func(t *testing.T) {
		for round := range 5 {
			banks := make([]*bank, 8)
			together(len(banks), func(i int) {
				banks[i] = newBank()
				if err := banks[i].open(t.Context(), client, fmt.Sprint("race", round), quick); err != nil {
					t.Error(err)
				}
			})
			for i, b := range banks {
				require.NoError(t, b.move(t.Context(), fmt.Sprint("w", i), 1, 1, 2, 3))
				require.Equal(t, banks[0].db.Lineage(), b.db.Lineage())
			}
			same(t, banks...)
			for _, b := range banks {
				require.NoError(t, b.db.Close())
			}
		}
	})
	t.Run("a DB that is not empty", func(t *testing.T) {
		for _, prefix := range []string{"new", "race1"} {
			b := newBank()
			require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
			require.ErrorIs(t, b.open(t.Context(), client, prefix, quick), etcd.ErrNotEmpty)
			require.NoError(t, b.move(t.Context(), "w", 2, 1, 2, 3))
		}
	})
	t.Run("without a prefix", func(t *testing.T) {
		for _, prefix := range []string{"", "/"} {
			require.ErrorContains(t, newBank().open(t.Context(), client, prefix, quick), "prefix")
		}
	})
	t.Run("twice", func(t *testing.T) {
		b := open(t, client, "twice", quick)
		require.Error(t, b.open(t.Context(), client, "twice", quick))
		require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	})
	t.Run("without a codec", func(t *testing.T) {
		var db cow.DB
		cow.NewTable[string](&db, "t", cow.Options[int]{})
		_, err := etcd.Open(t.Context(), client, "x", &db, quick)
		require.ErrorContains(t, err, "codec")
	})
	t.Run("limits that are none", func(t *testing.T) {
		require.PanicsWithValue(t, "etcd: Options.MaxOps is 2: it must be at least 3, or 0 for 128", func() {
			_ = newBank().open(t.Context(), client, "x", etcd.Options{MaxOps: 2})
		})
	})
	t.Run("while etcd cannot be reached", func(t *testing.T) {
		c.Members[0].Proxy.Cut()
		defer c.Members[0].Proxy.Mend()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, newBank().open(ctx, client, "late", quick), context.DeadlineExceeded)
	})
}

// Large stores are read in pages, at one revision, while others write.
func TestOpenReadsPages(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	s := openTexts(t, client, "texts", quick)
	const rows = 3000
	for i := 0; i < rows; i += 100 {
		require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
			for j := range 100 {
				s.table.Edit(tx).Set(fmt.Sprintf("%04d", i+j), "0")
			}
			return nil
		}))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	wrote := make(chan int)
	go func() { // all rows have the same number, but for a moment in which the first is ahead
		n := 0
		for ctx.Err() == nil {
			n++
			_, _ = s.table.Set("0000", fmt.Sprint(n))
			_, _ = s.table.Set(fmt.Sprintf("%04d", rows-1), fmt.Sprint(n))
		}
		wrote <- n
	}()
	for range 10 {
		again := openTexts(t, client, "texts", quick)
		is := again.db.Load()
		require.Equal(t, rows, again.table.In(is).Len())
		first, _ := again.table.In(is).Get("0000")
		last, _ := again.table.In(is).Get(fmt.Sprintf("%04d", rows-1))
		var a, b int
		_, _ = fmt.Sscan(first, &a)
		_, _ = fmt.Sscan(last, &b)
		require.True(t, a == b || a == b+1, "%d and %d", a, b)
		require.NoError(t, again.db.Close())
	}
	stop()
	require.Positive(t, <-wrote)
}

// A page has no more than the client takes at once, although the rows before were small.
func TestOpenReadsLargeRowsAfterSmall(t *testing.T) {
	c := start(t, cluster.Options{})
	s := openTexts(t, direct(t, c), "texts", quick)
	for i := range 10 {
		require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
			for j := range 100 {
				s.table.Edit(tx).Set(fmt.Sprint("a", i, ".", j), "x")
			}
			return nil
		}))
	}
	for i := range 6 {
		_, err := s.table.Set(fmt.Sprint("b", i), strings.Repeat("y", 1<<20))
		require.NoError(t, err)
	}
	narrow, err := clientv3.New(clientv3.Config{
		Endpoints: []string{c.Members[0].Proxy.Endpoint()}, MaxCallSendMsgSize: 4 << 20, MaxCallRecvMsgSize: 4 << 20, Logger: zap.NewNop(),
	})
	require.NoError(t, err)
	defer narrow.Close()
	again := openTexts(t, narrow, "texts", quick)
	require.Equal(t, 1006, again.table.Len())
	require.NoError(t, again.db.Close())
}

// A replica of a program with fewer tables is refused, or leaves the others alone.
func TestUnknownTables(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	b := open(t, client, "bank", quick)
	var db cow.DB
	last := cow.NewTable[string](&db, "last/writers", cow.Options[int]{Codec: cow.Versioned[int]{}})
	sum := cow.NewTable[string](&db, "sum", cow.Options[int]{Codec: cow.Versioned[int]{}})
	require.NoError(t, b.move(t.Context(), "w", 1, 1, 2, 3))
	_, err := etcd.Open(t.Context(), client, "bank", &db, quick)
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, `["from" "to"]`)
	o := quick
	o.KeepUnknown = true
	replica, err := etcd.Open(t.Context(), client, "bank", &db, o)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, b.move(t.Context(), "w", 2, 1, 2, 3))
	require.NoError(t, b.db.Update(func(tx *cow.Tx) error { b.from.Edit(tx).Set(9, 0); return nil }))
	_, err = replica.Fresh(t.Context())
	require.NoError(t, err)
	n, _ := last.Get("w")
	require.Equal(t, 2, n)
	require.Equal(t, b.db.Load().Version(), db.Load().Version())
	_, err = sum.Set("x", 1) // and the other program leaves this one alone
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *cow.Tx) error { last.Edit(tx).Clear(); return nil }))
	_, err = b.replica.Fresh(t.Context())
	require.NoError(t, err)
	require.Zero(t, b.last.Len())
	require.Equal(t, 2, b.from.Len())
	is, err := client.Get(t.Context(), "bank/rows/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	require.NoError(t, err)
	require.Equal(t, int64(4), is.Count)
}
