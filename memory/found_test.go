package memory_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

// What somebody found who tried to break promises.

// A few large entries make room for themselves, however many small ones there are.
func TestALimitByBytesHoldsBesideSmallEntries(t *testing.T) {
	const limit = 1 << 20
	m := memory.New(memory.Options{NoText: true, MaxBytes: limit})
	s := m.Space("s")
	for i := range 5_000 {
		require.NoError(t, errOf(s.Put(fmt.Sprintf("a%05d", i), i)))
	}
	for i := range 20 {
		require.NoError(t, errOf(s.Put(fmt.Sprintf("b%05d", i), strings.Repeat("x", limit/4))))
		require.LessOrEqual(t, m.Bytes(), int64(limit))
	}
	require.Equal(t, 3, s.Len())
}

// Whether an entry is too large does not depend on what else is there.
func TestFullIsFullBesideOthersToo(t *testing.T) {
	unique := func() any {
		var b strings.Builder
		for i := range 15_000 {
			fmt.Fprintf(&b, "word%d ", i)
		}
		return b.String()
	}
	for _, others := range []int{0, 1000} {
		m := memory.New(memory.Options{MaxBytes: 1 << 18})
		s := m.Space("s")
		for i := range others {
			require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
		}
		require.ErrorIs(t, errOf(s.Put(strings.Repeat("k", 1<<19), 1)), memory.ErrFull)
		require.ErrorIs(t, errOf(s.Put("words", unique())), memory.ErrFull)
		require.Equal(t, others, s.Len())
	}
}

// Entries that a Merge brings are evicted as those of any write.
func TestAMergeKeepsLimits(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 1000, NoText: true})
	base := m.Load()
	f := m.Fork(base)
	for side, to := range []*memory.Memory{m, f} {
		for i := range 900 {
			require.NoError(t, errOf(to.Space("s").Put(fmt.Sprint(side, i), i)))
		}
	}
	_, err := m.Merge(t.Context(), base, f.Load(), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, m.Load().Len())
}

// Of few entries that fill a limit by bytes the one used least recently goes, whatever the
// limit is.
func TestLRUOfFewLargeEntries(t *testing.T) {
	s := memory.New(memory.Options{MaxBytes: 2 << 20, NoText: true}).Space("s")
	large := strings.Repeat("x", 16<<10)
	n := 0
	for ; s.Len() == n; n++ {
		require.NoError(t, errOf(s.Put(fmt.Sprintf("k%03d", n), large)))
	}
	var keys []string
	for e := range s.List(memory.ListOptions{Reverse: true}) {
		keys = append(keys, e.Key)
	}
	for _, key := range keys {
		s.Get(key)
	}
	for i, key := range keys[:20] {
		require.NoError(t, errOf(s.Put(fmt.Sprintf("n%03d", i), large)))
		_, there := s.Load().Get(key)
		require.False(t, there, key)
		_, there = s.Load().Get(keys[i+1])
		require.True(t, there, keys[i+1])
	}
}

func TestAPathOfManyElementsIsRefused(t *testing.T) {
	m := memory.New(memory.Options{})
	path := strings.Split(strings.Repeat("a", 129), "")
	require.NoError(t, errOf(m.Space(path[1:]...).Put("k", 1)))
	s := m.Space(path...)
	require.ErrorIs(t, errOf(s.Put("k", 1)), value.ErrTooDeep)
	require.ErrorIs(t, errOf(s.PutItem("k", memory.Item{Value: 1})), value.ErrTooDeep)
	require.ErrorIs(t, errOf(s.PutVector("k", []float32{1}, nil)), value.ErrTooDeep)
	require.ErrorIs(t, errOf(s.Upsert("k", func(memory.Value) (any, error) { return 1, nil })), value.ErrTooDeep)
	require.ErrorIs(t, m.Batch(func(b *memory.Batch) error {
		b.Space(s.Path()...).Configure(memory.SpaceOptions{MaxEntries: 1})
		return nil
	}), value.ErrTooDeep)
	_, err := m.Import(t.Context(), strings.NewReader(`{"space":[`+strings.Repeat(`"a",`, 128)+`"a"],"key":"k","value":1}`))
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.ErrorIs(t, err, value.ErrTooDeep)
	require.Zero(t, s.Len())
	require.Equal(t, 1, m.Load().Len())
}

