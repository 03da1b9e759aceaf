package stores

import (
	"iter"

	"github.com/maypok86/otter/v2"
)

// otterCache is a cache that has a maximum, as caches do, which is far above what
// is ever stored here. Its Update is one commit a key.
type otterCache struct{ c *otter.Cache[string, Record] }

func newOtter() Store {
	return otterCache{otter.Must(&otter.Options[string, Record]{MaximumSize: 1 << 24})}
}

func (s otterCache) Get(key string) (Record, bool)  { return s.c.GetIfPresent(key) }
func (s otterCache) Set(key string, r Record)       { s.c.Set(key, r) }
func (s otterCache) All() iter.Seq2[string, Record] { return s.c.All() }

func (s otterCache) Update(pairs []Pair) {
	for _, p := range pairs {
		s.c.Set(p.Key, p.Record)
	}
}
