package memory_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// What cannot be stored is refused by every verb, with the key in the error, and
// leaves nothing.
func TestWhatCannotBeStoredIsRefused(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	var deep any = 1
	for range 1500 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		value any
		err   error
	}{{make(chan int), value.ErrUnsupported}, {func() {}, value.ErrUnsupported}, {math.NaN(), value.ErrUnsupported}, {cycle, value.ErrCycle}, {deep, value.ErrTooDeep}} {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "word", Vector: []float32{1}})))
		before, text := m.Load(), export(t, m.Load())
		to := func(memory.Value) (any, error) { return map[string]any{"at": c.value}, nil }
		verbs := func(s verbs) []error {
			e, _ := s.Entry("a")
			return []error{
				s.Put("a", c.value), s.Put("b", []any{c.value}), s.PutItem("a", memory.Item{Value: c.value}),
				s.PutItem("a", memory.Item{Metadata: map[string]any{"x": c.value}}), s.Insert("b", c.value), s.Modify("a", to), s.Upsert("b", to),
				s.SetIf("a", e.Revision, c.value), s.PutVector("a", []float32{1}, map[string]any{"x": c.value}),
			}
		}
		check := func(errs []error) {
			for i, err := range errs {
				require.ErrorIs(t, err, c.err, i)
				var e *memory.KeyError
				require.ErrorAs(t, err, &e)
				require.Contains(t, []string{"a", "b"}, e.Key)
				require.Equal(t, 1, strings.Count(err.Error(), "memory:"), err)
			}
		}
		check(verbs(&counting{Space: s}))
		require.True(t, before == m.Load())
		require.NoError(t, m.Batch(func(b *memory.Batch) error { check(verbs(b.Space("s"))); return nil }))
		require.Equal(t, before.Version(), m.Load().Version())
		require.Equal(t, text, export(t, m.Load()))
	}
}

func TestVectorsThatAreNoneAreRefused(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").PutVector("a", []float32{1, 2}, nil)))
	before := m.Load()
	for _, c := range []struct {
		vector []float32
		err    error
	}{
		{nil, vector.ErrEmpty},
		{[]float32{}, vector.ErrEmpty},
		{[]float32{1, float32(math.NaN())}, vector.ErrNotFinite},
		{[]float32{float32(math.Inf(1)), 1}, vector.ErrNotFinite},
		{vector.Float32s([]float64{1, 1e300}), vector.ErrNotFinite},
		{[]float32{1}, memory.ErrDimension},
		{[]float32{1, 2, 3}, memory.ErrDimension},
	} {
		check := func(s verbs) {
			for _, err := range []error{s.PutVector("a", c.vector, nil), s.PutVector("b", c.vector, nil)} {
				require.ErrorIs(t, err, c.err)
				var e *memory.KeyError
				require.ErrorAs(t, err, &e)
			}
			if c.vector != nil { // that is no vector there
				require.ErrorIs(t, s.PutItem("a", memory.Item{Vector: c.vector}), c.err)
			}
		}
		check(&counting{Space: m.Space("s")})
		require.True(t, before == m.Load())
		require.NoError(t, m.Batch(func(b *memory.Batch) error { check(b.Space("s")); return nil }))
		require.Equal(t, before.Version(), m.Load().Version())
		_, err := m.Space("s").Search(memory.Query{Vector: c.vector})
		require.ErrorIs(t, err, c.err)
	}
	_, err := m.Space("s").Search(memory.Query{Vector: []float32{0, 0}})
	require.ErrorIs(t, err, vector.ErrZero)
	require.NoError(t, m.CheckDerived())
}

func TestQueriesThatMakeNoSense(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "word", Vector: []float32{1}})))
	for _, q := range []memory.Query{{K: -1}, {MinScore: math.NaN()}, {Metric: 9}, {Filter: filter.Meta("x").Eq(make(chan int))}, {Lean: 1.1}} {
		for _, q.Text = range []string{"", "word"} {
			for _, q.Vector = range [][]float32{nil, {1}} {
				_, err := s.Search(q)
				require.ErrorIs(t, err, memory.ErrQuery)
			}
		}
	}
	hits, err := s.Search(memory.Query{Text: "word", Vector: []float32{1}, K: math.MaxInt})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	hits, err = s.Search(memory.Query{Vector: []float32{1}, K: math.MaxInt})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	hits, err = s.Search(memory.Query{Text: "word", K: math.MaxInt})
	require.NoError(t, err)
	require.Len(t, hits, 1)
}

