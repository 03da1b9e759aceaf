package cow_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// These tests hold that indexes belong to a table, not to the snapshots
// that happen to carry them.

func self(r cow.Row[string, string], add func(string)) { add(r.Value()) }

// A fork has the indexes of its parent, however its snapshot was reached.
func TestAForkOfAnySnapshotHasTheIndexes(t *testing.T) {
	s := cow.NewOne[string](cow.Options[string]{})
	s.Retain(cow.Retention{Versions: 10})
	s.Set("1", "a")
	require.NoError(t, s.Pin("first", 1))
	held := s.Load()
	s.Set("1", "b")
	x, err := cow.NewMultiIndex(s.Table, "u", self, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	pinned, err := s.At(1)
	require.NoError(t, err)
	s.Unpin("first")
	rewound, err := s.At(1)
	require.NoError(t, err)
	for name, m := range map[string]cow.One[string, string]{
		"held": s.Fork(held), "pinned": s.Fork(pinned), "rewound": s.Fork(rewound),
		"of a fork": s.Fork(held).Fork(held),
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, errOf(m.Insert("2", "a")), cow.ErrExists)
			require.NoError(t, errOf(m.Insert("2", "c")))
			require.Equal(t, 2, x.In(m.Load()).Len())
			row, ok := x.In(m.Load()).Get("c")
			require.True(t, ok)
			require.Equal(t, "2", row.Key())
		})
	}
	t.Run("made later", func(t *testing.T) {
		f := s.Fork(s.Load())
		_, err := cow.NewMultiIndex(s.Table, "late", self, cow.IndexOptions[string]{Unique: true})
		require.NoError(t, err)
		_, err = cow.NewMultiIndex(f.Table, "late", self, cow.IndexOptions[string]{}) // the fork has none of that name
		require.NoError(t, err)
	})
}

// Another annotation in passing changes nothing.
func TestIndexesAreKeptWhateverTheAnnotation(t *testing.T) {
	var b snapshot.Builder[string, string]
	s := cow.NewOne[string](cow.Options[string]{})
	x, err := cow.NewMultiIndex(s.Table, "u", self, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	s.Set("1", "a")
	require.NoError(t, s.Update(func(e *cow.Editor[string, string]) error {
		e.Set("3", "c")
		b.AnnotateDuring(e, "mine")
		require.Equal(t, 2, x.During(e).Len())
		e.Set("4", "d")
		return nil
	}))
	require.ErrorIs(t, errOf(s.Insert("2", "a")), cow.ErrExists)
	require.ErrorIs(t, errOf(s.Insert("2", "d")), cow.ErrExists)
	require.Equal(t, 3, x.In(s.Load()).Len())
	f := s.Fork(b.Annotate(s.Load(), "mine"))
	require.ErrorIs(t, errOf(f.Insert("2", "a")), cow.ErrExists)
}

func TestTwoIndexesOfOneName(t *testing.T) {
	s := cow.NewOne[string](cow.Options[string]{})
	x, err := cow.NewMultiIndex(s.Table, "one", self, cow.IndexOptions[string]{})
	require.NoError(t, err)
	message := `cow: there is an index "one" already: make each index once and keep it`
	require.PanicsWithValue(t, message, func() { cow.NewOrder(s.Table, "one") })
	s.Set("1", "a") // the writer's place is free
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[string]{})
	b := cow.NewTable[string](db, "b", cow.Options[string]{})
	cow.NewOrder(a, "one")
	cow.NewOrder(b, "one") // of another table
	require.PanicsWithValue(t, message, func() { cow.NewOrder(a, "one") })
	require.Equal(t, 1, x.In(s.Load()).Len())
}

