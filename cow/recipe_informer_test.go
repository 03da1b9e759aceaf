package cow_test

import (
	"cmp"
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
	"github.com/cowstore/cowstore/snapshot"
)

// The recipe: an informer, which is a cache of what a server has, kept up by list
// and watch, with indexes, and handlers that are told of changes.

// A resource is one of the things that the server has.
type resource struct {
	Namespace, Name string
	Node            string
	Labels          map[string]string
	Version         int // of the server, when it last changed
}

func (r resource) key() resourceKey { return resourceKey{r.Namespace, r.Name} }

type resourceKey struct{ Namespace, Name string }

func compareResources(a, b resourceKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// A resourceEvent says that a resource was stored, or, with its last value,
// removed, at a version of the server.
type resourceEvent struct {
	Version  int
	Removed  bool
	Resource resource
}

// A resourceServer has a version, which goes up with each change.
type resourceServer interface {
	// list returns all resources at one version.
	list(ctx context.Context) ([]resource, int, error)

	// watch iterates over the changes after a version, several at a time, in
	// order, those of one version together. It ends with an error: errGone if it
	// does not know them any more.
	watch(ctx context.Context, since int) iter.Seq2[[]resourceEvent, error]
}

var errGone = errors.New("version is gone")

// An informer is the cache. Its readers never wait, and what they get is theirs; a
// snapshot of db has all resources, both indexes and the version of the server,
// which agree.
type informer struct {
	db          *cow.DB
	resources   *cow.Table[resourceKey, resource]
	server      *cow.Table[string, int] // under "version"
	byNamespace *cow.Index[resourceKey, resource, string]
	byNode      *cow.Index[resourceKey, resource, string]
}

func newInformer() *informer {
	db := new(cow.DB)
	c := &informer{
		db:        db,
		resources: cow.NewTable[resourceKey](db, "resources", cow.Options[resource]{}),
		server:    cow.NewTable[string](db, "server", cow.Options[int]{}),
	}
	c.byNamespace = resourcesBy(c.resources, "namespace", func(r resource) string { return r.Namespace })
	c.byNode = resourcesBy(c.resources, "node", func(r resource) string { return r.Node })
	return c
}

func resourcesBy(of *cow.Table[resourceKey, resource], name string, key func(resource) string) *cow.Index[resourceKey, resource, string] {
	x, err := cow.NewIndex(of, name, func(r cow.Row[resourceKey, resource]) string { return key(r.Value()) },
		cow.IndexOptions[resourceKey]{CompareKeys: compareResources})
	if err != nil {
		panic(err) // of a unique index alone
	}
	return x
}

// under returns the resources under a key of an index, in the order of their keys.
func (c *informer) under(by *cow.Index[resourceKey, resource, string], key string) (found []resource) {
	for _, row := range by.In(c.resources.Load()).Equal(key).All() {
		found = append(found, row.Value())
	}
	return found
}

// run keeps the cache up until ctx ends. It reports errors of the server, and
// tries again after a pause.
func (c *informer) run(ctx context.Context, server resourceServer, pause time.Duration, report func(error)) {
	known := false // the server has told what there was at our version
	for ctx.Err() == nil {
		var err error
		if !known {
			err = c.list(ctx, server)
		}
		if err == nil {
			err = c.watch(ctx, server)
			known = !errors.Is(err, errGone)
		}
		if ctx.Err() != nil {
			return
		}
		report(err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (c *informer) list(ctx context.Context, server resourceServer) error {
	rows, version, err := server.list(ctx)
	if err != nil {
		return err
	}
	return c.relist(rows, version)
}

// watch applies what comes after the version that the cache is at, until something
// is the matter.
func (c *informer) watch(ctx context.Context, server resourceServer) error {
	since, _ := c.server.Get("version")
	for events, err := range server.watch(ctx, since) {
		if err != nil {
			return err
		}
		if err := c.apply(events); err != nil {
			return err
		}
	}
	return nil
}

// relist makes rows the content of the cache. Those that have not changed are not
// written: no handler hears of them, and if there are no others, nothing happens.
func (c *informer) relist(rows []resource, version int) error {
	same := func(a, b resource) bool { return a.Version == b.Version }
	if err := c.resources.Sync(byKey(rows), same); err != nil {
		return err
	}
	// A reader between the two sees resources that are newer than the version says.
	return c.server.Sync(maps.All(map[string]int{"version": version}), func(a, b int) bool { return a == b })
}

func byKey(rows []resource) iter.Seq2[resourceKey, resource] {
	return func(yield func(resourceKey, resource) bool) {
		for _, r := range rows {
			if !yield(r.key(), r) {
				return
			}
		}
	}
}

// apply makes the changes of events in one version. What the cache has already is
// left out.
func (c *informer) apply(events []resourceEvent) error {
	return c.db.Update(func(tx *cow.Tx) error {
		rows, server := c.resources.Edit(tx), c.server.Edit(tx)
		version, _ := server.Get("version")
		for _, event := range events {
			switch {
			case event.Version <= version:
				continue
			case event.Removed:
				rows.Delete(event.Resource.key())
			default:
				rows.Set(event.Resource.key(), event.Resource)
			}
			server.Set("version", event.Version)
		}
		return nil
	})
}

// A handler is told of a change to one resource: it was added, without an old
// value, changed, or removed, without a new one. Both are its own.
type handler func(kind snapshot.Kind, old, new resource)

// handle calls h for each resource there is, and then for what changes, until ctx
// ends. What changes again while h is busy it is told of once: it hears the last of
// everything, however slow it is, and holds up nobody. A panic of h is reported,
// and h is called for the next.
func (c *informer) handle(ctx context.Context, h handler, report func(key resourceKey, problem any)) {
	var seen *cow.Snapshot // nothing
	for {
		now, err := c.db.Watch(ctx, seen, c.resources.OnAll())
		if err != nil {
			return
		}
		for change := range c.resources.In(now).Diff(c.resources.In(seen)) {
			if ctx.Err() != nil {
				return
			}
			h.tell(change, report)
		}
		seen = now
	}
}

func (h handler) tell(change cow.Change[resourceKey, resource], report func(key resourceKey, problem any)) {
	defer func() {
		if problem := recover(); problem != nil {
			report(change.Key, problem)
		}
	}()
	old, _ := change.Old()
	new, _ := change.New()
	h(change.Kind, old, new)
}

// The tests.

// A flakyServer is a Store behind connections that break.
type flakyServer struct {
	store *cow.Table[resourceKey, resource]
	lists atomic.Int32
}

var errBroken = errors.New("connection is broken")

func newFlakyServer() *flakyServer {
	s := &flakyServer{store: cow.New[resourceKey](cow.Options[resource]{})}
	s.store.DB().Retain(cow.Retention{Versions: 200})
	return s
}

func (s *flakyServer) list(context.Context) ([]resource, int, error) {
	if s.lists.Add(1)%3 == 0 {
		return nil, 0, errBroken
	}
	m := s.store.Load()
	return slices.Collect(maps.Values(maps.Collect(m.All()))), int(m.Version()), nil
}

// watch breaks off after 100 versions, and every other time it then has forgotten
// what comes next. It repeats each event.
func (s *flakyServer) watch(ctx context.Context, since int) iter.Seq2[[]resourceEvent, error] {
	return func(yield func([]resourceEvent, error) bool) {
		for commit, err := range s.store.DB().Changes(ctx, uint64(since)) {
			if errors.Is(err, cow.ErrCompacted) {
				err = fmt.Errorf("%w: %w", errGone, err)
			}
			if err == nil && int(commit.Version()) >= since+100 {
				err = []error{errBroken, errGone}[commit.Version()/100%2]
			}
			if err != nil {
				yield(nil, err)
				return
			}
			var events []resourceEvent
			for c := range s.store.Rows(commit) {
				event := resourceEvent{Version: int(commit.Version()), Removed: c.Kind == cow.Removed}
				event.Resource, _ = c.New()
				if event.Removed {
					event.Resource, _ = c.Old()
				}
				events = append(events, event)
			}
			for range 2 {
				if !yield(events, nil) {
					return
				}
			}
		}
	}
}

// A plugin keeps its own account of what it was told, and then misbehaves.
type plugin struct {
	mu       sync.Mutex
	rows     map[resourceKey]resource
	calls    int
	problems []string // what it was told that does not fit
	misuse   func(call int, old, new resource)
}

func newPlugin(misuse func(call int, old, new resource)) *plugin {
	return &plugin{rows: map[resourceKey]resource{}, misuse: misuse}
}

func (p *plugin) handle(kind snapshot.Kind, old, new resource) {
	p.note(kind, old, new)
	p.misuse(p.calls, old, new) // handle is called by one goroutine
}

func (p *plugin) note(kind snapshot.Kind, old, new resource) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	key := new.key()
	if kind == cow.Removed {
		key = old.key()
	}
	had, found := p.rows[key]
	if found != (kind != cow.Added) || !sameResource(had, old) {
		p.problems = append(p.problems, fmt.Sprint(kind, old, " but had ", had))
	}
	if kind == cow.Removed {
		delete(p.rows, key)
		return
	}
	new.Labels = maps.Clone(new.Labels)
	p.rows[key] = new
}

func sameResource(a, b resource) bool {
	return a.key() == b.key() && a.Node == b.Node && a.Version == b.Version && maps.Equal(a.Labels, b.Labels)
}

// has reports whether the plugin was told of exactly these resources.
func (p *plugin) has(rows map[resourceKey]resource) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.EqualFunc(p.rows, rows, sameResource)
}

// spoil writes to everything that a resource leads to.
func spoil(r resource, with string) {
	for key := range r.Labels {
		r.Labels[key] = with
	}
	if r.Labels != nil {
		r.Labels["spoiled"] = with
	}
}

// A hoarder keeps what it is given, and writes to it whenever it likes.
type hoarder struct {
	mu   sync.Mutex
	kept []resource
}

func (h *hoarder) keep(_ int, old, new resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, old, new)
}

func (h *hoarder) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		h.mu.Lock()
		for _, r := range h.kept[max(0, len(h.kept)-100):] {
			spoil(r, fmt.Sprint("later ", n))
		}
		h.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// Plugins that write to what they are given, at once or later, panic, or do not
// come back for a long time, harm neither the cache, nor each other, nor those who
// read.
func TestRecipeInformerWithPluginsThatMisbehave(t *testing.T) {
	noDeadlock(t)
	resources, changes := 1000, 5000
	if testing.Short() {
		resources, changes = 200, 1000
	}
	server := newFlakyServer()
	truth := map[resourceKey]resource{} // beside the server
	r := rand.New(rand.NewPCG(3, 4))
	change := func(n int) {
		key := resourceKey{fmt.Sprint("ns", n%10), fmt.Sprint("pod", n)}
		require.NoError(t, server.store.Update(func(e *cow.Editor[resourceKey, resource]) error {
			if e.Has(key) && r.IntN(3) == 0 {
				e.Delete(key)
				delete(truth, key)
				return nil
			}
			v := resource{key.Namespace, key.Name, fmt.Sprint("node", r.IntN(20)), map[string]string{"app": fmt.Sprint(r.IntN(5))}, int(e.Version())}
			e.Set(key, v)
			truth[key] = v // the Editor has a clone
			return nil
		}))
	}
	for n := range resources {
		change(n)
	}
	c := newInformer()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	start := func(f func()) { running.Go(f) }

	var errs, panics atomic.Int32
	start(func() { c.run(ctx, server, time.Millisecond, func(error) { errs.Add(1) }) })
	hoard, gate := new(hoarder), make(chan struct{})
	start(func() { hoard.run(ctx) })
	stuck := newPlugin(func(call int, _, _ resource) {
		if call == 1 {
			<-gate
		}
	})
	others := map[string]*plugin{
		"good":    newPlugin(func(int, resource, resource) {}),
		"spoiler": newPlugin(func(_ int, old, new resource) { spoil(old, "old"); spoil(new, "new") }),
		"hoarder": newPlugin(hoard.keep),
		"slow": newPlugin(func(call int, _, _ resource) {
			if call%100 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
		}),
		"panicker": newPlugin(func(call int, _, _ resource) {
			if call%10 == 0 {
				panic("no")
			}
		}),
	}
	for _, p := range append(slices.Collect(maps.Values(others)), stuck) {
		start(func() { c.handle(ctx, p.handle, func(resourceKey, any) { panics.Add(1) }) })
	}
	start(func() { // a reader, whose every snapshot agrees with itself
		for seen := 0; ctx.Err() == nil; {
			s := c.db.Load()
			rows := c.resources.In(s)
			version, _ := c.server.In(s).Get("version")
			if rows.Len() != c.byNode.In(rows).Len() || rows.Len() != c.byNamespace.In(rows).Len() || version < seen {
				panic("a snapshot does not agree with itself")
			}
			for _, row := range c.byNode.In(rows).Equal("node7").All() {
				if v := row.Value(); v.Node != "node7" || v.Labels["spoiled"] != "" {
					panic("somebody wrote to the cache")
				}
			}
			seen = version
			time.Sleep(time.Millisecond)
		}
	})

	upToDate := func() bool {
		version, _ := c.server.Get("version")
		return version == int(server.store.Load().Version())
	}
	until(t, upToDate, "the cache is up to date")
	for n := range changes {
		change(r.IntN(resources))
		if n%250 == 0 { // in between it misses some, and others not
			until(t, upToDate, "the cache is up to date")
		}
	}
	for name, p := range others {
		until(t, func() bool { return p.has(truth) }, name)
	}
	require.False(t, stuck.has(truth))
	close(gate)
	until(t, func() bool { return stuck.has(truth) }, "stuck")
	stop()
	running.Wait()

	requireResources(t, c, truth)
	for name, p := range others {
		require.Empty(t, p.problems, name)
	}
	require.Empty(t, stuck.problems)
	require.Less(t, stuck.calls, changes/2, "what is left of all changes")
	require.Equal(t, others["panicker"].calls/10, int(panics.Load()))
	require.Greater(t, server.lists.Load(), int32(3))
	require.NotZero(t, errs.Load())
}

// requireResources requires that the cache has exactly these rows, by all ways.
func requireResources(t *testing.T, c *informer, want map[resourceKey]resource) {
	t.Helper()
	require.Equal(t, want, maps.Collect(c.resources.All()))
	namespaces, nodes := map[string][]resource{}, map[string][]resource{}
	for _, key := range slices.SortedFunc(maps.Keys(want), compareResources) {
		v := want[key]
		namespaces[v.Namespace] = append(namespaces[v.Namespace], v)
		nodes[v.Node] = append(nodes[v.Node], v)
	}
	for namespace, rows := range namespaces {
		require.Equal(t, rows, c.under(c.byNamespace, namespace))
	}
	for node, rows := range nodes {
		require.Equal(t, rows, c.under(c.byNode, node))
	}
}

// A relist writes what differs, and tells handlers of nothing else.
func TestRecipeInformerRelists(t *testing.T) {
	noDeadlock(t)
	c := newInformer()
	pod := func(n int, version int) resource {
		return resource{"ns", fmt.Sprint("pod", n), "node", map[string]string{"n": fmt.Sprint(n)}, version}
	}
	var rows []resource
	for n := range 1000 {
		rows = append(rows, pod(n, 10))
	}
	require.NoError(t, c.relist(rows, 10))

	heard := make(chan string, 2000)
	ctx, stop := context.WithCancel(t.Context())
	var handling sync.WaitGroup
	handling.Go(func() {
		c.handle(ctx, func(kind snapshot.Kind, old, new resource) {
			heard <- fmt.Sprint(kind, " ", cmp.Or(new.Name, old.Name))
		}, func(resourceKey, any) {})
	})
	for range 1000 {
		<-heard
	}

	before := c.db.Load()
	require.NoError(t, c.relist(slices.Clone(rows), 10))
	require.Equal(t, before.Version(), c.db.Load().Version())
	require.NoError(t, c.relist(append(rows[2:], pod(1, 11), pod(1000, 12)), 12)) // without 0, with another 1
	got := []string{<-heard, <-heard, <-heard}
	require.ElementsMatch(t, []string{"removed pod0", "changed pod1", "added pod1000"}, got)

	late := []resourceEvent{{Version: 11, Resource: pod(1, 11)}, {Version: 12, Removed: true, Resource: pod(1000, 12)}}
	version := c.db.Load().Version()
	require.NoError(t, c.apply(late)) // from before the list
	require.Equal(t, version, c.db.Load().Version())
	until(t, func() bool { return c.db.Stats().Waiting == 1 }, "the handler has heard all")
	stop()
	handling.Wait()
	require.Empty(t, heard)
	now := c.resources.Load()
	for n := 2; n < 1000; n++ {
		key := pod(n, 0).key()
		require.Equal(t, c.resources.In(before).Revision(key), now.Revision(key))
	}
}
