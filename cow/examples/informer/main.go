// Informer is a cache of a cluster's pods, kept up to date by list and watch, in a
// cow.DB.
//
// It shows a table with two indexes, events and relists that become commits together
// with the version of the source that they are of, handlers that follow a part of the
// pods without making anybody wait, and plugins that may do what they like to what
// they get.
//
//	go run ./cow/examples/informer
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"maps"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// A Key names a Pod.
type Key struct{ Namespace, Name string }

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// A Pod is what is cached. It holds a map: all who get one get their own.
type Pod struct {
	Key
	Labels    map[string]string
	Node      string
	Phase     string
	Heartbeat time.Time
}

func equal(a, b Pod) bool {
	return a.Key == b.Key && a.Node == b.Node && a.Phase == b.Phase && a.Heartbeat.Equal(b.Heartbeat) &&
		maps.Equal(a.Labels, b.Labels)
}

// An Event is one change at the source.
type Event struct {
	Version uint64
	Deleted bool // or else stored
	Pod     Pod  // of one that was deleted, its Key
}

// A Source is what an Informer mirrors.
type Source interface {
	// List returns all pods at a version.
	List(ctx context.Context) (pods iter.Seq2[Key, Pod], version uint64, err error)
	// Watch returns the events above a version. It ends with an error.
	Watch(ctx context.Context, since uint64) iter.Seq2[Event, error]
}

// nsPhase is a composite index key; it is ordered by its fields, one after the other.
type nsPhase struct{ namespace, phase string }

// A Part is some of the pods, as an index has them: of one node, say.
type Part[I any] = cow.Range[Key, Pod, I]

// An Informer is a cache of pods.
type Informer struct {
	db       cow.DB
	pods     *cow.Table[Key, Pod]
	progress *cow.Table[string, uint64] // "version": that of the source which pods agrees with
	byNode   *cow.Index[Key, Pod, string]
	byPhase  *cow.Index[Key, Pod, nsPhase]
}

// NewInformer returns an empty Informer.
func NewInformer() (*Informer, error) {
	in := new(Informer)
	in.pods = cow.NewTable[Key](&in.db, "pods", cow.Options[Pod]{})
	in.progress = cow.NewTable[string](&in.db, "progress", cow.Options[uint64]{})
	o := cow.IndexOptions[Key]{CompareKeys: compareKeys}
	var err, err2 error
	in.byNode, err = cow.NewIndex(in.pods, "by node", func(r cow.Row[Key, Pod]) string { return r.Shared().Node }, o)
	in.byPhase, err2 = cow.NewIndexFunc(in.pods, "by phase",
		func(r cow.Row[Key, Pod], add func(nsPhase)) error {
			p := r.Shared()
			add(nsPhase{p.Namespace, p.Phase})
			return nil
		}, o,
		func(a, b nsPhase) int { return cmp.Compare(a.namespace, b.namespace) },
		func(a, b nsPhase) int { return cmp.Compare(a.phase, b.phase) })
	return in, errors.Join(err, err2)
}

// ByNode returns all pods ordered by node, as they are now.
func (in *Informer) ByNode() Part[string] { return in.byNode.In(in.pods.Load()) }

// ByPhase returns all pods ordered by namespace and phase, as they are now.
func (in *Informer) ByPhase() Part[nsPhase] { return in.byPhase.In(in.pods.Load()) }

// OnNode narrows to the pods of a node.
func OnNode(node string) func(Part[string]) Part[string] {
	return func(all Part[string]) Part[string] { return all.Equal(node) }
}

// InNamespace narrows to the pods of a namespace, in any phase.
func InNamespace(namespace string) func(Part[nsPhase]) Part[nsPhase] {
	return func(all Part[nsPhase]) Part[nsPhase] { return all.Leading(1, nsPhase{namespace: namespace}) }
}

// InPhase narrows to the pods of a namespace that are in a phase.
func InPhase(namespace, phase string) func(Part[nsPhase]) Part[nsPhase] {
	return func(all Part[nsPhase]) Part[nsPhase] { return all.Equal(nsPhase{namespace, phase}) }
}

// Run mirrors the source until ctx ends. Where the source cannot go on it lists anew.
func (in *Informer) Run(ctx context.Context, source Source) error {
	for {
		pods, version, err := source.List(ctx)
		if err == nil {
			err = in.relist(pods, version)
		}
		if err != nil {
			return err
		}
		for e, err := range source.Watch(ctx, version) {
			if err == nil {
				err = in.apply(e)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				log.Print("listing again: ", err)
				break
			}
		}
	}
}

