package memories

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// newAgentMemory makes package memory of this project. Without NoText it has an index of
// the words in all strings of values, which each Put pays for.
func newAgentMemory(o memory.Options) func() Memory {
	return func() Memory {
		m := memory.New(o)
		return spaces(func(path ...string) Space {
			if o.NoText {
				return SpaceOf(m, path...)
			}
			return agentTextSpace{SpaceOf(m, path...)}
		})
	}
}

// An AgentSpace is a space of package memory.
type AgentSpace struct {
	Space memory.Space
	m     *memory.Memory
}

// SpaceOf returns a space of m.
func SpaceOf(m *memory.Memory, path ...string) AgentSpace { return AgentSpace{m.Space(path...), m} }

// Get copies nothing: values are frozen.
func (s AgentSpace) Get(key string) (Found, bool) {
	v, ok := s.Space.Get(key)
	return foundInFrozen(v), ok
}

// Put stores several notes as one batch.
func (s AgentSpace) Put(notes ...Note) {
	if len(notes) == 1 {
		_, err := s.Space.PutItem(notes[0].Key, item(&notes[0]))
		stored(err)
		return
	}
	path := s.Space.Path()
	stored(s.m.Batch(func(b *memory.Batch) error {
		e := b.Space(path...)
		for i := range notes {
			if err := e.PutItem(notes[i].Key, item(&notes[i])); err != nil {
				return err
			}
		}
		return nil
	}))
}

// All is of one version.
func (s AgentSpace) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		for e := range s.Space.List(memory.ListOptions{}) {
			if !yield(e.Key, foundInFrozen(e.Value)) {
				return
			}
		}
	}
}

// Nearest searches by one processor.
func (s AgentSpace) Nearest(v []float32, k int) []string {
	return Keys(s.Space.Search(memory.Query{Vector: v, K: k}))
}

type agentTextSpace struct{ AgentSpace }

func (s agentTextSpace) Matching(query string, k int) []string {
	if query == "" {
		return []string{} // a Query of nothing is an error
	}
	return Keys(s.Space.Search(memory.Query{Text: query, K: k}))
}

func item(n *Note) memory.Item { return memory.Item{Value: n.Value, Vector: n.Vector} }

func foundInFrozen(v memory.Value) Found {
	return Found{v.Key("text").String(), v.Key("stamp").String()}
}

// Keys returns the keys of what a search has found, which must not have failed.
func Keys(hits []memory.Hit, err error) []string {
	stored(err)
	keys := make([]string, len(hits))
	for i := range hits {
		keys[i] = hits[i].Key
	}
	return keys
}

// newStoreMemory makes the key-value store of this project do as a memory: spaces are
// prefixes of keys, and an index in the order of keys finds those of one. It clones
// values deeply, as AgentField does.
func newStoreMemory() Memory {
	values := cow.New[string](cow.Options[any]{})
	order := cow.NewOrder(values, "order")
	return spaces(func(path ...string) Space { return storeSpace{values, order, pathName(path)} })
}

type storeSpace struct {
	values *cow.Table[string, any]
	order  *cow.Index[string, any, string]
	prefix string
}

func (s storeSpace) Get(key string) (Found, bool) {
	v, ok := s.values.Get(s.prefix + key)
	return foundIn(v), ok
}

func (s storeSpace) Put(notes ...Note) {
	stored(s.values.Update(func(e *cow.Editor[string, any]) error {
		for i := range notes {
			e.Set(s.prefix+notes[i].Key, notes[i].Value)
		}
		return nil
	}))
}

func (s storeSpace) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		for k, row := range s.order.In(s.values.Load()).Prefix(s.prefix).All() {
			if !yield(k[len(s.prefix):], foundIn(row.Value())) {
				return
			}
		}
	}
}
