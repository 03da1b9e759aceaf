package memory_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// languages says what the language of all spaces is.
type languages struct{ is atomic.Pointer[text.Analyzer] }

func (l *languages) of([]string) *text.Analyzer { return l.is.Load() }

func (l *languages) set(t *testing.T, code string) {
	a, err := text.Language(code)
	require.NoError(t, err)
	l.is.Store(a)
}

// The Analyzer of a space changes when it is indexed anew, as one version, and not before.
func TestReindex(t *testing.T) {
	var l languages
	m := memory.New(memory.Options{AnalyzerOf: l.of})
	replica := memory.New(memory.Options{})
	cowtest.Follow(t, replica.DB(), m.DB())
	s := m.Space("s")
	rev, err := s.Reindex(t.Context())
	require.NoError(t, err)
	require.Zero(t, rev, "nothing to index")
	_, err = s.Put("a", "Les chevaux mangeaient")
	require.NoError(t, err)
	_, err = s.PutVector("v", []float32{1}, nil)
	require.NoError(t, err)
	_, err = m.Space("t").Put("a", "Les chevaux mangeaient")
	require.NoError(t, err)

	l.set(t, "fr")
	_, err = s.Put("b", "Un cheval") // in an index that is English yet
	require.NoError(t, err)
	before := m.Load()
	found := func(s memory.SpaceSnapshot, query string, keys ...string) {
		t.Helper()
		hits, err := s.Search(memory.Query{Text: query})
		require.NoError(t, err)
		var is []string
		for _, h := range hits {
			is = append(is, h.Key)
			require.NotEmpty(t, h.Matches())
		}
		slices.Sort(is)
		require.Equal(t, keys, is, query)
	}
	found(s.Load(), "cheval", "b")
	found(s.Load(), "chevaux", "a")

	rev, err = s.Reindex(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Version()+1, rev)
	require.Equal(t, rev, m.Load().Version())
	found(s.Load(), "cheval", "a", "b")
	found(s.Load(), "manger", "a")
	found(s.In(before), "cheval", "b")
	found(s.In(before), "chevaux", "a")
	found(m.Load().Space("t"), "cheval")
	hits, err := m.Space().Search(memory.Query{Text: "cheval", Below: true})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	require.NoError(t, m.CheckDerived())
	require.Equal(t, 4, m.Load().Len())
	require.Equal(t, rev, replica.Load().Version())
	found(replica.Load().Space("s"), "cheval", "b")
	for c := range m.Load().Space("s").List(memory.ListOptions{}) {
		require.Less(t, c.Revision, rev, "no entry was written")
	}

	_, err = s.Put("c", "des chevaux")
	require.NoError(t, err)
	found(s.Load(), "cheval", "a", "b", "c")
	require.NoError(t, m.CheckDerived())

	none := memory.New(memory.Options{NoText: true}).Space("s")
	_, err = none.Put("a", "text")
	require.NoError(t, err)
	rev, err = none.Reindex(t.Context())
	require.NoError(t, err)
	require.Zero(t, rev)
}

// Of two at once the one that began later counts, whichever ends first.
func TestTwoReindexes(t *testing.T) {
	for _, refill := range []bool{false, true} {
		var l languages
		var block atomic.Bool
		inside, goOn := make(chan bool), make(chan bool)
		m := memory.New(memory.Options{AnalyzerOf: l.of, TextOf: func(_ []string, v memory.Value) iter.Seq2[string, int] {
			if block.CompareAndSwap(true, false) {
				inside <- true
				<-goOn
			}
			return func(yield func(string, int) bool) { yield(v.String(), 1) }
		}})
		s := m.Space("s")
		_, err := s.Put("a", "les chevaux")
		require.NoError(t, err)
		block.Store(true)
		var first sync.WaitGroup
		first.Go(func() {
			_, err := s.Reindex(t.Context()) // in English
			assert.NoError(t, err)
		})
		<-inside
		l.set(t, "fr")
		if refill {
			require.True(t, removed(s.Delete("a")))
			_, err = s.Put("a", "les chevaux")
		} else {
			_, err = s.Reindex(t.Context())
		}
		require.NoError(t, err)
		goOn <- true
		first.Wait()
		require.Equal(t, []string{"a"}, hitKeys(s.Search(memory.Query{Text: "cheval"})))
	}
}

