package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/stretchr/testify/require"
)

// sideBySide calls do in as many goroutines.
func sideBySide(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// What is built at once is what an Editor makes of the same rows, whatever their number
// and hashes: with each key once, at the revision and with the value of its last row.
func TestBuiltAtOnceIsBuiltOneByOne(t *testing.T) {
	hashes := maps.Clone(badHashes)
	hashes[""] = nil
	for name, bad := range hashes {
		for _, n := range []int{1, 6, 7, 8, 30, 31, 32, 100, 1000, 20_000} {
			if name != "" && n > inShort(100, 1000) {
				continue // bags take time
			}
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				m := New[int](Options[[]int]{})
				if bad != nil {
					spoilHash(m, bad)
				}
				const version = 1000
				at, one := m.editAt(version), m.editAt(version)
				batches := []*Batch[int, []int]{at.batch(0), at.batch(n), at.batch(1)}
				for i := range n {
					key, revision := i%(n-n/10), uint64(i%(version+5)) // the last tenth are there twice
					v := []int{i}
					require.NoError(t, batches[min(i*3/n, 2)].Add(key, v, revision))
					v[0] = -1
					row := one.batch(1)
					require.NoError(t, row.Add(key, []int{i}, revision))
					one.putBatches([]*Batch[int, []int]{row}, inTurn)
				}
				at.putBatches(batches, sideBySide)
				got, want := at.Seal(), one.Seal()
				require.EqualValues(t, version, got.Version())
				checkTree(t, got)
				requireEqualRows(t, want, got)

				// It can be edited as any other, in the same edit too.
				e, f := got.Edit(), got.Edit()
				more := []*Batch[int, []int]{f.batch(1)}
				for i := 0; i < n; i += 3 {
					e.Delete(i)
					f.Delete(i)
				}
				for i := 1; i < n; i += 3 {
					e.Set(i+n/2, []int{i})
					require.NoError(t, more[0].Add(i+n/2, []int{i}, 0))
				}
				f.putBatches(more, sideBySide)
				requireEqualRows(t, want, got)
				checkTree(t, got)
				a, b := e.Seal(), f.Seal()
				checkTree(t, a)
				checkTree(t, b)
				requireEqualRows(t, a, b)
			})
		}
	}
}

func requireEqualRows(t *testing.T, want, got *Map[int, []int]) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len())
	for k, v := range want.All() {
		is, ok := got.Get(k)
		require.True(t, ok, k)
		require.Equal(t, v, is)
		require.Equal(t, want.Revision(k), got.Revision(k))
	}
}

func TestBuiltInAnEdit(t *testing.T) {
	e := New[int](Options[[]int]{}).Edit()
	rows := func(n int) []*Batch[int, []int] {
		b := e.batch(n)
		for i := range n {
			require.NoError(t, b.Add(i, []int{i}, 0))
		}
		return []*Batch[int, []int]{b}
	}
	e.putBatches(nil, inTurn)
	e.putBatches(rows(0), inTurn)
	require.Zero(t, e.Seal().Version(), "nothing is stored")

	e = New[int](Options[[]int]{}).Edit()
	e.putBatches(rows(100), inTurn)
	then := e.Map() // the edit goes on, and does not change it
	for i := range 100 {
		e.Set(i, nil)
		e.Delete(i / 2)
	}
	checkTree(t, then)
	require.Equal(t, 100, then.Len())
	v, _ := then.Get(99)
	require.Equal(t, []int{99}, v)
	require.Len(t, e.net(nil), 50)

	// A function of Upsert that stores what it is called for, and takes it out again.
	for _, all := range []bool{false, true} {
		e = New[int](Options[[]int]{}).Edit()
		require.ErrorIs(t, e.Upsert(5, func(*[]int, bool) error {
			if all {
				e.SetAll(maps.All(map[int][]int{5: {5}}))
			} else {
				e.putBatches(rows(10), inTurn)
			}
			e.Delete(5)
			return nil
		}), ErrModified)
		require.False(t, e.Has(5))
	}
}

func TestABatchRefusesWhatAnEditorDoes(t *testing.T) {
	e := New[float64](Options[any]{}).Edit()
	b := e.batch(1)
	require.ErrorIs(t, b.Add(math.NaN(), 1, 0), ErrKey)
	require.ErrorAs(t, b.Add(1, new(sync.Mutex), 0), new(*clone.Error))
	require.NoError(t, b.Add(2, "x", 0))
	e.putBatches([]*Batch[float64, any]{b}, inTurn)
	require.Equal(t, 1, e.Seal().Len())

	other := New[float64](Options[any]{}).Edit()
	require.PanicsWithValue(t, "snapshot: PutBatches of a Batch for a map with other Options: make it for this Editor",
		func() { other.putBatches([]*Batch[float64, any]{b}, inTurn) })
	require.Zero(t, other.Len())
}

func TestSortHashed(t *testing.T) {
	for n, of := range map[int]uint64{0: 1, 5: 3, 31: 10, 33: 1, 1000: 20, 3000: 1 << 60, 50_000: 1 << 40} {
		rows := make([]hashed[*entry[int]], n)
		for i := range rows {
			rows[i] = hashed[*entry[int]]{rand.Uint64N(of), &entry[int]{value: i}}
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b hashed[*entry[int]]) int {
			return cmp.Compare(a.hash, b.hash)
		})
		sortHashed(rows, make([]hashed[*entry[int]], n), 60)
		require.Equal(t, want, rows, n)
	}
}

// Building a map of rows that are ready, beside storing them one by one.
func BenchmarkBuild(b *testing.B) {
	const n = 1_000_000
	m := New[int](Options[int]{})
	batch := m.Edit().batch(n)
	for i := range n {
		_ = batch.Add(i, i, 0)
	}
	b.Run("at once", func(b *testing.B) {
		for b.Loop() {
			m.Edit().putBatches([]*Batch[int, int]{batch}, sideBySide)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			e := m.Edit()
			for _, r := range batch.rows {
				e.store(r.hash, m.cfg.key(r.item), r.item)
			}
		}
	})
}
