package stores

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"
)

// bTree is a copy-on-write B-tree. The writer keeps a tree to itself and
// publishes a copy after each commit, because Copy modifies what it copies.
type bTree struct {
	current atomic.Pointer[btree.Map[string, Record]]
	mu      sync.Mutex
	master  *btree.Map[string, Record]
}

func newBTree() Store { return bTreeOf(new(btree.Map[string, Record])) }

func bTreeOf(master *btree.Map[string, Record]) *bTree {
	s := &bTree{master: master}
	s.current.Store(master.Copy())
	return s
}

func (s *bTree) Get(key string) (Record, bool)  { return s.current.Load().Get(key) }
func (s *bTree) Set(key string, r Record)       { s.Update([]Pair{{key, r}}) }
func (s *bTree) All() iter.Seq2[string, Record] { return s.Snapshot().All() }
func (s *bTree) Snapshot() Snapshot             { return bTreeSnapshot{s.current.Load()} }

func (s *bTree) Update(pairs []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		s.master.Set(p.Key, p.Record)
	}
	s.current.Store(s.master.Copy())
}

func (s *bTree) Fork() Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bTreeOf(s.master.Copy())
}

type bTreeSnapshot struct{ tree *btree.Map[string, Record] }

func (s bTreeSnapshot) Get(key string) (Record, bool)  { return s.tree.Get(key) }
func (s bTreeSnapshot) All() iter.Seq2[string, Record] { return s.tree.Scan }
