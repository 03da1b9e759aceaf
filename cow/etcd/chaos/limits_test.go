package chaos_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// texts is a DB with one table of texts.
type texts struct {
	db      cow.DB
	table   *cow.Table[string, string]
	replica *etcd.Replica
}

// raw is a codec of texts as they are.
type raw struct{}

func (raw) Append(b []byte, v string) ([]byte, error) { return append(b, v...), nil }
func (raw) Decode(b []byte) (string, error)           { return string(b), nil }

func openTexts(t testing.TB, client *clientv3.Client, prefix string, o etcd.Options) *texts {
	t.Helper()
	s := new(texts)
	s.table = cow.NewTable[string](&s.db, "texts", cow.Options[string]{Codec: raw{}})
	var err error
	s.replica, err = etcd.Open(t.Context(), client, prefix, &s.db, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

func TestWhatIsTooLarge(t *testing.T) {
	c := start(t, cluster.Options{})
	s := openTexts(t, client(t, c), "texts", quick)
	keys := func(n int) map[string]string {
		all := make(map[string]string)
		for i := range n {
			all[fmt.Sprint(i)] = "x"
		}
		return all
	}
	set := func(all map[string]string) error {
		return s.db.Update(func(tx *cow.Tx) error {
			for k, v := range all {
				s.table.Edit(tx).Set(k, v)
			}
			return nil
		})
	}
	require.NoError(t, set(keys(126)), "etcd takes 128 operations")
	before := changes(t, direct(t, c), "texts/head")
	for _, err := range []error{
		set(map[string]string{"large": strings.Repeat("x", 3<<19)}),
		func() error { _, err := s.table.Set("key", strings.Repeat("x", 2<<20)); return err }(),
		func() error { // 127 rows
			all := keys(126)
			for k := range all {
				all[k] = "y"
			}
			all["one more"] = "y"
			return set(all)
		}(),
	} {
		require.ErrorIs(t, err, etcd.ErrTooLarge)
		require.ErrorContains(t, err, "Options.Max")
	}
	require.Equal(t, before, changes(t, direct(t, c), "texts/head"), "nothing was sent")
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for k := range keys(126) {
			s.table.Edit(tx).Delete(k)
		}
		return nil
	}))

	// What is taken, etcd takes: the largest value, found by halving.
	least, most := 3<<19-1<<14, 3<<19
	if *long {
		least = 1 << 20
	}
	for most-least > 1 {
		n := (least + most) / 2
		_, err := s.table.Set("k", strings.Repeat("x", n))
		if err == nil {
			least = n
		} else {
			require.ErrorIs(t, err, etcd.ErrTooLarge)
			require.NotErrorIs(t, err, rpctypes.ErrRequestTooLarge)
			most = n
		}
	}
	require.Greater(t, least, 3<<19-2048, "and not much less")

	// So it does where there are many small rows, and where they are removed.
	for _, size := range []int{1, 11_000} {
		many := keys(120)
		for k := range many {
			many[k] = strings.Repeat("y", size)
		}
		require.NoError(t, set(many))
	}
	long := make(map[string]string)
	for i := range 100 {
		long[fmt.Sprint(i, strings.Repeat("k", 7000))] = ""
	}
	require.NoError(t, set(long))
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for k := range long {
			s.table.Edit(tx).Delete(k)
		}
		return nil
	}))

	t.Run("more than etcd's flags say", func(t *testing.T) {
		wrong := quick
		wrong.MaxOps, wrong.MaxBytes = 1000, 1<<30
		s := openTexts(t, client(t, c), "texts", wrong)
		err := s.db.Update(func(tx *cow.Tx) error {
			for i := range 200 {
				s.table.Edit(tx).Set(fmt.Sprint("w", i), "x")
			}
			return nil
		})
		require.ErrorIs(t, err, etcd.ErrTooLarge)
		require.ErrorIs(t, err, rpctypes.ErrTooManyOps)
		_, err = s.table.Set("w", "fits")
		require.NoError(t, err)
	})
}

