package stores

import (
	"hash/maphash"
	"iter"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/benbjohnson/immutable"
)

// immutableMap is the textbook design: one persistent map behind a pointer. It
// hands out what it holds, and an update of many keys copies a path for each,
// for the builder of immutable.Map begins with an empty map only.
type immutableMap struct {
	current atomic.Pointer[immutable.Map[string, Record]]
	mu      sync.Mutex
}

func newImmutable() Store {
	s := new(immutableMap)
	s.current.Store(immutable.NewMap[string, Record](Seeded{maphash.MakeSeed()}))
	return s
}

func (s *immutableMap) Get(key string) (Record, bool) { return s.current.Load().Get(key) }
func (s *immutableMap) Set(key string, r Record)      { s.Update([]Pair{{key, r}}) }

func (s *immutableMap) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.current.Load()
	for _, p := range pairs {
		next = next.Set(p.Key, p.Record)
	}
	s.current.Store(next)
}

func (s *immutableMap) Fork() Store {
	f := new(immutableMap)
	f.current.Store(s.current.Load())
	return f
}

func (s *immutableMap) All() iter.Seq2[string, Record] {
	m := s.current.Load()
	return func(yield func(string, Record) bool) {
		for it := m.Iterator(); !it.Done(); {
			if k, r, _ := it.Next(); !yield(k, r) {
				return
			}
		}
	}
}

// Seeded hashes strings with a random seed. The hasher that immutable.Map comes
// with has none, and is slower.
type Seeded struct{ Seed maphash.Seed }

// Hash returns the hash of key.
func (h Seeded) Hash(key string) uint32 { return uint32(maphash.String(h.Seed, key)) }

// Equal reports whether a is b.
func (h Seeded) Equal(a, b string) bool { return a == b }

// cloneMap is copy-on-write as it is written without a library: each write
// clones the whole map and publishes the clone, and readers take no lock.
type cloneMap struct {
	current atomic.Pointer[map[string]Record]
	mu      sync.Mutex
}

func newCloneMap() Store {
	s := new(cloneMap)
	s.current.Store(&map[string]Record{})
	return s
}

func (s *cloneMap) Get(key string) (Record, bool) {
	r, ok := (*s.current.Load())[key]
	return r, ok
}

func (s *cloneMap) Set(key string, r Record)       { s.Update([]Pair{{key, r}}) }
func (s *cloneMap) All() iter.Seq2[string, Record] { return maps.All(*s.current.Load()) }

func (s *cloneMap) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.current.Load())
	for _, p := range pairs {
		next[p.Key] = p.Record
	}
	s.current.Store(&next)
}

func (s *cloneMap) Fork() Store {
	f := new(cloneMap)
	f.current.Store(s.current.Load())
	return f
}
