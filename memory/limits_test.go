package memory_test

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

func TestMaxEntriesOfAMemory(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 100})
	for i := range 300 {
		require.NoError(t, errOf(m.Space(fmt.Sprint("s", i%3)).PutItem(fmt.Sprint(i), memory.Item{Value: "some words", Vector: []float32{1, 2}})))
		require.Equal(t, min(i+1, 100), m.Load().Len())
	}
	require.NoError(t, m.CheckDerived())
}

func TestMaxEntriesOfASpaceIsForItAlone(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	s.Configure(memory.SpaceOptions{MaxEntries: 10})
	for i := range 40 {
		require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
		require.NoError(t, errOf(s.Space("below").Put(fmt.Sprint(i), i)))
		require.NoError(t, errOf(m.Space("s\x00b").Put(fmt.Sprint(i), i)))
		require.NoError(t, errOf(m.Space().Put(fmt.Sprint(i), i)))
	}
	require.Equal(t, 10, s.Len())
	require.Equal(t, 40, s.Space("below").Len())
	require.Equal(t, 40, m.Space("s\x00b").Len())
	require.Equal(t, 40, m.Space().Len())
	require.NoError(t, m.CheckDerived())
}

func TestMaxBytesOfAMemoryAndOfASpace(t *testing.T) {
	text := strings.Repeat("x", 1000)
	m := memory.New(memory.Options{MaxBytes: 100_000})
	m.Space("s").Configure(memory.SpaceOptions{MaxBytes: 20_000})
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		require.NoError(t, errOf(m.Space([]string{"s", "t"}[i%2]).Put(fmt.Sprint(i), text[:r.IntN(1000)])))
		require.LessOrEqual(t, m.Bytes(), int64(100_000))
	}
	require.Greater(t, m.Bytes(), int64(95_000), "no more is evicted than needs to be")
	require.Greater(t, m.Space("s").Len(), 10)
	require.Less(t, m.Space("s").Len(), 40)
	require.NoError(t, m.CheckDerived())
}

func TestExpiredAreEvictedFirst(t *testing.T) {
	for _, space := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o, so := memory.Options{MaxEntries: 200}, memory.SpaceOptions{}
			if space {
				o, so = memory.Options{}, memory.SpaceOptions{MaxEntries: 200}
			}
			m := memory.New(o)
			m.Space("s").Configure(so)
			fill(t, m, "s", 100)
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				for i := range 100 {
					if err := b.Space("s").PutItem(fmt.Sprint("x", i), memory.Item{Value: 1, TTL: time.Second}); err != nil {
						return err
					}
				}
				return nil
			}))
			time.Sleep(time.Minute)
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				for i := range 90 {
					if err := b.Space("s").Put(fmt.Sprint("y", i), 1); err != nil {
						return err
					}
				}
				return nil
			}))
			require.Equal(t, 190, m.Load().Len())
			require.NoError(t, m.CheckDerived())
		})
	}
}

