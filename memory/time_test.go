package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
)

// fill puts n entries into a space as one version.
func fill(t testing.TB, m *memory.Memory, space string, n int) {
	t.Helper()
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range n {
			if err := b.Space(space).Put(fmt.Sprintf("%04d", i), i); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestTTLOfEntrySpaceAndMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Hour})
		start := time.Now()
		m.Space("s").Configure(memory.SpaceOptions{TTL: time.Minute})
		require.NoError(t, errOf(m.Space("s").PutItem("entry", memory.Item{Value: 1, TTL: time.Second})))
		require.NoError(t, errOf(m.Space("s").Put("space", 1)))
		require.NoError(t, errOf(m.Space("s", "below").Put("memory", 1))) // s's options are not those below it
		expires := func(key string, path ...string) time.Duration {
			e, ok := m.Space(path...).Entry(key)
			require.True(t, ok)
			return e.Expires.Sub(start)
		}
		require.Equal(t, time.Second, expires("entry", "s"))
		require.Equal(t, time.Minute, expires("space", "s"))
		require.Equal(t, time.Hour, expires("memory", "s", "below"))

		got := func() (one bool, many []int) {
			_, one = m.Space("s").Get("entry")
			for i := range m.Space("s").GetMany([]string{"entry", "space"}) {
				many = append(many, i)
			}
			return one, many
		}
		time.Sleep(time.Second - 1)
		require.Equal(t, 3, m.Load().Len())
		one, many := got()
		require.True(t, one)
		require.Equal(t, []int{0, 1}, many)
		time.Sleep(1 * time.Nanosecond)
		require.Equal(t, []string{"space"}, keys(m.Space("s").Load()))
		one, many = got()
		require.False(t, one, "what has expired is got")
		require.Equal(t, []int{1}, many)
		time.Sleep(time.Minute)
		require.Equal(t, [][]string{{"s", "below"}}, spaces(m.Load(), memory.SpacesOptions{}))
		time.Sleep(time.Hour)
		require.Zero(t, m.Load().Len())
	})
}

func TestTTLThatIsTooLongIsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		require.NoError(t, errOf(m.Space("s").PutItem("a", memory.Item{Value: 1, TTL: 1<<63 - 1})))
		e, ok := m.Space("s").Entry("a")
		require.True(t, ok)
		require.True(t, e.Expires.IsZero())
		require.ErrorIs(t, errOf(m.Space("s").PutItem("a", memory.Item{TTL: -1})), value.ErrUnsupported)
	})
}

// A new TTL of a space is for what is put from then on.
func TestConfigureTTLIsForWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		require.NoError(t, errOf(s.Put("before", 1)))
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			b.Space("s").Configure(memory.SpaceOptions{TTL: time.Second})
			return b.Space("s").Put("after", 1)
		}))
		require.Equal(t, memory.SpaceOptions{TTL: time.Second}, s.Load().Options())
		time.Sleep(time.Minute)
		require.Equal(t, []string{"before"}, keys(s.Load()))
		require.Equal(t, 2, count(s.ClearAll())+1)
		require.Equal(t, memory.SpaceOptions{TTL: time.Second}, s.Load().Options(), "what is configured stays")
		require.NoError(t, m.CheckDerived())
	})
}

func TestSnapshotsDoNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Second})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "some words", Vector: []float32{1, 0}, Metadata: map[string]any{"n": 1}})))
		see := func(snapshot memory.Snapshot, n int) {
			t.Helper()
			v := snapshot.Space("s")
			_, ok := v.Get("a")
			require.Equal(t, n == 1, ok)
			_, ok = v.Entry("a")
			require.Equal(t, n == 1, ok)
			_, ok = v.Vector("a")
			require.Equal(t, n == 1, ok)
			require.Len(t, keys(v), n)
			require.Equal(t, n, v.Len())
			require.Equal(t, n, snapshot.Len())
			require.Len(t, spaces(snapshot, memory.SpacesOptions{}), n)
			require.Len(t, spaces(snapshot, memory.SpacesOptions{Depth: 1, Prefix: []string{"s"}}), n)
			require.Len(t, hitKeys(v.Search(memory.Query{Vector: []float32{1, 1}})), n)
			require.Len(t, hitKeys(v.Search(memory.Query{Text: "words"})), n)
			require.Len(t, hitKeys(v.Search(memory.Query{Text: "words", Vector: []float32{1, 1}, Filter: filter.Meta("n").Eq(1)})), n)
			var b strings.Builder
			require.NoError(t, snapshot.Export(&b))
			require.Equal(t, n, strings.Count(b.String(), "\n"))
		}
		before := m.Load()
		time.Sleep(time.Hour)
		see(before, 1)
		see(m.Load(), 0)
		require.Equal(t, before.Version(), m.Load().Version(), "nothing is swept by itself")
		require.Equal(t, 1, count(m.Sweep(t.Context())))
		see(before, 1)
		see(m.Load(), 0)
		require.Equal(t, 0, count(m.Sweep(t.Context())))
		require.NoError(t, m.CheckDerived())

		// The reads of a Space are those of now.
		require.NoError(t, errOf(s.Put("a", "more words")))
		time.Sleep(time.Second)
		_, ok := s.Get("a")
		require.False(t, ok)
		_, ok = s.Entry("a")
		require.False(t, ok)
		require.Zero(t, s.Len())
		for range s.List(memory.ListOptions{}) {
			t.Error("an entry")
		}
		require.Empty(t, hitKeys(s.Search(memory.Query{Text: "words"})))
	})
}

// To every verb an expired entry is none, swept or not.
func TestVerbsOnWhatHasExpired(t *testing.T) {
	for name, verb := range map[string]func(t *testing.T, s memory.Space, rev uint64){
		"Insert": func(t *testing.T, s memory.Space, _ uint64) {
			require.NoError(t, errOf(s.Insert("a", 2)))
			e, ok := s.Entry("a")
			require.True(t, ok)
			require.Equal(t, time.Now(), e.Created.In(time.Local))
			require.False(t, e.Metadata.Exists())
			require.Zero(t, e.Dim)
		},
		"Modify": func(t *testing.T, s memory.Space, _ uint64) {
			require.ErrorIs(t, errOf(s.Modify("a", func(memory.Value) (any, error) { return 2, nil })), memory.ErrNotFound)
		},
		"Upsert": func(t *testing.T, s memory.Space, _ uint64) {
			require.NoError(t, errOf(s.Upsert("a", func(v memory.Value) (any, error) {
				require.False(t, v.Exists())
				return 2, nil
			})))
		},
		"SetIf": func(t *testing.T, s memory.Space, rev uint64) {
			require.ErrorIs(t, errOf(s.SetIf("a", rev, 2)), memory.ErrRevision)
			require.NoError(t, errOf(s.SetIf("a", 0, 2)))
		},
		"Delete": func(t *testing.T, s memory.Space, _ uint64) { require.False(t, removed(s.Delete("a"))) },
		"DeleteIf": func(t *testing.T, s memory.Space, rev uint64) {
			require.ErrorIs(t, errOf(s.DeleteIf("a", rev)), memory.ErrRevision)
			require.NoError(t, errOf(s.DeleteIf("a", 0)))
		},
		"Take": func(t *testing.T, s memory.Space, _ uint64) {
			_, ok, _ := s.Take("a")
			require.False(t, ok)
		},
		"Clear":    func(t *testing.T, s memory.Space, _ uint64) { require.Zero(t, count(s.Clear())) },
		"ClearAll": func(t *testing.T, s memory.Space, _ uint64) { require.Zero(t, count(s.ClearAll())) },
		"Put": func(t *testing.T, s memory.Space, _ uint64) {
			require.NoError(t, errOf(s.Put("a", 2)))
			_, ok := s.Vector("a")
			require.False(t, ok)
		},
		"PutVector": func(t *testing.T, s memory.Space, _ uint64) {
			require.NoError(t, errOf(s.PutVector("a", []float32{5, 6}, nil)))
			_, ok := s.Get("a")
			require.False(t, ok)
		},
		"DeleteVector": func(t *testing.T, s memory.Space, _ uint64) { require.False(t, removed(s.DeleteVector("a"))) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New(memory.Options{})
				s := m.Space("s")
				require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "word", Vector: []float32{1, 2}, Metadata: map[string]any{"n": 1}, TTL: time.Second})))
				e, _ := s.Entry("a")
				time.Sleep(time.Minute)
				verb(t, s, e.Revision)
				require.NoError(t, m.CheckDerived())
			})
		})
	}
}

func TestEveryCommitSweepsAFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.Space("s").Configure(memory.SpaceOptions{TTL: time.Second})
		fill(t, m, "s", 200)
		time.Sleep(time.Minute)
		for left := 200; left > 0; left -= 32 {
			require.Equal(t, left, m.DB().Load().Len()-4-boolInt(left < 200), "and the rows of the space, its options, the head, the total and other")
			require.NoError(t, m.Batch(func(b *memory.Batch) error { return b.Space("other").Put("a", left) }))
			require.Equal(t, 1, m.Load().Len())
			require.NoError(t, m.CheckDerived())
		}
		require.Zero(t, count(m.Sweep(t.Context())))
	})
}

func boolInt(b bool) int {
	if b {
		return 2
	}
	return 0
}

func TestSweepEveryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Second})
		fill(t, m, "s", 10)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		done := make(chan error)
		go func() { done <- m.SweepEvery(ctx, time.Minute) }()
		time.Sleep(time.Minute - 1)
		require.EqualValues(t, 1, m.Load().Version())
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		require.EqualValues(t, 2, m.Load().Version())
		time.Sleep(time.Hour)
		require.EqualValues(t, 2, m.Load().Version(), "nothing to sweep is no version")
		cancel(why)
		require.Equal(t, why, <-done)
		// synctest.Test fails if a goroutine is left.
	})
}

// Where nothing is due no clock is read: a Snapshot says nothing about when.
func TestNothingIsTimedWhereNothingIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		fill(t, m, "s", 3)
		s := m.Load()
		time.Sleep(5 * time.Hour)
		require.True(t, s == m.Load())
		require.ErrorIs(t, errOf(m.Space("s").PutItem("x", memory.Item{Value: make(chan int), TTL: time.Hour})), value.ErrUnsupported)
		require.True(t, s == m.Load())
		require.NoError(t, errOf(m.Space("s").PutItem("x", memory.Item{Value: 1, TTL: time.Hour})))
		s = m.Load()
		time.Sleep(time.Hour - 1)
		require.True(t, s == m.Load())
		time.Sleep(time.Nanosecond)
		require.False(t, s == m.Load())
		_, err := m.Sweep(t.Context())
		require.NoError(t, err)
		s = m.Load()
		time.Sleep(time.Hour)
		require.True(t, s == m.Load())
	})
}

func TestAsOfAndAtShowWhatWasVisibleThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 100})
		s := m.Space("s")
		start := time.Now()
		time.Sleep(time.Second)                                                                          // 1s
		require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "old word", TTL: 10 * time.Second}))) // until 11s
		time.Sleep(4 * time.Second)                                                                      // 5s
		require.NoError(t, errOf(s.Put("b", 1)))
		time.Sleep(15 * time.Second) // 20s
		require.NoError(t, errOf(s.Put("c", 1)))
		at := func(d time.Duration) memory.SpaceSnapshot {
			t.Helper()
			snapshot, err := m.AsOf(start.Add(d))
			require.NoError(t, err)
			require.Equal(t, len(keys(snapshot.Space("s"))), snapshot.Len())
			return snapshot.Space("s")
		}
		require.Empty(t, keys(at(time.Second-1)))
		require.Equal(t, []string{"a"}, keys(at(time.Second)))
		require.Equal(t, []string{"a"}, keys(at(5*time.Second-1)))
		require.Equal(t, []string{"a", "b"}, keys(at(5*time.Second)))
		require.Equal(t, []string{"a", "b"}, keys(at(11*time.Second-1)))
		require.Equal(t, []string{"b"}, keys(at(11*time.Second)))
		require.Equal(t, []string{"b", "c"}, keys(at(20*time.Second)))
		require.Equal(t, []string{"b", "c"}, keys(at(time.Hour)))
		require.Equal(t, []string{"a"}, hitKeys(at(2*time.Second).Search(memory.Query{Text: "word"})))
		require.Empty(t, hitKeys(at(12*time.Second).Search(memory.Query{Text: "word"})))

		old, err := m.At(1)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, keys(old.Space("s")))
		old, err = m.At(2)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, keys(old.Space("s")))
		_, err = m.At(4)
		require.ErrorIs(t, err, cow.ErrUnpublished)

		require.NoError(t, m.DB().Pin("second", 2))
		m.DB().Retain(cow.Retention{})
		_, err = m.At(1)
		require.ErrorIs(t, err, cow.ErrCompacted)
		_, err = m.AsOf(start)
		require.ErrorIs(t, err, cow.ErrCompacted)
		pinned, err := m.At(2)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, keys(pinned.Space("s")))
		require.True(t, m.DB().Unpin("second"))
		_, err = m.At(2)
		require.ErrorIs(t, err, cow.ErrCompacted)
	})
}

