package main

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/benbjohnson/immutable"
	"github.com/cowstore/cowstore/cow"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// number is the reference-free value of the bars: no store clones it.
type number struct {
	ID               uint64
	Created, Updated int64
	Score            float64
}

// A peer is a store of the bars. gets looks up each key and sums the IDs, in a
// loop of its own so that no call through an interface is timed with it.
type peer interface {
	gets(keys []string) (sum uint64)
	set(key string, v number)
}

// goMap is what nothing can be asked to beat: no lock, one goroutine.
type goMap map[string]number

func (m goMap) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		sum += m[k].ID
	}
	return sum
}

func (m goMap) set(key string, v number) { m[key] = v }

type lockedMap struct {
	mu sync.RWMutex
	m  map[string]number
}

func (s *lockedMap) get(key string) number {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.m[key]
}

func (s *lockedMap) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		sum += s.get(k).ID
	}
	return sum
}

func (s *lockedMap) set(key string, v number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = v
}

// cowGet and cowShared are this project, read in its two ways.
type cowGet struct{ *cow.Store[string, number] }

func (s cowGet) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := s.Get(k)
		sum += v.ID
	}
	return sum
}

func (s cowGet) set(key string, v number) { s.Set(key, v) }

type cowShared struct{ cowGet }

func (s cowShared) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := s.Load().Shared().Get(k)
		sum += v.ID
	}
	return sum
}

// oneBigMap is the textbook design: an immutable.Map behind a pointer.
type oneBigMap struct {
	current atomic.Pointer[immutable.Map[string, number]]
	mu      sync.Mutex
}

func newOneBigMap() *oneBigMap {
	s := new(oneBigMap)
	s.current.Store(immutable.NewMap[string, number](stringHasher{maphash.MakeSeed()}))
	return s
}

func (s *oneBigMap) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := s.current.Load().Get(k)
		sum += v.ID
	}
	return sum
}

func (s *oneBigMap) set(key string, v number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(s.current.Load().Set(key, v))
}

// stringHasher is the seeded hash that immutable.Map does not come with.
type stringHasher struct{ seed maphash.Seed }

func (h stringHasher) Hash(key string) uint32 { return uint32(maphash.String(h.seed, key)) }
func (h stringHasher) Equal(a, b string) bool { return a == b }

type radix struct {
	current atomic.Pointer[iradix.Tree[number]]
	mu      sync.Mutex
}

func newRadix() *radix {
	s := new(radix)
	s.current.Store(iradix.New[number]())
	return s
}

func (s *radix) gets(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := s.current.Load().Get([]byte(k))
		sum += v.ID
	}
	return sum
}

func (s *radix) set(key string, v number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, _, _ := s.current.Load().Insert([]byte(key), v)
	s.current.Store(next)
}
