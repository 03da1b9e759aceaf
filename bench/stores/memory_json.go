package stores

import (
	"encoding/json"
	"iter"
	"sync"
)

// jsonMemory keeps values as JSON behind a lock and decodes them for each who
// asks, as a memory does that is made like a remote one: what is decoded anew
// nobody shares.
type jsonMemory struct {
	mu     sync.RWMutex
	values map[string]map[string][]byte // by space and key
}

func newJSONMemory() Memory { return &jsonMemory{values: make(map[string]map[string][]byte)} }

func (m *jsonMemory) Space(path ...string) Space { return jsonSpace{m, pathName(path)} }

type jsonSpace struct {
	*jsonMemory
	name string
}

func (s jsonSpace) Get(key string) (Found, bool) {
	v, ok := s.value(key)
	return foundIn(v), ok
}

// value returns the value of key, and whether there is one.
func (s jsonSpace) value(key string) (any, bool) {
	s.mu.RLock()
	text, ok := s.values[s.name][key]
	s.mu.RUnlock()
	if !ok {
		return nil, false
	}
	// Outside the lock, for nobody modifies what is stored.
	return decoded(text), true
}

func (s jsonSpace) Put(notes ...Note) {
	texts := make([][]byte, len(notes))
	for i := range notes {
		text, err := json.Marshal(notes[i].Value)
		stored(err)
		texts[i] = text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := s.values[s.name]
	if values == nil {
		values = make(map[string][]byte)
		s.values[s.name] = values
	}
	for i := range notes {
		values[notes[i].Key] = texts[i]
	}
}

func (s jsonSpace) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for k, text := range s.values[s.name] {
			if !yield(k, foundIn(decoded(text))) {
				return
			}
		}
	}
}

func decoded(text []byte) (v any) {
	stored(json.Unmarshal(text, &v))
	return v
}
