package stores

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// memoryKind is a memory and what the tests hold it to beside its promises.
type memoryKind struct {
	Kind
	whole, vectors, texts bool // what its spaces are
	picky                 bool // wants a vector and a key that is not empty
}

// memoryKinds are by ID, so that a memory without one is found out.
var memoryKinds = map[string]memoryKind{
	"memory":       {whole: true, vectors: true},
	"memory-text":  {whole: true, vectors: true, texts: true},
	"store-index":  {whole: true},
	"rwmutex":      {whole: true, vectors: true},
	"rwmutex-copy": {whole: true, vectors: true},
	"json":         {whole: true},
	"chromem":      {vectors: true, picky: true},
	"bleve":        {whole: true, texts: true},
	"bleve-en":     {whole: true, texts: true},
}

// eachMemory runs f for every memory there is.
func eachMemory(t *testing.T, f func(t *testing.T, k memoryKind)) {
	for _, kind := range append(Kinds(), More()...) {
		if kind.NewMemory == nil {
			continue
		}
		k, known := memoryKinds[kind.ID]
		require.True(t, known, "%s is not in the table", kind.ID)
		k.Kind = kind
		k.NewMemory = func() Memory {
			m := kind.NewMemory()
			if c, ok := m.(io.Closer); ok {
				t.Cleanup(func() { require.NoError(t, c.Close()) })
			}
			return m
		}
		t.Run(k.ID, func(t *testing.T) { f(t, k) })
	}
}

func TestSpacesAreWhatTheyCanBe(t *testing.T) {
	eachMemory(t, func(t *testing.T, k memoryKind) {
		s := k.NewMemory().Space("user", "42")
		_, whole := s.(WholeSpace)
		_, vectors := s.(VectorSpace)
		_, texts := s.(TextSpace)
		require.Equal(t, []bool{k.whole, k.vectors, k.texts}, []bool{whole, vectors, texts})
	})
}

// aNote returns a note, of ten fields as others are, and with a vector.
func aNote(key, text, stamp string) Note {
	r := rand.New(rand.NewPCG(uint64(len(key)), uint64(len(text))))
	return Note{Key: key, Vector: aUnitVector(r, 48), Value: map[string]any{
		"id": key, "kind": "note", "text": text, "score": 0.75, "count": 3.0, "pinned": true,
		"tags": []any{"style", map[string]any{"user": "42"}}, "source": nil, "stamp": stamp,
		"meta": map[string]any{"turn": 4.0, "model": "x"},
	}}
}

func aUnitVector(r *rand.Rand, dim int) []float32 {
	v, sum := make([]float32, dim), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// alikePaths are told apart by who does not join them carelessly.
var alikePaths = [][]string{
	{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a b"}, {"a/b"}, {"a:b"},
	{`a" "b`}, {"a\x00b"}, {"a", "b", "c"}, {"a", "b c"}, {"\xff"}, {"\ufffd"},
}

func TestMemoriesFindWhatWasPut(t *testing.T) {
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.NewMemory()
		s := m.Space("user", "42")
		_, ok := s.Get("k0")
		require.False(t, ok)

		want := map[string]Found{}
		var notes []Note
		for i := range 300 {
			key, f := fmt.Sprint("k", i), Found{fmt.Sprint("the user has ", i, " cats"), fmt.Sprint("at ", i)}
			notes, want[key] = append(notes, aNote(key, f.Text, f.Stamp)), f
		}
		s.Put(notes...)
		s.Put(aNote("k7", "the user has a dog", "at 8"))
		s.Put(aNote("new", "the user has a bird", "at 9"))
		s.Put(aNote("k9", "not the last", ""), aNote("k9", "the last", "at 10"))
		want["k7"], want["new"], want["k9"] = Found{"the user has a dog", "at 8"}, Found{"the user has a bird", "at 9"}, Found{"the last", "at 10"}

		others := []any{"a string", 1.5, nil, []any{"text"}, map[string]any{}, map[string]any{"text": 1.0, "stamp": nil}}
		for i, v := range others {
			key := fmt.Sprint("other", i)
			s.Put(Note{Key: key, Value: v, Vector: notes[0].Vector})
			want[key] = Found{}
		}
		s.Put()
		if !k.picky {
			want[""] = Found{"empty", ""}
			s.Put(aNote("", "empty", ""))
		}

		for key, f := range want {
			got, ok := s.Get(key)
			require.True(t, ok, key)
			require.Equal(t, f, got, key)
			got, ok = m.Space("user", "42").Get(key)
			require.True(t, ok, "another Space of the same path")
			require.Equal(t, f, got)
		}
		got, ok := s.Get("k")
		require.False(t, ok)
		require.Zero(t, got)
		if s, ok := s.(WholeSpace); ok {
			require.Equal(t, want, maps.Collect(s.All()))
			for range s.All() {
				break
			}
			s.Put(aNote("k1", "who breaks off holds no lock", ""))
			var keys []string
			for key := range s.All() {
				keys = append(keys, key)
			}
			require.True(t, !k.Ordered || slices.IsSorted(keys))
		}
	})
}

