package chaos_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// A kept is a replica with one table.
type kept[K comparable, V any] struct {
	db    cow.DB
	table *cow.Table[K, V]
	*etcd.Replica
}

func keep[K comparable, V any](t testing.TB, client *clientv3.Client, prefix, table string, o cow.Options[V]) (*kept[K, V], error) {
	k := new(kept[K, V])
	k.table = cow.NewTable[K](&k.db, table, o)
	var err error
	k.Replica, err = etcd.Open(t.Context(), client, prefix, &k.db, quick)
	t.Cleanup(func() { _ = k.db.Close() })
	return k, err
}

func ofJSON[V any]() cow.Options[V] { return cow.Options[V]{Codec: cow.Versioned[V]{}} }

// A replica whose tables are others is refused when it opens. One that runs stops to write before it
// sees what it has no place for, unless its codec reads it.
func TestSchemasOfReplicas(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	type rec struct{ Name string }
	type more struct{ Name, Note string }
	ada, err := keep[string](t, client, "recs", "t", ofJSON[*rec]())
	require.NoError(t, err)
	_, err = ada.table.Set("ada", &rec{"Ada"})
	require.NoError(t, err)
	for name, err := range map[string]error{
		"key: string, now int64": func() error { _, err := keep[int](t, client, "recs", "t", ofJSON[int]()); return err }(),
		"value*.Name: string, now gone": func() error {
			_, err := keep[string](t, client, "recs", "t", ofJSON[*struct{ Title string }]())
			return err
		}(),
		`["t"]`: func() error { _, err := keep[string](t, client, "recs", "u", ofJSON[*rec]()); return err }(),
		"version 0, now version 1": func() error {
			_, err := keep[string](t, client, "recs", "t", cow.Options[*rec]{Codec: cow.Versioned[*rec]{Version: 1}})
			return err
		}(),
	} {
		require.ErrorIs(t, err, cow.ErrSchema)
		require.ErrorContains(t, err, name)
	}
	_, err = ada.table.Set("bob", &rec{"Bob"}) // it has not noticed
	require.NoError(t, err)

	other, err := keep[string](t, client, "recs", "t", ofJSON[*more]())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return errors.Is(ada.Status().Err, cow.ErrSchema) }, time.Minute, time.Millisecond)
	_, err = other.table.Modify("ada", func(m **more) error { (*m).Note = "x"; return nil })
	require.NoError(t, err)
	_, err = ada.table.Modify("ada", func(r **rec) error { (*r).Name = "Eve"; return nil })
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, "value*.Note: string, now gone")
	is, _ := ada.table.Get("ada")
	require.Equal(t, &rec{"Ada"}, is, "reads go on")
	_, err = keep[string](t, client, "recs", "t", ofJSON[*rec]())
	require.ErrorIs(t, err, cow.ErrSchema)
	accepting := ofJSON[*rec]()
	accepting.Accept = []string{"value*.Note: string, now gone"}
	_, err = keep[string](t, client, "recs", "t", accepting)
	require.NoError(t, err)
	_, err = other.table.Set("bob", &more{"Bob", "y"})
	require.NoError(t, err)
}

// Of replicas that begin a table of one name with other keys, at once, one does.
func TestSchemasRace(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	for round := range 5 {
		prefix := fmt.Sprint("race", round)
		if round > 0 { // a store is there, without the table
			var db cow.DB
			_, err := etcd.Open(t.Context(), client, prefix, &db, quick)
			require.NoError(t, err)
			require.NoError(t, db.Close())
		}
		errs := make([]error, 8)
		together(len(errs), func(i int) {
			if i%2 == 0 {
				_, errs[i] = keep[int](t, client, prefix, "t", ofJSON[int]())
			} else {
				_, errs[i] = keep[string](t, client, prefix, "t", ofJSON[int]())
			}
		})
		for i := range errs {
			if errs[i%2] == nil {
				require.NoError(t, errs[i])
			} else {
				require.ErrorIs(t, errs[i], cow.ErrSchema)
			}
		}
		require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	}
}

// When the first replica of this format has opened a store of 0939e04, those of that commit have no
// turn any more: the head that guards their transactions is gone, and what is there is of a
// format that they refuse. Nothing is changed but that, and the schema.
func TestReplicasOf0939e04Stop(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	refill(t, client, "album")
	get := func(key string) string {
		is, err := client.Get(t.Context(), "album/"+key)
		require.NoError(t, err)
		if len(is.Kvs) == 0 {
			return ""
		}
		return string(is.Kvs[0].Value)
	}
	old := get("head")
	require.Equal(t, byte(1), old[0])

	// A program that cannot decode a row, or has fewer tables, changes nothing.
	_, err := keep[float64](t, client, "album", "a/string", ofJSON[int]())
	require.ErrorIs(t, err, cow.ErrSchema)
	var db cow.DB
	cow.NewTable[float64](&db, "a/string", ofJSON[int]())
	o := quick
	o.KeepUnknown = true
	_, err = etcd.Open(t.Context(), client, "album", &db, o)
	require.ErrorContains(t, err, `table "a/string"`)
	require.Equal(t, old, get("head"))
	require.Empty(t, get("schema"))

	a := newAlbum()
	_, err = etcd.Open(t.Context(), client, "album", &a.db, quick)
	require.NoError(t, err)
	defer a.db.Close()
	now := get("head")
	require.Equal(t, byte(2), now[0])
	require.Equal(t, old[1:len(old)-4], now[1:len(now)-4], "but for its format and checksum it is the same")
	require.NotEmpty(t, get("schema"))
	late, err := client.Txn(t.Context()).If(clientv3.Compare(clientv3.Value("album/head"), "=", old)).
		Then(clientv3.OpPut("album/head", "theirs")).Commit()
	require.NoError(t, err)
	require.False(t, late.Succeeded)
	a.step(t, 1)

	_, err = keep[int](t, client, "album", "a/string", ofJSON[int]())
	require.ErrorIs(t, err, cow.ErrSchema)
}

// What is recorded is verified as rows are.
func TestADamagedSchema(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	for i, damage := range []func(key string) error{
		func(key string) error { _, err := client.Delete(t.Context(), key); return err },
		func(key string) error { _, err := client.Put(t.Context(), key, "x"); return err },
	} {
		prefix := fmt.Sprint("s", i)
		k, err := keep[int](t, client, prefix, "t", ofJSON[int]())
		require.NoError(t, err)
		require.NoError(t, damage(prefix+"/schema"))
		require.Eventually(t, func() bool { return errors.Is(k.Status().Err, etcd.ErrDamaged) }, time.Minute, time.Millisecond)
		_, err = keep[int](t, client, prefix, "t", ofJSON[int]())
		require.ErrorIs(t, err, etcd.ErrDamaged)
	}
}
