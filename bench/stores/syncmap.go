package stores

import (
	"iter"
	"sync"
)

// syncMap is the concurrent map of the standard library. Its Update is one
// commit a key: it has no other.
type syncMap struct{ m sync.Map }

func newSyncMap() Store { return new(syncMap) }

func (s *syncMap) Get(key string) (Record, bool) {
	v, ok := s.m.Load(key)
	if !ok {
		return Record{}, false
	}
	return v.(Record), true
}

func (s *syncMap) Set(key string, r Record) { s.m.Store(key, r) }

func (s *syncMap) Update(pairs []Pair) {
	for _, p := range pairs {
		s.m.Store(p.Key, p.Record)
	}
}

func (s *syncMap) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.m.Range(func(k, v any) bool { return yield(k.(string), v.(Record)) })
	}
}
