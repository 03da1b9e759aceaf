// Package watch wakes those who wait until something in a map differs. A [Hub] knows who
// watches one map, a [Watched] what they watch, and [Next] looks up whom a commit wakes.
package watch

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/snapshot"
)

// A Waiter is who watches: something of one map, or of several. It is made by NewWaiter.
type Waiter struct {
	// C is signalled when something may differ: by a value, of which there is one at most,
	// or by being closed, once.
	C chan struct{}

	closes bool
	closed atomic.Bool
}

// NewWaiter returns a Waiter whose channel is closed, or else gets a value each time.
func NewWaiter(closes bool) *Waiter {
	return &Waiter{C: make(chan struct{}, 1), closes: closes}
}

// Signal signals the Waiter. It runs no foreign code and does not block.
func (w *Waiter) Signal() {
	if w.closes {
		if w.closed.CompareAndSwap(false, true) {
			close(w.C)
		}
		return
	}
	select {
	case w.C <- struct{}{}:
	default: // one that has its signal needs no second
	}
}

// A Hub knows who watches one map.
//
// Whom a commit wakes is looked up before it is published, since foreign code runs in
// that, and fired after the swap. Whoever registered between the two may have been
// missed, so is woken unconditionally and rechecks. For that the Hub counts the commits
// it looked up, and remembers of each new watch after how many it came.
type Hub[K comparable] struct {
	waiting atomic.Int64

	mu      sync.Mutex // held for bounded steps in which no foreign code runs
	whole   waiters
	keys    map[K]waiters
	indexes map[any]watchers // by *index.Def
	looked  uint64           // commits looked up
	pending []signal         // of those that are not published yet, the oldest first
	late    map[*Waiter]uint64

	registering sync.Mutex // of index keys, which runs foreign code

	stepping func() // called in each step, in tests that count them
}

// waiters are those who watch one thing.
type waiters map[*Waiter]struct{}

func (ws waiters) signal() {
	for w := range ws {
		w.Signal()
	}
}

// A signal says whom one commit wakes.
type signal struct {
	version uint64
	next    any    // the map that it makes: two attempts may have one version
	looked  uint64 // what Hub.looked was after this commit
	who     []waiters
}

// watchers are those who watch one index.
type watchers interface {
	// touched adds to who all who watch what an edit of the index touched, an *index.Touched.
	touched(t any, who []waiters) []waiters

	// all adds all to who.
	all(who []waiters) []waiters
}

// New returns a Hub with which nobody has registered.
func New[K comparable]() *Hub[K] {
	return &Hub[K]{
		whole:   make(waiters),
		keys:    make(map[K]waiters),
		indexes: make(map[any]watchers),
		late:    make(map[*Waiter]uint64),
	}
}

// Enter says that somebody is about to register, and Leave that all is removed that c
// was registered with.
func (h *Hub[K]) Enter() { h.waiting.Add(1) }

func (h *Hub[K]) Leave(c *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.late, c)
	h.waiting.Add(-1)
}

// IsWatched reports whether anybody is waiting.
func (h *Hub[K]) IsWatched() bool { return h.waiting.Load() > 0 }

// IsEmpty reports whether nothing is left of any watch.
func (h *Hub[K]) IsEmpty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.IsWatched() && len(h.whole)+len(h.keys)+len(h.indexes)+len(h.late) == 0
}

// atOnce is how many keys are registered or looked up in one step, so that nobody waits
// for long.
const atOnce = 1024

// step does one step of registering c, or, for nil, of the contrary.
func (h *Hub[K]) step(c *Waiter, f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	if h.stepping != nil {
		h.stepping()
	}
	if c != nil {
		h.late[c] = h.looked
	}
}

// Next looks up whom the commit wakes that makes a step, and returns what [index.Next] does.
func Next[K comparable, V any](h *Hub[K], step index.Step[K, V], list index.List[K, V]) (*snapshot.Map[K, V], error) {
	s := look(h, step, list)
	if len(list) == 0 {
		return step.Next, nil
	}
	m, err := index.Next(step, list, func(x, touched any) {
		if w := h.watchersOf(x); w != nil {
			s.who = w.touched(touched, s.who)
		}
	})
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.next = m
		h.queue(s)
	}
	return m, err
}

// look looks up who watches the keys that a step changes, or an index that was dropped. The
// signal is queued if there are no indexes.
func look[K comparable, V any](h *Hub[K], step index.Step[K, V], list index.List[K, V]) (s signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked++
	s.version, s.next, s.looked = step.Next.Version(), step.Next, h.looked
	n := 0
	next := func() {
		if n++; n%atOnce == 0 { // others may go first
			h.mu.Unlock()
			h.mu.Lock()
		}
	}
	switch {
	case len(h.keys) == 0:
	case step.Cleared:
		for k, cs := range h.keys { // whoever comes meanwhile is late
			was, _ := step.Base.Row(k)
			if is, _ := step.Next.Row(k); is != was {
				s.who = append(s.who, cs)
			}
			next()
		}
	default:
		for _, c := range step.Changes {
			if cs := h.keys[c.Key]; cs != nil {
				s.who = append(s.who, cs)
			}
			next()
		}
	}
	for x, w := range h.indexes {
		if !list.Has(x) {
			s.who = w.all(s.who) // it was dropped: they recheck
		}
	}
	if len(list) == 0 {
		h.queue(s)
	}
	return s
}

// watchersOf returns those who watch an index, or nil.
func (h *Hub[K]) watchersOf(x any) watchers {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.indexes[x]
}

// queue makes s the last that is pending. One of its version is let go: it has failed, or was
// superseded, or is made at the same time, by whoever replays the commits of others; if that
// is published after all, Fire wakes everybody. The caller holds mu.
func (h *Hub[K]) queue(s signal) {
	for n := len(h.pending); n > 0 && h.pending[n-1].version >= s.version; n-- {
		h.pending[n-1] = signal{}
		h.pending = h.pending[:n-1]
	}
	h.pending = append(h.pending, s)
}

// Fire wakes whom a commit concerns, which is published as version, and made the map next. If it
// was not looked up, or another of its version was looked up after it, nobody knows whom it
// concerns, and all are woken.
func (h *Hub[K]) Fire(version uint64, next any) {
	if !h.IsWatched() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.whole.signal()
	var found *signal
	n := 0
	for ; n < len(h.pending) && h.pending[n].version <= version; n++ {
		if h.pending[n].next == next {
			found = &h.pending[n]
		}
	}
	if found == nil {
		h.signalAll()
	} else {
		for _, cs := range found.who {
			cs.signal()
		}
		for c, after := range h.late {
			if after >= found.looked {
				c.Signal()
			}
			if after <= found.looked {
				delete(h.late, c)
			}
		}
	}
	h.pending = slices.Delete(h.pending, 0, n)
}

// signalAll wakes all who watch anything less than the whole.
func (h *Hub[K]) signalAll() {
	for _, cs := range h.keys {
		cs.signal()
	}
	for _, x := range h.indexes {
		for _, cs := range x.all(nil) {
			cs.signal()
		}
	}
	for c := range h.late {
		c.Signal()
	}
}
