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
			s := agentSpace{m, m.Space(path...)}
			if o.NoText {
				return s
			}
			return agentTextSpace{s}
		})
	}
}

type agentSpace struct {
	m     *memory.Memory
	space memory.Space
}

func (s agentSpace) Get(key string) (Found, bool) {
	v, ok := s.space.Get(key)
	return foundInFrozen(v), ok
}

func (s agentSpace) Put(notes ...Note) {
	if len(notes) == 1 {
		_, err := s.space.PutItem(notes[0].Key, item(&notes[0]))
		stored(err)
		return
	}
	path := s.space.Path()
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

func (s agentSpace) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		for e := range s.space.List(memory.ListOptions{}) {
			if !yield(e.Key, foundInFrozen(e.Value)) {
				return
			}
		}
	}
}

func (s agentSpace) Nearest(v []float32, k int) []string {
	return hitKeys(s.space.Search(v, memory.SearchOptions{K: k}))
}

type agentTextSpace struct{ agentSpace }

func (s agentTextSpace) Matching(query string, k int) []string {
	return hitKeys(s.space.SearchText(query, memory.SearchOptions{K: k}))
}

func item(n *Note) memory.Item { return memory.Item{Value: n.Value, Vector: n.Vector} }

func foundInFrozen(v memory.Value) Found {
	return Found{v.Key("text").String(), v.Key("stamp").String()}
}

func hitKeys(hits []memory.Hit, err error) []string {
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
	values *cow.Store[string, any]
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
