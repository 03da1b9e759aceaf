package stores

import (
	"iter"
	"maps"
	"sync"
	"sync/atomic"
)

// cloneMap is copy-on-write as it is written without a library: each write
// clones the whole map and publishes the clone, and readers take no lock. What
// is published never changes, so it is a snapshot already.
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
func (s *cloneMap) Snapshot() Snapshot             { return mapSnapshot(*s.current.Load()) }

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

type mapSnapshot map[string]Record

func (s mapSnapshot) Get(key string) (Record, bool) {
	r, ok := s[key]
	return r, ok
}

func (s mapSnapshot) All() iter.Seq2[string, Record] { return maps.All(s) }
