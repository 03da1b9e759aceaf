package stores

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestIsWhatALookAtEachFinds(t *testing.T) {
	const n, dim = 250, 48
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.NewMemory()
		s, ok := m.Space("user", "42").(VectorSpace)
		if !ok {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		held := map[string][]float32{}
		check := func() {
			for range 3 {
				q := aUnitVector(r, dim)
				for _, most := range []int{1, 10, n + 100} {
					requireNearest(t, held, q, most, s.Nearest(q, most))
				}
			}
		}
		put := func(keys ...string) {
			var notes []Note
			for _, key := range keys {
				held[key] = aUnitVector(r, dim)
				notes = append(notes, Note{key, "text", slices.Clone(held[key])})
			}
			s.Put(notes...)
		}
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprint("k", i))
		}
		put(keys[:n-50]...)
		check()
		for _, key := range keys[n-100:] {
			put(key)
		}
		put(keys[:100]...)
		m.Space("user", "43").Put(Note{"another's", "text", aUnitVector(r, dim)})
		check()
		if k.picky {
			return
		}
		for i := range 100 {
			s.Put(Note{Key: keys[(7*i)%n], Value: "without a vector"})
			delete(held, keys[(7*i)%n])
		}
		check()
		put(keys[:50]...)
		check()
		for _, key := range keys {
			s.Put(Note{Key: key, Value: "without a vector"})
		}
		require.Empty(t, s.Nearest(aUnitVector(r, dim), 10))
		put("again")
	})
}

// requireNearest fails unless found are the keys of the vectors most similar to q,
// in order, but for those whose similarity differs by less than rounding may.
func requireNearest(t *testing.T, held map[string][]float32, q []float32, most int, found []string) {
	t.Helper()
	similarity := func(v []float32) (sum float64) {
		for i := range v {
			sum += float64(v[i]) * float64(q[i])
		}
		return sum
	}
	var want, got []float64
	for _, v := range held {
		want = append(want, similarity(v))
	}
	slices.Sort(want)
	slices.Reverse(want)
	seen := map[string]bool{}
	for _, key := range found {
		require.False(t, seen[key])
		require.Contains(t, held, key)
		seen[key] = true
		got = append(got, similarity(held[key]))
	}
	require.InDeltaSlice(t, want[:min(most, len(want))], got, 1e-5)
}

func TestMatchingFindsWords(t *testing.T) {
	eachMemory(t, func(t *testing.T, k memoryKind) {
		s, ok := k.NewMemory().Space("user", "42").(TextSpace)
		if !ok {
			return
		}
		var notes []Note
		for i := range 50 {
			notes = append(notes, aNote(fmt.Sprint("k", i), fmt.Sprint("the user owns car number ", i), ""))
		}
		s.Put(notes...)
		s.Put(aNote("train", "Prefers the night train to Lyon.", ""), aNote("Lyon", "His sister lives in Lyon", ""))
		s.Put(aNote("drink", "likes green tea", ""))

		require.Equal(t, []string{"drink"}, s.Matching("Which TEA?", 10))
		require.Equal(t, []string{"train", "Lyon"}, s.Matching("the train to lyon", 2))
		require.Equal(t, []string{"k17"}, s.Matching("17", 10))
		require.Len(t, s.Matching("car", 10), 10)
		require.Len(t, s.Matching("car", 100), 50)
		require.Empty(t, s.Matching("helicopter", 10))
		require.Empty(t, s.Matching("", 10))

		s.Put(aNote("", "has no key", ""))
		require.Equal(t, []string{""}, s.Matching("key", 10))
		s.Put(aNote("drink", "likes black coffee", ""))
		require.Empty(t, s.Matching("tea", 10))
		require.Equal(t, []string{"drink"}, s.Matching("coffee", 10))
		f, _ := s.Get("drink")
		require.Equal(t, "likes black coffee", f.Text)
	})
}

// What is found are the strings of a value, wherever they stand in it, and not its keys.
func TestMatchingFindsAllStrings(t *testing.T) {
	eachMemory(t, func(t *testing.T, k memoryKind) {
		s, ok := k.NewMemory().Space("user", "42").(TextSpace)
		if !ok {
			return
		}
		s.Put(
			Note{Key: "string", Value: "likes green tea"},
			Note{Key: "content", Value: map[string]any{"content": "likes coffee", "n": 1.5}},
			Note{Key: "nested", Value: []any{map[string]any{"role": []any{"water", nil, true}}}},
			Note{Key: "number", Value: 17.0},
		)
		for query, want := range map[string]string{"tea": "string", "coffee": "content", "water": "nested"} {
			require.Equal(t, []string{want}, s.Matching(query, 10))
		}
		require.Empty(t, s.Matching("content role", 10))
	})
}

// One bleve knows English, as ours does, the other only words.
func TestAnalyzersOfBleve(t *testing.T) {
	found := map[string][]string{}
	eachMemory(t, func(t *testing.T, k memoryKind) {
		if s, ok := k.NewMemory().Space("user").(TextSpace); ok {
			s.Put(aNote("trip", "He travelled to the sea", ""), aNote("other", "the dog", ""))
			found[k.ID] = append(s.Matching("travelling", 9), s.Matching("the", 9)...)
		}
	})
	for _, id := range []string{"bleve-en", "memory-text"} {
		require.Equal(t, []string{"trip"}, found[id], "%s: by its stem, and nothing that is everywhere", id)
	}
	require.ElementsMatch(t, []string{"trip", "other"}, found["bleve"])
}
