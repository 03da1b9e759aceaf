package stores

import "iter"

// mutexCopy is rwMutexCopy with the plain lock.
type mutexCopy struct{ mutex }

func newMutexCopy() Store { return &mutexCopy{mutex{m: make(map[string]Record)}} }

func (s *mutexCopy) Get(key string) (Record, bool) {
	s.mu.Lock()
	r, ok := s.m[key]
	s.mu.Unlock()
	// Outside the lock, for nobody modifies what is stored.
	return deepCopy(r), ok
}

func (s *mutexCopy) Set(key string, r Record) {
	r = deepCopy(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = r
}

func (s *mutexCopy) Update(pairs []Pair) { s.mutex.Update(deepCopies(pairs)) }

func (s *mutexCopy) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for k, r := range s.m {
			if !yield(k, deepCopy(r)) {
				return
			}
		}
	}
}

func (s *mutexCopy) Fork() Store { return &mutexCopy{mutex{m: s.clone()}} }
