package stores

import (
	"iter"
	"sync"
	"sync/atomic"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// radix is the tree under go-memdb, behind a pointer.
type radix struct {
	current atomic.Pointer[iradix.Tree[Record]]
	mu      sync.Mutex
}

func newRadix() Store {
	s := new(radix)
	s.current.Store(iradix.New[Record]())
	return s
}

func (s *radix) Get(key string) (Record, bool)  { return s.current.Load().Get([]byte(key)) }
func (s *radix) Set(key string, r Record)       { s.Update([]Pair{{key, r}}) }
func (s *radix) All() iter.Seq2[string, Record] { return s.Snapshot().All() }
func (s *radix) Snapshot() Snapshot             { return radixSnapshot{s.current.Load()} }

func (s *radix) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	txn := s.current.Load().Txn()
	for _, p := range pairs {
		txn.Insert([]byte(p.Key), p.Record)
	}
	s.current.Store(txn.Commit())
}

func (s *radix) Fork() Store {
	f := new(radix)
	f.current.Store(s.current.Load())
	return f
}

type radixSnapshot struct{ tree *iradix.Tree[Record] }

func (s radixSnapshot) Get(key string) (Record, bool) { return s.tree.Get([]byte(key)) }

func (s radixSnapshot) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		s.tree.Root().Walk(func(k []byte, r Record) bool { return !yield(string(k), r) })
	}
}
