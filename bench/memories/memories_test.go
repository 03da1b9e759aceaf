package memories

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	for _, kind := range Kinds() {
		k, known := memoryKinds[kind.ID]
		require.True(t, known, "%s is not in the table", kind.ID)
		k.Kind = kind
		k.New = func() Memory {
			m := kind.New()
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
		s := k.New().Space("user", "42")
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
		m := k.New()
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
		m := k.New()
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
		m := k.New()
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
		if s, ok := k.New().Space("s").(VectorSpace); ok {
			s.Put(aNote("k", "", ""))
			require.Panics(t, func() {
				s.Put(Note{Key: "l", Vector: []float32{1}})
				s.Nearest(aNote("k", "", "").Vector, 1)
			})
		}
	})
	require.PanicsWithValue(t, "memories: couldn't create embedding of document: a note must have a vector", func() {
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

func TestNearestIsWhatALookAtEachFinds(t *testing.T) {
	const n, dim = 250, 48
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.New()
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
		s, ok := k.New().Space("user", "42").(TextSpace)
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
		s, ok := k.New().Space("user", "42").(TextSpace)
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
		if s, ok := k.New().Space("user").(TextSpace); ok {
			s.Put(aNote("trip", "He travelled to the sea", ""), aNote("other", "the dog", ""))
			found[k.ID] = append(s.Matching("travelling", 9), s.Matching("the", 9)...)
		}
	})
	for _, id := range []string{"bleve-en", "memory-text"} {
		require.Equal(t, []string{"trip"}, found[id], "%s: by its stem, and nothing that is everywhere", id)
	}
	require.ElementsMatch(t, []string{"trip", "other"}, found["bleve"])
}

// Several write, each pairs of its own, and several read in every way there is,
// each through a Space it made itself. What is read was put, and, of a space that
// is read as a whole, a pair is of one Put.
func TestMemoriesAreReadWhileTheyAreWritten(t *testing.T) {
	const writers, writes, pairs = 3, 30, 5
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.New()
		note := func(writer, pair int, side string, i int) Note {
			key := fmt.Sprintf("%d-%d-%s", writer, pair, side)
			return aNote(key, "note "+key, fmt.Sprint(i))
		}
		var writing, reading sync.WaitGroup
		done := make(chan struct{})
		for w := range writers {
			writing.Go(func() {
				s := m.Space("shared")
				for i := range writes {
					s.Put(note(w, i%pairs, "left", i), note(w, i%pairs, "right", i))
					m.Space("own", fmt.Sprint(w)).Put(note(w, 0, "own", i))
				}
			})
		}
		var torn sync.Map
		for r := range 2 {
			reading.Go(func() {
				s := m.Space("shared")
				for stop := false; !stop; {
					select {
					case <-done:
						stop = true
					default:
					}
					for i := range writers * pairs {
						n := note(i%writers, i/writers, "left", 0)
						if f, ok := s.Get(n.Key); ok && f.Text != "note "+n.Key {
							torn.Store("Get", f)
						}
					}
					for _, what := range tornIn(s, r) {
						torn.Store(what, true)
					}
				}
			})
		}
		writing.Wait()
		close(done)
		reading.Wait()
		torn.Range(func(what, how any) bool {
			t.Errorf("torn: %v %v", what, how)
			return true
		})

		for w := range writers {
			for pair := range pairs {
				for _, side := range []string{"left", "right"} {
					n := note(w, pair, side, writes-pairs+pair)
					f, ok := m.Space("shared").Get(n.Key)
					require.True(t, ok)
					require.Equal(t, foundIn(n.Value), f)
				}
			}
			f, _ := m.Space("own", fmt.Sprint(w)).Get(fmt.Sprintf("%d-0-own", w))
			require.Equal(t, fmt.Sprint(writes-1), f.Stamp)
		}
		if s, ok := m.Space("shared").(VectorSpace); ok {
			require.Len(t, s.Nearest(aNote("", "", "").Vector, 100), 2*writers*pairs)
		}
		if s, ok := m.Space("shared").(TextSpace); ok {
			require.Len(t, s.Matching("note", 100), 2*writers*pairs)
		}
	})
}

// tornIn returns what it read of a space that cannot be.
func tornIn(s Space, seed int) (torn []string) {
	keys := func(how string, all []string) {
		for _, key := range all {
			if _, ok := s.Get(key); !ok {
				torn = append(torn, how+" found "+key)
			}
		}
	}
	if s, ok := s.(VectorSpace); ok {
		keys("Nearest", s.Nearest(aNote("", strings.Repeat(" ", seed), "").Vector, 10))
	}
	if s, ok := s.(TextSpace); ok {
		for _, key := range s.Matching("note", 10) {
			if !strings.HasSuffix(key, "left") && !strings.HasSuffix(key, "right") {
				torn = append(torn, "Matching found "+key)
			}
		}
	}
	if s, ok := s.(WholeSpace); ok {
		stamps := map[string][]string{}
		for key, f := range s.All() {
			pair := strings.TrimSuffix(strings.TrimSuffix(key, "left"), "right")
			stamps[pair] = append(stamps[pair], f.Stamp)
		}
		for pair, of := range stamps {
			if len(of) != 2 || of[0] != of[1] {
				torn = append(torn, "All found of pair "+pair)
			}
		}
	}
	return torn
}

// slowTea is slow to put what is about tea.
type slowTea struct{ WholeSpace }

func (s slowTea) Put(notes ...Note) {
	if foundIn(notes[0].Value).Text == "likes tea" {
		time.Sleep(20 * time.Millisecond)
	}
	s.WholeSpace.Put(notes...)
}

// Where two put the same key at once, its words and its value are of the same Put.
func TestWordsOfBleveAgreeWithValues(t *testing.T) {
	m := newBleveMemory(WordsAnalyzer)
	s := m.Space("shared").(*bleveSpace)
	s.WholeSpace = slowTea{s.WholeSpace}
	var writing sync.WaitGroup
	writing.Go(func() { s.Put(aNote("k", "likes tea", "")) })
	require.Eventually(t, func() bool { return len(s.Matching("tea", 1)) == 1 }, time.Minute, time.Microsecond)
	s.Put(aNote("k", "likes coffee", ""))
	writing.Wait()
	f, _ := s.Get("k")
	require.Equal(t, "likes coffee", f.Text)
	require.Equal(t, []string{"k"}, s.Matching("coffee", 1))
	require.Empty(t, s.Matching("tea", 1))
	require.NoError(t, m.(io.Closer).Close())
}