func TestGroups(t *testing.T) {
	c := start(t, cluster.Options{})
	etcd := direct(t, c)
	s, follower := openTexts(t, client(t, c), "texts", quick), openTexts(t, etcd, "texts", quick)
	follower.db.Retain(cow.Retention{Versions: 1000})
	_, err := s.table.Set("before", "x") // with the receipt that the first group needs
	require.NoError(t, err)
	// begin begins updates while the first is on its way, and returns how many
	// transactions there were.
	begin := func(t *testing.T, n int, key func(i int) string) int64 {
		before := changes(t, etcd, "texts/head")
		c.Members[0].Proxy.Mute()
		defer c.Members[0].Proxy.Mend()
		results := make(chan error, n+1)
		go func() { _, err := s.table.Set("first", fmt.Sprint(before)); results <- err }()
		waitFor(t, func() bool { return changes(t, etcd, "texts/head") == before+1 })
		for i := range n {
			queued := make(chan struct{})
			go func() {
				results <- s.db.Update(func(tx *cow.Tx) error {
					defer close(queued)
					v, _ := s.table.Edit(tx).Get(key(i))
					s.table.Edit(tx).Set(key(i), v+"x")
					return nil
				})
			}()
			<-queued
		}
		time.Sleep(10 * time.Millisecond) // for the last to be queued
		c.Members[0].Proxy.Mend()
		for range n + 1 {
			require.NoError(t, <-results)
		}
		return changes(t, etcd, "texts/head") - before - 1
	}
	t.Run("distinct keys", func(t *testing.T) {
		require.Equal(t, int64(1), begin(t, 100, func(i int) string { return fmt.Sprint("k", i) }))
	})
	t.Run("more than etcd takes at once", func(t *testing.T) {
		require.Equal(t, int64(3), begin(t, 2*126+1, func(i int) string { return fmt.Sprint("m", i) }))
	})
	t.Run("one key", func(t *testing.T) {
		require.Equal(t, int64(7), begin(t, 7, func(int) string { return "hot" }))
		v, _ := s.table.Get("hot")
		require.Equal(t, "xxxxxxx", v)
	})
	t.Run("one key among others", func(t *testing.T) {
		require.Equal(t, int64(2), begin(t, 6, func(i int) string { return fmt.Sprint("o", i%3) }))
	})
	// Whoever follows sees the versions one by one.
	is, err := follower.replica.Fresh(t.Context())
	require.NoError(t, err)
	for v := uint64(1); v < is.Version(); v++ {
		older, err := follower.db.At(v)
		require.NoError(t, err)
		newer, err := follower.db.At(v + 1)
		require.NoError(t, err)
		n := 0
		for range follower.table.In(newer).Diff(follower.table.In(older)) {
			n++
		}
		require.Equal(t, 1, n, "version %d", v+1)
	}
}

func TestContention(t *testing.T) {
	c := start(t, cluster.Options{})
	rival := openTexts(t, direct(t, c), "texts", quick)
	once := quick
	once.Attempts = 3
	s := openTexts(t, client(t, c), "texts", once)
	runs := 0
	err := s.db.Update(func(tx *cow.Tx) error {
		runs++
		_, err := rival.table.Set("rival", fmt.Sprint(runs))
		s.table.Edit(tx).Set("k", "v")
		return err
	})
	require.ErrorIs(t, err, etcd.ErrContended)
	require.Equal(t, 3, runs)
	require.False(t, rival.table.Has("k"))
	_, err = s.table.Set("k", "v")
	require.NoError(t, err)
}

// An update that fails was judged on what its replica had, unless it is to be
// linearizable.
func TestLinearizable(t *testing.T) {
	c := start(t, cluster.Options{})
	other := openTexts(t, direct(t, c), "texts", quick)
	linear := quick
	linear.Linearizable = true
	late := openTexts(t, client(t, c), "texts", quick)
	s := openTexts(t, client(t, c), "texts", linear)
	for i := range 5 {
		key := fmt.Sprint("k", i)
		_, err := other.table.Set(key, "v")
		require.NoError(t, err)
		_, err = late.replica.Fresh(t.Context())
		require.NoError(t, err)
		_, err = s.replica.Fresh(t.Context())
		require.NoError(t, err)

		c.Members[0].Proxy.Delay(100 * time.Millisecond)
		other.table.Delete(key)
		_, err = late.table.Insert(key, "late")
		require.ErrorIs(t, err, cow.ErrExists, "its replica has it still")
		_, err = s.table.Insert(key, "again")
		require.NoError(t, err)
		c.Members[0].Proxy.Mend()
	}
}

