package cow_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// keyedVerbs are what writes to a table, and reads it, by keys.
type keyedVerbs interface {
	Load() *snapshot.Map[string, int]
	Get(key string) (int, bool)
	Has(key string) bool
	Len() int
	All() iter.Seq2[string, int]
	Set(key string, v int) (uint64, error)
	Insert(key string, v int) (uint64, error)
	SetIf(key string, rev uint64, v int) (uint64, error)
	Modify(key string, f func(v *int) error) (uint64, error)
	Upsert(key string, f func(v *int, found bool) error) (uint64, error)
	Delete(key string) (uint64, error)
	DeleteIf(key string, rev uint64) (uint64, error)
	Take(key string) (int, bool, error)
	DeleteFunc(f func(key string, v int) bool) (int, error)
	Clear() (int, error)
	Replace(seq iter.Seq2[string, int]) error
	Sync(seq iter.Seq2[string, int], equal func(a, b int) bool) error
	Update(f func(e *cow.Editor[string, int]) error) error
	UpdateContext(ctx context.Context, f func(e *cow.Editor[string, int]) error) error
}

// forVerbs runs a test for a table without a name, one with, and one of a fork, which errors call
// name.
func forVerbs(t *testing.T, test func(t *testing.T, s keyedVerbs, name string)) {
	t.Run("alone", func(t *testing.T) { test(t, cow.NewOne[string](cow.Options[int]{}), "cow") })
	table := func() (*cow.DB, *cow.Table[string, int]) {
		db := new(cow.DB)
		return db, cow.NewTable[string](db, "users", cow.Options[int]{})
	}
	t.Run("Table", func(t *testing.T) {
		_, users := table()
		test(t, users, `cow: table "users"`)
	})
	t.Run("Table of a fork", func(t *testing.T) {
		db, users := table()
		test(t, users.Of(db.Fork(nil)), `cow: table "users"`)
		require.Zero(t, users.Len())
	})
}

func TestWritesTellWhatTheyBecame(t *testing.T) {
	forVerbs(t, func(t *testing.T, s keyedVerbs, name string) {
		want := func(want uint64) func(rev uint64, err error) {
			return func(rev uint64, err error) {
				t.Helper()
				require.NoError(t, err)
				require.Equal(t, want, rev)
			}
		}
		fails := func(target error, text string) func(rev uint64, err error) {
			return func(rev uint64, err error) {
				t.Helper()
				require.Zero(t, rev)
				require.ErrorIs(t, err, target)
				require.EqualError(t, err, name+": "+text)
			}
		}
		add := func(v *int) error { *v++; return nil }
		want(1)(s.Set("a", 1))
		want(2)(s.Insert("b", 2))
		want(3)(s.SetIf("a", 1, 3))
		want(4)(s.Modify("a", add))
		want(5)(s.Upsert("c", func(v *int, _ bool) error { return add(v) }))
		require.Equal(t, map[string]int{"a": 4, "b": 2, "c": 1}, maps.Collect(s.All()))
		require.EqualValues(t, 4, s.Load().Revision("a"))
		want(0)(s.Delete("absent"))
		want(6)(s.Delete("b"))
		want(7)(s.DeleteIf("c", 5))
		want(0)(s.DeleteIf("c", 0))

		fails(cow.ErrExists, "a: key exists")(s.Insert("a", 1))
		fails(cow.ErrRevision, "a: key is not at that revision")(s.SetIf("a", 1, 1))
		fails(cow.ErrExists, "a: key is not at that revision: key exists")(s.SetIf("a", 0, 1))
		fails(cow.ErrNotFound, "absent: key is not at that revision: key not found")(s.SetIf("absent", 1, 1))
		fails(cow.ErrRevision, "a: key is not at that revision")(s.DeleteIf("a", 1))
		fails(cow.ErrNotFound, "b: key not found")(s.Modify("b", add))
		rev, err := s.Modify("a", func(*int) error { return errTest })
		require.Equal(t, errTest, err)
		require.Zero(t, rev)
		// What a function returns of another map can be told from that.
		_, err = s.Modify("a", func(*int) error { return &snapshot.KeyError[int]{Name: "other", Key: 1, Err: cow.ErrNotFound} })
		var ke *snapshot.KeyError[string]
		require.False(t, errors.As(err, &ke))

		v, found, err := s.Take("a")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, 4, v)
		_, found, err = s.Take("a")
		require.NoError(t, err)
		require.False(t, found)
		require.EqualValues(t, 8, s.Load().Version())
		require.Zero(t, s.Len())
	})
}

