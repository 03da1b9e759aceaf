package memories

import (
	"cmp"
	"encoding/json"
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

// scanned is a list of vectors, which a search goes through from end to end. It
// is not safe for concurrent use while it is written. The nil *scanned is empty.
type scanned struct {
	all []keyedVector
	at  map[string]int // where in all
}

type keyedVector struct {
	key    string
	vector []float32
}

// set replaces the vector of key, or removes it if there is no new one.
func (s *scanned) set(key string, v []float32) {
	i, ok := s.at[key]
	switch {
	case ok && len(v) > 0:
		s.all[i].vector = v
	case ok:
		last := len(s.all) - 1
		s.all[i] = s.all[last]
		s.at[s.all[i].key] = i
		s.all[last] = keyedVector{} // so that it can be collected
		s.all = s.all[:last]
		delete(s.at, key)
	case len(v) > 0:
		s.at[key] = len(s.all)
		s.all = append(s.all, keyedVector{key, v})
	}
}

// nearest returns the keys of the k vectors with the greatest dot products with
// v: of unit vectors, those most similar by cosine.
func (s *scanned) nearest(v []float32, k int) []string {
	if s == nil {
		return nil
	}
	type scored struct {
		key   string
		score float32
	}
	k = min(k, len(s.all))
	best := make([]scored, 0, k+1) // in order; few vectors get in, so that to move the others is cheap
	for i := range s.all {
		score := dot(v, s.all[i].vector)
		if len(best) == k && score <= best[k-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(b scored, score float32) int {
			return cmp.Compare(score, b.score)
		})
		best = slices.Insert(best, at, scored{s.all[i].key, score})
		best = best[:min(k, len(best))]
	}
	keys := make([]string, len(best))
	for i := range best {
		keys[i] = best[i].key
	}
	return keys
}

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
