package peers

import (
	"iter"

	"github.com/maypok86/otter/v2"
	"github.com/puzpuzpuz/xsync/v4"

	"github.com/cowstore/cowstore/bench/stores"
)

// xsyncMap is a concurrent hash map whose readers take no lock.
type xsyncMap struct {
	m *xsync.Map[string, stores.Record]
}

func newXsync() stores.Store { return xsyncMap{xsync.NewMap[string, stores.Record]()} }

func (s xsyncMap) Get(key string) (stores.Record, bool)  { return s.m.Load(key) }
func (s xsyncMap) Set(key string, r stores.Record)       { s.m.Store(key, r) }
func (s xsyncMap) Update(pairs []stores.Pair)            { stores.SetEach(s, pairs) }
func (s xsyncMap) All() iter.Seq2[string, stores.Record] { return s.m.All() }

// otterCache is a cache that has a maximum, as caches do, which is far above what
// is ever stored here.
type otterCache struct {
	c *otter.Cache[string, stores.Record]
}

func newOtter() stores.Store {
	return otterCache{otter.Must(&otter.Options[string, stores.Record]{MaximumSize: 1 << 24})}
}

func (s otterCache) Get(key string) (stores.Record, bool)  { return s.c.GetIfPresent(key) }
func (s otterCache) Set(key string, r stores.Record)       { s.c.Set(key, r) }
func (s otterCache) Update(pairs []stores.Pair)            { stores.SetEach(s, pairs) }
func (s otterCache) All() iter.Seq2[string, stores.Record] { return s.c.All() }