func TestWholeMaps(t *testing.T) {
	forVerbs(t, func(t *testing.T, s keyedVerbs, _ string) {
		require.NoError(t, s.Replace(maps.All(map[string]int{"a": 1, "b": 2, "c": 3})))
		require.EqualValues(t, 1, s.Load().Version())
		require.Equal(t, []string{"a", "b", "c"}, slices.Sorted(s.Load().Keys()))
		require.Equal(t, []int{1, 2, 3}, slices.Sorted(s.Load().Values()))
		require.True(t, s.Has("a"))
		n, err := s.DeleteFunc(func(k string, v int) bool { return v > 1 })
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, map[string]int{"a": 1}, maps.Collect(s.All()))
		n, err = s.DeleteFunc(func(string, int) bool { return false })
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = s.Clear()
		require.NoError(t, err)
		require.Equal(t, 1, n)
		n, err = s.Clear()
		require.NoError(t, err)
		require.Zero(t, n)
		require.EqualValues(t, 3, s.Load().Version())
	})
}

// Sync leaves rows alone that are equal, also those that became so, or were written,
// while it compared.
func TestSync(t *testing.T) {
	forVerbs(t, func(t *testing.T, s keyedVerbs, _ string) {
		file := func(rows map[string]int) {
			t.Helper()
			require.NoError(t, s.Sync(maps.All(rows), func(a, b int) bool { return a == b }))
			require.Equal(t, rows, maps.Collect(s.All()))
		}
		file(map[string]int{"a": 1, "b": 2, "c": 3})
		require.EqualValues(t, 1, s.Load().Version())
		file(map[string]int{"a": 1, "b": 2, "c": 3})
		require.EqualValues(t, 1, s.Load().Version(), "nothing was published")
		file(map[string]int{"a": 1, "b": 5, "d": 4})
		m := s.Load()
		require.EqualValues(t, 2, m.Version())
		require.EqualValues(t, 1, m.Revision("a"))
		require.EqualValues(t, 2, m.Revision("b"))
		require.EqualValues(t, 2, m.Revision("d"))

		// Somebody writes meanwhile what was equal.
		require.NoError(t, s.Sync(maps.All(map[string]int{"a": 1}), func(a, b int) bool {
			_, err := s.Set("a", 9)
			require.NoError(t, err)
			return a == b
		}))
		require.Equal(t, map[string]int{"a": 1}, maps.Collect(s.All()))
	})
}

func TestDuplicatesInAUniqueIndexAreErrors(t *testing.T) {
	db := new(cow.DB)
	for of, s := range map[string]*cow.Table[string, int]{
		"cow":                cow.New[string](cow.Options[int]{}),
		`cow: table "users"`: cow.NewTable[string](db, "users", cow.Options[int]{}),
	} {
		_, err := cow.NewMultiIndex(s, "value", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{Unique: true})
		require.NoError(t, err)
		require.NoError(t, errOf(s.Set("a", 1)))
		for _, err := range []error{
			errOf(s.Set("b", 1)), errOf(s.Insert("b", 1)), errOf(s.SetIf("b", 0, 1)),
			errOf(s.Upsert("b", func(v *int, _ bool) error { *v = 1; return nil })),
			s.Replace(maps.All(map[string]int{"b": 1, "c": 1})),
			s.Sync(maps.All(map[string]int{"b": 1, "c": 1}), func(a, b int) bool { return a == b }),
		} {
			require.ErrorIs(t, err, cow.ErrExists)
			require.EqualError(t, err, of+`: index "value": two rows under 1`)
		}
		require.Equal(t, map[string]int{"a": 1}, maps.Collect(s.All()))
		require.EqualValues(t, 1, s.Load().Version())
	}
}

// A context that ends while a function runs makes nothing happen, whoever decides.
func TestAContextThatEndsInTheFunction(t *testing.T) {
	forVerbs(t, func(t *testing.T, s keyedVerbs, _ string) {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := s.UpdateContext(ctx, func(e *cow.Editor[string, int]) error {
			e.Set("a", 1)
			cancel(errTest)
			return nil
		})
		require.Equal(t, errTest, err)
		require.Zero(t, s.Load().Version())
		err = s.UpdateContext(ctx, func(e *cow.Editor[string, int]) error { t.Error("called"); return nil })
		require.Equal(t, errTest, err)
	})
}

func TestErrorsShowTheBeginningOfAKey(t *testing.T) {
	long := strings.Repeat("k", 1_000_000)
	s := cow.NewOne[string](cow.Options[int]{})
	_, err := s.Modify(long, func(*int) error { return nil })
	require.ErrorIs(t, err, cow.ErrNotFound)
	require.Less(t, len(err.Error()), 200)

	x := &cow.IndexError{Index: "i", Key: long}
	require.Less(t, len(x.Error()), 200)
}

func TestSyncNeedsToKnowWhatIsEqual(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	require.Panics(t, func() { s.Sync(maps.All(map[string]int{"a": 1}), nil) })
	require.Zero(t, s.Load().Version())
}
