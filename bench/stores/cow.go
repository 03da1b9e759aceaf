package stores

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
)

// cowstore is this project as it is meant to be used.
type cowstore struct{ s *cow.Table[string, Record] }

func newStore() *cow.Table[string, Record] { return cow.New[string](cow.Options[Record]{}) }

func newCowstore() Store { return cowstore{newStore()} }

func (c cowstore) Get(key string) (Record, bool)  { return c.s.Get(key) }
func (c cowstore) Set(key string, r Record)       { c.s.Set(key, r) }
func (c cowstore) Update(pairs []Pair)            { update(c.s, pairs) }
func (c cowstore) All() iter.Seq2[string, Record] { return c.s.Load().All() }
func (c cowstore) Fork() Store                    { return cowstore{forkOf(c.s)} }

func forkOf[V any](s *cow.Table[string, V]) *cow.Table[string, V] {
	return s.Of(s.DB().Fork(s.DB().Load()))
}

func update[V Record | plainRecord](s *cow.Table[string, V], pairs []Pair) {
	_ = s.Update(func(e *cow.Editor[string, V]) error {
		for _, p := range pairs {
			e.Set(p.Key, V(p.Record))
		}
		return nil
	})
}

// shared is this project read without cloning. Records are still cloned on the
// way in.
type shared struct{ cowstore }

func newShared() Store { return shared{cowstore{newStore()}} }

func (c shared) Get(key string) (Record, bool)  { return c.s.Load().Shared().Get(key) }
func (c shared) All() iter.Seq2[string, Record] { return c.s.Load().Shared().All() }
func (c shared) Fork() Store                    { return shared{cowstore{forkOf(c.s)}} }

// views is this project read through the views that cowview generates. Where they are
// not asked for it is as cowstore.
type views struct {
	cowstore
	views cow.Views[string, Record, RecordView]
}

func newViews() Store { return viewsOf(newStore()) }

func viewsOf(s *cow.Table[string, Record]) Store {
	return views{cowstore{s}, cow.NewViews[RecordView](s)}
}

func (c views) View(key string) (RecordView, bool) { return c.views.Get(key) }
func (c views) Fork() Store                        { return viewsOf(forkOf(c.s)) }

// A plainRecord is a Record without its methods, so that the clone of it is the one
// that cowstore compiles when the program runs.
type plainRecord Record

// compiled is this project where nothing was generated.
type compiled struct {
	s *cow.Table[string, plainRecord]
}

func newCompiled() Store { return compiled{cow.New[string](cow.Options[plainRecord]{})} }

func (c compiled) Get(key string) (Record, bool) {
	r, ok := c.s.Get(key)
	return Record(r), ok
}

func (c compiled) Set(key string, r Record) { c.s.Set(key, plainRecord(r)) }
func (c compiled) Update(pairs []Pair)      { update(c.s, pairs) }
func (c compiled) Fork() Store              { return compiled{forkOf(c.s)} }

func (c compiled) All() iter.Seq2[string, Record] {
	all := c.s.Load().All()
	return func(yield func(string, Record) bool) {
		for key, r := range all {
			if !yield(key, Record(r)) {
				return
			}
		}
	}
}
