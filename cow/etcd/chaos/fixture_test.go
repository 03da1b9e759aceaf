package chaos_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
	"github.com/cowstore/cowstore/memory"
)

// What etcd had under a prefix, and what a replica of it showed, was written to this file by
// this test at that commit: a store of format 1, without a schema, whose replica was killed. It
// must open, and go on.
const fixture = "testdata/0939e04.json.gz"

var writeFixture = flag.Bool("write-0939e04", false, "write "+fixture+", at that commit")

type stored struct {
	Keys [][2][]byte // after the prefix, and values
	Show string
}

// An album is a DB with tables of many kinds of keys, and a memory.
type album struct {
	db    cow.DB
	steps []func(tx *cow.Tx, n int)
	shows []func(s *cow.Snapshot) []string
	m     *memory.Memory
}

func addTable[K comparable, V any](a *album, name string, codec cow.Codec[V], key func(n int) K, value func(n int) V) {
	t := cow.NewTable[K](&a.db, name, cow.Options[V]{Codec: codec})
	a.steps = append(a.steps, func(tx *cow.Tx, n int) {
		e := t.Edit(tx)
		e.Set(key(n%5), value(n))
		if n%3 == 2 {
			e.Delete(key((n + 3) % 5))
		}
	})
	a.shows = append(a.shows, func(s *cow.Snapshot) (lines []string) {
		m := t.In(s)
		for k, v := range m.All() {
			text, _ := json.Marshal(v)
			lines = append(lines, fmt.Sprintf("%s %#v = %s @%d", name, k, text, m.Revision(k)))
		}
		slices.Sort(lines)
		return lines
	})
}

type point struct{ X, Y int }

type note struct {
	Title string `json:"title,omitempty"`
	By    *point
	Meta  map[string]any
}

func newAlbum() *album {
	a := new(album)
	a.m = memory.On(&a.db, memory.Options{})
	number := cow.Versioned[int]{}
	self := func(n int) int { return n }
	addTable(a, "int", number, func(n int) int { return n - 2 }, self)
	addTable(a, "a/string", number, func(n int) string { return strings.Repeat("k/\x00", n) }, self)
	addTable(a, "float64", number, func(n int) float64 { return float64(n)/2 - 1 }, self)
	addTable(a, "[3]byte", number, func(n int) [3]byte { return [3]byte{byte(n)} }, self)
	addTable(a, "struct", cow.Versioned[note]{Version: 2}, func(n int) point { return point{n, -n} }, func(n int) note {
		return note{fmt.Sprint(n), &point{n, n}, map[string]any{"n": n}}
	})
	return a
}

func (a *album) step(t testing.TB, n int) {
	require.NoError(t, a.db.Update(func(tx *cow.Tx) error {
		for _, step := range a.steps {
			step(tx, n)
		}
		return a.m.BatchIn(tx, func(b *memory.Batch) error {
			return b.Space("notes").PutItem(fmt.Sprint(n%5), memory.Item{Value: fmt.Sprint("a note of horse ", n), Vector: []float32{1, float32(n)}})
		})
	}))
}

func (a *album) show(t testing.TB) string {
	var b strings.Builder
	s := a.db.Load()
	fmt.Fprintln(&b, a.db.Cursor(s.Version()))
	for _, show := range a.shows {
		fmt.Fprintln(&b, strings.Join(show(s), "\n"))
	}
	require.NoError(t, a.m.Load().Export(&b))
	words, err := a.m.Space("notes").Search(memory.Query{Text: "horses", K: 5})
	require.NoError(t, err)
	for _, h := range words {
		fmt.Fprintln(&b, h.Key, h.Value, h.Revision) // the score is not the store's
	}
	return b.String()
}

// refill puts what is stored in the fixture under a prefix.
func refill(t testing.TB, client *clientv3.Client, prefix string) stored {
	f, err := os.Open(fixture)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	var is stored
	require.NoError(t, json.Unmarshal(b, &is))
	for _, kv := range is.Keys {
		_, err := client.Put(t.Context(), prefix+"/"+string(kv[0]), string(kv[1]))
		require.NoError(t, err)
	}
	return is
}

func TestTheStoreOf0939e04(t *testing.T) {
	c := start(t, cluster.Options{})
	client := client(t, c)
	open := func() *album {
		a := newAlbum()
		_, err := etcd.Open(t.Context(), client, "album", &a.db, quick)
		require.NoError(t, err)
		t.Cleanup(func() { _ = a.db.Close() })
		return a
	}
	const steps = 14
	if *writeFixture {
		a := open()
		for n := range steps {
			a.step(t, n)
		}
		all, err := client.Get(t.Context(), "album/", clientv3.WithPrefix())
		require.NoError(t, err)
		is := stored{Show: a.show(t)}
		for _, kv := range all.Kvs {
			is.Keys = append(is.Keys, [2][]byte{bytes.TrimPrefix(kv.Key, []byte("album/")), kv.Value})
		}
		b, err := json.Marshal(is)
		require.NoError(t, err)
		var to bytes.Buffer
		z, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
		require.NoError(t, err)
		_, err = z.Write(b)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(fixture, to.Bytes(), 0o644))
		return
	}
	want := refill(t, client, "album").Show
	for n := range 3 {
		a, b := open(), open()
		require.Equal(t, want, a.show(t))
		require.Equal(t, want, b.show(t))
		a.step(t, n)
		want = a.show(t)
		require.Eventually(t, func() bool { return b.db.Load().Version() == a.db.Load().Version() }, time.Minute, time.Millisecond)
		require.Equal(t, want, b.show(t))
		require.NoError(t, a.db.Close())
		require.NoError(t, b.db.Close())
	}
}