// A replica that only follows makes its index anew with the version that says so.
func TestReindexOfAReplica(t *testing.T) {
	var l languages
	o := memory.Options{AnalyzerOf: l.of}
	m, replica := memory.New(o), memory.New(o)
	cowtest.Follow(t, replica.DB(), m.DB())
	for _, space := range []string{"s", "t"} {
		_, err := m.Space(space).Put("a", "les chevaux")
		require.NoError(t, err)
	}
	l.set(t, "fr")
	rev, err := m.Space("s").Reindex(t.Context())
	require.NoError(t, err)
	require.Equal(t, rev, replica.Load().Version())
	for _, m := range []*memory.Memory{m, replica} {
		require.Equal(t, []string{"a"}, hitKeys(m.Space("s").Search(memory.Query{Text: "cheval"})))
		require.Empty(t, hitKeys(m.Space("t").Search(memory.Query{Text: "cheval"})))
		require.NoError(t, m.CheckDerived())
	}
}

// A replica that gets contents instead of the versions it has missed finds there whose index
// began since, or was made anew, whatever else was written, and follows once.
func TestReindexThatAReplicaMissed(t *testing.T) {
	t.Cleanup(memory.ClearInSmallSteps())
	type writes struct {
		s       memory.Space
		put     func(key string, v any)
		remove  func(key string)
		clear   func()
		reindex func()
	}
	for name, missed := range map[string]func(w writes){
		"a Reindex": func(w writes) { w.reindex() },
		"and a put": func(w writes) { w.reindex(); w.put("b", "un cheval") },
		"two":       func(w writes) { w.reindex(); w.put("b", "un cheval"); w.reindex() },
		"all was cleared": func(w writes) {
			w.reindex()
			w.clear()
			w.put("a", "les chevaux")
		},
		"in steps": func(w writes) {
			for i := range 30 {
				w.put(fmt.Sprint(i), "un cheval")
			}
			w.reindex()
			w.clear()
			for i := range 30 {
				w.put("a", fmt.Sprint("les chevaux ", i))
			}
		},
		"the only entry": func(w writes) {
			w.reindex()
			w.remove("a")
			w.put("a", "les chevaux")
		},
		"of nothing": func(w writes) {
			w.remove("a")
			_, err := w.s.Reindex(t.Context())
			assert.NoError(t, err)
			w.put("a", "les chevaux")
		},
		"of no text": func(w writes) {
			w.put("a", 17)
			_, err := w.s.Reindex(t.Context())
			assert.NoError(t, err)
			w.put("a", "les chevaux")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var l languages
			o := memory.Options{AnalyzerOf: l.of}
			m, replica := memory.New(o), memory.New(o)
			sink := cowtest.Attach(t, m.DB(), cowtest.SinkOptions{})
			write := func(f func() error) {
				t.Helper()
				done := make(chan error, 1)
				go func() { done <- f() }()
				_, err := sink.Await(t.Context(), 1)
				require.NoError(t, err)
				sink.Ack(1)
				require.NoError(t, <-done)
			}
			s := m.Space("s")
			w := writes{
				s:       s,
				put:     func(key string, v any) { write(func() error { return errOf(s.Put(key, v)) }) },
				remove:  func(key string) { write(func() error { return errOf(s.Delete(key)) }) },
				clear:   func() { write(func() error { _, err := s.Clear(); return err }) },
				reindex: func() { write(func() error { return errOf(s.Reindex(t.Context())) }) },
			}
			w.put("a", "les chevaux mangeaient")
			follower := cowtest.Attach(t, replica.DB(), cowtest.SinkOptions{Of: sink})
			l.set(t, "fr")
			missed(w)
			require.Equal(t, 1, m.Epochs())
			want := hitKeys(s.Search(memory.Query{Text: "cheval", K: 100}))
			require.Len(t, want, s.Len())
			require.NoError(t, follower.Reset(sink.Contents()))
			require.Equal(t, want, hitKeys(replica.Space("s").Search(memory.Query{Text: "cheval", K: 100})))
			require.NoError(t, replica.CheckDerived())

			l.set(t, "en") // nobody has called Reindex
			w.put("z", "des chevaux")
			require.NoError(t, follower.Reset(sink.Contents()))
			for _, s := range []memory.Space{s, replica.Space("s")} {
				require.Len(t, hitKeys(s.Search(memory.Query{Text: "cheval", K: 100})), len(want)+1)
			}
			w.clear()
			for m.Cleared() > 0 {
				write(func() error { _, err := m.Sweep(t.Context()); return err })
			}
			require.Zero(t, m.Epochs(), "nothing is left of the space")
		})
	}
}