// What is read survives, where a limit counts what is read: reads of a Space do,
// those of a SpaceSnapshot do not.
func TestRecentlyUsedSurvive(t *testing.T) {
	reads := map[string]struct {
		read     func(m *memory.Memory, key string)
		survives bool
	}{
		"Get":    {func(m *memory.Memory, key string) { m.Space("s").Get(key) }, true},
		"Entry":  {func(m *memory.Memory, key string) { m.Space("s").Entry(key) }, true},
		"Vector": {func(m *memory.Memory, key string) { m.Space("s").Vector(key) }, true},
		"Search": {func(m *memory.Memory, key string) {
			_, _ = m.Space("s").Search(memory.Query{Vector: []float32{1}, Filter: filter.Val().Eq(key)})
		}, true},
		"SearchText": {func(m *memory.Memory, key string) { _, _ = m.Space("s").Search(memory.Query{Text: key}) }, true},
		"SearchBoth": {func(m *memory.Memory, key string) {
			_, _ = m.Space("s").Search(memory.Query{Text: key, Vector: []float32{1}, Filter: filter.Val().Eq(key)})
		}, true},
		"Put":                {func(m *memory.Memory, key string) { _, _ = m.Space("s").Put(key, key) }, true},
		"SpaceSnapshot.Get":  {func(m *memory.Memory, key string) { m.Space("s").Load().Get(key) }, false},
		"SpaceSnapshot.List": {func(m *memory.Memory, key string) { keys(m.Space("s").Load()) }, false},
	}
	writes := 200
	if testing.Short() {
		writes = 60
	}
	for name, c := range reads {
		for _, space := range []bool{false, true} {
			t.Run(fmt.Sprint(name, space), func(t *testing.T) {
				o, so := memory.Options{MaxEntries: 20}, memory.SpaceOptions{}
				if space {
					o, so = memory.Options{}, memory.SpaceOptions{MaxEntries: 20}
				}
				m := memory.New(o)
				s := m.Space("s")
				s.Configure(so)
				used := []string{"used0", "used1", "used2", "used3", "used4"}
				for _, k := range used {
					require.NoError(t, errOf(s.PutItem(k, memory.Item{Value: k, Vector: []float32{1}})))
				}
				for i := range writes {
					require.NoError(t, errOf(s.PutItem(fmt.Sprint(i*7919%1000), memory.Item{Value: i, Vector: []float32{1}})))
					for _, k := range used {
						if _, ok := s.Load().Get(k); ok {
							c.read(m, k)
						}
					}
				}
				n := 0
				for _, k := range used {
					if _, ok := s.Load().Get(k); ok {
						n++
					}
				}
				if c.survives {
					require.Equal(t, len(used), n)
				} else {
					require.Zero(t, n)
				}
				require.NoError(t, m.CheckDerived())
			})
		}
	}
}

func TestABatchKeepsWhatItWrote(t *testing.T) {
	for name, o := range map[string]struct {
		memory memory.Options
		space  memory.SpaceOptions
	}{
		"entries":          {memory.Options{MaxEntries: 50}, memory.SpaceOptions{}},
		"bytes":            {memory.Options{MaxBytes: 50 * 400}, memory.SpaceOptions{}},
		"entries of space": {memory.Options{}, memory.SpaceOptions{MaxEntries: 50}},
		"bytes of space":   {memory.Options{}, memory.SpaceOptions{MaxBytes: 50 * 400}},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(o.memory)
			m.Space("s").Configure(o.space)
			// Twenty take from about 5600 bytes up, fifty no more than 20000.
			for round := range 10 {
				require.NoError(t, m.Batch(func(b *memory.Batch) error {
					for i := range 45 {
						if err := b.Space("s").Put(fmt.Sprint(i*31%97+round*45), i); err != nil {
							return err
						}
					}
					return nil
				}))
				for i := range 45 {
					_, ok := m.Space("s").Load().Get(fmt.Sprint(i*31%97 + round*45))
					require.True(t, ok)
				}
				require.NoError(t, m.CheckDerived())
			}
			before := m.Load()
			all := keys(before.Space("s"))
			err := m.Batch(func(b *memory.Batch) error {
				for i := range 200 {
					if err := b.Space("s").Put(fmt.Sprint("full", i), i); err != nil {
						return err
					}
				}
				return b.Space("t").Put("a", 1)
			})
			require.ErrorIs(t, err, memory.ErrFull)
			require.Equal(t, before.Version(), m.Load().Version())
			require.Equal(t, all, keys(m.Space("s").Load()))
			require.NoError(t, m.CheckDerived())
		})
	}
}

func TestOneEntryThatIsTooLargeIsErrFull(t *testing.T) {
	m := memory.New(memory.Options{MaxBytes: 10_000})
	require.NoError(t, errOf(m.Space("s").Put("a", 1)))
	v := m.Load().Version()
	require.ErrorIs(t, errOf(m.Space("s").Put("b", strings.Repeat("x", 20_000))), memory.ErrFull)
	require.ErrorIs(t, errOf(m.Space("s").Put("a", strings.Repeat("x", 20_000))), memory.ErrFull)
	require.ErrorIs(t, errOf(m.Space("s").PutVector("a", make([]float32, 5000), nil)), memory.ErrFull)
	require.Equal(t, v, m.Load().Version())
	require.Equal(t, []string{"a"}, keys(m.Space("s").Load()))
	value, _ := m.Space("s").Get("a")
	require.EqualValues(t, 1, value.Int())
}