func TestAnIndexIsDropped(t *testing.T) {
	s := cow.NewOne[string](cow.Options[string]{})
	for i := range 10 {
		s.Set(fmt.Sprint(i), fmt.Sprint("v", i))
	}
	order := cow.NewOrder(s.Table, "order")
	x, err := cow.NewMultiIndex(s.Table, "u", self, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	f := s.Fork(s.Load())
	before, version := s.Load(), s.Load().Version()
	x.Drop(s.Table)
	require.Equal(t, version, s.Load().Version())
	require.NoError(t, errOf(s.Insert("10", "v1")), "it is unique no more")
	require.ErrorIs(t, errOf(f.Insert("10", "v1")), cow.ErrExists, "a fork has indexes of its own")
	require.Equal(t, 11, x.In(s.Load()).Len(), "computed there and then")
	require.Equal(t, 10, x.In(before).Len())
	require.Equal(t, 11, order.In(s.Load()).Len())
	require.PanicsWithValue(t, `cow: Drop of index "u" from a table or fork that does not have it: drop each index once, from its own`, func() { x.Drop(s.Table) })
	_, err = cow.NewMultiIndex(s.Table, "u", self, cow.IndexOptions[string]{Unique: true})
	require.ErrorIs(t, err, cow.ErrExists, "two rows have v1")
	s.Delete("10")
	_, err = cow.NewMultiIndex(s.Table, "u", self, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err, "the name is free")

	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[string]{})
	y, err := cow.NewMultiIndex(a, "u", self, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	g := db.Fork(db.Load())
	y.Drop(a.Of(g))
	set := func(db *cow.DB, k string) error {
		return db.Update(func(tx *cow.Tx) error { a.Edit(tx).Set(k, "same"); return nil })
	}
	require.NoError(t, set(db, "1"))
	require.ErrorIs(t, set(db, "2"), cow.ErrExists)
	require.NoError(t, set(g, "1"))
	require.NoError(t, set(g, "2"))
}

// counted is an index that counts its comparisons.
func counted(t *testing.T, s cow.One[int, []int], o cow.IndexOptions[int]) *int {
	n := new(int)
	_, err := cow.NewIndexFunc(s.Table, "counted", func(r cow.Row[int, []int], add func(int)) error {
		for _, i := range r.Value() {
			add(i)
		}
		return nil
	}, o, func(a, b int) int { *n++; return cmp.Compare(a, b) })
	require.NoError(t, err)
	return n
}

// What an update pays does not depend on the rows that it does not touch.
func TestARejectedRowCostsNoScan(t *testing.T) {
	cost := func(rows int) int {
		s := cow.NewOne[int](cow.Options[[]int]{})
		s.Replace(func(yield func(int, []int) bool) {
			for i := range rows {
				if !yield(i, []int{i}) {
					return
				}
			}
		})
		n := counted(t, s, cow.IndexOptions[int]{Unique: true})
		*n = 0
		var unique *cow.IndexError
		require.ErrorAs(t, errOf(s.Insert(-1, []int{rows - 1})), &unique)
		require.Equal(t, rows-1, unique.Key)
		return *n
	}
	few, many := cost(1_000), cost(50_000)
	require.Less(t, many, 3*few, "comparisons for a rejected row among 50,000, and among 1,000")
}

// The first of several keys that are taken is told, and which they are is known
// however they came and went.
func TestDuplicatesAreCountedExactly(t *testing.T) {
	s := cow.NewOne[int](cow.Options[[]int]{})
	counted(t, s, cow.IndexOptions[int]{Unique: true})
	s.Set(1, []int{1, 2, 3})
	var unique *cow.IndexError
	require.ErrorAs(t, s.Update(func(e *cow.Editor[int, []int]) error {
		e.Set(2, []int{3, 2, 2, 4})
		e.Set(3, []int{2, 4})
		return nil
	}), &unique)
	require.Equal(t, 2, unique.Key)
	require.NoError(t, s.Update(func(e *cow.Editor[int, []int]) error {
		e.Set(2, []int{3, 2, 2, 4})
		e.Set(1, []int{1, 1})
		return nil
	}))
	require.ErrorIs(t, errOf(s.Insert(3, []int{4})), cow.ErrExists)
	require.Equal(t, map[int][]int{1: {1, 1}, 2: {3, 2, 2, 4}}, maps.Collect(s.Load().All()))
}

func TestARowWithManyIndexKeys(t *testing.T) {
	cost := func(keys int) int {
		s := cow.NewOne[int](cow.Options[[]int]{})
		n := counted(t, s, cow.IndexOptions[int]{})
		v := make([]int, keys)
		for i := range v {
			v[i] = i * 7919 % keys
		}
		s.Set(1, v)
		for i := range v {
			v[i]++
		}
		s.Set(1, v)
		return *n
	}
	few, many := cost(500), cost(5_000)
	require.Less(t, many, 20*few, "comparisons for a row with 5,000 index keys, and with 500")
}

// Whatever an index function or a comparison does, the update fails and the next
// one goes on.
func TestIndexFunctionsThatMisbehave(t *testing.T) {
	t.Run("edits the update", func(t *testing.T) {
		noDeadlock(t)
		db := new(cow.DB)
		a := cow.NewTable[string](db, "a", cow.Options[int]{})
		b := cow.NewTable[string](db, "b", cow.Options[int]{})
		var tx *cow.Tx
		_, err := cow.NewMultiIndex(a, "i", func(r cow.Row[string, int], add func(int)) {
			if tx != nil {
				add(b.Edit(tx).Len())
			}
			add(r.Value())
		}, cow.IndexOptions[string]{})
		require.NoError(t, err)
		require.Equal(t, "cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort", panicOf(func() {
			_ = db.Update(func(x *cow.Tx) error { tx = x; a.Edit(x).Set("a", 1); return nil })
		}))
		tx = nil
		require.NoError(t, db.Update(func(x *cow.Tx) error { a.Edit(x).Set("a", 1); return nil }))
		require.Equal(t, uint64(1), db.Load().Version())
	})
	code := func(r cow.Row[string, good], add func([]byte)) error { add(r.Value().Code); return nil }
	t.Run("a watched key that cannot be compared", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[good]{})
		x, err := cow.NewIndexFunc(s.Table, "code", code, cow.IndexOptions[string]{}, func(a, b []byte) int { return cmp.Compare(a[0], b[0]) })
		require.NoError(t, err)
		require.NotNil(t, panicOf(func() { _, _ = s.Watch(t.Context(), s.Load(), x.OnKeys(nil)) }), "the one who asked")
		s.Set("1", good{Code: []byte("a")})
		require.Zero(t, s.Stats().Waiting)
	})
	t.Run("a watched key that others cannot be compared with", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[good]{})
		x, err := cow.NewIndexFunc(s.Table, "code", code, cow.IndexOptions[string]{}, bytes.Compare)
		require.NoError(t, err)
		bad := []byte("")
		got := make(chan any)
		since := s.Load()
		watch := func(ctx context.Context, key []byte) {
			go func() { got <- panicOf(func() { _, _ = s.Watch(ctx, since, x.OnKeys(key)) }) }()
		}
		watch(t.Context(), bad)
		for s.Stats().Waiting < 1 {
		}
		s.Set("1", good{Code: []byte("a")}) // wakes nobody, and fails for nobody
		s.Set("2", good{Code: []byte("")})
		require.Nil(t, <-got)
	})
}

// A watch of an index that is dropped looks for itself.
func TestAWatchOfADroppedIndex(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			s := cow.NewOne[string](cow.Options[int]{})
			x, err := cow.NewMultiIndex(s.Table, "x", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{})
			require.NoError(t, err)
			since := s.Load()
			if before {
				x.Drop(s.Table)
			}
			woken := outcome(func() error {
				_, err := s.Watch(t.Context(), since, x.OnKeys(7))
				return err
			})
			for s.Stats().Waiting == 0 {
				runtime.Gosched()
			}
			if !before {
				x.Drop(s.Table)
			}
			require.NoError(t, errOf(s.Set("a", 5)))
			requireNone(t, woken)
			require.NoError(t, errOf(s.Set("b", 7)))
			require.NoError(t, <-woken)
		})
	}
}
