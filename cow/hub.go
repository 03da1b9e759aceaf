package cow

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/ordered"
)

// A hub knows who watches one map of a Store or DB.
//
// Whom a commit wakes is looked up before it is published, since foreign code runs
// in that, and fired after the swap. Whoever registered between the two may have
// been missed, and is woken whether it concerns him or not: he looks for himself.
// For that the hub counts the commits it looked up, and remembers of each new
// watch after how many it came.
type hub[K comparable, V any] struct {
	waiting atomic.Int64

	mu      sync.Mutex // held for bounded steps in which no foreign code runs
	whole   chans
	keys    map[K]chans
	indexes map[any]indexHub[K, V] // by *indexDef
	looked  uint64                 // commits looked up
	pending []signal               // of those that are not published yet, the oldest first
	late    map[chan struct{}]uint64

	registering sync.Mutex // of index keys, which runs foreign code

	scratch changes[K, V] // for updates without a sink, which run one at a time

	stepping func() // called in each step, in tests that count them
}

// chans are the channels of those who watch one thing. Each has room for one
// signal, and needs no second.
type chans map[chan struct{}]struct{}

func (cs chans) signal() {
	for c := range cs {
		signalOne(c)
	}
}

func signalOne(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// A signal says whom one commit wakes.
type signal struct {
	version uint64
	looked  uint64 // the number of the commit
	who     []chans
}

func newHub[K comparable, V any]() *hub[K, V] {
	return &hub[K, V]{
		whole:   make(chans),
		keys:    make(map[K]chans),
		indexes: make(map[any]indexHub[K, V]),
		late:    make(map[chan struct{}]uint64),
	}
}

// step does one step of registering c, or, for nil, of the contrary.
func (h *hub[K, V]) step(c chan struct{}, f func()) {
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

// forget ends what steps began.
func (h *hub[K, V]) forget(c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.late, c)
}

// watched reports whether anybody is waiting.
func (h *hub[K, V]) watched() bool { return h != nil && h.waiting.Load() > 0 }

// look looks up whom a commit that makes version by these changes wakes. Where there
// are indexes, those who watch one are to be added to the signal, for expect.
func (h *hub[K, V]) look(version uint64, list []Change[K, V], indexes indexList[K, V]) (s signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked++
	s.version, s.looked = version, h.looked
	if len(h.keys) > 0 {
		for i, c := range list {
			if cs := h.keys[c.Key]; cs != nil {
				s.who = append(s.who, cs)
			}
			if i%atOnce == atOnce-1 { // others may go first
				h.mu.Unlock()
				h.mu.Lock()
			}
		}
	}
	for index, watches := range h.indexes {
		if !slices.ContainsFunc(indexes, func(x indexer[K, V]) bool { return any(x) == index }) {
			s.who = watches.all(s.who) // it was dropped: they look for themselves
		}
	}
	if len(indexes) == 0 {
		h.queue(s)
	}
	return s
}

// watchesOf returns the watches of an index, or nil.
func (h *hub[K, V]) watchesOf(index any) indexHub[K, V] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.indexes[index]
}

// expect ends what look began.
func (h *hub[K, V]) expect(s signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue(s)
}

// queue makes s the last that is pending. The caller holds mu.
func (h *hub[K, V]) queue(s signal) {
	for n := len(h.pending); n > 0 && h.pending[n-1].version >= s.version; n-- {
		h.pending[n-1] = signal{} // it failed, or was superseded
		h.pending = h.pending[:n-1]
	}
	h.pending = append(h.pending, s)
}

// fire wakes whom a commit concerns, which is published as version. One that was
// not looked up, as nobody was waiting, concerns all who came since.
func (h *hub[K, V]) fire(version uint64) {
	if !h.watched() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.whole.signal()
	looked, n := uint64(0), 0
	for ; n < len(h.pending) && h.pending[n].version <= version; n++ {
		s := h.pending[n]
		for _, cs := range s.who {
			cs.signal()
		}
		if s.version == version {
			looked = s.looked
		}
	}
	h.pending = slices.Delete(h.pending, 0, n)
	for c, after := range h.late {
		if after >= looked {
			signalOne(c)
		}
		if after <= looked {
			delete(h.late, c)
		}
	}
}

// An indexHub is an indexWatches without its third type parameter in the way.
type indexHub[K comparable, V any] interface {
	index() any
	all(who []chans) []chans // adds all who watch it
}

// indexWatches are the watches of one index. Index keys may be of a type that
// no hash map takes; what they have is an order. The zero value has none.
type indexWatches[K comparable, V, I any] struct {
	of     *indexDef[K, V, I]
	keys   ordered.Tree[I, chans]
	ranges []rangeWatch[K, V, I]
}

// A rangeWatch watches what lies between the bounds of a Range, which has no content.
type rangeWatch[K comparable, V, I any] struct {
	of  Range[K, V, I]
	who chans
}

func (x indexWatches[K, V, I]) index() any { return x.of }

// look adds those who watch any of the items to who. They look for themselves: if a
// key that somebody watches cannot be compared, that is his to find out.
func (x indexWatches[K, V, I]) look(items []item[K, V, I], who []chans) []chans {
	if x.of == nil {
		return who
	}
	found, err := recovered(func() ([]chans, error) {
		found := who
		for _, it := range items {
			if _, cs, ok := x.keys.Get(byKey[K, V, I, chans](x.of), it.key, nil); ok {
				found = append(found, cs)
			}
		}
		for _, w := range x.ranges {
			r := w.of
			r.content = &content[K, V, I]{index: x.of}
			if slices.ContainsFunc(items, func(it item[K, V, I]) bool { return r.has(it.key, it.row) }) {
				found = append(found, w.who)
			}
		}
		return found, nil
	})
	if err != nil {
		return x.all(who)
	}
	return found
}

// all adds all to who.
func (x indexWatches[K, V, I]) all(who []chans) []chans {
	at := x.keys.Start()
	for _, cs := at.Next(); len(cs) > 0; _, cs = at.Next() {
		who = append(who, cs...)
	}
	for _, w := range x.ranges {
		who = append(who, w.who)
	}
	return who
}
