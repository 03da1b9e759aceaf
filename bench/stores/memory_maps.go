package stores

import (
	"iter"
	"slices"
	"sync"
)

// nestedMaps is what an agent's memory is when it is first written, and how the
// in-memory backend of the Go SDK of AgentField keeps it: nested maps behind one
// lock, and the vectors beside them, to be gone through one by one.
type nestedMaps struct {
	// copies says that values are copied deeply on the way in and on the way
	// out, as AgentField does, and vectors on the way in.
	copies bool

	mu      sync.RWMutex
	values  map[string]map[string]any // by space and key
	vectors map[string]*scanned       // by space
}

func newMapsMemory() Memory       { return newNestedMaps(false) }
func newMapsMemoryCopies() Memory { return newNestedMaps(true) }

func newNestedMaps(copies bool) *nestedMaps {
	return &nestedMaps{
		copies:  copies,
		values:  make(map[string]map[string]any),
		vectors: make(map[string]*scanned),
	}
}

func (m *nestedMaps) Space(path ...string) Space { return mapsSpace{m, pathName(path)} }

type mapsSpace struct {
	*nestedMaps
	name string
}

func (s mapsSpace) Get(key string) (Found, bool) {
	v, ok := s.value(key)
	return foundIn(v), ok
}

// value returns the value of key, and whether there is one.
func (s mapsSpace) value(key string) (any, bool) {
	s.mu.RLock()
	v, ok := s.values[s.name][key]
	s.mu.RUnlock()
	// Outside the lock, for nobody modifies what is stored.
	return s.copied(v), ok
}

func (s mapsSpace) copied(v any) any {
	if s.copies {
		return CopyOf(v)
	}
	return v
}

func (s mapsSpace) Put(notes ...Note) {
	if s.copies {
		notes = slices.Clone(notes)
		for i := range notes {
			notes[i].Value = CopyOf(notes[i].Value)
			notes[i].Vector = slices.Clone(notes[i].Vector)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values, vectors := s.values[s.name], s.vectors[s.name]
	if values == nil {
		values, vectors = make(map[string]any), &scanned{at: make(map[string]int)}
		s.values[s.name], s.vectors[s.name] = values, vectors
	}
	for i := range notes {
		values[notes[i].Key] = notes[i].Value
		vectors.set(notes[i].Key, notes[i].Vector)
	}
}

func (s mapsSpace) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for k, v := range s.values[s.name] {
			if !yield(k, foundIn(s.copied(v))) {
				return
			}
		}
	}
}

func (s mapsSpace) Nearest(v []float32, k int) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.vectors[s.name].nearest(v, k)
}
