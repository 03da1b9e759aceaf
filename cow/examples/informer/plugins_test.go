package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A flaky cluster fails every third list, repeats each event, and ends each watch after 100.
type flaky struct {
	*cluster
	lists atomic.Int32
}

var errBroken = errors.New("connection is broken")

func (f *flaky) List(ctx context.Context) (iter.Seq2[Key, Pod], uint64, error) {
	if f.lists.Add(1)%3 == 0 {
		return nil, 0, errBroken
	}
	return f.cluster.List(ctx)
}

func (f *flaky) Watch(ctx context.Context, since uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		n := 0
		for e, err := range f.cluster.Watch(ctx, since) {
			if n++; n > 100 {
				e, err = Event{}, errBroken
			}
			if !yield(e, err) || err != nil || !yield(e, nil) {
				return
			}
		}
	}
}

// A plugin keeps its own account of what it was told, and then misbehaves.
type plugin struct {
	mu       sync.Mutex
	pods     map[Key]Pod
	calls    int
	problems []string // what it was told that does not fit
	panics   int
	misuse   func(call int, old, new Pod)
}

func newPlugin(misuse func(call int, old, new Pod)) *plugin {
	return &plugin{pods: map[Key]Pod{}, misuse: misuse}
}

func (p *plugin) handle(c cow.Change[Key, Pod]) {
	defer func() {
		if recover() != nil {
			p.panics++
		}
	}()
	old, _ := c.Old()
	new, _ := c.New()
	p.note(c, old, new)
	p.misuse(p.calls, old, new) // one goroutine follows
}

func (p *plugin) note(c cow.Change[Key, Pod], old, new Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	had, found := p.pods[c.Key]
	if found != (c.Kind != cow.Added) || !equal(had, old) {
		p.problems = append(p.problems, fmt.Sprint(c, " but had ", had))
	}
	if c.Kind == cow.Removed {
		delete(p.pods, c.Key)
		return
	}
	new.Labels = maps.Clone(new.Labels)
	p.pods[c.Key] = new
}

// has reports whether the plugin was told of exactly these pods.
func (p *plugin) has(pods map[Key]Pod) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.EqualFunc(p.pods, pods, equal)
}

// spoil writes to everything that a pod leads to.
func spoil(p Pod, with string) {
	for key := range p.Labels {
		p.Labels[key] = with
	}
	if p.Labels != nil {
		p.Labels["spoiled"] = with
	}
}

// A hoarder keeps what it is given, and writes to it whenever it likes.
type hoarder struct {
	mu   sync.Mutex
	kept []Pod
}

func (h *hoarder) keep(_ int, old, new Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, old, new)
}

func (h *hoarder) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		h.mu.Lock()
		for _, p := range h.kept[max(0, len(h.kept)-100):] {
			spoil(p, fmt.Sprint("later ", n))
		}
		h.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// Plugins that write to what they are given, at once or later, panic, or do not come back for a
// long time, harm neither the cache, nor each other, nor those who read; and each of them is told
// what happened, in an order that fits.
func TestPluginsThatMisbehave(t *testing.T) {
	pods, changes := 1000, 5000
	if testing.Short() {
		pods, changes = 200, 1000
	}
	cluster, err := newCluster(pods)
	require.NoError(t, err)
	truth := maps.Collect(cluster.All()) // beside the source
	r := rand.New(rand.NewPCG(3, 4))
	change := func() {
		n := r.IntN(pods)
		key := Key{fmt.Sprint("team-", n%10), fmt.Sprint("pod-", n)}
		require.NoError(t, cluster.Update(func(e *cow.Editor[Key, Pod]) error {
			if e.Has(key) && r.IntN(3) == 0 {
				e.Delete(key)
				delete(truth, key)
				return nil
			}
			p := Pod{key, map[string]string{"app": fmt.Sprint(r.IntN(5))}, fmt.Sprint("node-", r.IntN(20)), fmt.Sprint(r.IntN(5)), time.Unix(int64(r.IntN(100)), 0)}
			e.Set(key, p)
			truth[key] = p // the Editor has a clone
			return nil
		}))
	}
	source := &flaky{cluster: cluster}
	in, err := NewInformer()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	broken := 0
	running.Go(func() {
		for ctx.Err() == nil {
			if errors.Is(in.Run(ctx, source), errBroken) {
				broken++
			}
		}
	})
	hoard, gate := new(hoarder), make(chan struct{})
	running.Go(func() { hoard.run(ctx) })
	stuck := newPlugin(func(call int, _, _ Pod) {
		if call == 1 {
			<-gate
		}
	})
	others := map[string]*plugin{
		"good":    newPlugin(func(int, Pod, Pod) {}),
		"spoiler": newPlugin(func(_ int, old, new Pod) { spoil(old, "old"); spoil(new, "new") }),
		"hoarder": newPlugin(hoard.keep),
		"slow": newPlugin(func(call int, _, _ Pod) {
			if call%100 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
		}),
		"panicker": newPlugin(func(call int, _, _ Pod) {
			if call%10 == 0 {
				panic("no")
			}
		}),
	}
	everywhere := func(all Part[string]) Part[string] { return all }
	for _, p := range append(slices.Collect(maps.Values(others)), stuck) {
		running.Go(func() { _ = Follow(ctx, in, in.byNode, everywhere, p.handle) })
	}
	disagree := false
	running.Go(func() { // a reader, whose every snapshot agrees with itself
		for seen := uint64(0); ctx.Err() == nil; {
			s := in.db.Load()
			rows := in.pods.In(s)
			version, _ := in.progress.In(s).Get("version")
			disagree = disagree || rows.Len() != in.byNode.In(rows).Len() || rows.Len() != in.byPhase.In(rows).Len() || version < seen
			for _, row := range in.byNode.In(rows).Equal("node-7").All() {
				p := row.Value()
				disagree = disagree || p.Node != "node-7" || p.Labels["spoiled"] != ""
			}
			seen = version
			time.Sleep(time.Millisecond)
		}
	})

	synced(t, cluster, in)
	for n := range changes {
		change()
		if n%250 == 0 { // in between it misses some, and others not
			synced(t, cluster, in)
		}
	}
	for name, p := range others {
		require.Eventually(t, func() bool { return p.has(truth) }, patience, time.Millisecond, name)
	}
	require.False(t, stuck.has(truth))
	close(gate)
	require.Eventually(t, func() bool { return stuck.has(truth) }, patience, time.Millisecond)
	stop()
	running.Wait()

	require.Equal(t, truth, maps.Collect(in.pods.All()))
	require.False(t, disagree)
	for name, p := range others {
		require.Empty(t, p.problems, name)
	}
	require.Empty(t, stuck.problems)
	require.Less(t, stuck.calls, changes/2, "what is left of all changes")
	require.Equal(t, others["panicker"].calls/10, others["panicker"].panics)
	require.Greater(t, source.lists.Load(), int32(3))
	require.Positive(t, broken)
}