// Each search gives its best 1/2 and the last, or what it does not find, nothing.
func TestSearchBothIsAWeightedSum(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	for k, it := range map[string]memory.Item{
		"both":   {Value: "fox", Vector: []float32{1, 0.1}},
		"near":   {Value: "dog", Vector: []float32{1, 0}},
		"far":    {Value: "dog", Vector: []float32{-1, 0}},
		"words":  {Value: "fox fox"},
		"others": {Value: "cat"},
	} {
		require.NoError(t, errOf(s.PutItem(k, it)))
	}
	near, err := s.Search(memory.Query{Vector: []float32{1, 0}})
	require.NoError(t, err)
	words, err := s.Search(memory.Query{Text: "fox"})
	require.NoError(t, err)
	want := make(map[string]float64)
	for _, h := range near {
		want[h.Key] += max(0, h.Score) / 3
	}
	for _, h := range words {
		want[h.Key] += h.Score
	}
	hits, err := s.Search(memory.Query{Text: "fox", Vector: []float32{1, 0}})
	require.NoError(t, err)
	require.Len(t, hits, len(want))
	require.Equal(t, "both", hits[0].Key)
	for i, h := range hits {
		require.InDelta(t, want[h.Key], h.Score, 1e-12)
		require.True(t, i == 0 || hits[i-1].Score > h.Score || hits[i-1].Score == h.Score && hits[i-1].Key < h.Key)
	}
	few, err := s.Search(memory.Query{Text: "fox", Vector: []float32{1, 0}, K: 2})
	require.NoError(t, err)
	require.Equal(t, hitKeys(hits[:2], nil), hitKeys(few, nil))
	best, err := s.Search(memory.Query{Text: "fox", Vector: []float32{1, 0}, MinScore: hits[0].Score})
	require.NoError(t, err)
	require.Equal(t, []string{"both"}, hitKeys(best, nil))
}

// A panic or Goexit in a function of ours leaves everything, and frees the
// writer's place.
func TestPanicAndGoexitLeaveEverything(t *testing.T) {
	bad := map[string]func(){
		"panic":  func() { panic("bad") },
		"Goexit": runtime.Goexit,
	}
	for name, end := range bad {
		for where, do := range map[string]func(m *memory.Memory){
			"Batch": func(m *memory.Memory) {
				_ = m.Batch(func(b *memory.Batch) error {
					_ = b.Space("s").PutItem("a", memory.Item{Value: "new", Vector: []float32{2}})
					_ = b.Space("t").Put("b", 1)
					b.Space("s").Configure(memory.SpaceOptions{MaxEntries: 1})
					end()
					return nil
				})
			},
			"Modify": func(m *memory.Memory) {
				_, _ = m.Space("s").Modify("a", func(memory.Value) (any, error) { end(); return nil, nil })
			},
			"Upsert": func(m *memory.Memory) {
				_, _ = m.Space("s").Upsert("b", func(memory.Value) (any, error) { end(); return nil, nil })
			},
			"Merge": func(m *memory.Memory) {
				base := m.Load()
				f := m.Fork(base)
				_, _ = f.Space("s").Put("a", 2)
				g := m.Fork(base)
				_, _ = g.Space("s").Put("a", 3)
				_, _ = g.Merge(t.Context(), base, f.Load(), func(memory.Conflict) (memory.Entry, error) { end(); return memory.Entry{}, nil })
			},
		} {
			t.Run(name+where, func(t *testing.T) {
				m := memory.New(memory.Options{})
				require.NoError(t, errOf(m.Space("s").PutItem("a", memory.Item{Value: "old", Vector: []float32{1}})))
				before := m.Load()
				done := make(chan any)
				go func() {
					defer func() { done <- recover() }()
					do(m)
				}()
				r := <-done
				require.Equal(t, name == "panic", r != nil)
				require.True(t, before == m.Load())
				require.NoError(t, m.CheckDerived())
				require.NoError(t, errOf(m.Space("s").Put("b", 1)))
				require.NoError(t, m.CheckDerived())
			})
		}
	}
}