// Where an index ends and begins within one version a replica, which sees neither, follows.
func TestReplicaOfAnIndexThatBeginsAnew(t *testing.T) {
	for name, replace := range map[string]func(m *memory.Memory) error{
		"two batches": func(m *memory.Memory) error {
			return m.DB().Update(func(tx *cow.Tx) error {
				return errors.Join(
					m.BatchIn(tx, func(b *memory.Batch) error { b.Space("s").Delete("a"); return nil }),
					m.BatchIn(tx, func(b *memory.Batch) error { return b.Space("s").Put("a", "deux chevaux") }))
			})
		},
		"a clear elsewhere": func(m *memory.Memory) error {
			return m.Batch(func(b *memory.Batch) error {
				b.Space("s").Delete("a")
				b.Space("t").Clear()
				return b.Space("s").Put("a", "deux chevaux")
			})
		},
		"one batch": func(m *memory.Memory) error {
			return m.Batch(func(b *memory.Batch) error {
				b.Space("s").Delete("a")
				return b.Space("s").Put("a", "deux chevaux")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var l languages
			o := memory.Options{AnalyzerOf: l.of}
			m, replica := memory.New(o), memory.New(o)
			cowtest.Follow(t, replica.DB(), m.DB())
			require.NoError(t, errOf(m.Space("s").Put("a", "les chevaux")))
			require.NoError(t, errOf(m.Space("t").Put("a", "les chevaux")))
			l.set(t, "fr")
			require.NoError(t, replace(m))
			require.Equal(t, m.Load().Version(), replica.Load().Version())
			for _, query := range []string{"cheval", "chevaux"} {
				require.Equal(t, hitKeys(m.Space("s").Search(memory.Query{Text: query})),
					hitKeys(replica.Space("s").Search(memory.Query{Text: query})), query)
			}
		})
	}
}

// Whatever is done to spaces, and however a replica gets it, both have the same hits, as long
// as all is reindexed when AnalyzerOf says another thing.
func TestReplicaRandomly(t *testing.T) {
	t.Cleanup(memory.ClearInSmallSteps())
	for seed := range uint64(quicker(60)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var l languages
		o := memory.Options{AnalyzerOf: l.of}
		if seed%3 == 0 {
			o.MaxEntries = 5
		}
		m, replica := memory.New(o), memory.New(o)
		sink := cowtest.Attach(t, m.DB(), cowtest.SinkOptions{})
		follower := cowtest.Attach(t, replica.DB(), cowtest.SinkOptions{Of: sink})
		missed := sink.Ack(0)
		write := func(f func() error) {
			done := make(chan error, 1)
			go func() { done <- f() }()
			for {
				select {
				case err := <-done:
					require.NoError(t, err)
					return
				default:
					missed = append(missed, sink.Ack(1)...)
					runtime.Gosched()
				}
			}
		}
		spaces := [][]string{{"s"}, {"s", "t"}, {"u"}}
		for range 80 {
			space, key := spaces[r.IntN(3)], fmt.Sprint(r.IntN(4))
			write(func() error {
				return m.Batch(func(b *memory.Batch) (err error) {
					for range 1 + r.IntN(3) {
						e := b.Space(space...)
						switch r.IntN(8) {
						case 0, 1:
							e.Delete(key)
						case 2:
							e.Clear()
						case 3:
							b.Space("s").ClearAll()
						case 4:
							err = errors.Join(err, e.Put(key, 17))
						default:
							err = errors.Join(err, e.Put(key, fmt.Sprint("les chevaux ", r.IntN(3))))
						}
					}
					return err
				})
			})
			if r.IntN(4) == 0 {
				l.set(t, []string{"fr", "en"}[r.IntN(2)])
				for _, space := range spaces {
					write(func() error { return errOf(m.Space(space...).Reindex(t.Context())) })
				}
			}
			switch r.IntN(6) {
			case 0:
				require.NoError(t, follower.Reset(sink.Contents()))
			case 1:
				require.NoError(t, follower.Rebase(missed...))
			default:
				continue
			}
			missed = missed[:0]
			require.Equal(t, m.Load().Version(), replica.Load().Version())
			for _, query := range []string{"cheval", "chevaux", "les 1"} {
				find := func(m *memory.Memory) (found []string) {
					hits, err := m.Space().Search(memory.Query{Text: query, Below: true, K: 100})
					require.NoError(t, err)
					for _, h := range hits {
						found = append(found, fmt.Sprintf("%q %s %.9f", h.Space(), h.Key, h.Score))
					}
					slices.Sort(found)
					return found
				}
				require.Equal(t, find(m), find(replica), "seed %d: %s", seed, query)
			}
		}
		require.NoError(t, m.CheckDerived())
		require.NoError(t, replica.CheckDerived())
	}
}

// A fork is indexed anew by itself, and what it is merged into as a replica is, whatever
// else the fork did, and if both did; but not by a merge that brings no Reindex.
func TestReindexOfAFork(t *testing.T) {
	for _, both := range []bool{false, true} {
		var l languages
		m := memory.New(memory.Options{AnalyzerOf: l.of})
		_, err := m.Space("s").Put("a", "les chevaux")
		require.NoError(t, err)
		base := m.DB().Load()
		fork := m.Of(m.DB().Fork(base))
		if both {
			_, err = m.Space("s").Reindex(t.Context()) // in English
			require.NoError(t, err)
		}
		l.set(t, "fr")
		_, err = fork.Space("s").Reindex(t.Context())
		require.NoError(t, err)
		_, err = fork.Space("s").Put("c", "deux chevaux")
		require.NoError(t, err)
		require.Equal(t, []string{"a", "c"}, hitKeys(fork.Space("s").Search(memory.Query{Text: "cheval"})))
		require.Empty(t, hitKeys(m.Space("s").Search(memory.Query{Text: "cheval"})))
		_, err = m.Space("s").Put("b", "un cheval")
		require.NoError(t, err)
		_, err = m.DB().Merge(base, fork.DB().Load())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b", "c"}, hitKeys(m.Space("s").Search(memory.Query{Text: "cheval"})))
		require.NoError(t, m.CheckDerived())
		require.NoError(t, fork.CheckDerived())

		merged := m.DB().Load()
		_, err = m.Space("s").Put("d", "trois chevaux")
		require.NoError(t, err)
		l.set(t, "en")
		_, err = m.DB().Merge(m.DB().Load(), merged)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b", "c"}, hitKeys(m.Space("s").Search(memory.Query{Text: "cheval"})))
		_, err = m.Space("s").Reindex(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, m.Epochs())
		l.set(t, "fr")
		_, err = m.DB().Merge(m.DB().Load(), base)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, hitKeys(m.Space("s").Search(memory.Query{Text: "cheval"})), "that Reindex is undone too")
	}
}

