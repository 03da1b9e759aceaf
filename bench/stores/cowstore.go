package stores

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
)

// cowstore is this project as it is meant to be used.
type cowstore struct{ s *cow.Store[string, Record] }

func newCowstore() Store { return cowstore{cow.New[string](cow.Options[Record]{})} }

func (c cowstore) Get(key string) (Record, bool)  { return c.s.Get(key) }
func (c cowstore) Set(key string, r Record)       { c.s.Set(key, r) }
func (c cowstore) All() iter.Seq2[string, Record] { return c.s.Load().All() }
func (c cowstore) Snapshot() Snapshot             { return c.s.Load() }
func (c cowstore) Fork() Store                    { return cowstore{c.s.Fork(c.s.Load())} }

func (c cowstore) Update(pairs []Pair) {
	_ = c.s.Update(func(e *cow.Editor[string, Record]) error {
		for _, p := range pairs {
			e.Set(p.Key, p.Record)
		}
		return nil
	})
}
