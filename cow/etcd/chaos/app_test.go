package chaos_test

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
	"github.com/cowstore/cowstore/memory"
)

// A Memory beside a table of an application, on two replicas.
func TestAMemoryIsShared(t *testing.T) {
	c := start(t, cluster.Options{})
	open := func() (*cow.DB, *memory.Memory, *etcd.Replica) {
		db := new(cow.DB)
		m := memory.On(db, memory.Options{})
		r, err := etcd.Open(t.Context(), client(t, c), "agent", db, quick)
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db, m, r
	}
	search := func(m *memory.Memory) (keys []string) {
		notes := m.Space("notes")
		near, err := notes.Search(memory.Query{Vector: []float32{1, 2, 3}, K: 5})
		require.NoError(t, err)
		words, err := notes.Search(memory.Query{Text: "horses", K: 5})
		require.NoError(t, err)
		for _, h := range append(near, words...) {
			keys = append(keys, fmt.Sprint(h.Key, h.Score, h.Value, h.Revision))
		}
		return keys
	}
	_, m, _ := open()
	_, follower, r := open()
	for i := range 50 {
		_, err := m.Space("notes").PutItem(fmt.Sprint(i), memory.Item{
			Value:  fmt.Sprintf("note %d of a horse", i),
			Vector: []float32{float32(i), 2, 3},
		})
		require.NoError(t, err)
	}
	_, err := r.Fresh(t.Context())
	require.NoError(t, err)
	_, late, _ := open()
	want := search(m)
	require.Len(t, want, 10)
	require.Equal(t, want, search(follower))
	require.Equal(t, want, search(late))
}

// A feed that one replica began goes on at another.
func TestCursors(t *testing.T) {
	c := start(t, cluster.Options{})
	a, b := open(t, client(t, c), "bank", quick), open(t, client(t, c), "bank", quick)
	var cursor string
	for n := range 20 {
		require.NoError(t, []*bank{a, b}[n%2].move(t.Context(), "w", n+1, n, n, n))
		if n == 4 {
			cursor = a.db.Cursor(a.db.Load().Version())
		}
		_, err := []*bank{a, b}[(n+1)%2].replica.Fresh(t.Context())
		require.NoError(t, err)
	}
	at := uint64(5)
	for commit, err := range b.db.Resume(t.Context(), cursor) {
		require.NoError(t, err)
		at++
		require.Equal(t, at, commit.Version())
		other, err := a.db.At(at)
		require.NoError(t, err)
		here, err := b.db.At(at)
		require.NoError(t, err)
		require.Equal(t, a.at(other), b.at(here))
		if at == 20 {
			break
		}
	}
}

// What changes many rows at once is refused, or fits.
func TestVerbsOfManyRows(t *testing.T) {
	c := start(t, cluster.Options{})
	s := openTexts(t, client(t, c), "texts", quick)
	many := func(n int) map[string]string {
		all := make(map[string]string)
		for i := range n {
			all[fmt.Sprint(i)] = "x"
		}
		return all
	}
	replace := func(n int) error { return s.table.Replace(maps.All(many(n))) }
	require.ErrorIs(t, replace(1000), etcd.ErrTooLarge)
	require.NoError(t, replace(100))
	require.NoError(t, replace(50))
	require.Equal(t, 50, s.table.Len())
	for i := range 5 {
		require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
			for j := range 100 {
				s.table.Edit(tx).Set(fmt.Sprint("n", i, ".", j), "y")
			}
			return nil
		}))
	}
	clear := func() error { return s.db.Update(func(tx *cow.Tx) error { s.table.Edit(tx).Clear(); return nil }) }
	require.ErrorIs(t, clear(), etcd.ErrTooLarge)
	require.Equal(t, 550, s.table.Len())
}

// Programs of two versions run side by side while a type changes.
func TestTwoPrograms(t *testing.T) {
	c := start(t, cluster.Options{})
	type program struct {
		db    cow.DB
		table *cow.Table[string, int]
		r     *etcd.Replica
	}
	run := func(codec cow.Codec[int]) (*program, error) {
		p := new(program)
		p.table = cow.NewTable[string](&p.db, "numbers", cow.Options[int]{Codec: codec})
		var err error
		p.r, err = etcd.Open(t.Context(), client(t, c), "numbers", &p.db, quick)
		t.Cleanup(func() { _ = p.db.Close() })
		return p, err
	}
	other := func(version byte, b []byte) (int, error) {
		switch version {
		case 0:
			return cow.Versioned[int]{}.Decode(append([]byte{0}, b...))
		case 1:
			n, err := strconv.ParseInt(string(b), 16, 64)
			return int(n), err
		}
		return 0, errors.New("unknown")
	}
	first, err := run(cow.Versioned[int]{})
	require.NoError(t, err)
	both, err := run(cow.Versioned[int]{Other: other, Newest: 1}) // brought out next
	require.NoError(t, err)
	_, err = first.table.Set("first", 100)
	require.NoError(t, err)
	_, err = both.table.Set("both", 200)
	require.NoError(t, err)
	_, err = first.r.Fresh(t.Context())
	require.NoError(t, err)
	require.NoError(t, first.db.Close())

	second, err := run(cow.Versioned[int]{Of: hex{}, Version: 1, Other: other})
	require.NoError(t, err)
	_, err = second.table.Set("second", 300)
	require.NoError(t, err)
	want := map[string]int{"first": 100, "both": 200, "second": 300}
	for _, p := range []*program{both, second} {
		_, err = p.r.Fresh(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, maps.Collect(p.table.All()))
	}
	_, err = run(cow.Versioned[int]{}) // too old
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, "version 1, now version 0")
	_, err = second.table.Set("first", 101)
	require.NoError(t, err)
	is, err := client(t, c).Get(t.Context(), "numbers/rows/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	require.NoError(t, err)
	require.Equal(t, int64(3), is.Count)
}

