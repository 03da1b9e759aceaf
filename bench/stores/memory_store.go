package stores

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
)

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
