package stores

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Several write, each pairs of its own, and several read in every way there is,
// each through a Space it made itself. What is read was put, and, of a space that
// is read as a whole, a pair is of one Put.
func TestMemoriesAreReadWhileTheyAreWritten(t *testing.T) {
	const writers, writes, pairs = 3, 30, 5
	eachMemory(t, func(t *testing.T, k memoryKind) {
		m := k.NewMemory()
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
