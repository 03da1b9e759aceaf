package cow_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// These tests hold that several writers, and several tables, agree: no update
// is lost, and no two tables are seen out of step.

func TestOfManyInsertsOneWins(t *testing.T) {
	const goroutines, rounds = 32, 50
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		noDeadlock(t)
		for round := range rounds {
			key := fmt.Sprint(round)
			var winners atomic.Int32
			var winner atomic.Int32
			together(goroutines, func(i int) {
				err := s.update(func(e *cow.Editor[string, []int]) error { return e.Insert(key, []int{i}) })
				switch {
				case err == nil:
					winners.Add(1)
					winner.Store(int32(i))
				case !errors.Is(err, cow.ErrExists):
					t.Error(err)
				}
			})
			require.Equal(t, int32(1), winners.Load())
			v, _ := s.load().Get(key)
			require.Equal(t, []int{int(winner.Load())}, v)
			require.Equal(t, uint64(round+1), s.version())
		}
	})
	t.Run("one-key verbs", func(t *testing.T) {
		noDeadlock(t)
		for _, verb := range []func(s cow.One[string, int], i int) error{
			func(s cow.One[string, int], i int) error { return errOf(s.Insert("k", i)) },
			func(s cow.One[string, int], i int) error { return errOf(s.SetIf("k", 0, i)) },
		} {
			for range rounds {
				s := cow.NewOne[string](cow.Options[int]{})
				var winners, winner atomic.Int32
				together(goroutines, func(i int) {
					if verb(s, i) == nil {
						winners.Add(1)
						winner.Store(int32(i))
					}
				})
				require.Equal(t, int32(1), winners.Load())
				v, _ := s.Get("k")
				require.Equal(t, int(winner.Load()), v)
				require.Equal(t, uint64(1), s.Load().Version())
			}
		}
	})
}

// inventory is two tables that must agree: the rows, and how many there are.
type inventory struct {
	db     cow.DB
	rows   *cow.Table[int, []int]
	counts *cow.Table[string, int]
}

func newInventory() *inventory {
	i := new(inventory)
	i.rows = cow.NewTable[int](&i.db, "rows", cow.Options[[]int]{})
	i.counts = cow.NewTable[string](&i.db, "counts", cow.Options[int]{})
	return i
}

func (i *inventory) read(s *cow.Snapshot) (rows, count int) {
	count, _ = i.counts.In(s).Get("rows")
	return i.rows.In(s).Len(), count
}

func TestTwoTablesAgreeInEverySnapshot(t *testing.T) {
	noDeadlock(t)
	const writers, each = 16, 100
	i := newInventory()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var kept []*cow.Snapshot
			for n := 0; ; n++ {
				s := i.db.Load()
				if n%100 == 0 && len(kept) < 100 {
					kept = append(kept, s)
				}
				if rows, count := i.read(s); rows != count || uint64(rows) != s.Version() {
					t.Errorf("%d rows, count %d, version %d", rows, count, s.Version())
					return
				}
				select {
				case <-stop:
					for _, s := range kept {
						if rows, count := i.read(s); rows != count || uint64(rows) != s.Version() {
							t.Errorf("an old snapshot: %d rows, count %d, version %d", rows, count, s.Version())
						}
					}
					return
				default:
				}
			}
		})
	}
	together(writers, func(w int) {
		for n := range each {
			err := i.db.Update(func(tx *cow.Tx) error {
				i.rows.Edit(tx).Set(w*each+n, []int{w, n})
				return i.counts.Edit(tx).Upsert("rows", func(v *int, _ bool) error { *v++; return nil })
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	close(stop)
	readers.Wait()
	rows, count := i.read(i.db.Load())
	require.Equal(t, writers*each, rows)
	require.Equal(t, writers*each, count)
	require.Equal(t, uint64(writers*each), i.db.Load().Version())
	for k, v := range i.rows.In(i.db.Load()).All() {
		require.Equal(t, []int{k / each, k % each}, v)
	}
}

func TestAnUpdateThatFailsHalfWayLeavesAllTables(t *testing.T) {
	noDeadlock(t)
	i := newInventory()
	add := func(tx *cow.Tx) {
		i.rows.Edit(tx).Set(i.rows.Edit(tx).Len(), []int{1})
		_ = i.counts.Edit(tx).Upsert("rows", func(v *int, _ bool) error { *v++; return nil })
	}
	require.NoError(t, i.db.Update(func(tx *cow.Tx) error { add(tx); add(tx); return nil }))
	before := i.db.Load()
	rows := maps.Collect(i.rows.In(before).All())
	for ending, end := range endings {
		for half, f := range map[string]func(tx *cow.Tx){
			"rows only":   func(tx *cow.Tx) { i.rows.Edit(tx).Set(7, nil) },
			"counts only": func(tx *cow.Tx) { i.counts.Edit(tx).Set("rows", 99) },
			"both":        add,
			"modified":    func(tx *cow.Tx) { _ = i.rows.Edit(tx).Modify(0, func(v *[]int) error { (*v)[0] = 99; return nil }) },
			"deleted":     func(tx *cow.Tx) { i.rows.Edit(tx).Clear(); i.counts.Edit(tx).Delete("rows") },
		} {
			exits(func() {
				_ = panicOf(func() {
					_ = i.db.Update(func(tx *cow.Tx) error {
						f(tx)
						end()
						return errTest
					})
				})
			})
			require.Same(t, before, i.db.Load(), "%s, %s", half, ending)
			require.Equal(t, rows, maps.Collect(i.rows.In(i.db.Load()).All()))
			n, count := i.read(i.db.Load())
			require.Equal(t, []int{2, 2}, []int{n, count})
		}
	}
	require.NoError(t, i.db.Update(func(tx *cow.Tx) error { add(tx); return nil }))
	require.Equal(t, uint64(2), i.db.Load().Version())
	n, count := i.read(i.db.Load())
	require.Equal(t, []int{3, 3}, []int{n, count})
	n, count = i.read(before)
	require.Equal(t, []int{2, 2}, []int{n, count})
}