func TestRestoreOfAVersionThatIsTooHigh(t *testing.T) {
	backup := func(version, revision uint64) *strings.Reader {
		return strings.NewReader(fmt.Sprintf(`{"cursor":"ABCDEFGHIJKLMNOPQRSTUVWXYZ.%d","time":"2027-01-01T00:00:00Z"}
{"space":["s"],"key":"k","value":1,"revision":%d}`, version, revision))
	}
	m := memory.New(memory.Options{})
	for _, c := range [][2]uint64{{1<<54 + 1, 1}, {1 << 55, 1}, {1<<64 - 1, 1}, {42, 0}, {42, 43}} {
		_, err := m.Restore(t.Context(), backup(c[0], c[1]))
		require.ErrorIs(t, err, memory.ErrMalformed, c)
	}
	_, err := m.Restore(t.Context(), backup(1<<54, 1<<54))
	require.NoError(t, err)
	rev, err := m.Space("s").Put("k", 2)
	require.NoError(t, err)
	require.Equal(t, uint64(1<<54+1), rev)
}

func TestABatchOfAnUpdateEndsBeforeTheUpdate(t *testing.T) {
	db := new(cow.DB)
	m := memory.On(db, memory.Options{MaxEntries: 2})
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		var batch *memory.Batch
		var e *memory.Editor
		if err := m.BatchIn(tx, func(b *memory.Batch) error {
			batch, e = b, b.Space("s")
			return e.Put("k", 1)
		}); err != nil {
			return err
		}
		for name, use := range map[string]func(){
			"Get":       func() { e.Get("k") },
			"Put":       func() { _ = e.Put("late", 1) },
			"Delete":    func() { e.Delete("k") },
			"Clear":     func() { e.Clear() },
			"Configure": func() { e.Configure(memory.SpaceOptions{MaxEntries: 1}) },
			"Space":     func() { batch.Space("other") },
		} {
			require.PanicsWithValue(t, "memory: a Batch or Editor used after the Batch has ended: it must not be kept", use, name)
		}
		return nil
	}))
	require.Equal(t, 1, m.Load().Len())
}

// What an update swept by the way is none of what it did.
func TestUndoLeavesAloneWhatWasSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 100})
		require.NoError(t, errOf(m.Space("a").PutItem("k", memory.Item{Value: 1, TTL: time.Second})))
		require.NoError(t, errOf(m.Space("a").PutItem("gone", memory.Item{Value: 1, TTL: time.Second})))
		time.Sleep(2 * time.Second)
		rev, err := m.Space("b").Put("x", 1) // and sweeps both
		require.NoError(t, err)
		require.NoError(t, errOf(m.Space("a").Put("k", 2)))
		require.NoError(t, m.Undo(t.Context(), rev))
		require.Zero(t, m.Space("b").Len())
		v, _ := m.Space("a").Get("k")
		require.EqualValues(t, 2, v.Int())
		for c, err := range m.Changes(t.Context(), m.Load().Version()-1) {
			require.NoError(t, err)
			require.Equal(t, memory.Deleted, c.Kind, "and nothing comes back")
			require.Equal(t, "x", c.Key)
			break
		}
	})
}

// An update that clears a space may sweep, too.
func TestUndoOfAClearLeavesAloneWhatWasSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{1, 200} { // removed at once, and marked
			m := memory.New(memory.Options{})
			m.DB().Retain(cow.Retention{Versions: 100})
			require.NoError(t, errOf(m.Space("a").PutItem("k", memory.Item{Value: 1, TTL: time.Second})))
			require.NoError(t, m.Batch(func(b *memory.Batch) error {
				for i := range n {
					require.NoError(t, b.Space("b").Put(fmt.Sprint(i), i))
				}
				return nil
			}))
			time.Sleep(2 * time.Second)
			cleared, err := m.Space("b").Clear() // and sweeps k
			require.NoError(t, err)
			require.Equal(t, n, cleared)
			version := m.Load().Version()
			require.NoError(t, errOf(m.Space("a").Put("k", 2)))
			require.NoError(t, m.Undo(t.Context(), version))
			require.Equal(t, n, m.Space("b").Len())
			v, _ := m.Space("a").Get("k")
			require.EqualValues(t, 2, v.Int())
		}
	})
}

// An Erase reports no DB that is not its caller's, and waits for nobody.
func TestEraseBesideForksThatAreInUse(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	require.NoError(t, errOf(m.Space("secret").Put("k", 1)))
	for i := range 100 {
		require.NoError(t, errOf(m.Space("x").Put(fmt.Sprint(i), i)))
	}
	_, err := m.Space("x").Clear()
	require.NoError(t, err)
	rev, err := m.Space("y").Put("z", 1)
	require.NoError(t, err)
	require.NoError(t, m.Undo(t.Context(), rev))
	others, err := m.Space("secret").Erase(t.Context(), "k")
	require.NoError(t, err)
	require.Empty(t, others)

	f := m.Fork(m.Load())
	f.DB().Retain(cow.Retention{Versions: 3})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _ = f.Space("x").Put("k", i)
				_ = f.DB().Compact(f.Load().Version())
			}
		}
	})
	for range 300 {
		_, err := m.Space("secret").Erase(t.Context(), "k")
		require.ErrorIs(t, err, memory.ErrNotFound)
	}
	close(stop)
	writer.Wait()
}
