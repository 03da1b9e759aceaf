package stores

import "iter"

// rwMutexCopy is a map behind a lock that copies each record on the way in and
// on the way out: what a report of an aliasing bug is fixed with.
type rwMutexCopy struct{ rwMutex }

func newRWMutexCopy() Store { return &rwMutexCopy{rwMutex{m: make(map[string]Record)}} }

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

func (s *rwMutexCopy) Update(pairs []Pair) { s.rwMutex.Update(deepCopies(pairs)) }

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

func (s *rwMutexCopy) Fork() Store { return &rwMutexCopy{rwMutex{m: s.clone()}} }

// deepCopies returns pairs with deep copies of the records. It is called without
// the lock, so that nobody waits for it.
func deepCopies(pairs []Pair) []Pair {
	copies := make([]Pair, len(pairs))
	for i, p := range pairs {
		copies[i] = Pair{p.Key, deepCopy(p.Record)}
	}
	return copies
}
