package peers

import (
	"iter"
	"sync"
	"sync/atomic"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"github.com/tidwall/btree"

	"github.com/cowstore/cowstore/bench/stores"
)

// radix is the tree under go-memdb, behind a pointer.
type radix struct {
	current atomic.Pointer[iradix.Tree[stores.Record]]
	mu      sync.Mutex
}

func newRadix() stores.Store {
	s := new(radix)
	s.current.Store(iradix.New[stores.Record]())
	return s
}

func (s *radix) Get(key string) (stores.Record, bool) { return s.current.Load().Get([]byte(key)) }
func (s *radix) Set(key string, r stores.Record)      { s.Update([]stores.Pair{{Key: key, Record: r}}) }

func (s *radix) Update(pairs []stores.Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	txn := s.current.Load().Txn()
	for _, p := range pairs {
		txn.Insert([]byte(p.Key), p.Record)
	}
	s.current.Store(txn.Commit())
}

func (s *radix) Fork() stores.Store {
	f := new(radix)
	f.current.Store(s.current.Load())
	return f
}

func (s *radix) All() iter.Seq2[string, stores.Record] {
	root := s.current.Load().Root()
	return func(yield func(string, stores.Record) bool) {
		root.Walk(func(k []byte, r stores.Record) bool { return !yield(string(k), r) })
	}
}

// bTree is a copy-on-write B-tree. The writer keeps a tree to itself and
// publishes a copy after each commit, because Copy modifies what it copies.
type bTree struct {
	current atomic.Pointer[btree.Map[string, stores.Record]]
	mu      sync.Mutex
	master  *btree.Map[string, stores.Record]
}

func newBTree() stores.Store { return bTreeOf(new(btree.Map[string, stores.Record])) }

func bTreeOf(master *btree.Map[string, stores.Record]) *bTree {
	s := &bTree{master: master}
	s.current.Store(master.Copy())
	return s
}

func (s *bTree) Get(key string) (stores.Record, bool)  { return s.current.Load().Get(key) }
func (s *bTree) Set(key string, r stores.Record)       { s.Update([]stores.Pair{{Key: key, Record: r}}) }
func (s *bTree) All() iter.Seq2[string, stores.Record] { return s.current.Load().Scan }

func (s *bTree) Update(pairs []stores.Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		s.master.Set(p.Key, p.Record)
	}
	s.current.Store(s.master.Copy())
}

func (s *bTree) Fork() stores.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bTreeOf(s.master.Copy())
}
