package memory_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// An entry that was evicted last, and is there again, can be evicted.
func TestWhatWasEvictedLastCanBeEvictedAgain(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 1})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("a", 1)))
	require.NoError(t, errOf(s.Put("b", 1))) // evicts a
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		b.Space("s").Delete("b")
		return b.Space("s").Put("a", 2)
	}))
	require.NoError(t, errOf(s.Put("c", 1)))
	_, ok := s.Get("c")
	require.True(t, ok)
}

func TestForkOfAForksSnapshotExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		f := m.Fork(m.Load())
		require.NoError(t, errOf(f.Space("s").PutItem("b", memory.Item{Value: 1, TTL: time.Second})))
		g := m.Fork(f.Load())
		time.Sleep(time.Hour)
		_, ok := g.Space("s").Get("b")
		require.False(t, ok)
	})
}

func TestMergeOfWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		base := m.Load()
		f := m.Fork(base)
		require.NoError(t, errOf(f.Space("s").PutItem("b", memory.Item{Value: 1, Vector: []float32{1, 2}, TTL: time.Second})))
		require.NoError(t, errOf(f.Space("s").Put("c", 1)))
		time.Sleep(time.Hour)
		_, err := m.Merge(t.Context(), base, f.Load(), nil)
		require.NoError(t, err)
		require.Equal(t, 2, m.Load().Len())
		require.NoError(t, m.CheckDerived())
	})
}

func TestAsOfTheEndOfTimeAgreesWithItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 10})
		require.NoError(t, errOf(m.Space("s").PutItem("a", memory.Item{Value: 1, TTL: time.Second})))
		for _, at := range []time.Time{time.Unix(0, math.MaxInt64-1), time.Unix(0, math.MaxInt64), time.Unix(0, math.MaxInt64).Add(time.Hour)} {
			s, err := m.AsOf(at)
			require.NoError(t, err)
			_, ok := s.Space("s").Get("a")
			require.False(t, ok)
			require.Zero(t, s.Len(), at)
			require.Zero(t, s.Space("s").Len(), at)
		}
	})
}

func TestSweepCountsAllAndTakesAFewACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Second})
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			for i := range 200 {
				_ = b.Space("s").Put(fmt.Sprint(i), i)
			}
			return nil
		}))
		time.Sleep(time.Minute)
		v := m.Load().Version()
		require.Equal(t, 200, count(m.Sweep(t.Context())))
		require.EqualValues(t, 7, m.Load().Version()-v)
	})
}

func TestConfigureOfAKeptEditorPanics(t *testing.T) {
	m := memory.New(memory.Options{})
	var kept *memory.Editor
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		kept = b.Space("s")
		kept.Configure(memory.SpaceOptions{MaxEntries: 5})
		return nil
	}))
	s := m.Load()
	require.Panics(t, func() { kept.Configure(memory.SpaceOptions{MaxEntries: 7}) })
	require.Equal(t, 5, s.Space("s").Options().MaxEntries)
}

func TestWatchOfAForkSinceItsOriginsSnapshot(t *testing.T) {
	for name, since := range map[string]func(m *memory.Memory) memory.Snapshot{
		"origin": func(m *memory.Memory) memory.Snapshot { return m.Load() },
		"zero":   func(*memory.Memory) memory.Snapshot { return memory.Snapshot{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New(memory.Options{})
				require.NoError(t, errOf(m.Space("other").Put("x", 1)))
				f := m.Fork(m.Load())
				s := since(m)
				go func() {
					time.Sleep(time.Second)
					_, _ = f.Space("s").Put("a", 1)
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := f.Space("s").Watch(ctx, s)
				require.NoError(t, err)
				_, err = f.Space("s").Watch(ctx, s, "a")
				require.NoError(t, err)
			})
		})
	}
}

func TestConfigureWakesNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		since := m.Load()
		go func() {
			time.Sleep(time.Second)
			m.Space("s").Configure(memory.SpaceOptions{TTL: time.Hour})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := m.Space("s").Watch(ctx, since)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestExpiredVectorDoesNotFixTheDimension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("a", memory.Item{Vector: []float32{1, 2}, TTL: time.Second})))
		time.Sleep(time.Minute)
		require.Zero(t, s.Len())
		require.NoError(t, errOf(s.PutVector("b", []float32{1, 2, 3}, nil)))
	})
}

