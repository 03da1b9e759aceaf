package memories

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tphakala/simd/f32"
	"go.uber.org/goleak"

	"github.com/cowstore/cowstore/bench/load"
)

// Memories that are closed leave no goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// eachMemory runs f for a new memory of every kind.
func eachMemory(t *testing.T, f func(t *testing.T, k Kind, m Memory)) {
	for _, k := range Kinds() {
		t.Run(k.ID, func(t *testing.T) {
			m := k.New()
			defer load.Release(m)
			f(t, k, m)
		})
	}
}

const testDim = 48

// aNote returns a note with a vector, always the same for key and text.
func aNote(key, text, stamp string) Note {
	return Note{Key: key, Vector: UnitVectors(uint64(crc32.ChecksumIEEE([]byte(key+text))), testDim, 0)(), Value: map[string]any{
		"text": text, "stamp": stamp, "score": 0.75, "pinned": true, "source": nil,
		"tags": []any{"style", map[string]any{"role": "user"}}, "meta": map[string]any{"turn": 4.0, "model": "x"},
	}}
}

// spoil changes what can be reached of a note.
func spoil(n Note) {
	m := n.Value.(map[string]any)
	m["text"], m["new"] = "spoilt", true
	m["tags"].([]any)[0] = "spoilt"
	m["tags"].([]any)[1].(map[string]any)["role"] = "spoilt"
	delete(m["meta"].(map[string]any), "turn")
	for i, x := range n.Vector {
		n.Vector[i] = -x
	}
}

// alikePaths are told apart by who does not join them carelessly.
var alikePaths = [][]string{
	{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a b"}, {"a/b"}, {"a:b"},
	{`a" "b`}, {"a\x00b"}, {"a", "b", "c"}, {"a", "b c"}, {"\xff"}, {"\ufffd"},
}

// Whatever is put is found in its space, and in no other, as in the plainest memory.
func TestMemoriesAreLikeMaps(t *testing.T) {
	odd := []any{"a string", 1.5, nil, []any{"text"}, map[string]any{}, map[string]any{"text": 1.0, "stamp": nil}}
	eachMemory(t, func(t *testing.T, k Kind, m Memory) {
		model, r, vector := New("rwmutex"), rand.New(rand.NewPCG(1, 2)), UnitVectors(1, testDim, 0)
		for step := range 20 * len(alikePaths) {
			notes := make([]Note, r.IntN(5))
			for i := range notes {
				n := aNote(fmt.Sprint("k", r.IntN(30)), fmt.Sprint("note number ", r.IntN(6)), fmt.Sprint("s", step))
				n.Vector = vector()
				if r.IntN(4) == 0 {
					n.Value = odd[r.IntN(len(odd))]
				}
				if k.ID != "chromem" && r.IntN(4) == 0 {
					n.Vector = nil
				}
				if k.ID != "chromem" && r.IntN(10) == 0 {
					n.Key = ""
				}
				notes[i] = n
			}
			path := alikePaths[step%len(alikePaths)]
			model.Space(path...).Put(notes...)
			m.Space(path...).Put(notes...)
		}
		for _, path := range append(alikePaths, []string{"empty"}) {
			requireLike(t, k, model.Space(path...).(scannedSpace), m.Space(path...))
		}
	})
}

// requireLike requires that s has what is wanted, in every way there is to read it.
func requireLike(t *testing.T, k Kind, want scannedSpace, s Space) {
	all := maps.Collect(want.All())
	for _, key := range append(slices.Collect(maps.Keys(all)), "absent") {
		f, ok := s.Get(key)
		wanted, there := want.Get(key)
		require.Equal(t, there, ok, key)
		require.Equal(t, wanted, f, key)
	}
	if s, ok := s.(WholeSpace); ok {
		var keys []string
		for key, f := range s.All() {
			keys = append(keys, key)
			require.Equal(t, all[key], f, key)
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(all)), keys)
		require.True(t, !k.Ordered || slices.IsSorted(keys))
		for range s.All() {
			break
		}
		s.Put() // who breaks off holds no lock
	}
	if s, ok := s.(VectorSpace); ok {
		for _, most := range []int{1, 10, 100} {
			q := UnitVectors(uint64(most), testDim, 0)()
			require.True(t, slices.Equal(want.Nearest(q, most), s.Nearest(q, most)))
		}
	}
	if s, ok := s.(TextSpace); ok {
		for number := range 6 {
			var keys []string
			for key, f := range all {
				if strings.HasSuffix(f.Text, fmt.Sprint(" ", number)) {
					keys = append(keys, key)
				}
			}
			require.ElementsMatch(t, keys, s.Matching(fmt.Sprint(number), 100))
		}
	}
}

// What a caller does to a note that was put reaches the memory if, and only if, the memory
// is not isolated. Those that copy values copy them for each Get too.
func TestIsolationIsAsPromised(t *testing.T) {
	eachMemory(t, func(t *testing.T, k Kind, m Memory) {
		s, given, pristine := m.Space("user", "42"), aNote("k", "a cat", ""), aNote("k", "a cat", "")
		s.Put(given)
		s.Put(given, aNote("other", "", ""))
		spoil(given)
		f, _ := s.Get("k")
		aliased := f.Text != "a cat"
		if s, ok := s.(VectorSpace); ok {
			aliased = aliased || s.Nearest(pristine.Vector, 1)[0] != "k"
		}
		require.Equal(t, k.Isolated, !aliased, "the promise is wrong")

		allocations := testing.AllocsPerRun(100, func() { s.Get("k") })
		if strings.HasPrefix(k.ID, "memory") {
			require.Zero(t, allocations, "what cannot change is not copied")
		} else if k.Isolated {
			require.GreaterOrEqual(t, allocations, 4.0, "a map with a list and two maps in it")
		}
	})
	pristine, copied := aNote("k", "a cat", ""), aNote("k", "a cat", "")
	copied.Value = CopyOf(pristine.Value)
	require.Equal(t, pristine.Value, copied.Value)
	spoil(copied)
	require.Equal(t, aNote("k", "a cat", "").Value, pristine.Value)
}

