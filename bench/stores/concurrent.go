package stores

import (
	"hash/maphash"
	"iter"
	"sync"

	"golang.org/x/sys/cpu"
)

// SetEach is the Update of a store that has no commit of several keys.
func SetEach(s Store, pairs []Pair) {
	for _, p := range pairs {
		s.Set(p.Key, p.Record)
	}
}

// syncMap is the concurrent map of the standard library.
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
func (s *syncMap) Update(pairs []Pair)      { SetEach(s, pairs) }

func (s *syncMap) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.m.Range(func(k, v any) bool { return yield(k.(string), v.(Record)) })
	}
}

// sharded is a map cut into pieces, each behind a lock of its own, so that
// writers seldom wait for one another.
type sharded struct {
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	mu sync.RWMutex
	m  map[string]Record
	_  cpu.CacheLinePad // so that the next lock is in a cache line of its own
}

func newSharded() Store {
	s := &sharded{seed: maphash.MakeSeed()}
	for i := range s.shards {
		s.shards[i].m = make(map[string]Record)
	}
	return s
}

func (s *sharded) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

func (s *sharded) Get(key string) (Record, bool) {
	h := s.shard(key)
	h.mu.RLock()
	r, ok := h.m[key]
	h.mu.RUnlock()
	return r, ok
}

func (s *sharded) Set(key string, r Record) {
	h := s.shard(key)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.m[key] = r
}

func (s *sharded) Update(pairs []Pair) { SetEach(s, pairs) }

func (s *sharded) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		for i := range s.shards {
			h := &s.shards[i]
			h.mu.RLock()
			for k, r := range h.m {
				if !yield(k, r) {
					h.mu.RUnlock()
					return
				}
			}
			h.mu.RUnlock()
		}
	}
}