func TestDimensionWithinABatch(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		s := b.Space("s")
		require.NoError(t, s.PutVector("a", []float32{1, 2}, nil))
		require.ErrorIs(t, s.PutVector("b", []float32{1, 2, 3}, nil), memory.ErrDimension)
		require.True(t, s.Delete("a"))
		require.NoError(t, s.PutVector("b", []float32{1, 2, 3}, nil))
		require.ErrorIs(t, s.PutVector("c", []float32{1}, nil), memory.ErrDimension)
		require.True(t, s.DeleteVector("b"))
		require.NoError(t, s.PutVector("c", []float32{1}, nil))
		return nil
	}))
	require.NoError(t, m.CheckDerived())
}

// In a version where nothing was stored before, too.
func TestDimensionWithinABatchOfNothing(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").Put("x", 1)))
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		s := b.Space("s")
		require.NoError(t, s.PutVector("a", []float32{1, 2}, nil))
		require.True(t, s.Delete("a"))
		require.NoError(t, s.PutVector("b", []float32{1, 2, 3}, nil))
		return nil
	}))
	require.NoError(t, m.CheckDerived())
}

func TestMergeResolvedToNothingRemoves(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("a", 1)))
	base := m.Load()
	f := m.Fork(base)
	require.NoError(t, errOf(f.Space("s").Put("a", 2)))
	require.NoError(t, errOf(s.Put("a", 3)))
	_, err := m.Merge(t.Context(), base, f.Load(), func(c memory.Conflict) (memory.Entry, error) {
		c.Ours.Value = memory.Value{}
		return c.Ours, nil
	})
	require.NoError(t, err)
	require.Zero(t, s.Len())
	require.NoError(t, m.CheckDerived())
}

func TestUpsertOfAValueExpiresAsTheSpaceSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutVector("a", []float32{1}, nil)))
		s.Configure(memory.SpaceOptions{TTL: time.Minute})
		require.NoError(t, errOf(s.Upsert("a", func(v memory.Value) (any, error) {
			require.False(t, v.Exists())
			return 1, nil
		})))
		e, _ := s.Entry("a")
		require.Equal(t, time.Now().Add(time.Minute), e.Expires)
	})
}

func TestImportIsStrict(t *testing.T) {
	for _, line := range []string{
		`{"space":[null],"key":"a","value":1}`,
		`{"space":["s"],"key":"a","vector":[null,1]}`,
		`{"SPACE":["s"],"key":"a","value":1}`,
		`{"space":["s"],"key":"a","key":"b","value":1}`,
	} {
		m := memory.New(memory.Options{})
		n, err := m.Import(t.Context(), strings.NewReader(line))
		if err == nil {
			t.Errorf("imported %d of %s", n, line)
		}
	}
}

