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

// shared is this project read without cloning. Records are still cloned on the
// way in.
type shared struct{ cowstore }

func newShared() Store { return shared{cowstore{cow.New[string](cow.Options[Record]{})}} }

func (c shared) Get(key string) (Record, bool)  { return c.s.Load().Shared().Get(key) }
func (c shared) All() iter.Seq2[string, Record] { return c.s.Load().Shared().All() }
func (c shared) Snapshot() Snapshot             { return c.s.Load().Shared() }
func (c shared) Fork() Store                    { return shared{cowstore{c.s.Fork(c.s.Load())}} }

// views is this project read through the views that cowview generates. Where they are
// not asked for it is as cowstore.
type views struct {
	cowstore
	views cow.Views[string, Record, RecordView]
}

func newViews() Store { return viewsOf(cow.New[string](cow.Options[Record]{})) }

func viewsOf(s *cow.Store[string, Record]) Store {
	return views{cowstore{s}, cow.NewViews[RecordView](s)}
}

func (c views) View(key string) (RecordView, bool) { return c.views.Get(key) }
func (c views) Fork() Store                        { return viewsOf(c.s.Fork(c.s.Load())) }

// A plainRecord is a Record without its methods, so that the clone of it is the one
// that cowstore compiles when the program runs.
type plainRecord Record

// compiled is this project where nothing was generated.
type compiled struct {
	s *cow.Store[string, plainRecord]
}

func newCompiled() Store { return compiled{cow.New[string](cow.Options[plainRecord]{})} }

func (c compiled) Get(key string) (Record, bool) {
	r, ok := c.s.Get(key)
	return Record(r), ok
}

func (c compiled) Set(key string, r Record)       { c.s.Set(key, plainRecord(r)) }
func (c compiled) All() iter.Seq2[string, Record] { return plainSnapshot{c.s.Load()}.All() }
func (c compiled) Snapshot() Snapshot             { return plainSnapshot{c.s.Load()} }
func (c compiled) Fork() Store                    { return compiled{c.s.Fork(c.s.Load())} }

func (c compiled) Update(pairs []Pair) {
	_ = c.s.Update(func(e *cow.Editor[string, plainRecord]) error {
		for _, p := range pairs {
			e.Set(p.Key, plainRecord(p.Record))
		}
		return nil
	})
}

// A plainSnapshot is a snapshot of plainRecords.
type plainSnapshot struct{ m *cow.Map[string, plainRecord] }

func (s plainSnapshot) Get(key string) (Record, bool) {
	r, ok := s.m.Get(key)
	return Record(r), ok
}

func (s plainSnapshot) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		for key, r := range s.m.All() {
			if !yield(key, Record(r)) {
				return
			}
		}
	}
}
