package etcd

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

var writeFixture = flag.Bool("write-0939e04", false, "write testdata/0939e04.json, at that commit")

// A fixture is what a replica has left in etcd, and what it held.
type fixture struct {
	Revision int64
	Keys     []*mvccpb.KeyValue
	Held     string
}

const fixturePath = "testdata/0939e04.json"

// A member is a replica with a memory and a table.
type member struct {
	db    cow.DB
	m     *memory.Memory
	turns *cow.Table[string, int]
}

func join(t *testing.T, client *clientv3.Client) *member {
	is := new(member)
	is.m = memory.On(&is.db, memory.Options{})
	is.turns = cow.NewTable[string](&is.db, "turns", cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err := Open(t.Context(), client, "p", &is.db, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = is.db.Close() })
	return is
}

func (is *member) step(t *testing.T, n int) {
	require.NoError(t, is.db.Update(func(tx *cow.Tx) error {
		if err := is.turns.Edit(tx).Upsert("ada", func(v *int, _ bool) error { *v++; return nil }); err != nil {
			return err
		}
		return is.m.BatchIn(tx, func(b *memory.Batch) error {
			if n%4 == 3 {
				b.Space("notes", "x").Delete(fmt.Sprint(n - 2))
				return nil
			}
			return b.Space("notes", "x").PutItem(fmt.Sprint(n), memory.Item{
				Value:    map[string]any{"text": fmt.Sprintf("note %d of a horse", n), "n": n},
				Vector:   []float32{float32(n), 2, 3},
				Metadata: map[string]any{"even": n%2 == 0},
			})
		})
	}))
}

// show tells what a member holds, and at which version.
func (is *member) show(t *testing.T) string {
	var b strings.Builder
	s := is.m.Load()
	fmt.Fprintln(&b, "version", s.Version())
	require.NoError(t, s.Export(&b))
	for k, v := range is.turns.All() {
		fmt.Fprintln(&b, k, v, is.turns.Load().Revision(k))
	}
	return b.String()
}

// What a replica of commit 0939e04 has left in etcd is opened with all that it held, and goes on;
// another replica gets both. The file was written by this test at that commit.
func TestTheReplicaOf0939e04(t *testing.T) {
	f, client := newFake(t)
	if *writeFixture {
		is := join(t, client)
		for n := range 20 {
			is.step(t, n)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b, err := json.MarshalIndent(fixture{f.revision, f.in([]byte{0}, []byte{255}, f.revision), is.show(t)}, "", "\t")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(fixturePath, append(b, '\n'), 0o666))
		return
	}
	b, err := os.ReadFile(fixturePath)
	require.NoError(t, err)
	var of fixture
	require.NoError(t, json.Unmarshal(b, &of))
	f.revision = of.Revision
	for _, kv := range of.Keys {
		f.events = append(f.events, &mvccpb.Event{Type: mvccpb.Event_PUT, Kv: kv})
	}

	is := join(t, client)
	require.Equal(t, of.Held, is.show(t))
	hits, err := is.m.Space("notes", "x").Search(memory.Query{Text: "horses", Vector: []float32{1, 2, 3}, K: 20})
	require.NoError(t, err)
	require.Len(t, hits, 10)
	is.step(t, 20)
	require.Equal(t, is.show(t), join(t, client).show(t))
}