func TestSpacesAreApart(t *testing.T) {
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.NewMemory()
		for i, path := range alikePaths {
			m.Space(path...).Put(aNote("same", fmt.Sprint("number ", i), ""), aNote(fmt.Sprint("only ", i), "", ""))
		}
		for i, path := range alikePaths {
			s := m.Space(path...)
			f, _ := s.Get("same")
			require.Equal(t, fmt.Sprint("number ", i), f.Text, "%q", path)
			_, ok := s.Get(fmt.Sprint("only ", (i+1)%len(alikePaths)))
			require.False(t, ok)
			keys := []string{fmt.Sprint("only ", i), "same"}
			if s, ok := s.(WholeSpace); ok {
				require.ElementsMatch(t, keys, slices.Collect(maps.Keys(maps.Collect(s.All()))))
			}
			if s, ok := s.(VectorSpace); ok {
				require.ElementsMatch(t, keys, s.Nearest(aNote("", "", "").Vector, 10))
			}
			if s, ok := s.(TextSpace); ok {
				require.Equal(t, []string{"same"}, s.Matching("number", 10))
			}
		}
		s := m.Space("empty")
		if s, ok := s.(WholeSpace); ok {
			require.Empty(t, maps.Collect(s.All()))
		}
		if s, ok := s.(VectorSpace); ok {
			require.Empty(t, s.Nearest([]float32{1}, 10))
		}
		if s, ok := s.(TextSpace); ok {
			require.Empty(t, s.Matching("number", 10))
		}
	})
}

// What a caller can do to a note reaches the memory if, and only if, the memory is
// not isolated.
func TestIsolationOfMemoriesIsAsDeclared(t *testing.T) {
	spoilValue := func(v any) {
		m := v.(map[string]any)
		m["text"], m["new"] = "spoilt", true
		m["tags"].([]any)[0] = "spoilt"
		m["tags"].([]any)[1].(map[string]any)["user"] = "spoilt"
		delete(m["meta"].(map[string]any), "turn")
	}
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.NewMemory()
		s := m.Space("user", "42")
		given, pristine := aNote("k", "the user has a cat", ""), aNote("k", "the user has a cat", "")
		s.Put(given)
		s.Put(given, aNote("other", "", ""))
		spoilValue(given.Value)
		clear(given.Vector)
		given.Vector[0] = 1
		f, _ := s.Get("k")
		aliased := f.Text != "the user has a cat"

		if s, ok := s.(VectorSpace); ok {
			aliased = aliased || s.Nearest(pristine.Vector, 1)[0] != "k"
		}
		if s, ok := s.(interface{ value(string) (any, bool) }); ok {
			v, _ := s.value("k")
			aliased = aliased || !equalValues(v, pristine.Value)
			s.(Space).Put(pristine)
			v, _ = s.value("k")
			spoilValue(v)
			v, _ = s.value("k")
			aliased = aliased || !equalValues(v, aNote("k", "the user has a cat", "").Value)
		}
		require.Equal(t, k.Isolated, !aliased, "the promise is wrong")
	})
}

func equalValues(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestMemoriesRefuseWhatTheyCannotKeep(t *testing.T) {
	for _, make := range []func() Memory{newAgentMemory, newTextMemory, newJSONMemory} {
		s := make().Space("s")
		require.Panics(t, func() { s.Put(Note{Key: "k", Value: func() {}}) })
		require.Panics(t, func() { s.Put(aNote("k", "", ""), Note{Key: "l", Value: func() {}}) })
		_, ok := s.Get("k")
		require.False(t, ok, "nothing of what was one commit")
	}
	eachMemory(t, func(t *testing.T, k memoryKind) {
		if s, ok := k.NewMemory().Space("s").(VectorSpace); ok {
			s.Put(aNote("k", "", ""))
			require.Panics(t, func() {
				s.Put(Note{Key: "l", Vector: []float32{1}})
				s.Nearest(aNote("k", "", "").Vector, 1)
			})
		}
	})
	require.PanicsWithValue(t, "stores: couldn't create embedding of document: a note must have a vector", func() {
		newChromemMemory().Space("s").Put(Note{Key: "k", Value: map[string]any{"text": "no service is asked"}})
	})
}

func TestAgentMemoryDoesNotAllocateInGet(t *testing.T) {
	for _, make := range []func() Memory{newAgentMemory, newTextMemory} {
		s := make().Space("user", "42")
		s.Put(aNote("k", "the user has a cat", "at 1"))
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if f, ok := s.Get("k"); !ok || f.Stamp != "at 1" {
				panic(f)
			}
		}))
	}
}

func TestBleveEndsItsGoroutines(t *testing.T) {
	before := goleak.IgnoreCurrent()
	m := newBleveMemory(WordsAnalyzer)
	for _, path := range alikePaths {
		m.Space(path...).Put(aNote("k", "text", ""))
	}
	require.NoError(t, m.(io.Closer).Close())
	goleak.VerifyNone(t, before)
}
