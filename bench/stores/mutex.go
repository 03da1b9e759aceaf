package stores

import (
	"iter"
	"maps"
	"sync"
)

// mutex is rwMutex with the plain lock, which costs a lone reader less and makes
// readers wait for each other.
type mutex struct {
	mu sync.Mutex
	m  map[string]Record
}

func newMutex() Store { return &mutex{m: make(map[string]Record)} }

func (s *mutex) Get(key string) (Record, bool) {
	s.mu.Lock()
	r, ok := s.m[key]
	s.mu.Unlock()
	return r, ok
}

func (s *mutex) Set(key string, r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = r
}

func (s *mutex) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		s.m[p.Key] = p.Record
	}
}

func (s *mutex) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.All(s.m)(yield)
	}
}

func (s *mutex) Fork() Store { return &mutex{m: s.clone()} }

// clone returns a copy of the map that shares the records, which nobody modifies.
func (s *mutex) clone() map[string]Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.m)
}
