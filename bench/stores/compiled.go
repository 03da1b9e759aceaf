package stores

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
)

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
