package memory_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	rev, err := s.Reindex()
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
		hits, err := s.SearchText(query, memory.SearchOptions{})
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

	rev, err = s.Reindex()
	require.NoError(t, err)
	require.Equal(t, before.Version()+1, rev)
	require.Equal(t, rev, m.Load().Version())
	found(s.Load(), "cheval", "a", "b")
	found(s.Load(), "manger", "a")
	found(s.In(before), "cheval", "b")
	found(s.In(before), "chevaux", "a")
	found(m.Load().Space("t"), "cheval")
	hits, err := m.Space().SearchText("cheval", memory.SearchOptions{Below: true})
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
	rev, err = none.Reindex()
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
			_, err := s.Reindex() // in English
			assert.NoError(t, err)
		})
		<-inside
		l.set(t, "fr")
		if refill {
			require.True(t, removed(s.Delete("a")))
			_, err = s.Put("a", "les chevaux")
		} else {
			_, err = s.Reindex()
		}
		require.NoError(t, err)
		goOn <- true
		first.Wait()
		require.Equal(t, []string{"a"}, hitKeys(s.SearchText("cheval", memory.SearchOptions{})))
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
	rev, err := m.Space("s").Reindex()
	require.NoError(t, err)
	require.Equal(t, rev, replica.Load().Version())
	for _, m := range []*memory.Memory{m, replica} {
		require.Equal(t, []string{"a"}, hitKeys(m.Space("s").SearchText("cheval", memory.SearchOptions{})))
		require.Empty(t, hitKeys(m.Space("t").SearchText("cheval", memory.SearchOptions{})))
		require.NoError(t, m.CheckDerived())
	}
}

// A replica that gets contents instead of the versions it has missed finds there what was
// reindexed, whatever was written since, and does that once.
func TestReindexThatAReplicaMissed(t *testing.T) {
	for _, missed := range []string{"nothing", "a put", "two", "all was cleared"} {
		t.Run(missed, func(t *testing.T) {
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
			reindex := func() error { return errOf(s.Reindex()) }
			write(func() error { return errOf(s.Put("a", "les chevaux mangeaient")) })
			follower := cowtest.Attach(t, replica.DB(), cowtest.SinkOptions{Of: sink})
			l.set(t, "fr")
			write(reindex)
			switch missed {
			case "two":
				write(reindex)
			case "all was cleared":
				write(func() error { _, err := s.Clear(); return err })
				require.Zero(t, m.Reindexed(), "it is forgotten with the space")
				write(func() error { return errOf(s.Put("a", "deux chevaux")) })
				write(reindex)
			}
			if missed != "nothing" {
				write(func() error { return errOf(s.Put("b", "un cheval")) })
			}
			require.Equal(t, 1, m.Reindexed())
			want := hitKeys(s.SearchText("cheval", memory.SearchOptions{}))
			require.Len(t, want, s.Len())
			require.NoError(t, follower.Reset(sink.Contents()))
			require.Equal(t, want, hitKeys(replica.Space("s").SearchText("cheval", memory.SearchOptions{})))
			require.NoError(t, replica.CheckDerived())

			l.set(t, "en") // nobody has called Reindex
			write(func() error { return errOf(s.Put("c", "des chevaux")) })
			require.NoError(t, follower.Reset(sink.Contents()))
			for _, s := range []memory.Space{s, replica.Space("s")} {
				require.Len(t, hitKeys(s.SearchText("cheval", memory.SearchOptions{})), len(want)+1)
			}
		})
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
			_, err = m.Space("s").Reindex() // in English
			require.NoError(t, err)
		}
		l.set(t, "fr")
		_, err = fork.Space("s").Reindex()
		require.NoError(t, err)
		_, err = fork.Space("s").Put("c", "deux chevaux")
		require.NoError(t, err)
		require.Equal(t, []string{"a", "c"}, hitKeys(fork.Space("s").SearchText("cheval", memory.SearchOptions{})))
		require.Empty(t, hitKeys(m.Space("s").SearchText("cheval", memory.SearchOptions{})))
		_, err = m.Space("s").Put("b", "un cheval")
		require.NoError(t, err)
		_, err = m.DB().Merge(base, fork.DB().Load())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b", "c"}, hitKeys(m.Space("s").SearchText("cheval", memory.SearchOptions{})))
		require.NoError(t, m.CheckDerived())
		require.NoError(t, fork.CheckDerived())

		merged := m.DB().Load()
		_, err = m.Space("s").Put("d", "trois chevaux")
		require.NoError(t, err)
		l.set(t, "en")
		_, err = m.DB().Merge(m.DB().Load(), merged)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b", "c"}, hitKeys(m.Space("s").SearchText("cheval", memory.SearchOptions{})))
		_, err = m.Space("s").Reindex()
		require.NoError(t, err)
		require.Equal(t, 1, m.Reindexed())
		l.set(t, "fr")
		_, err = m.DB().Merge(m.DB().Load(), base)
		require.NoError(t, err)
		require.Zero(t, m.Reindexed())
		require.Equal(t, []string{"a"}, hitKeys(m.Space("s").SearchText("chevaux", memory.SearchOptions{})))
		require.Empty(t, hitKeys(m.Space("s").SearchText("cheval", memory.SearchOptions{})), "there is no way back to another index")
	}
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
			_, err = s.Reindex()
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
	rev, err := m.Space("s").Reindex()
	require.NoError(t, err)
	require.Equal(t, uint64(5), rev)
	require.Equal(t, 3, replaced)
	require.NoError(t, m.CheckDerived())
	require.Equal(t, []string{"a"}, hitKeys(m.Space("s").SearchText("try 3", memory.SearchOptions{})))
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
		hits, err := s.SearchText("cheval", memory.SearchOptions{})
		require.NoError(t, err)
		require.Len(t, hits[0].Matches(), want)
		_, err = s.Reindex()
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
		rev, err := s.Reindex()
		require.NoError(t, err)
		require.Equal(t, want, rev)
		require.Empty(t, hitKeys(s.SearchText("alpha", memory.SearchOptions{})))
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
			_, err := s.Reindex()
			require.NoError(t, err)
			require.NoError(t, m.CheckDerived())
			require.ElementsMatch(t, c.left, hitKeys(s.SearchText("alpha beta", memory.SearchOptions{})))
			_, err = m.Sweep()
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
				_, err := s.Reindex()
				require.NoError(t, err)
			}
			wg.Wait()
			l.set(t, "fr")
			_, err := s.Reindex()
			require.NoError(t, err)
			require.NoError(t, m.CheckDerived())
			require.Len(t, hitKeys(s.SearchText("cheval", memory.SearchOptions{K: 100})), s.Len())
		})
	}
}
