package memories

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/tphakala/simd/f32"
)

// nestedMaps is what an agent's memory is when it is first written, and how the
// in-memory backend of the Go SDK of AgentField keeps it: nested maps behind one
// lock, and the vectors beside them, to be gone through one by one.
type nestedMaps[V any] struct {
	keep  func(n *Note) (V, []float32) // what is kept of a note
	found func(v V) Found              // without the lock, for nobody modifies what is kept

	mu      sync.RWMutex
	values  map[string]map[string]V // by space and key
	vectors map[string]*scanned     // by space
}

func newNestedMaps[V any](keep func(n *Note) (V, []float32), found func(v V) Found) *nestedMaps[V] {
	return &nestedMaps[V]{keep: keep, found: found, values: map[string]map[string]V{}, vectors: map[string]*scanned{}}
}

// newMapsMemory makes one that shares all with its callers.
func newMapsMemory() Memory {
	m := newNestedMaps(func(n *Note) (any, []float32) { return n.Value, n.Vector }, foundIn)
	return spaces(func(path ...string) Space { return scannedSpace{mapsSpace[any]{m, pathName(path)}} })
}

// newCopiesMemory makes one that copies values deeply on the way in and on the way out, as
// AgentField does, and vectors on the way in.
func newCopiesMemory() Memory {
	m := newNestedMaps(func(n *Note) (any, []float32) { return CopyOf(n.Value), slices.Clone(n.Vector) },
		func(v any) Found { return foundIn(CopyOf(v)) })
	return spaces(func(path ...string) Space { return scannedSpace{mapsSpace[any]{m, pathName(path)}} })
}

// newJSONMemory makes one that keeps values as JSON and decodes them for each who asks, as
// a memory does that is made like a remote one. It keeps no vectors.
func newJSONMemory() Memory {
	m := newNestedMaps(func(n *Note) ([]byte, []float32) {
		text, err := json.Marshal(n.Value)
		stored(err)
		return text, nil
	}, func(text []byte) Found {
		var v any
		stored(json.Unmarshal(text, &v))
		return foundIn(v)
	})
	return spaces(func(path ...string) Space { return mapsSpace[[]byte]{m, pathName(path)} })
}

type mapsSpace[V any] struct {
	*nestedMaps[V]
	name string
}

func (s mapsSpace[V]) Get(key string) (Found, bool) {
	s.mu.RLock()
	v, ok := s.values[s.name][key]
	s.mu.RUnlock()
	if !ok {
		return Found{}, false
	}
	return s.found(v), true
}

func (s mapsSpace[V]) Put(notes ...Note) {
	values, vectors := make([]V, len(notes)), make([][]float32, len(notes))
	for i := range notes {
		values[i], vectors[i] = s.keep(&notes[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[s.name] == nil {
		s.values[s.name], s.vectors[s.name] = map[string]V{}, &scanned{at: map[string]int{}}
	}
	for i := range notes {
		s.values[s.name][notes[i].Key] = values[i]
		s.vectors[s.name].set(notes[i].Key, vectors[i])
	}
}

func (s mapsSpace[V]) All() iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for k, v := range s.values[s.name] {
			if !yield(k, s.found(v)) {
				return
			}
		}
	}
}

// scannedSpace is a space that has vectors too.
type scannedSpace struct{ mapsSpace[any] }

func (s scannedSpace) Nearest(v []float32, k int) []string {
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
	vector []float32 // nil if it was replaced by none
}

// set replaces the vector of key.
func (s *scanned) set(key string, v []float32) {
	i, ok := s.at[key]
	switch {
	case ok:
		s.all[i].vector = v
	case v != nil:
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
		if s.all[i].vector == nil {
			continue
		}
		score := f32.DotProduct(v, s.all[i].vector[:len(v)])
		if len(best) == k && score <= best[k-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(b scored, score float32) int { return cmp.Compare(score, b.score) })
		best = slices.Insert(best, at, scored{s.all[i].key, score})
		best = best[:min(k, len(best))]
	}
	keys := make([]string, len(best))
	for i := range best {
		keys[i] = best[i].key
	}
	return keys
}