// That a space was emptied in a fork changes nothing in the index of what it is merged into.
func TestMergeOfAnEmptiedSpace(t *testing.T) {
	var l languages
	m := memory.New(memory.Options{AnalyzerOf: l.of})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("a", "les chevaux")))
	fork := m.Fork(m.Load())
	base := m.DB().Load()
	require.NoError(t, errOf(fork.Space("s").Delete("a")))
	require.NoError(t, errOf(s.Put("b", "les chevaux")))
	l.set(t, "fr")
	_, err := m.DB().Merge(base, fork.DB().Load())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, hitKeys(s.Search(memory.Query{Text: "chevaux"})))
	require.Empty(t, hitKeys(s.Search(memory.Query{Text: "cheval"})))
}

// Who waits for other entries is not woken.
func TestReindexWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		_, err := s.Put("a", "text")
		require.NoError(t, err)
		since := m.Load()
		var woken memory.Snapshot
		go func() { woken, _ = s.Watch(t.Context(), since) }()
		for range 2 {
			_, err = s.Reindex(t.Context())
			require.NoError(t, err)
			synctest.Wait()
			require.Zero(t, woken)
		}
		rev, err := s.Put("b", "text")
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, rev, woken.Version())
	})
}

// However often all of a space is replaced, it ends.
func TestReindexEnds(t *testing.T) {
	t.Cleanup(memory.ReindexInSteps(0, 3))
	t.Cleanup(memory.ClearInSmallSteps())
	var m *memory.Memory
	replaced, armed := 0, false
	replace := func() error {
		return m.Batch(func(b *memory.Batch) error {
			e := b.Space("s")
			e.Clear()
			return errors.Join(e.Put("a", fmt.Sprint("try ", replaced)), e.Put("b", "more"))
		})
	}
	m = memory.New(memory.Options{AnalyzerOf: func([]string) *text.Analyzer {
		if armed && replaced < 3 { // no lock is held
			replaced++
			armed = false
			require.NoError(t, replace())
			armed = true
		}
		return nil
	}})
	require.NoError(t, replace())
	armed = true
	rev, err := m.Space("s").Reindex(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(5), rev)
	require.Equal(t, 3, replaced)
	require.NoError(t, m.CheckDerived())
	require.Equal(t, []string{"a"}, hitKeys(m.Space("s").Search(memory.Query{Text: "try 3"})))
}