func TestABatchOrEditorMustNotBeKept(t *testing.T) {
	for name, end := range map[string]error{"published": nil, "failed": errors.New("no")} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			require.NoError(t, errOf(m.Space("s").PutItem("a", memory.Item{Value: 1, Vector: []float32{1}})))
			var b *memory.Batch
			var e *memory.Editor
			require.Equal(t, end, m.Batch(func(batch *memory.Batch) error {
				b, e = batch, batch.Space("s")
				_ = e.Put("b", 1)
				_ = e.PutVector("b", []float32{1}, nil)
				return end
			}))
			before, text := m.Load(), export(t, m.Load())
			one := func(memory.Value) (any, error) { return 1, nil }
			for i, f := range []func(){
				func() { e.Get("a") },
				func() { e.Entry("a") },
				func() { _ = e.Put("a", 2) },
				func() { _ = e.PutItem("a", memory.Item{Value: 2}) },
				func() { _ = e.PutItem("a", memory.Item{Value: 2, Vector: []float32{1}}) },
				func() { _ = e.Insert("z", 1) },
				func() { _ = e.Modify("a", one) },
				func() { _ = e.Upsert("z", one) },
				func() { _ = e.SetIf("a", 1, 2) },
				func() { e.Delete("a") },
				func() { _ = e.DeleteIf("a", 1) },
				func() { e.Take("a") },
				func() { e.Clear() },
				func() { e.ClearAll() },
				func() { _ = e.PutVector("a", []float32{1}, nil) },
				func() { e.DeleteVector("a") },
				func() { e.Configure(memory.SpaceOptions{TTL: 1}) },
				func() { e.Configure(memory.SpaceOptions{}) },
				func() { _ = b.Space("t").Put("a", 1) },
				func() { b.Space("t").Get("a") },
			} {
				require.Panics(t, f, i)
			}
			require.True(t, before == m.Load())
			require.Equal(t, text, export(t, before))
			require.NoError(t, m.CheckDerived())
			require.NoError(t, errOf(m.Space("s").Put("c", 1)))
		})
	}
}

// A batch that writes to its Memory by another way would wait for itself.
func TestABatchMustNotWriteToTheMemoryItself(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").Put("a", 1)))
	require.Panics(t, func() {
		_ = m.Batch(func(b *memory.Batch) error { return errOf(m.Space("s").Put("b", 1)) })
	})
	require.Panics(t, func() {
		_, _ = m.Space("s").Modify("a", func(memory.Value) (any, error) { m.Space("s").Delete("a"); return 1, nil })
	})
	require.EqualValues(t, 1, m.Load().Version())
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		v, ok := m.Space("s").Get("a") // reading is fine
		require.True(t, ok)
		return b.Space("s").Put("b", v)
	}))
}

// After an error of a verb the batch may go on.
func TestABatchGoesOnAfterAnError(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		s := b.Space("s")
		require.NoError(t, s.Insert("a", 1))
		require.ErrorIs(t, s.Insert("a", 2), memory.ErrExists)
		require.ErrorIs(t, s.SetIf("a", 99, 2), memory.ErrRevision)
		require.ErrorIs(t, s.SetIf("a", memory.Pending, 2), memory.ErrRevision)
		require.ErrorIs(t, s.DeleteIf("a", memory.Pending), memory.ErrRevision)
		require.ErrorIs(t, s.Modify("none", func(memory.Value) (any, error) { return 1, nil }), memory.ErrNotFound)
		require.ErrorIs(t, s.Modify("a", func(memory.Value) (any, error) { return 1, s.Put("a", 3) }), cow.ErrModified)
		e, ok := s.Entry("a")
		require.True(t, ok)
		require.Equal(t, uint64(memory.Pending), e.Revision)
		return s.Put("b", 2)
	}))
	require.Equal(t, []string{"a", "b"}, keys(m.Space("s").Load()))
	v, _ := m.Space("s").Get("a")
	require.EqualValues(t, 3, v.Int())
	require.NoError(t, m.CheckDerived())
}

// What changes nothing is no version.
func TestNothingIsNoVersion(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").PutItem("a", memory.Item{Value: 1})))
	before := m.Load()
	s := m.Space("s")
	s.Delete("none")
	s.DeleteVector("a")
	s.Take("none")
	require.NoError(t, errOf(s.DeleteIf("none", 0)))
	m.Space("none").Clear()
	m.Space("none").ClearAll()
	s.Configure(memory.SpaceOptions{})
	require.Zero(t, count(m.Sweep(t.Context())))
	require.NoError(t, m.Batch(func(b *memory.Batch) error { b.Space("t"); return nil }))
	require.True(t, before == m.Load())
	s.Configure(memory.SpaceOptions{MaxEntries: 5})
	require.Equal(t, before.Version()+1, m.Load().Version())
	s.Configure(memory.SpaceOptions{MaxEntries: 5})
	require.Equal(t, before.Version()+1, m.Load().Version())
}

