package memory

import (
	"iter"
	"slices"
	"sync"
	"weak"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/snapshot"
)

// An Erasure says who still has an entry that was erased, under that key, in any version
// of it.
type Erasure struct {
	Pins  []string  // of the Memory, by name; see Memory.Unpin
	Forks []*Memory // of the same family: in a current version, a pin, or the retained past
}

// Erase removes the entry of key, and forgets the whole retained past of the Memory, and of
// the DB it is in, so that the entry is not found there: At, AsOf and Undo return
// ErrCompacted for all earlier versions, and so do iterations over Changes that have not
// come to the current version yet. It is for what must be gone, in memory that keeps a past;
// else Delete does the same for less.
//
// Erase does not reach what others hold: pins and forks, which it reports, and snapshots
// and values in variables. Once these are gone too, the garbage collector frees the entry;
// the numbers of its vector may stay in the memory of the space, where nobody finds them,
// until a third of those beside it were removed. Where the DB is durable, the file has old
// pages until it is closed, without a crash, and compacted. To erase what a fork has, call
// Erase of its Space.
//
// It takes time proportional to the past that goes, and to that of forks.
func (s Space) Erase(key string) (Erasure, error) {
	name := nameOf(s.path, key)
	if _, err := s.edit(func(e *Editor) error { e.b.remove(name); return nil }); err != nil {
		return Erasure{}, err
	}
	if err := s.m.db.Compact(s.m.db.Load().Version()); err != nil {
		return Erasure{}, bare.Named(err)
	}
	var e Erasure
	for pin, root := range s.m.db.Pins() {
		if s.m.entries.In(root).Has(name) {
			e.Pins = append(e.Pins, pin)
		}
	}
	for f := range s.m.family.all() {
		if f != s.m && f.knows(name) {
			e.Forks = append(e.Forks, f)
		}
	}
	return e, nil
}

// knows reports whether the Memory has a row of that name in any version that it keeps.
func (m *Memory) knows(name string) bool {
	for _, root := range m.db.Pins() {
		if m.entries.In(root).Has(name) {
			return true
		}
	}
	var oldest uint64
	for oldest = range m.db.Versions() {
		break
	}
	if m.entries.In(m.db.Load()).Has(name) {
		return true
	}
	for c, err := range m.db.Commits(oldest) {
		if err != nil {
			return true // it may: somebody trims the past just now
		}
		for change := range m.entries.Rows(c) {
			if old, _ := change.Rows(); change.Key == name && old != (snapshot.Row[string, *entry]{}) {
				return true
			}
		}
	}
	return false
}

// A family is the memories that share tables: one and its forks, and theirs, as long as
// they are in use. It keeps none of them alive.
type family struct {
	mu      sync.Mutex
	members []weak.Pointer[Memory]
	sweep   int // at so many members those that are gone are dropped
}

func (f *family) join(m *Memory) *Memory {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.members) >= f.sweep {
		f.members = slices.DeleteFunc(f.members, func(p weak.Pointer[Memory]) bool { return p.Value() == nil })
		f.sweep = 2*len(f.members) + 8
	}
	f.members = append(f.members, weak.Make(m))
	return m
}

// all returns the members that are there.
func (f *family) all() iter.Seq[*Memory] {
	f.mu.Lock()
	members := slices.Clone(f.members)
	f.mu.Unlock()
	return func(yield func(*Memory) bool) {
		for _, p := range members {
			if m := p.Value(); m != nil && !yield(m) {
				return
			}
		}
	}
}
