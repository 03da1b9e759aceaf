package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, n int) (*cluster, *Informer) {
	t.Helper()
	source, err := newCluster(n)
	require.NoError(t, err)
	in, err := NewInformer()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- in.Run(ctx, source) }()
	t.Cleanup(func() { cancel(); require.ErrorIs(t, <-done, context.Canceled) })
	_, err = in.db.Wait(ctx, 0)
	require.NoError(t, err)
	return source, in
}

// patience is how long something may take that must happen.
const patience = time.Minute

// synced waits until the informer has caught up, and checks that it agrees.
func synced(t *testing.T, source *cluster, in *Informer) {
	t.Helper()
	require.Eventually(t, func() bool {
		v, _ := in.progress.Get("version")
		return v == source.Load().Version()
	}, patience, time.Millisecond)
	require.Equal(t, maps.Collect(source.All()), maps.Collect(in.pods.All()))
}

func TestManyPods(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n = 5_000
	}
	source, in := start(t, n)
	synced(t, source, in)
	require.Equal(t, n/100, OnNode("node-7")(in.ByNode()).Len())
	require.Equal(t, n/10, InNamespace("team-7")(in.ByPhase()).Len())
	require.Equal(t, n/10, InPhase("team-7", "Running")(in.ByPhase()).Len())

	key := Key{"team-7", "pod-7"}
	_, err := source.Modify(key, func(p *Pod) error { p.Phase = "Failed"; return nil })
	require.NoError(t, err)
	_, err = source.Delete(Key{"team-7", "pod-107"})
	require.NoError(t, err)
	synced(t, source, in)
	require.Equal(t, n/100-1, OnNode("node-7")(in.ByNode()).Len())
	i, row, ok := InNamespace("team-7")(in.ByPhase()).First() // Failed comes before Running
	require.True(t, ok)
	require.Equal(t, nsPhase{"team-7", "Failed"}, i)
	require.Equal(t, key, row.Key())
}

func TestPluginsHarmNobody(t *testing.T) {
	source, in := start(t, 100)
	before := in.db.Load()
	want := maps.Collect(source.All())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var plugins sync.WaitGroup
	for i := range 4 {
		plugins.Go(func() {
			n := 0
			_ = Follow(ctx, in, in.byPhase, InNamespace("team-1"), func(c cow.Change[Key, Pod]) {
				p, _ := c.New()
				p.Labels["app"] = fmt.Sprint("spoiled by ", i)
				clear(p.Labels)
				if n++; n == 10 {
					cancel()
				}
			})
		})
		plugins.Go(func() {
			for _, row := range OnNode("node-1")(in.ByNode()).All() {
				row.Value().Labels["spoiled"] = "yes"
			}
		})
	}
	plugins.Wait()
	require.Equal(t, want, maps.Collect(source.All()))
	require.Equal(t, want, maps.Collect(in.pods.All()))
	require.Equal(t, want, maps.Collect(in.pods.In(before).All()))
}

func TestFollowersSeeTheirPart(t *testing.T) {
	source, in := start(t, 300) // three on each node
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var followers sync.WaitGroup
	follow := func(node string) <-chan string {
		c := make(chan string, 100)
		followers.Go(func() {
			err := Follow(ctx, in, in.byNode, OnNode(node), func(change cow.Change[Key, Pod]) {
				c <- fmt.Sprint(change.Kind, " ", change.Key.Name)
			})
			require.ErrorIs(t, err, context.Canceled)
		})
		return c
	}
	a, b := follow("node-1"), follow("node-2")
	require.ElementsMatch(t, []string{"added pod-1", "added pod-101", "added pod-201"}, []string{<-a, <-a, <-a})
	require.ElementsMatch(t, []string{"added pod-2", "added pod-102", "added pod-202"}, []string{<-b, <-b, <-b})

	_, err := source.Modify(Key{"team-3", "pod-3"}, func(p *Pod) error { p.Phase = "Failed"; return nil }) // nobody's
	require.NoError(t, err)
	_, err = source.Modify(Key{"team-1", "pod-1"}, func(p *Pod) error { p.Node = "node-2"; return nil })
	require.NoError(t, err)
	require.Equal(t, "removed pod-1", <-a)
	require.Equal(t, "added pod-1", <-b)
	_, err = source.Modify(Key{"team-1", "pod-1"}, func(p *Pod) error { p.Heartbeat = time.Now(); return nil })
	require.NoError(t, err)
	require.Equal(t, "changed pod-1", <-b)
	cancel()
	followers.Wait()
	require.Empty(t, a)
	require.Empty(t, b)
}

func TestASlowFollowerMissesNoOutcome(t *testing.T) {
	source, in := start(t, 100)
	key := Key{"team-1", "pod-1"}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := Follow(ctx, in, in.byNode, OnNode("node-1"), func(c cow.Change[Key, Pod]) {
		if calls++; calls == 1 { // much happens while it is at the first
			for i := range 3000 {
				_, err := source.Modify(key, func(p *Pod) error { p.Phase = fmt.Sprint(i); return nil })
				require.NoError(t, err)
			}
			synced(t, source, in)
			return
		}
		p, _ := c.New()
		require.Equal(t, "2999", p.Phase)
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, calls)
}

// A list is a Source that has no events.
type list struct {
	pods    map[Key]Pod
	version uint64
}

func (l list) List(context.Context) (iter.Seq2[Key, Pod], uint64, error) {
	return maps.All(l.pods), l.version, nil
}

func TestRelistWritesOnlyWhatDiffers(t *testing.T) {
	source, in := start(t, 100)
	pods := maps.Collect(source.All())
	changed, gone, fresh := Key{"team-1", "pod-1"}, Key{"team-2", "pod-2"}, Key{"team-3", "new"}
	pods[changed] = Pod{Key: changed, Node: "node-x"}
	pods[fresh] = Pod{Key: fresh}
	delete(pods, gone)

	before := in.db.Load()
	all, version, err := list{pods, 1000}.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, in.relist(all, version))
	now := in.db.Load()
	require.Equal(t, before.Version()+1, now.Version())
	var got []Key
	for c := range in.pods.In(now).Diff(in.pods.In(before)) {
		got = append(got, c.Key)
	}
	slices.SortFunc(got, compareKeys)
	require.Equal(t, []Key{changed, gone, fresh}, got)
	require.Equal(t, pods, maps.Collect(in.pods.All()))
}

// A fussy cluster ends a watch once, as if the version were too long ago.
type fussy struct {
	*cluster
	watches int
}

func (f *fussy) Watch(ctx context.Context, since uint64) iter.Seq2[Event, error] {
	if f.watches++; f.watches == 1 {
		_, _ = f.Delete(Key{"team-1", "pod-1"}) // an event that nobody will see
		return func(yield func(Event, error) bool) { yield(Event{}, cow.ErrCompacted) }
	}
	return f.cluster.Watch(ctx, since)
}

func TestAWatchThatBreaksListsAgain(t *testing.T) {
	source, err := newCluster(100)
	require.NoError(t, err)
	in, err := NewInformer()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- in.Run(ctx, &fussy{cluster: source}) }()
	require.Eventually(t, func() bool { return in.pods.Len() == 99 }, patience, time.Millisecond)
	synced(t, source, in)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

func Example() {
	fmt.Println(run(5000))
	// Output:
	// cow@1 (2 tables, 5001 rows)
	// 50 pods on node-7, 500 in team-7
	// added {team-7 pod-7}
	// map[app:app-7]
	// <nil>
}