func TestConfigureEvictsInSteps(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	fill(t, m, "s", 300)
	before := m.Load()
	s.Configure(memory.SpaceOptions{MaxEntries: 7})
	require.Greater(t, s.Len(), 100)
	require.Zero(t, count(m.Sweep(t.Context())))
	require.Equal(t, 7, s.Len())
	require.NoError(t, m.CheckDerived())
	s.Configure(memory.SpaceOptions{MaxBytes: 1})
	require.Zero(t, s.Len(), "none of them was written by the batch")
	require.Equal(t, 300, before.Len())
	s.Configure(memory.SpaceOptions{})
	fill(t, m, "s", 300)
	require.Equal(t, 300, s.Len())
	require.NoError(t, m.CheckDerived())
}

// Configure cannot fail: it evicts to nothing, whatever was evicted before.
func TestConfigureToNextToNothing(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	s.Configure(memory.SpaceOptions{MaxEntries: 2})
	for i := range 5 {
		for _, k := range []string{"a", "b", "c"} {
			require.NoError(t, errOf(s.Put(k, i)))
		}
	}
	s.Configure(memory.SpaceOptions{})
	for _, k := range []string{"a", "b", "c"} {
		require.NoError(t, errOf(s.Put(k, 1)))
	}
	require.NotPanics(t, func() { s.Configure(memory.SpaceOptions{MaxBytes: 1}) })
	require.Zero(t, s.Len())
}

// A limit holds whatever came how.
func TestLimitsHoldForMergeAndImport(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 10})
	fill(t, m, "s", 8)
	base := m.Load()
	f := m.Fork(base)
	require.NoError(t, f.Batch(func(b *memory.Batch) error {
		for i := range 9 {
			_ = b.Space("t").Put(fmt.Sprint(i), i)
		}
		return nil
	}))
	require.Equal(t, 10, f.Load().Len())
	for i := range 4 {
		require.NoError(t, errOf(m.Space("u").Put(fmt.Sprint(i), i)))
	}
	_, err := m.Merge(t.Context(), base, f.Load(), func(c memory.Conflict) (memory.Entry, error) { return c.Theirs, nil })
	require.NoError(t, err)
	require.Equal(t, 10, m.Load().Len())
	require.Equal(t, 9, m.Space("t").Len(), "what the merge wrote stays")
	require.NoError(t, m.CheckDerived())

	var b strings.Builder
	other := memory.New(memory.Options{})
	fill(t, other, "v", 10)
	require.NoError(t, other.Load().Export(&b))
	_, err = m.Import(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"v"}}, spaces(m.Load(), memory.SpacesOptions{}))
	fill(t, other, "w", 1)
	b.Reset()
	require.NoError(t, other.Load().Export(&b))
	_, err = m.Import(t.Context(), strings.NewReader(b.String()))
	require.ErrorIs(t, err, memory.ErrFull)
	require.Equal(t, [][]string{{"v"}}, spaces(m.Load(), memory.SpacesOptions{}))
}

// An lru is a cache that evicts exactly the least recently used.
type lru struct {
	size  int
	order list.List
	at    map[int]*list.Element
}

func (c *lru) get(k int) (hit bool) {
	if e, ok := c.at[k]; ok {
		c.order.MoveToFront(e)
		return true
	}
	if len(c.at) == c.size {
		last := c.order.Back()
		delete(c.at, last.Value.(int))
		c.order.Remove(last)
	}
	c.at[k] = c.order.PushFront(k)
	return false
}

