package local

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// Forks are in memory, and end with the Store.
const (
	maxForks     = 16
	maxForkBytes = 64 << 20 // of arguments that one fork has taken
	forkCall     = 1 << 10  // bytes that a call takes besides
)

type forkName struct{ namespace, name string }

// A fork is a what-if of one namespace, though all of the memory is in it.
type fork struct {
	line   // its only pin is what it was made from
	made   time.Time
	id     string // of the request that made it
	took   atomic.Int64
	mu     sync.RWMutex // held for reading by what uses it
	merged bool
}

// room returns an error if a call cannot use the fork.
func (f *fork) room(c *call) error {
	switch {
	case f.merged:
		return store.Errorf(store.NotFound, "the fork was merged")
	case c.tool.Writes() && f.took.Add(int64(len(c.Args)+forkCall)) > maxForkBytes:
		return store.Errorf(store.TooLarge, "the fork has taken %d bytes, which is the most: merge or drop it", maxForkBytes)
	}
	return nil
}

func (c *call) fork() (any, error) {
	type item struct {
		Name    string `json:"name"`
		Created string `json:"created"`
		Changed int    `json:"changed"`
	}
	type result struct {
		Message string `json:"message"`
		Forks   []item `json:"forks,omitempty"`
	}
	args, err := decode[struct {
		where
		Action, Name string
	}](c)
	if err == nil {
		err = c.mean(args.where)
	}
	if err == nil && args.Action != "list" && args.Name == "" {
		err = store.Errorf(store.Invalid, "name the fork")
	}
	if err == nil {
		err = checkName("the name of the fork", args.Name, maxFolder)
	}
	if err != nil {
		return nil, err
	}
	switch args.Action {
	case "create":
		if err := c.createFork(args.Name); err != nil {
			return nil, err
		}
		return result{Message: fmt.Sprintf("The fork %q is there; name it in remember, recall and forget.", args.Name)}, nil
	case "merge":
		return c.mergeFork(args.Name)
	case "drop":
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, ok := c.forks[forkName{c.Namespace, args.Name}]; !ok {
			return result{Message: fmt.Sprintf("There is no fork %q.", args.Name)}, nil
		}
		delete(c.forks, forkName{c.Namespace, args.Name})
		return result{Message: fmt.Sprintf("The fork %q is gone; the memory is as it was.", args.Name)}, nil
	}
	r := result{Forks: []item{}}
	c.mu.Lock()
	for name, f := range c.forks {
		if name.namespace == c.Namespace {
			r.Forks = append(r.Forks, item{name.name, stamp(f.made), count(f.changes(c.Namespace))})
		}
	}
	c.mu.Unlock()
	slices.SortFunc(r.Forks, func(a, b item) int { return cmp.Compare(a.Name, b.Name) })
	r.Message = fmt.Sprintf("%d forks", len(r.Forks))
	return r, nil
}

func (c *call) createFork(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := forkName{c.Namespace, name}
	if f, ok := c.forks[key]; ok {
		if c.ID != "" && f.id == c.ID {
			return nil
		}
		return store.Errorf(store.Conflict, "there is a fork %q already", name)
	}
	if len(c.forks) >= maxForks {
		return store.Errorf(store.TooLarge, "there are %d forks, which is the most: merge or drop one", len(c.forks))
	}
	f := &fork{made: time.Now(), id: c.ID}
	f.m = c.m.Fork(c.m.Load())
	if err := f.m.DB().Pin("base", f.m.DB().Load().Version()); err != nil {
		return err
	}
	f.receipts, f.order = c.receipts.Of(f.m.DB()), c.order
	c.forks[key] = f
	return nil
}

// forkNamed returns a fork of the namespace.
func (c *call) forkNamed(name string) (*fork, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.forks[forkName{c.Namespace, name}]
	if !ok {
		return nil, store.Errorf(store.NotFound, "there is no fork %q: forks end with the server", clip(name))
	}
	return f, nil
}

// base returns what the fork was made from.
func (f *fork) base() memory.Snapshot {
	for _, root := range f.m.DB().Pins() {
		return f.m.In(root)
	}
	return memory.Snapshot{} // not reached
}

// changes returns what a fork has changed in a namespace.
func (f *fork) changes(ns string) (swaps []swap) {
	base, now := f.base(), f.m.Load()
	for space := range spacesOf(ns, base, now) {
		before, after := base.Space(space...), now.Space(space...)
		for e := range after.List(memory.ListOptions{}) {
			was, _ := before.Entry(e.Key)
			if was.Revision == e.Revision || same(was, e) {
				continue
			}
			s := swap{space: space, key: e.Key, from: was, to: e}
			s.vector, _ = after.Vector(e.Key)
			swaps = append(swaps, s)
		}
		for e := range before.List(memory.ListOptions{}) {
			if _, ok := after.Entry(e.Key); !ok {
				swaps = append(swaps, swap{space: space, key: e.Key, from: e})
			}
		}
	}
	return swaps
}

// spacesOf yields the spaces of a namespace that one of two snapshots has.
func spacesOf(ns string, a, b memory.Snapshot) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		seen := make(map[string]bool)
		for _, s := range []memory.Snapshot{a, b} {
			for space := range s.Spaces(memory.SpacesOptions{Prefix: []string{ns}}) {
				key := spaceKey(space)
				if !seen[key] && !yield(space) {
					return
				}
				seen[key] = true
			}
		}
	}
}

// mergeFork makes what the fork has changed in the memory, and drops it.
func (c *call) mergeFork(name string) (any, error) {
	type result struct {
		Message  string `json:"message"`
		Changed  int    `json:"changed"`
		Revision uint64 `json:"revision,omitempty"`
	}
	if done, err := c.receipt(c.ID); done != nil || err != nil {
		return done, err // the fork is gone then
	}
	f, err := c.forkNamed(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock() // so that nothing is written to it that the merge does not have
	defer f.mu.Unlock()
	if f.merged { // by another call, or by the same request
		if done, err := c.receipt(c.ID); done != nil || err != nil {
			return done, err
		}
		return nil, store.Errorf(store.NotFound, "the fork was merged")
	}
	swaps := f.changes(c.Namespace)
	done, err := c.update(&c.line, func(w *write) (any, error) {
		if err := w.apply(swaps); err != nil {
			return nil, err
		}
		r := result{Message: fmt.Sprintf("The fork %q is merged, and gone.", name), Changed: count(swaps)}
		if w.changed > 0 {
			r.Revision = w.batch.Version()
		}
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	f.merged = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forks[forkName{c.Namespace, name}] == f {
		delete(c.forks, forkName{c.Namespace, name})
	}
	return done, nil
}
