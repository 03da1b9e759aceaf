package memories

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// agentMemory is package memory of this project as it is meant to be used where
// nobody searches for words: it keeps no index of them.
type agentMemory struct{ m *memory.Memory }

func newAgentMemory() Memory {
	return agentMemory{memory.New(memory.Options{NoText: true})}
}

func (a agentMemory) Space(path ...string) Space { return agentSpace{a.m, a.m.Space(path...)} }

// agentTexts is the same with an index of the words in all strings of values,
// which each Put pays for.
type agentTexts struct{ m *memory.Memory }

func newTextMemory() Memory { return agentTexts{memory.New(memory.Options{})} }

func (a agentTexts) Space(path ...string) Space {
	return agentTextSpace{agentSpace{a.m, a.m.Space(path...)}}
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

// storeMemory is the key-value store of this project where it has to do as a
// memory: spaces are prefixes of keys, and an index in the order of keys finds
// those of one. It clones values deeply, as AgentField does.
type storeMemory struct {
	values *cow.Store[string, any]
	order  *cow.Index[string, any, string]
}

func newStoreMemory() Memory {
	values := cow.New[string](cow.Options[any]{})
	return storeMemory{values, cow.NewOrder(values, "order")}
}

func (m storeMemory) Space(path ...string) Space { return storeSpace{m, pathName(path)} }

type storeSpace struct {
	storeMemory
	prefix string
}

func (s storeSpace) Get(key string) (Found, bool) {
	v, ok := s.value(key)
	return foundIn(v), ok
}

// value returns the value of key, and whether there is one.
func (s storeSpace) value(key string) (any, bool) { return s.values.Get(s.prefix + key) }

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