// The hit rate is near that of exact LRU.
func TestHitRateIsAboutThatOfLRU(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about many entries")
	}
	const size, universe = 256, 2000
	gets := max(6000, quicker(20_000))
	for _, space := range []bool{false, true} {
		t.Run(fmt.Sprint(space), func(t *testing.T) {
			o, so := memory.Options{MaxEntries: size, NoText: true}, memory.SpaceOptions{}
			if space {
				o, so = memory.Options{NoText: true}, memory.SpaceOptions{MaxEntries: size}
			}
			m := memory.New(o)
			s := m.Space("cache")
			s.Configure(so)
			exact := &lru{size: size, at: make(map[int]*list.Element)}
			r := rand.New(rand.NewPCG(5, 5))
			zipf := rand.NewZipf(r, 1.1, 8, universe-1)
			names := r.Perm(universe) // so that the order of keys says nothing
			hits, exactHits := 0, 0
			for range gets {
				k := names[zipf.Uint64()]
				if exact.get(k) {
					exactHits++
				}
				key := fmt.Sprint(k)
				if _, ok := s.Get(key); ok {
					hits++
				} else {
					require.NoError(t, errOf(s.Put(key, k)))
				}
			}
			require.Equal(t, size, s.Len())
			rate, want := float64(hits)/float64(gets), float64(exactHits)/float64(gets)
			t.Logf("hit rate %.3f, exact LRU %.3f", rate, want)
			require.Greater(t, rate, want-0.03)
			require.NoError(t, m.CheckDerived())
		})
	}
}

// Whatever happens under limits, what is counted along is what a recount finds.
func TestCountsAreExactUnderLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 6))
		m := memory.New(memory.Options{MaxEntries: 60, MaxBytes: 40_000})
		m.DB().Retain(cow.Retention{Versions: 5})
		base := m.Load()
		for i := range quicker(400) {
			time.Sleep(time.Second)
			_ = m.Batch(func(b *memory.Batch) error {
				for range r.IntN(10) {
					s, key := b.Space(fmt.Sprint("s", r.IntN(4))), fmt.Sprint(r.IntN(60))
					switch r.IntN(8) {
					case 0:
						s.Delete(key)
					case 1:
						s.DeleteVector(key)
					case 2:
						_ = s.PutVector(key, []float32{1, 2, float32(i)}, nil)
					case 3:
						if r.IntN(5) == 0 {
							s.Configure(memory.SpaceOptions{MaxEntries: r.IntN(3) * 10, MaxBytes: int64(r.IntN(3)) * 5000})
						}
					case 4:
						if r.IntN(9) == 0 {
							s.Clear()
						}
					default:
						_ = s.PutItem(key, memory.Item{Value: strings.Repeat("word ", r.IntN(100)), TTL: time.Duration(r.IntN(30)) * time.Second})
					}
				}
				return nil
			})
			if i%40 == 39 {
				f := m.Fork(base)
				_, _ = f.Space("s1").PutVector("f", []float32{1, 2, 3}, map[string]any{"i": i})
				_, _ = f.Space("s2").PutItem("f", memory.Item{Value: i, TTL: time.Hour})
				_, _ = m.Merge(t.Context(), base, f.Load(), func(c memory.Conflict) (memory.Entry, error) { return c.Theirs, nil })
				base = m.Load()
			}
			require.NoError(t, m.CheckDerived())
			require.LessOrEqual(t, m.Load().Len(), 60)
			require.LessOrEqual(t, m.Bytes(), int64(40_000))
		}
	})
}

func TestNegativeLimitsPanic(t *testing.T) {
	for _, o := range []memory.Options{{MaxEntries: -1}, {MaxBytes: -1}, {TTL: -1}} {
		require.Panics(t, func() { memory.New(o) }, o)
	}
	m := memory.New(memory.Options{})
	for _, o := range []memory.SpaceOptions{{MaxEntries: -1}, {MaxBytes: -1}, {TTL: -1}} {
		require.Panics(t, func() { m.Space("s").Configure(o) }, o)
	}
	require.Zero(t, m.Load().Version())
	require.NoError(t, errOf(m.Space("s").Put("a", 1)), "the writer's place is free")
}