// The current version, while entries in it expire.
func TestAtOfTheCurrentVersionIsLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Second})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		time.Sleep(time.Minute)
		s, err := m.At(1)
		require.NoError(t, err)
		require.True(t, s == m.Load())
		require.Zero(t, s.Len())
	})
}

func TestCreatedUpdatedExpiresAfterEachVerb(t *testing.T) {
	three := func(memory.Value) (any, error) { return 3, nil }
	for name, c := range map[string]struct {
		verb                      func(s memory.Space) error
		created, updated, expires bool // are renewed
	}{
		"Put":          {func(s memory.Space) error { return errOf(s.Put("a", 2)) }, false, true, true},
		"PutItem":      {func(s memory.Space) error { return errOf(s.PutItem("a", memory.Item{Value: 2})) }, false, true, true},
		"Insert":       {func(s memory.Space) error { _, _ = s.Insert("a", 2); return nil }, false, false, false},
		"Modify":       {func(s memory.Space) error { return errOf(s.Modify("a", three)) }, false, true, false},
		"Upsert":       {func(s memory.Space) error { return errOf(s.Upsert("a", three)) }, false, true, false},
		"SetIf":        {func(s memory.Space) error { e, _ := s.Entry("a"); return errOf(s.SetIf("a", e.Revision, 2)) }, false, true, true},
		"PutVector":    {func(s memory.Space) error { return errOf(s.PutVector("a", []float32{2}, nil)) }, false, true, false},
		"DeleteVector": {func(s memory.Space) error { s.DeleteVector("a"); return nil }, false, true, false},
		"Take and Put": {func(s memory.Space) error { s.Take("a"); return errOf(s.Put("a", 2)) }, true, true, true},
		"Delete and PutVector": {func(s memory.Space) error {
			s.Delete("a")
			return errOf(s.PutVector("a", []float32{2}, nil))
		}, true, true, true},
		"Clear and Insert": {func(s memory.Space) error { s.Clear(); return errOf(s.Insert("a", 2)) }, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New(memory.Options{TTL: time.Hour})
				s := m.Space("s")
				start := time.Now()
				require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: 1, Vector: []float32{1}})))
				time.Sleep(time.Second)
				require.NoError(t, c.verb(s))
				e, ok := s.Entry("a")
				require.True(t, ok)
				at := func(renewed bool) time.Duration {
					if renewed {
						return time.Second
					}
					return 0
				}
				require.Equal(t, at(c.created), e.Created.Sub(start))
				require.Equal(t, at(c.updated), e.Updated.Sub(start))
				require.Equal(t, time.Hour+at(c.expires), e.Expires.Sub(start))
			})
		})
	}
}

// A fork lets expire what its origin lets expire, and sweeps for itself.
func TestForksExpireByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Minute})
		fill(t, m, "s", 3)
		f := m.Fork(m.Load())
		require.NoError(t, errOf(f.Space("s").Put("new", 1))) // the Options are those of m
		time.Sleep(time.Hour)
		require.Zero(t, f.Load().Len())
		require.Equal(t, 4, count(f.Sweep(t.Context())))
		require.Equal(t, 3, count(m.Sweep(t.Context())))
	})
}