func TestMemoriesRefuseWhatTheyCannotKeep(t *testing.T) {
	for _, id := range []string{"memory", "memory-text", "json"} {
		s := New(id).Space("s")
		require.Panics(t, func() { s.Put(Note{Key: "k", Value: func() {}}) })
		require.Panics(t, func() { s.Put(aNote("k", "", ""), Note{Key: "l", Value: func() {}}) })
		_, ok := s.Get("k")
		require.False(t, ok, "nothing of what was one commit")
	}
	require.PanicsWithValue(t, "memories: couldn't create embedding of document: a note must have a vector", func() {
		newChromemMemory().Space("s").Put(Note{Key: "k", Value: map[string]any{"text": "no service is asked"}})
	})
}

func TestUnitVectors(t *testing.T) {
	for _, centers := range []int{0, 1} {
		vectors := Take(50, UnitVectors(1, 384, centers))
		require.Equal(t, vectors, Take(50, UnitVectors(1, 384, centers)))
		for i, v := range vectors {
			require.InDelta(t, 1, f32.DotProduct(v, v), 1e-6)
			require.InDelta(t, 0.7*float64(centers), f32.DotProduct(v, vectors[(i+1)%50]), 0.25)
		}
	}
}

// What is found are the strings of a value, wherever they stand in it, and not its keys: the
// best first.
func TestMatchingRanksTexts(t *testing.T) {
	eachMemory(t, func(t *testing.T, k Kind, m Memory) {
		s, ok := m.Space("user", "42").(TextSpace)
		if !ok {
			return
		}
		s.Put(
			Note{Key: "train", Value: "Prefers the night train to Lyon."},
			Note{Key: "Lyon", Value: map[string]any{"content": "His sister lives in Lyon", "n": 1.5}},
			Note{Key: "nested", Value: []any{map[string]any{"role": []any{"green tea", nil, true}}}},
			Note{Key: "number", Value: 17.0},
			Note{Key: "trip", Value: "He travelled by sea"},
		)
		for query, want := range map[string][]string{
			"Which TEA?": {"nested"}, "the train to lyon": {"train", "Lyon"}, "helicopter": {}, "content role 17": {}, "": {},
		} {
			require.Equal(t, want, s.Matching(query, 2), query)
		}
		// One bleve knows English, as ours does, the other only words.
		english := k.ID != "bleve"
		require.Equal(t, english, slices.Equal([]string{"trip"}, s.Matching("travelling", 9)), "by its stem")
		require.Equal(t, english, len(s.Matching("the", 9)) == 0, "which is everywhere")
	})
}

// Several write, each pairs of its own, and several read in every way there is. What is read
// was put, and, of a space that is read as a whole, a pair is of one Put.
func TestMemoriesAreReadWhileTheyAreWritten(t *testing.T) {
	const writers, writes, pairs = 3, 30, 5
	note := func(writer, i int, side string) Note {
		key := fmt.Sprint("w", writer, "p", i%pairs, side)
		return aNote(key, "note "+key, fmt.Sprint("s", i))
	}
	eachMemory(t, func(t *testing.T, k Kind, m Memory) {
		var writing, reading sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range writes {
					m.Space("shared").Put(note(w, i, "left"), note(w, i, "right"))
				}
			})
		}
		written := make(chan struct{})
		for range 2 {
			reading.Go(func() {
				for last := false; !last; {
					select {
					case <-written:
						last = true
					default:
					}
					readPairs(t, m.Space("shared"))
				}
			})
		}
		writing.Wait()
		close(written)
		reading.Wait()
		last := New("rwmutex").Space("shared").(scannedSpace)
		for w := range writers {
			for i := writes - pairs; i < writes; i++ {
				last.Put(note(w, i, "left"), note(w, i, "right"))
			}
		}
		requireLike(t, k, last, m.Space("shared"))
	})
}

// readPairs fails the test if it reads what was not put, or a pair that is torn.
func readPairs(t *testing.T, s Space) {
	var found []string
	if s, ok := s.(VectorSpace); ok {
		found = s.Nearest(aNote("", "", "").Vector, 10)
	}
	if s, ok := s.(WholeSpace); ok {
		all := maps.Collect(s.All())
		for key, f := range all {
			found = append(found, key)
			pair := strings.TrimSuffix(strings.TrimSuffix(key, "left"), "right")
			if all[pair+"left"].Stamp != f.Stamp || all[pair+"right"].Stamp != f.Stamp {
				t.Errorf("%s is torn", key)
			}
		}
	}
	for _, key := range found {
		if f, ok := s.Get(key); !ok || f.Text != "note "+key {
			t.Errorf("under %s is %q", key, f)
		}
	}
	if s, ok := s.(TextSpace); ok {
		s.Matching("note", 10) // whose keys bleve may not have the values of yet
	}
}

// Where several put the same key at once, its words and its value are of the same Put.
func TestWordsAgreeWithValues(t *testing.T) {
	eachMemory(t, func(t *testing.T, k Kind, m Memory) {
		s, ok := m.Space("s").(TextSpace)
		for range 50 {
			var writing sync.WaitGroup
			for w := range 4 {
				writing.Go(func() { m.Space("s").Put(aNote("k", fmt.Sprint("w", w), "")) })
			}
			writing.Wait()
			if f, _ := m.Space("s").Get("k"); ok {
				require.Equal(t, []string{"k"}, s.Matching(f.Text, 1))
			}
		}
	})
}
