// Package cowtest helps tests find code that modifies values which it must not modify: values that
// a map returned without cloning them, through [snapshot.Map.Shared] or with the option Immutable.
//
// A test calls [Guard] once it has a store, and [Guarded.Check] wherever it likes; the last
// check runs by itself at the end of the test. The race detector finds such a write only if
// somebody reads at that moment. Guard finds it afterwards, without the race detector, and
// names the value.
//
// [NoTx] finds transactions that a test leaves open, or drops. [Follow] and [Attach] test what a DB
// does when it is replicated.
package cowtest

import (
	"strings"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/snapshot"
)

// A Guarded remembers fingerprints of stored values. It is made by [Guard],
// must not be copied, and is safe for concurrent use.
type Guarded[K comparable, V any] struct {
	t    testing.TB
	load func() *snapshot.Map[K, V]

	mu   sync.Mutex
	seen []taken[K, V] // the oldest first
}

// taken is a map and what its values looked like when it was seen first.
type taken[K comparable, V any] struct {
	values *snapshot.Map[K, V]
	prints *snapshot.Map[K, print]
}

// kept is the number of maps that a Guarded keeps alive and checks.
const kept = 16

// reported is the most values that one check names.
const reported = 10

// Guard takes fingerprints of all values in the map that load returns; load may be a Table's Load.
// From then on, Check and the end of the test report each value that has changed, with its key, its
// revision, and the path to what changed in it.
//
// A fingerprint covers everything that a value reaches through pointers, maps, slices and
// interfaces, unexported fields included: each word, and the bytes of strings. Of a slice it covers
// the elements up to its length; of channels and functions only which they are. It leaves out
// locks, atomics and the other types of packages sync and sync/atomic, as their state is not
// content. It also leaves out time zones and the compiled program of a regular expression, which
// nobody can modify. A handle that keeps a state in other fields changes when it is used: do not
// use Guard for it.
//
// Guard finds only what is modified after it has seen the value.
func Guard[K comparable, V any](t testing.TB, load func() *snapshot.Map[K, V]) *Guarded[K, V] {
	t.Helper()
	g := &Guarded[K, V]{t: t, load: load}
	none := snapshot.New[K](snapshot.Options[print]{Immutable: true})
	g.take(taken[K, V]{prints: none})
	t.Cleanup(g.Check)
	return g
}

// Check fails the test, which goes on, if a value in a map that it has seen is not what it was.
// Then it takes fingerprints of the current map. It remembers the 16 maps that it saw last, and
// keeps them alive.
//
// It takes time proportional to the size of the current map, and to what changed between the maps
// that it remembers. Each modified value is reported once.
func (g *Guarded[K, V]) Check() {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	last := len(g.seen) - 1
	var bad []modified[K]
	for i, s := range g.seen {
		if i == last {
			for k, v := range s.values.Shared().All() {
				bad = s.check(bad, k, v)
			}
			break
		}
		// What the next map has too is checked there.
		for c := range s.values.Diff(g.seen[i+1].values) {
			if v, ok := s.values.Shared().Get(c.Key); ok {
				bad = s.check(bad, c.Key, v)
			}
		}
	}
	for i, b := range bad {
		if i == reported {
			g.t.Errorf("cowtest: and %d more stored values", len(bad)-i)
			break
		}
		g.t.Errorf("cowtest: the value stored under key %s at revision %d was modified%s: "+
			"what Shared, or a map of Immutable values, gives out must not be", shown(b.key), b.revision, b.where())
	}
	for _, b := range bad {
		g.accept(b)
	}
	g.take(g.seen[last])
}

// shown returns a key as errors show it, in quotes if it is a string, and shortened if it is
// long. What it points to is not looked at.
func shown(key any) string {
	return strings.TrimPrefix(snapshot.Conflict[any, int]{Key: key}.String(), "conflict ")
}

// modified is a value that is not what it was.
type modified[K comparable] struct {
	key      K
	revision uint64
	path     string
	now      print
}

func (m modified[K]) where() string {
	if m.path == "" {
		return ""
	}
	return " at " + m.path
}

// check appends to bad if v, stored under key, is not what it was.
func (s taken[K, V]) check(bad []modified[K], key K, v V) []modified[K] {
	was, _ := s.prints.Get(key)
	if now := printOf(v); now.sum != was.sum {
		return append(bad, modified[K]{key, s.values.Revision(key), firstChange(v, was), now})
	}
	return bad
}

// accept makes the value that b is about count as it is now, in all maps that
// have it.
func (g *Guarded[K, V]) accept(b modified[K]) {
	for i := range g.seen {
		if s := &g.seen[i]; s.values.Revision(b.key) == b.revision {
			e := s.prints.Edit()
			e.Set(b.key, b.now)
			s.prints = e.Seal()
		}
	}
}

// take adds the current map. It takes fingerprints of what is not in before.
func (g *Guarded[K, V]) take(before taken[K, V]) {
	m := g.load()
	if m == before.values && len(g.seen) > 0 {
		return
	}
	e := before.prints.Edit()
	for c := range m.Diff(before.values) {
		if v, ok := m.Shared().Get(c.Key); ok {
			e.Set(c.Key, printOf(v))
		} else {
			e.Delete(c.Key)
		}
	}
	g.seen = append(g.seen, taken[K, V]{m, e.Seal()})
	if len(g.seen) > kept {
		g.seen = append(g.seen[:0], g.seen[1:]...)
	}
}
