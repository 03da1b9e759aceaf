package etcd

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// replica returns one that is not connected to anything, at version 6.
func replica(o Options) *Replica {
	r := &Replica{prefix: "p/", name: "me", o: o.withDefaults(), ctx: context.Background()}
	for i, name := range []string{"a", "b"} {
		r.tables = append(r.tables, tableDir(name))
		if r.byDir == nil {
			r.byDir = map[string]int{}
		}
		r.byDir[tableDir(name)] = i
	}
	r.known.at = position{head: head{lineage: "L", version: 6}, raw: "raw", revision: 10}
	return r
}

// ending returns such a replica that can end.
func ending(t *testing.T) *Replica {
	r := replica(Options{})
	r.ctx, r.end = context.WithCancelCause(t.Context())
	return r
}

// propose proposes commits of these rows, each the next version.
func (r *Replica) propose(t *testing.T, commits ...[]sink.Row) {
	t.Helper()
	for i, rows := range commits {
		version := 7 + uint64(i)
		for j := range rows {
			rows[j].Revision = version
		}
		require.NoError(t, replicaSink{r}.Propose(&sink.Commit{Lineage: "L", Version: version, Time: time.Unix(0, int64(100+i)), Rows: rows}))
	}
}

func set(table int, key, value string) sink.Row {
	return sink.Row{Table: table, Key: []byte(key), Value: []byte(value)}
}

func removed(table int, key string) sink.Row {
	return sink.Row{Table: table, Key: []byte(key), Removed: true}
}

// events returns what a watch tells of a group.
func (g *group) events(revision int64) (all []*clientv3.Event) {
	for _, op := range g.put {
		e := &clientv3.Event{Kv: newKV(string(op.KeyBytes()), op.ValueBytes(), revision)}
		if op.IsDelete() {
			e.Type = clientv3.EventTypeDelete
		}
		all = append(all, e)
	}
	return all
}

func TestARevisionIsWholeOrNothing(t *testing.T) {
	r := replica(Options{})
	r.propose(t,
		[]sink.Row{set(0, "x", "1"), set(1, "x", "2"), removed(0, "gone")},
		[]sink.Row{removed(1, "gone")},
		[]sink.Row{},
		[]sink.Row{set(0, "y", "")})
	g := r.group(r.now(), 1)
	require.Len(t, g.commits, 4)
	events := g.events(11)

	is, ok, err := r.decodeRevision(events, 5)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, head{lineage: "L", version: 10, at: 103, writer: "me", group: 1}, is.head)
	require.Equal(t, int64(11), is.revision)
	require.Len(t, is.commits, 4)
	for i, c := range is.commits {
		require.Equal(t, g.commits[i].Version, c.Version)
		require.True(t, g.commits[i].Time.Equal(c.Time))
		require.ElementsMatch(t, rowsOf(g.commits[i].Rows), rowsOf(c.Rows))
	}

	// Any part of it is not taken for anything.
	for part := range 1<<len(events) - 1 {
		var some []*clientv3.Event
		for i, e := range events {
			if part&(1<<i) != 0 {
				some = append(some, e)
			}
		}
		is, ok, err := r.decodeRevision(some, 5)
		if ok || err == nil && slices.ContainsFunc(some, func(e *clientv3.Event) bool { return string(e.Kv.Key) != "p/writers/me" }) {
			t.Fatalf("events %b: %v", part, is)
		}
	}
}

// A row without the nil and empty of its bytes.
type plain struct {
	table      int
	key, value string
	removed    bool
	revision   uint64
}

func rowsOf(rows []sink.Row) (all []plain) {
	for _, r := range rows {
		all = append(all, plain{r.Table, string(r.Key), string(r.Value), r.Removed, r.Revision})
	}
	return all
}

func TestGroupsEnd(t *testing.T) {
	for _, is := range []struct {
		name    string
		o       Options
		commits [][]sink.Row
		want    int
	}{
		{"all fit", Options{}, [][]sink.Row{{set(0, "a", "")}, {set(0, "b", "")}, {set(1, "a", "")}}, 3},
		{"a key twice", Options{}, [][]sink.Row{{set(0, "a", "")}, {set(0, "b", ""), set(0, "a", "")}, {set(0, "c", "")}}, 1},
		{"a key removed and set", Options{}, [][]sink.Row{{removed(0, "a")}, {set(0, "a", "")}}, 1},
		{"a key set and removed", Options{}, [][]sink.Row{{set(0, "a", "")}, {removed(0, "a")}}, 1},
		{"a key removed twice", Options{}, [][]sink.Row{{removed(0, "a")}, {removed(0, "a")}}, 1},
		{"operations", Options{MaxOps: 5}, [][]sink.Row{{set(0, "a", "")}, {set(0, "b", "")}, {set(0, "c", "")}, {set(0, "d", "")}}, 3},
		{"bytes", Options{MaxBytes: 4096}, [][]sink.Row{{set(0, "a", string(make([]byte, 1500)))}, {set(0, "b", string(make([]byte, 1500)))}, {set(0, "c", string(make([]byte, 1500)))}}, 2},
	} {
		r := replica(is.o)
		r.propose(t, is.commits...)
		g := r.group(r.now(), 1)
		require.Len(t, g.commits, is.want, is.name)
		keys := map[string]bool{}
		for _, op := range g.put {
			require.False(t, keys[string(op.KeyBytes())], is.name)
			keys[string(op.KeyBytes())] = true
		}
	}
}

// A transaction is not larger than a group was reckoned to be.
func TestSize(t *testing.T) {
	r := replica(Options{})
	var commits [][]sink.Row
	for i := range 60 {
		key := string(make([]byte, i*7)) + string(rune('a'+i))
		commits = append(commits, []sink.Row{set(i%2, key, string(make([]byte, i*50))), removed(i%2, key+"-")})
	}
	r.propose(t, commits...)
	g := r.group(r.now(), 1)
	require.Len(t, g.commits, 60)
	reckoned := r.groupSize()
	for _, c := range g.commits {
		reckoned += r.size(c)
	}
	require.LessOrEqual(t, encodedSize(g, r), reckoned)
	require.Greater(t, encodedSize(g, r), reckoned*3/4)
}