type hex struct{}

func (hex) Append(b []byte, v int) ([]byte, error) { return strconv.AppendInt(b, int64(v), 16), nil }
func (hex) Decode(b []byte) (int, error) {
	n, err := strconv.ParseInt(string(b), 16, 64)
	return int(n), err
}

// What one replica erases is gone from the past of all, when they have the version.
func TestErasedOnReplicas(t *testing.T) {
	c := start(t, cluster.Options{})
	type replica struct {
		db *cow.DB
		m  *memory.Memory
		r  *etcd.Replica
	}
	open := func() (x replica) {
		x.db = new(cow.DB)
		x.m = memory.On(x.db, memory.Options{})
		x.db.Retain(cow.Retention{Versions: 1000})
		var err error
		x.r, err = etcd.Open(t.Context(), client(t, c), "agent", x.db, quick)
		require.NoError(t, err)
		t.Cleanup(func() { _ = x.db.Close() })
		return x
	}
	a, b := open(), open()
	for i := range 40 {
		x := []replica{a, b}[i/20]
		key := []string{"secret", "other"}[i%2]
		_, err := x.m.Space("notes").PutItem(key, memory.Item{Value: fmt.Sprint(key, " words ", i), Vector: []float32{float32(i), 1}})
		require.NoError(t, err)
		if i == 30 {
			require.NoError(t, b.db.Pin("p", b.db.Load().Version()))
		}
	}
	_, err := b.m.Space("notes").Delete("secret")
	require.NoError(t, err)
	// It is there in the past alone: etcd has nothing to delete.
	_, err = a.r.Fresh(t.Context())
	require.NoError(t, err)
	for range 2 {
		others, err := a.m.Space("notes").Erase(t.Context(), "secret")
		require.NoError(t, err)
		require.Empty(t, others)
		_, err = b.r.Fresh(t.Context())
		require.NoError(t, err)
		require.Equal(t, a.db.Load().Version(), b.db.Load().Version())
		for _, x := range []replica{a, b} {
			n := 0
			for v := range x.db.Versions() {
				at, err := x.m.At(v)
				require.NoError(t, err)
				_, ok := at.Space("notes").Entry("secret")
				require.False(t, ok, "version %d", v)
				hits, err := at.Space("notes").Search(memory.Query{Text: "secret", Vector: []float32{1, 1}})
				require.NoError(t, err)
				n += len(hits)
			}
			require.Positive(t, n, "the other is found")
			for change, err := range x.m.Since(0) {
				require.NoError(t, err)
				if change.Key == "secret" {
					require.Equal(t, memory.Erased, change.Kind)
				}
			}
		}
		for _, at := range b.db.Pins() {
			require.Equal(t, 1, b.m.In(at).Len())
		}
		// And again, where etcd has it.
		_, err = b.m.Space("notes").Put("secret", "again")
		require.NoError(t, err)
		_, err = a.r.Fresh(t.Context())
		require.NoError(t, err)
	}
	late := open()
	_, ok := late.m.Space("notes").Get("secret")
	require.True(t, ok)
	// Erased and set in one update.
	_, err = late.db.Erase(t.Context(), func(tx *cow.Tx) error {
		return late.m.BatchIn(tx, func(batch *memory.Batch) error {
			batch.Space("notes").Erase("secret")
			return batch.Space("notes").Put("secret", "new")
		})
	})
	require.NoError(t, err)
	_, err = b.r.Fresh(t.Context())
	require.NoError(t, err)
	v, ok := b.m.Space("notes").Get("secret")
	require.True(t, ok)
	require.Equal(t, "new", v.String())
	before, err := b.m.At(b.db.Load().Version() - 1)
	require.NoError(t, err)
	require.False(t, before.Space("notes").Contains("secret"))
}