func TestImportSaysWhichLineHasTheWrongDimension(t *testing.T) {
	m := memory.New(memory.Options{})
	_, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"a","vector":[1]}
{"space":["s"],"key":"b","vector":[1,2]}`))
	require.ErrorIs(t, err, memory.ErrDimension)
	require.ErrorContains(t, err, "line 2")
}

// A fork that reads takes nothing away from what its origin has read.
func TestReadsOfAForkDoNotAgeItsOrigin(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 10})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("old", 1)))
	f := m.Fork(m.Load())
	for i := range 9 {
		require.NoError(t, errOf(s.Put(fmt.Sprint("k", i), 1)))
	}
	for i := range 30 {
		require.NoError(t, errOf(s.Put(fmt.Sprint("k", i%9), 1)))
	}
	s.Get("old")
	f.Space("s").Get("old")
	require.NoError(t, errOf(s.Put("new", 1)))
	_, ok := s.Get("old")
	require.True(t, ok)
}

func TestClearOfMany(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 3000 {
			_ = b.Space("s").Put(fmt.Sprint(i), i)
			if i%3 == 0 {
				_ = b.Space("s", "below").Put(fmt.Sprint(i), i)
			}
		}
		_ = b.Space("s\x00b").Put("a", 1)
		return nil
	}))
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		require.Equal(t, 3000, b.Space("s").Clear())
		require.Equal(t, 0, b.Space("s").Clear())
		require.NoError(t, b.Space("s").Put("x", 1))
		require.Equal(t, 1001, b.Space("s").ClearAll())
		return nil
	}))
	require.Equal(t, 1, m.Load().Len())
	require.NoError(t, m.CheckDerived())
}

// A zero byte in a path is UTF-8, however paths are encoded.
func TestExportOfAPathWithAZeroByte(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("a\x00b").Put("k", 1)))
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	n := memory.New(memory.Options{})
	_, err := n.Import(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a\x00b"}}, spaces(n.Load(), memory.SpacesOptions{}))
}

// Removing needs no room: nor does Configure panic where the one entry that is
// left is the one that was evicted last.
func TestConfigureEvictsWhatWasEvictedLast(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	s.Configure(memory.SpaceOptions{MaxEntries: 1})
	require.NoError(t, errOf(s.Put("a", 1)))
	require.NoError(t, errOf(s.Put("b", 1))) // evicts a
	s.Configure(memory.SpaceOptions{})
	require.NoError(t, errOf(s.Put("a", 1)))
	require.True(t, removed(s.Delete("b")))
	require.NotPanics(t, func() { s.Configure(memory.SpaceOptions{MaxBytes: 1}) })
	require.Zero(t, s.Len())
}

// An Absent Value, as of a key that was not there, is no value to store: what is
// put is there.
func TestPutOfAnAbsentValueLeavesNoGhost(t *testing.T) {
	absent := memory.Value{}
	to := func(memory.Value) (any, error) { return absent, nil }
	for name, verb := range map[string]func(s memory.Space) error{
		"Put":     func(s memory.Space) error { return errOf(s.Put("a", absent)) },
		"PutItem": func(s memory.Space) error { return errOf(s.PutItem("a", memory.Item{Value: absent})) },
		"Insert":  func(s memory.Space) error { return errOf(s.Insert("a", absent)) },
		"Upsert":  func(s memory.Space) error { return errOf(s.Upsert("a", to)) },
		"SetIf":   func(s memory.Space) error { return errOf(s.SetIf("a", 0, absent)) },
		"Modify":  func(s memory.Space) error { _, _ = s.Put("a", 1); return errOf(s.Modify("a", to)) },
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			s := m.Space("s")
			err := verb(s)
			require.NoError(t, m.CheckDerived())
			if err == nil {
				v, ok := s.Get("a")
				require.True(t, ok)
				require.True(t, v.IsNull())
			}
		})
	}
}

func TestWatchOfAForkOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		f := m.Fork(m.Load())
		go func() {
			time.Sleep(time.Second)
			_, _ = f.Space("s").Put("a", 1)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := f.Space("s").Watch(ctx, f.Load())
		require.NoError(t, err)
		since := f.Load()
		go func() {
			time.Sleep(time.Second)
			_, _ = f.Space("s").Put("a", 2)
		}()
		_, err = f.Space("s").Watch(ctx, since, "a")
		require.NoError(t, err)
	})
}

func TestNoTextHasNoTextAnywhere(t *testing.T) {
	m := memory.New(memory.Options{NoText: true})
	require.NoError(t, errOf(m.Space("s").Put("a", "words")))
	f := m.Fork(m.Load())
	require.NoError(t, errOf(f.Space("s").Put("b", "words")))
	_, err := m.Merge(t.Context(), m.Load(), f.Load(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, keys(m.Space("s").Load()))
	require.Empty(t, hitKeys(m.Space("s").Search(memory.Query{Text: "words"})))
	require.NoError(t, m.CheckDerived())
}

// What is merged has the stamps of its own line, whose versions may be far ahead,
// or behind.
func TestMergedEntriesAgeAsOthersDo(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 10})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("first", 1)))
	base := m.Load()
	f := m.Fork(base)
	for i := range 1000 {
		require.NoError(t, errOf(f.Space("s").Put("merged", i)))
	}
	_, err := m.Merge(t.Context(), base, f.Load(), nil)
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
		s.Get("first")
	}
	_, ok := s.Get("first")
	require.True(t, ok)
	_, ok = s.Get("merged")
	require.False(t, ok, "it was not used for 200 versions")
}

// What was read is more recently used than what came with it and was not.
func TestReadSoonAfterAnImportCountsAsUse(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 20})
	fill(t, m, "s", 20)
	for range 100 {
		m.Space("s").Get("0000")
	}
	for i := range 5 {
		require.NoError(t, errOf(m.Space("s").Put(fmt.Sprint("x", i), i)))
		m.Space("s").Get("0000")
	}
	_, ok := m.Space("s").Load().Get("0000")
	require.True(t, ok)
}

// Where the limit is a few entries, too.
func TestRecentlyUsedSurviveInASmallSpace(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 4})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("hot", 1)))
	for i := range 50 {
		_, ok := s.Get("hot")
		require.True(t, ok, i)
		require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
	}
}

// The instant of a version is that of its publication, not that at which its
// batch began: At and AsOf agree.
func TestAtShowsWhatAsOfShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 10})
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			require.NoError(t, b.Space("s").PutItem("short", memory.Item{Value: 1, TTL: time.Second}))
			require.NoError(t, b.Space("s").PutItem("long", memory.Item{Value: 1, TTL: time.Hour}))
			time.Sleep(time.Minute) // a slow batch
			return nil
		}))
		time.Sleep(time.Second)
		require.NoError(t, errOf(m.Space("s").Put("x", 1)))
		time.Sleep(time.Second)
		for version, at := range m.DB().Versions() {
			if version == 0 {
				continue
			}
			a, err := m.At(version)
			require.NoError(t, err)
			b, err := m.AsOf(at)
			require.NoError(t, err)
			require.Equal(t, b.Version(), a.Version())
			require.Equal(t, keys(b.Space("s")), keys(a.Space("s")), version)
		}
	})
}

// A past snapshot is as good as one that was kept, to watch from.
func TestWatchSinceAPastVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 1000})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		fill(t, m, "other", 100)
		for i := range 200 {
			require.NoError(t, errOf(m.Space("other").Put(fmt.Sprintf("%04d", i), i)))
		}
		for _, version := range []uint64{2, 50, 201} {
			since, err := m.At(version)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = m.Space("s").Watch(ctx, since)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = m.Space("s").Watch(ctx, since, "a")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			_, err = m.Space("other").Watch(t.Context(), since)
			require.NoError(t, err)
		}
		since, err := m.At(0)
		require.NoError(t, err)
		_, err = m.Space("s").Watch(t.Context(), since, "a")
		require.NoError(t, err)
	})
}

// A batch whose function has ended the transaction returns what the function does.
func TestABatchOfATransactionThatWasAborted(t *testing.T) {
	m := memory.New(memory.Options{})
	tx := m.DB().Begin()
	defer tx.Abort()
	require.ErrorIs(t, m.BatchIn(tx, func(b *memory.Batch) error {
		require.NoError(t, b.Space("s").Put("k", 1))
		tx.Abort()
		return errModel
	}), errModel)
	require.Zero(t, m.Load().Len())
	require.NoError(t, errOf(m.Space("s").Put("k", 2)))
}

// The words of all lines are found before any is stored.
func TestAnImportWithABadTextOfStoresNothing(t *testing.T) {
	m := memory.New(memory.Options{TextOf: func(_ []string, v memory.Value) iter.Seq2[string, int] {
		if v.String() == "bad" {
			panic(errModel)
		}
		return nil
	}})
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "{\"space\":[\"s\"],\"key\":\"%d\",\"value\":\"good\"}\n", i)
	}
	lines.WriteString(`{"space":["s"],"key":"last","value":"bad"}`)
	require.PanicsWithValue(t, errModel, func() { _, _ = m.Import(t.Context(), strings.NewReader(lines.String())) })
	require.Zero(t, m.Load().Version())
}
