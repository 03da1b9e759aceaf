package stores

import (
	"iter"

	"github.com/puzpuzpuz/xsync/v4"
)

// xsyncMap is a concurrent hash map whose readers take no lock. Its Update is one
// commit a key.
type xsyncMap struct{ m *xsync.Map[string, Record] }

func newXsync() Store { return xsyncMap{xsync.NewMap[string, Record]()} }

func (s xsyncMap) Get(key string) (Record, bool)  { return s.m.Load(key) }
func (s xsyncMap) Set(key string, r Record)       { s.m.Store(key, r) }
func (s xsyncMap) All() iter.Seq2[string, Record] { return s.m.All() }

func (s xsyncMap) Update(pairs []Pair) {
	for _, p := range pairs {
		s.m.Store(p.Key, p.Record)
	}
}