// apply makes one event a commit.
func (in *Informer) apply(e Event) error {
	return in.db.Update(func(tx *cow.Tx) error {
		if e.Deleted {
			in.pods.Edit(tx).Delete(e.Pod.Key)
		} else {
			in.pods.Edit(tx).Set(e.Pod.Key, e.Pod)
		}
		in.progress.Edit(tx).Set("version", e.Version)
		return nil
	})
}

// relist makes a list one commit, of what is not as it was: pods that the list has as
// they are keep their revision, and who follows them sleeps on.
func (in *Informer) relist(list iter.Seq2[Key, Pod], version uint64) error {
	return in.db.Update(func(tx *cow.Tx) error {
		e := in.pods.Edit(tx)
		was := in.pods.In(tx.Base())
		listed := make(map[Key]bool, was.Len())
		for key, p := range list {
			listed[key] = true
			if old, ok := was.Shared().Get(key); !ok || !equal(old, p) {
				e.Set(key, p)
			}
		}
		for key := range was.Keys() {
			if !listed[key] {
				e.Delete(key)
			}
		}
		in.progress.Edit(tx).Set("version", version)
		return nil
	})
}

// Follow calls handle with each pod of a part as Added, and then with what happens to
// the part, until ctx ends: a pod that moves from one node to another is Removed for
// who follows the first, and Added for who follows the second. A handler that is slow
// sees several changes of a pod as one. It makes nobody wait, and what it writes to is
// its own. The part is a function, since a Range would keep its version alive.
func Follow[I any](ctx context.Context, in *Informer, index *cow.Index[Key, Pod, I],
	part func(all Part[I]) Part[I], handle func(cow.Change[Key, Pod])) error {
	var seen *cow.Snapshot // nothing yet
	for {
		old := in.pods.In(seen)
		now, err := in.pods.DB().Watch(ctx, seen, index.OnRange(part(index.In(old))))
		if err != nil {
			return err
		}
		pods := in.pods.In(now)
		for c := range part(index.In(pods)).Changes(pods.Diff(old)) {
			handle(c)
		}
		seen = now
	}
}

// A cluster is a Source of our own: a Table can be listed and watched, too.
type cluster struct{ *cow.Table[Key, Pod] }

func (c *cluster) List(context.Context) (iter.Seq2[Key, Pod], uint64, error) {
	now := c.DB().Load()
	return c.In(now).All(), now.Version(), nil
}

func (c *cluster) Watch(ctx context.Context, since uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for commit, err := range c.DB().Changes(ctx, since) {
			if err != nil {
				yield(Event{}, err) // ErrCompacted: too long ago
				return
			}
			for change := range c.Rows(commit) {
				p, ok := change.New()
				p.Key = change.Key
				if !yield(Event{commit.Version(), !ok, p}, nil) {
					return
				}
			}
		}
	}
}

// newCluster returns n pods in ten namespaces on a hundred nodes.
func newCluster(n int) (*cluster, error) {
	c := &cluster{cow.New[Key](cow.Options[Pod]{})}
	c.DB().Retain(cow.Retention{Versions: 1000})
	return c, c.Replace(func(yield func(Key, Pod) bool) {
		for i := range n {
			key := Key{fmt.Sprint("team-", i%10), fmt.Sprint("pod-", i)}
			p := Pod{key, map[string]string{"app": fmt.Sprint("app-", i%50)}, fmt.Sprint("node-", i%100), "Running", time.Now()}
			if !yield(key, p) {
				return
			}
		}
	})
}

// run mirrors n pods, and follows those of a team that fail, until one does.
func run(n int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	source, err := newCluster(n)
	if err != nil {
		return err
	}
	in, err := NewInformer()
	if err != nil {
		return err
	}
	go in.Run(ctx, source)
	listed, err := in.db.Wait(ctx, 0)
	if err != nil {
		return err
	}
	fmt.Println(listed)
	fmt.Println(OnNode("node-7")(in.ByNode()).Len(), "pods on node-7,", InNamespace("team-7")(in.ByPhase()).Len(), "in team-7")

	key := Key{"team-7", "pod-7"}
	if _, err := source.Modify(key, func(p *Pod) error { p.Phase = "Failed"; return nil }); err != nil {
		return err
	}
	err = Follow(ctx, in, in.byPhase, InPhase("team-7", "Failed"), func(c cow.Change[Key, Pod]) {
		fmt.Println(c)
		if p, ok := c.New(); ok {
			p.Labels["app"] = "spoiled by a plugin" // a copy of its own
			is, _ := in.pods.Get(key)
			fmt.Println(is.Labels)
		}
		cancel()
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func main() {
	if err := run(50_000); err != nil {
		log.Fatal(err)
	}
}
