package stores

import (
	"iter"
	"maps"
	"sync"
)

// lockedMap is a map behind a lock as it is written at first: fast, and every caller
// holds the slice and the map that the store holds. Here writers replace records whole,
// so that nothing tears while nobody modifies what it was given. Lookups, which are
// what counts, are written out for each lock, below.
type lockedMap struct {
	write, read sync.Locker
	m           map[string]Record
	copies      bool // records are copied on the way in and out, as reports of aliasing bugs are fixed
	of          func(m map[string]Record, copies bool) Store
}

func (s *lockedMap) Set(key string, r Record) {
	if s.copies {
		r = deepCopy(r)
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.m[key] = r
}

func (s *lockedMap) Update(pairs []Pair) {
	if s.copies { // without the lock, so that nobody waits for it
		copies := make([]Pair, len(pairs))
		for i, p := range pairs {
			copies[i] = Pair{p.Key, deepCopy(p.Record)}
		}
		pairs = copies
	}
	s.write.Lock()
	defer s.write.Unlock()
	for _, p := range pairs {
		s.m[p.Key] = p.Record
	}
}

func (s *lockedMap) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.read.Lock()
		defer s.read.Unlock()
		for k, r := range s.m {
			if s.copies {
				r = deepCopy(r)
			}
			if !yield(k, r) {
				return
			}
		}
	}
}

// Fork shares the records, which nobody modifies.
func (s *lockedMap) Fork() Store {
	s.read.Lock()
	defer s.read.Unlock()
	return s.of(maps.Clone(s.m), s.copies)
}

type rwMutex struct {
	lockedMap
	mu sync.RWMutex
}

func newRWMutex(m map[string]Record, copies bool) Store {
	s := new(rwMutex)
	s.lockedMap = lockedMap{&s.mu, s.mu.RLocker(), m, copies, newRWMutex}
	return s
}

func (s *rwMutex) Get(key string) (Record, bool) {
	s.mu.RLock()
	r, ok := s.m[key]
	s.mu.RUnlock()
	if s.copies {
		r = deepCopy(r) // outside the lock, for nobody modifies what is stored
	}
	return r, ok
}

// mutex has the plain lock, which costs a lone reader less and makes readers wait for
// each other.
type mutex struct {
	lockedMap
	mu sync.Mutex
}

func newMutex(m map[string]Record, copies bool) Store {
	s := new(mutex)
	s.lockedMap = lockedMap{&s.mu, &s.mu, m, copies, newMutex}
	return s
}

func (s *mutex) Get(key string) (Record, bool) {
	s.mu.Lock()
	r, ok := s.m[key]
	s.mu.Unlock()
	if s.copies {
		r = deepCopy(r)
	}
	return r, ok
}
