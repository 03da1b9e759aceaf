package stores

import (
	"iter"
	"maps"
	"sync"
)

// rwMutex is a map behind a lock as it is written at first: fast, and every
// caller holds the slice and the map that the store holds. Here the writer
// replaces records whole, so that nothing tears while nobody modifies what
// it was given.
type rwMutex struct {
	mu sync.RWMutex
	m  map[string]Record
}

func newRWMutex() Store { return &rwMutex{m: make(map[string]Record)} }

func (s *rwMutex) Get(key string) (Record, bool) {
	s.mu.RLock()
	r, ok := s.m[key]
	s.mu.RUnlock()
	return r, ok
}

func (s *rwMutex) Set(key string, r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = r
}

func (s *rwMutex) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		s.m[p.Key] = p.Record
	}
}

func (s *rwMutex) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		maps.All(s.m)(yield)
	}
}

func (s *rwMutex) Fork() Store { return &rwMutex{m: s.clone()} }

// clone returns a copy of the map that shares the records, which nobody modifies.
func (s *rwMutex) clone() map[string]Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.m)
}
