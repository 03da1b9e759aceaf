package stores

import (
	"cmp"
	"slices"
)

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