func TestTheZeroSnapshotIsEmpty(t *testing.T) {
	var s memory.Snapshot
	require.Zero(t, s.Version())
	require.Zero(t, s.Len())
	require.Empty(t, spaces(s, memory.SpacesOptions{Prefix: []string{"a"}, After: []string{}}))
	v := s.Space("a", "b")
	require.Equal(t, []string{"a", "b"}, v.Path())
	require.Zero(t, v.Len())
	require.Zero(t, v.Options())
	require.Empty(t, keys(v))
	_, ok := v.Get("a")
	require.False(t, ok)
	_, ok = v.Entry("a")
	require.False(t, ok)
	_, ok = v.Vector("a")
	require.False(t, ok)
	require.Empty(t, hitKeys(v.Search(memory.Query{Vector: []float32{1}, Filter: filter.Meta("a").Exists()})))
	require.Empty(t, hitKeys(v.Search(memory.Query{Text: "a"})))
	require.Empty(t, hitKeys(v.Search(memory.Query{Text: "a", Vector: []float32{1}})))

	m := memory.New(memory.Options{})
	require.Zero(t, m.Load().Len())
	require.Empty(t, spaces(m.Load(), memory.SpacesOptions{}))
	require.Empty(t, keys(m.Space("s").Load()))
	for range m.Space().Load().List(memory.ListOptions{After: "x", Reverse: true}) {
		t.Error("an entry")
	}
	require.Zero(t, count(m.Space("s").ClearAll()))
	// It can be forked, and merged from.
	f := m.Fork(m.Load())
	require.NoError(t, errOf(f.Space("s").PutItem("a", memory.Item{Value: 1, Vector: []float32{1}})))
	_, err := m.Merge(t.Context(), memory.Snapshot{}, f.Load(), nil)
	require.NoError(t, err)
	require.Equal(t, 1, m.Load().Len())
	require.NoError(t, m.CheckDerived())

	// But nothing goes because an error was not looked at.
	was, err := m.At(0)
	require.ErrorIs(t, err, cow.ErrCompacted)
	require.PanicsWithValue(t, "memory: Merge with the zero Snapshot, which is empty: look at the error that came with it",
		func() { _, _ = m.Merge(t.Context(), m.Load(), was, nil) })
	require.Equal(t, 1, m.Load().Len())
}

// Paths are never joined.
func TestSpacesAreApart(t *testing.T) {
	m := memory.New(memory.Options{})
	paths := [][]string{{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"a", "b"}, {"ab"}, {"a:b"}, {"a/b"}, {"a\x00b"}, {"a\x00", "b"}, {"a", "\x00b"}, {"a\x01b"}, {"a\x02b"}, {"a\x00\x02b"}, {"\x01a"}, {"\x02a"}}
	for i, p := range paths {
		require.NoError(t, errOf(m.Space(p...).Put("k", i)))
		require.Equal(t, p, append([]string{}, m.Space(p...).Path()...))
		require.NoError(t, errOf(m.Space().Space(p...).Modify("k", func(v memory.Value) (any, error) { return v.Int(), nil })))
	}
	for i, p := range paths {
		v, ok := m.Space(p...).Get("k")
		require.True(t, ok)
		require.EqualValues(t, i, v.Int(), fmt.Sprintf("%q", p))
		require.Equal(t, []string{"k"}, keys(m.Space(p...).Load()))
	}
	require.Len(t, spaces(m.Load(), memory.SpacesOptions{}), len(paths))
	require.Equal(t, 3, m.Space("a").Load().Len()+2)
	require.Equal(t, 4, count(m.Space("a").ClearAll()), `"a", and "", "b" and "\x00b" below it`)
}

func TestASnapshotOfAnotherMemoryIsRefused(t *testing.T) {
	m, other := memory.New(memory.Options{}), memory.New(memory.Options{})
	s := m.Space("a")
	_, err := s.Put("k", 1)
	require.NoError(t, err)
	require.PanicsWithValue(t, "memory: Space.In of a snapshot of another Memory: use the Space method of the snapshot", func() { s.In(other.Load()) })
	fork := m.Fork(m.Load())
	require.Equal(t, 1, s.In(fork.Load()).Len())
	require.Equal(t, 1, fork.Space("a").In(m.Load()).Len())
	require.Zero(t, s.In(memory.Snapshot{}).Len())
}

func TestTheZeroKeyErrorHasAText(t *testing.T) {
	require.Equal(t, `memory: space [], key ""`, new(memory.KeyError).Error())
}
