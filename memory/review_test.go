package memory

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowstore/cowstore/memory/internal/data"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

func TestAtIsTheVersionAskedFor(t *testing.T) {
	m := New(Options{NoText: true})
	m.DB().Retain(cow.Retention{Versions: 1000})
	s := m.Space("a")
	require.NoError(t, errOf(s.Put("k", 1)))
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _ = s.Put("k", i)
			}
		}
	})
	for range 20_000 {
		v := m.Load().Version()
		got, err := m.At(v)
		if err == nil && got.Version() != v {
			t.Errorf("%d, not %d", got.Version(), v)
			break
		}
	}
	close(stop)
	writer.Wait()
}

// heapMiB returns how large the heap is, in MiB.
func heapMiB() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc >> 20
}

func TestWhatWasEvictedIsLetGo(t *testing.T) {
	before := heapMiB()
	m := New(Options{NoText: true})
	for i := range 10 {
		s := m.Space(fmt.Sprint(i))
		s.Configure(SpaceOptions{MaxEntries: 1})
		require.NoError(t, errOf(s.Put("a", make([]byte, 1<<20))))
		require.NoError(t, errOf(s.Put("b", 1)))
	}
	require.Less(t, heapMiB(), before+5)
	runtime.KeepAlive(m)
}

func TestWhatWasClearedIsLetGo(t *testing.T) {
	before := heapMiB()
	m := New(Options{NoText: true})
	for i := range 20 {
		require.NoError(t, errOf(m.Space("x").Put(fmt.Sprint(i), make([]byte, 1<<20))))
	}
	n, err := m.Space("x").Clear()
	require.NoError(t, err)
	require.Equal(t, 20, n)
	require.Less(t, heapMiB(), before+5)
	runtime.KeepAlive(m)
}

func TestKindsAreJudgedAsTheBatchDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{})
		m.DB().Retain(cow.Retention{Versions: 100})
		s := m.Space("a")
		for want, verb := range map[ChangeKind]func(e *Editor){
			Deleted: func(e *Editor) { require.True(t, e.Delete("k")); time.Sleep(2 * time.Second) },
			Changed: func(e *Editor) {
				require.NoError(t, e.Modify("k", func(Value) (any, error) { time.Sleep(2 * time.Second); return 2, nil }))
			},
		} {
			require.NoError(t, errOf(s.PutItem("k", Item{Value: 1, TTL: time.Second})))
			since := m.Load().Version()
			require.NoError(t, m.Batch(func(b *Batch) error { verb(b.Space("a")); return nil }))
			for c, err := range m.Changes(t.Context(), since) {
				require.NoError(t, err)
				require.Equal(t, want, c.Kind)
				break
			}
		}
	})
}

func TestMinScoreIsNotRoundedDown(t *testing.T) {
	s := New(Options{}).Space("s")
	require.NoError(t, errOf(s.PutVector("k", []float32{0.7, 0}, nil))) // a little less than 0.7
	hits, err := s.Search(Query{Vector: []float32{1, 0}, Metric: Dot, MinScore: 0.7})
	require.NoError(t, err)
	require.Empty(t, hits)
}

func TestPagingPassesTheEmptyKey(t *testing.T) {
	s := New(Options{}).Space("s")
	require.NoError(t, errOf(s.Put("", 1)))
	require.NoError(t, errOf(s.Put("b", 1)))
	for _, reverse := range []bool{false, true} {
		o := ListOptions{Limit: 1, Reverse: reverse}
		var all []string
		for more := true; more; {
			more = false
			for e := range s.List(o) {
				all, more = append(all, e.Key), true
				o.After, o.HasAfter = e.Key, true
			}
		}
		slices.Sort(all)
		require.Equal(t, []string{"", "b"}, all)
	}
}

func TestSpacesAfterADeepOne(t *testing.T) {
	m := New(Options{})
	require.NoError(t, errOf(m.Space("a", "b", "c").Put("k", 1)))
	require.NoError(t, errOf(m.Space("a", "d").Put("k", 1)))
	require.NoError(t, errOf(m.Space("e").Put("k", 1)))
	require.Equal(t, [][]string{{"e"}}, slices.Collect(m.Load().Spaces(SpacesOptions{Depth: 1, After: []string{"a", "b", "c"}})))
}

// A fork of nothing has what New gives to a Memory.
func TestAForkOfNothingHasItsIndexes(t *testing.T) {
	f := New(Options{TTL: time.Hour}).Fork(Snapshot{})
	require.NoError(t, errOf(f.Space("a").Put("k", 1)))
	x, to := snapshot.Builder[string, *data.Entry]{}.Annotation(tablesOf(f).Entries.In(f.db.Load()))
	require.NotNil(t, x)
	require.Same(t, tablesOf(f).Entries.In(f.db.Load()), to)
}

// A Value needs no copy, wherever it is kept.
func TestValuesInWhatIsCloned(t *testing.T) {
	type s struct {
		V Value
		n int
	}
	in := mustFreeze(t, []any{1})
	v := mustFreeze(t, s{in, 1})
	require.EqualValues(t, 1, v.Path("V.0").Int())
	require.Equal(t, s{in, 1}, v.Any())
	values := cow.New[string](cow.Options[Value]{})
	values.Set("k", in)
	is, _ := values.Get("k")
	require.Equal(t, in, is)
}

// Modify and Upsert refuse what a function leaves that wrote its own key.
func TestAFunctionThatWritesItsOwnKeyIsRefused(t *testing.T) {
	m := New(Options{})
	require.NoError(t, errOf(m.Space("s").Put("k", 1)))
	require.NoError(t, m.Batch(func(b *Batch) error {
		s := b.Space("s")
		for _, key := range []string{"k", "new"} {
			err := s.Upsert(key, func(Value) (any, error) {
				require.NoError(t, s.Put(key, "inner"))
				return "outer", nil
			})
			require.ErrorIs(t, err, cow.ErrModified)
			v, _ := s.Get(key)
			require.Equal(t, "inner", v.String())
		}
		return nil
	}))
}

// A fork from nothing has nothing, also of what was in the DB before the Memory.
func TestAForkFromNothing(t *testing.T) {
	db := new(cow.DB)
	users := cow.NewTable[string](db, "users", cow.Options[int]{})
	require.NoError(t, errOf(users.Set("ada", 1)))
	f := On(db, Options{}).Fork(Snapshot{})
	require.Zero(t, f.Load().Version())
	require.False(t, users.Of(f.DB()).Has("ada"))
	require.NoError(t, errOf(f.Space("s").Put("k", "words to find")))
	hits, err := f.Space("s").Search(Query{Text: "words"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.NoError(t, f.CheckDerived())
}