func TestNoSpace(t *testing.T) {
	c := start(t, cluster.Options{Quota: 16 << 20})
	s := openTexts(t, client(t, c), "texts", quick)
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		_, err = s.table.Set("k", strings.Repeat(fmt.Sprint(n%10), 1<<20))
	}
	require.ErrorIs(t, err, rpctypes.ErrNoSpace)
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	v, _ := s.table.Get("k")
	require.Equal(t, fmt.Sprint((n-2)%10), v[:1], "what was refused did not happen")
	require.True(t, s.replica.Status().Connected, "and the replica follows")
	require.ErrorIs(t, s.replica.Status().Err, rpctypes.ErrNoSpace)
	for range 10 { // with the alarm on, etcd takes what only removes: an update is called off at once
		_, err = s.table.Set("k", "small")
		require.ErrorIs(t, err, rpctypes.ErrNoSpace)
		require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
	}

	etcd := direct(t, c)
	compact(t, etcd)
	_, err = etcd.Defragment(t.Context(), etcd.Endpoints()[0])
	require.NoError(t, err)
	_, err = etcd.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	require.NoError(t, err)
	waitFor(t, func() bool { _, err := s.table.Set("k", "small"); return err == nil })
	_, err = s.replica.Fresh(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.replica.Status().Err)
}

// A user that may only read makes a replica that only reads.
func TestUsers(t *testing.T) {
	c := start(t, cluster.Options{})
	admin := direct(t, c)
	ctx := t.Context()
	_, err := admin.RoleAdd(ctx, "reader")
	require.NoError(t, err)
	_, err = admin.RoleGrantPermission(ctx, "reader", "texts/", clientv3.GetPrefixRangeEnd("texts/"), clientv3.PermissionType(clientv3.PermRead))
	require.NoError(t, err)
	_, err = admin.RoleAdd(ctx, "writer")
	require.NoError(t, err)
	_, err = admin.RoleGrantPermission(ctx, "writer", "texts/", clientv3.GetPrefixRangeEnd("texts/"), clientv3.PermissionType(clientv3.PermReadWrite))
	require.NoError(t, err)
	_, err = admin.RoleAdd(ctx, "root")
	require.NoError(t, err)
	for user, role := range map[string]string{"root": "root", "reader": "reader", "writer": "writer", "nobody": ""} {
		_, err = admin.UserAdd(ctx, user, "secret")
		require.NoError(t, err)
		if role != "" {
			_, err = admin.UserGrantRole(ctx, user, role)
			require.NoError(t, err)
		}
	}
	_, err = admin.AuthEnable(ctx)
	require.NoError(t, err)
	as := func(user string) *clientv3.Client {
		is, err := clientv3.New(clientv3.Config{Endpoints: []string{c.Members[0].Proxy.Endpoint()}, Username: user, Password: "secret", Logger: zap.NewNop()})
		require.NoError(t, err)
		t.Cleanup(func() { _ = is.Close() })
		return is
	}
	for _, user := range []string{"reader", "nobody"} { // there is no store, and they may not begin one
		var db cow.DB
		_, err = etcd.Open(ctx, as(user), "texts", &db, quick)
		require.ErrorIs(t, err, rpctypes.ErrPermissionDenied)
	}
	writer := openTexts(t, as("writer"), "texts", quick)
	_, err = writer.table.Set("k", "v")
	require.NoError(t, err)
	reader := openTexts(t, as("reader"), "texts", quick)
	_, err = reader.replica.Fresh(ctx)
	require.NoError(t, err)
	require.True(t, reader.table.Has("k"))
	_, err = reader.table.Set("k", "w")
	require.ErrorIs(t, err, rpctypes.ErrPermissionDenied)
	_, err = writer.table.Set("k", "x")
	require.NoError(t, err)
	_, err = reader.replica.Fresh(context.Background())
	require.NoError(t, err)
	v, _ := reader.table.Get("k")
	require.Equal(t, "x", v)

	// Who may no longer write cannot call off what it has sent, and sends nothing more.
	admin = as("root")
	_, err = admin.RoleRevokePermission(ctx, "writer", "texts/", clientv3.GetPrefixRangeEnd("texts/"))
	require.NoError(t, err)
	_, err = admin.RoleGrantPermission(ctx, "writer", "texts/", clientv3.GetPrefixRangeEnd("texts/"), clientv3.PermissionType(clientv3.PermRead))
	require.NoError(t, err)
	_, err = writer.table.Set("k", "y")
	require.ErrorIs(t, err, rpctypes.ErrPermissionDenied)
	require.ErrorIs(t, err, cow.ErrUnknownOutcome)
	_, err = writer.table.Set("k", "y")
	require.ErrorIs(t, err, rpctypes.ErrPermissionDenied)
	require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
}