// Places are those of the index that was searched.
func TestReindexAndMatches(t *testing.T) {
	var l languages
	m := memory.New(memory.Options{AnalyzerOf: l.of})
	s := m.Space("s")
	_, err := s.Put("a", "un cheval, des chevaux")
	require.NoError(t, err)
	l.set(t, "fr")
	for _, want := range []int{1, 2} {
		hits, err := s.Search(memory.Query{Text: "cheval"})
		require.NoError(t, err)
		require.Len(t, hits[0].Matches(), want)
		_, err = s.Reindex(t.Context())
		require.NoError(t, err)
	}
}

// What TextOf leaves out by now goes, to the last text too.
func TestReindexByOtherTexts(t *testing.T) {
	var off atomic.Bool
	m := memory.New(memory.Options{TextOf: func(_ []string, v memory.Value) iter.Seq2[string, int] {
		return func(yield func(string, int) bool) {
			if !off.Load() {
				yield(v.String(), 1)
			}
		}
	}})
	s := m.Space("s")
	_, err := s.Put("a", "alpha")
	require.NoError(t, err)
	off.Store(true)
	for want := m.Load().Version() + 1; ; want = 0 {
		rev, err := s.Reindex(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, rev)
		require.Empty(t, hitKeys(s.Search(memory.Query{Text: "alpha"})))
		if want == 0 {
			break
		}
	}
}

// What is written while the index is made is in it, and what is cleared is not.
func TestReindexFollowsWrites(t *testing.T) {
	t.Cleanup(memory.ClearInSmallSteps())
	write := func(s memory.Space) {
		_, err := s.Put("b", "beta")
		require.NoError(t, err)
		require.True(t, removed(s.Delete("c")))
	}
	clearIt := func(s memory.Space) {
		require.Equal(t, 10, count(s.Clear()))
		_, err := s.Put("b", "beta")
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name  string
		write func(memory.Space)
		left  []string
		tries int
	}{{"writes", write, strings.Split("abdefghij", ""), 1}, {"writes in steps", write, strings.Split("abdefghij", ""), 3}, {"clear", clearIt, []string{"b"}, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(memory.ReindexInSteps(0, c.tries))
			var s memory.Space
			indexing := false
			m := memory.New(memory.Options{TextOf: func(_ []string, v memory.Value) iter.Seq2[string, int] {
				if indexing { // no lock is held
					indexing = false
					c.write(s)
				}
				return func(yield func(string, int) bool) { yield(v.String(), 1) }
			}})
			s = m.Space("s")
			for key := range strings.SplitSeq("abcdefghij", "") {
				_, err := s.Put(key, "alpha")
				require.NoError(t, err)
			}
			indexing = true
			_, err := s.Reindex(t.Context())
			require.NoError(t, err)
			require.NoError(t, m.CheckDerived())
			require.ElementsMatch(t, c.left, hitKeys(s.Search(memory.Query{Text: "alpha beta"})))
			_, err = m.Sweep(t.Context())
			require.NoError(t, err)
			require.NoError(t, m.CheckDerived())
		})
	}
}

// An index that is made beside writes, in steps or at once, is as one that is made of
// what is there after them.
func TestReindexBesideWrites(t *testing.T) {
	for _, c := range []struct{ behind, tries int }{{0, 1}, {0, 3}, {2, 1000}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Cleanup(memory.ReindexInSteps(c.behind, c.tries))
			t.Cleanup(memory.ClearInSmallSteps())
			var l languages
			m := memory.New(memory.Options{AnalyzerOf: l.of})
			s := m.Space("s")
			const writers = 3
			n := quicker(400)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range n {
						key := fmt.Sprint(i % 20)
						var err error
						switch i % 10 {
						case 3:
							_, err = s.Delete(key)
						case 7:
							if i%50 == 7 {
								_, err = s.Clear()
							}
						default:
							_, err = s.Put(key, fmt.Sprintf("chevaux %d %d", w, i))
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for i := range n / 10 {
				l.set(t, []string{"fr", "en"}[i%2])
				_, err := s.Reindex(t.Context())
				require.NoError(t, err)
			}
			wg.Wait()
			l.set(t, "fr")
			_, err := s.Reindex(t.Context())
			require.NoError(t, err)
			require.NoError(t, m.CheckDerived())
			require.Len(t, hitKeys(s.Search(memory.Query{Text: "cheval", K: 100})), s.Len())
		})
	}
}
