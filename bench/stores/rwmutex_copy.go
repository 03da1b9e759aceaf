package stores

import (
	"iter"
	"sync"
)

// rwMutexCopy is a map behind a lock that copies each record on the way in and
// on the way out: what a report of an aliasing bug is fixed with.
type rwMutexCopy struct {
	mu sync.RWMutex
	m  map[string]Record
}

func newRWMutexCopy() Store { return &rwMutexCopy{m: make(map[string]Record)} }

func (s *rwMutexCopy) Get(key string) (Record, bool) {
	s.mu.RLock()
	r, ok := s.m[key]
	s.mu.RUnlock()
	// Outside the lock, for nobody modifies what is stored.
	return deepCopy(r), ok
}

func (s *rwMutexCopy) Set(key string, r Record) {
	r = deepCopy(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = r
}

func (s *rwMutexCopy) Update(pairs []Pair) {
	copies := make([]Record, len(pairs))
	for i, p := range pairs {
		copies[i] = deepCopy(p.Record)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range pairs {
		s.m[p.Key] = copies[i]
	}
}

func (s *rwMutexCopy) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for k, r := range s.m {
			if !yield(k, deepCopy(r)) {
				return
			}
		}
	}
}