// Wait is for versions: what expires is none.
func TestWaitWakesForVersionsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Second})
		fill(t, m, "s", 3)
		got := make(chan memory.Snapshot)
		go func() {
			s, err := m.DB().Wait(t.Context(), 1)
			if err == nil {
				got <- m.In(s)
			}
		}()
		time.Sleep(time.Hour)
		select {
		case <-got:
			t.Error("woken")
		default:
		}
		m.Sweep(t.Context())
		s := <-got
		require.EqualValues(t, 2, s.Version())
		require.Zero(t, s.Len())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := m.DB().Wait(ctx, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// What has expired takes nobody's place among the hits.
func TestExpiredTakeNoPlaceInASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			for i := range 20 {
				_ = b.Space("s").PutItem(fmt.Sprint("gone", i), memory.Item{Value: "fox fox fox", Vector: []float32{1, 0}, TTL: time.Second})
			}
			for i := range 3 {
				_ = b.Space("s").PutItem(fmt.Sprint("here", i), memory.Item{Value: "a fox and some more words", Vector: []float32{1, float32(1 + i)}})
			}
			return nil
		}))
		time.Sleep(time.Minute)
		here := []string{"here0", "here1", "here2"}
		for _, q := range []memory.Query{{Vector: []float32{1, 0}}, {Text: "fox"}, {Text: "fox", Vector: []float32{1, 0}}} {
			q.K = 3
			require.Equal(t, here, hitKeys(s.Search(q)))
		}
	})
}

func TestExpiredVectorsHaveNoDimension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		for _, name := range []string{"a", "b"} {
			_, err := m.Space("s", name).PutItem("k", memory.Item{Value: "tea", Vector: []float32{1, 2}, TTL: time.Second})
			require.NoError(t, err)
		}
		q := memory.Query{Vector: []float32{1}, Below: true}
		_, err := m.Space("s").Search(q)
		require.ErrorIs(t, err, memory.ErrDimension)
		_, err = m.Space("s", "a").Search(memory.Query{Vector: []float32{1}})
		require.ErrorIs(t, err, memory.ErrDimension)
		time.Sleep(2 * time.Second)
		for _, space := range []memory.Space{m.Space("s"), m.Space("s", "a")} {
			hits, err := space.Search(q)
			require.NoError(t, err)
			require.Empty(t, hits)
			hits, err = space.Search(memory.Query{Text: "tea", Vector: q.Vector, Below: true})
			require.NoError(t, err)
			require.Empty(t, hits)
		}
	})
}

// Whatever times an export has, an import takes: to the last at which something can expire, and
// of any year in a value.
func TestTheTimesOfAnExportAreImported(t *testing.T) {
	m := memory.New(memory.Options{})
	last := time.Unix(0, math.MaxInt64)
	_, err := m.Space("a").PutItem("last", memory.Item{Value: 1, TTL: time.Until(last) - time.Second})
	require.NoError(t, err)
	for _, year := range []int{-1, 0, 1, 9999, 10000} {
		_, err := m.Space("a").Put(fmt.Sprint(year), time.Date(year, 12, 31, 23, 59, 59, 999_999_999, time.UTC))
		require.NoError(t, err)
	}
	_, err = m.Space("a").Configure(memory.SpaceOptions{TTL: math.MaxInt64, Each: memory.SpaceDefaults{TTL: memory.Never}})
	require.NoError(t, err)
	var first, again strings.Builder
	require.NoError(t, m.Load().Export(&first))
	require.Contains(t, first.String(), `"expires":"2262-`)
	other := memory.New(memory.Options{})
	_, err = other.Import(t.Context(), strings.NewReader(first.String()))
	require.NoError(t, err)
	require.NoError(t, other.Load().Export(&again))
	require.Equal(t, first.String(), again.String())

	_, err = other.Import(t.Context(), strings.NewReader(`{"space":["a"],"key":"k","value":1,"expires":"9999-12-31T23:59:59Z"}`))
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.EqualError(t, err, "memory: line 1: malformed entry: expires: it is out of range, which is from 1677 to 2262")
}
