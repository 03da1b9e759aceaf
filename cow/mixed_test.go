package cow_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// Two values of one type that belong to two tables, or to two DBs, are not taken for one
// another: whoever mixes them up is told, and how to do it right.
func TestWhatBelongsToAnotherIsRefused(t *testing.T) {
	noDeadlock(t)
	type tables struct {
		db            *cow.DB
		nodes, checks *cow.Table[string, int]
		byNode        *cow.Index[string, int, int]
		byCheck       *cow.Index[string, int, int]
		alike         [2]*cow.Index[string, int, int] // of one name, the second of checks
	}
	make := func() tables {
		db := new(cow.DB)
		s := tables{db: db, nodes: cow.NewTable[string](db, "nodes", cow.Options[int]{}), checks: cow.NewTable[string](db, "checks", cow.Options[int]{})}
		s.byNode = mustIndex(cow.NewMultiIndex(s.nodes, "by node", itself[int], cow.IndexOptions[string]{}))
		s.byCheck = mustIndex(cow.NewMultiIndex(s.checks, "by check", itself[int], cow.IndexOptions[string]{}))
		s.alike[0] = mustIndex(cow.NewMultiIndex(s.nodes, "alike", itself[int], cow.IndexOptions[string]{}))
		s.alike[1] = mustIndex(cow.NewMultiIndex(s.checks, "alike", itself[int], cow.IndexOptions[string]{}))
		db.Retain(cow.Retention{Versions: 10})
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			s.nodes.Edit(tx).Set("n", 1)
			s.checks.Edit(tx).Set("c", 2)
			return nil
		}))
		return s
	}
	s, other := make(), make()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	since := s.db.Load()
	watch := func(of *cow.Table[string, int], what ...cow.Watched) func() {
		return func() { _, _ = of.DB().Watch(ctx, since, what...) }
	}
	commit := func(db *cow.DB) *cow.Commit {
		for c, err := range db.Commits(0) {
			require.NoError(t, err)
			return c
		}
		return nil
	}
	during := func(f func(tx *cow.Tx)) func() {
		return func() { _ = s.db.Update(func(tx *cow.Tx) error { f(tx); return nil }) }
	}
	keep := func(c cow.Conflict[string, int]) (int, bool, error) { v, ok := c.Ours(); return v, ok, nil }
	merge := func(resolvers ...cow.Resolver) func() {
		return func() {
			fork := s.db.Fork(since)
			_, err := s.nodes.Of(fork).Set("merged", 1)
			require.NoError(t, err)
			_, _ = s.db.Merge(since, fork.Load(), resolvers...)
		}
	}
	for name, c := range map[string]struct {
		does func()
		want string
	}{
		"a watch of a range of another index":  {func() { s.byNode.OnRange(s.byCheck.In(nil)) }, `OnRange of index "by node" with a Range of another`},
		"a watch of a key of another DB":       {watch(s.nodes, s.nodes.OnKeys("n"), other.nodes.OnKeys("n")), `cow: Watch for what is of table "nodes" of another DB: call Watch of that DB`},
		"a watch of an index of another DB":    {watch(s.nodes, other.byNode.OnKeys(1)), `Watch for what is of table "nodes" of another DB`},
		"a watch since a snapshot of another":  {func() { _, _ = s.db.Watch(ctx, other.db.Load()) }, "Watch from a snapshot of another DB"},
		"an index of another table's map":      {func() { s.byCheck.In(s.nodes.Load()) }, `cow: index "by check" of table "checks" asked about the map of another table: give it that of its own`},
		"an index of another DB's map":         {func() { s.byNode.In(other.nodes.Load()) }, `index "by node" of table "nodes" asked about the map of another table`},
		"an index during another table's edit": {during(func(tx *cow.Tx) { s.byCheck.During(s.nodes.Edit(tx)) }), `index "by check" of table "checks" asked about the Editor of another table`},
		"an index dropped from another table":  {func() { s.byCheck.Drop(s.nodes) }, `Drop of index "by check" from a table or fork that does not have it: drop each index once, from its own`},
		"changes of another table in a range":  {func() { drainChanges(s.byCheck.In(nil).Changes(s.nodes.Rows(commit(s.db)))) }, `Changes of index "by check" for a change of another table`},
		"a map of another DB's snapshot":       {func() { s.nodes.In(other.db.Load()) }, `table "nodes" looked for in a snapshot of another DB`},
		"rows of another DB's commit":          {func() { s.nodes.Rows(commit(other.db)) }, "Rows of a Commit of another DB"},
		"an edit of another DB's table":        {during(func(tx *cow.Tx) { other.nodes.Edit(tx) }), `table "nodes" edited in an update of another DB`},
		"another DB's table during an update":  {during(func(tx *cow.Tx) { other.nodes.During(tx) }), `table "nodes" looked for in an update of another DB`},
		"a fork of another DB's snapshot":      {func() { s.db.Fork(other.db.Load()) }, "Fork from a snapshot of another DB"},
		"the same table of another DB":         {func() { s.nodes.Of(other.db) }, `table "nodes" looked for in another DB`},
		"a merge of another DB's snapshot":     {func() { _, _ = s.db.Merge(since, other.db.Load()) }, "of another DB"},
		"a merge from a base of another DB's":  {func() { _, _ = s.db.Merge(other.db.Load(), since) }, "of another DB"},
		"a Resolver of another DB's table":     {merge(s.checks.Resolve(keep), other.nodes.Resolve(keep)), "cow: Merge with a Resolver for a table of another DB: make it by Resolve of the DB's own table"},
		"two Resolvers for one table":          {merge(s.nodes.Resolve(keep), s.checks.Resolve(keep), s.nodes.Resolve(nil)), `cow: Merge with two Resolvers for table "nodes": give it one for each table`},
		"changes of another DB's transaction":  {during(func(tx *cow.Tx) { other.nodes.Changes(tx) }), `cow: table "nodes" looked for in an update of another DB: ask the table that was made for that one`},
		"a row of another DB that is erased": {func() {
			_, _ = s.db.Erase(t.Context(), func(tx *cow.Tx) error { other.nodes.Erase(tx, "n"); return nil })
		}, `cow: table "nodes" edited in an update of another DB: edit the table that was made for that one`},
		"a row of another DB that is restored": {func() {
			_ = new(cow.DB).Restore(s.db.Cursor(1), time.Now(), func(tx *cow.Tx) error { return other.nodes.Restore(tx, "n", 1, 1) })
		}, `cow: table "nodes" edited in an update of another DB: edit the table that was made for that one`},
		"a watch of a fork since a snapshot": {watch(s.nodes.Of(s.db.Fork(since)), s.nodes.OnKeys("n")), "Watch from a snapshot of another DB"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := panicOf(c.does).(string)
			require.Contains(t, text, c.want)
		})
	}
	require.Zero(t, s.db.Stats().Waiting)
	require.Equal(t, since.Version(), s.db.Load().Version())
	_, err := s.db.ParseCursor(other.db.Cursor(1))
	require.ErrorIs(t, err, cow.ErrLineage)
	cursor, err := s.alike[0].In(nil).Cursor(1, "n")
	require.NoError(t, err)
	_, err = s.alike[1].In(nil).Resume(cursor)
	require.ErrorIs(t, err, cow.ErrCursor)
	require.ErrorContains(t, err, "it is one of another index")
	_, err = s.byNode.In(nil).Resume(cursor)
	require.ErrorIs(t, err, cow.ErrCursor)
	_, err = other.alike[0].In(nil).Resume(cursor)
	require.NoError(t, err, "the same index in another process is as good")

	// What belongs to a fork, or to what it was forked from, is of the same table.
	fork := s.db.Fork(since)
	_, err = s.nodes.Of(fork).Set("x", 3)
	require.NoError(t, err)
	require.Equal(t, "1:n 3:x", pairs(s.byNode.In(s.nodes.Of(fork).Load())))
	_, err = fork.Watch(ctx, fork.Load(), s.nodes.OnKeys("n"), s.byNode.OnKeys(3))
	require.ErrorIs(t, err, context.Canceled)
}

func drainChanges(all func(func(cow.Change[string, int]) bool)) {
	for range all {
	}
}

// doubles derives a table with each number doubled.
func doubles(db *cow.DB, of *cow.Table[string, int], calls *int, fails *error) (*cow.Table[string, int], error) {
	return cow.NewDerived(db, "doubles", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[string, int]) error {
		*calls++
		if *fails != nil {
			return *fails
		}
		for c := range of.During(tx).Diff(of.In(tx.Base())) {
			if n, ok := c.New(); ok {
				e.Set(c.Key, 2*n)
			} else {
				e.Delete(c.Key)
			}
		}
		return nil
	})
}

// A derived table that is made when there are rows is derived from them.
func TestADerivedTableIsMadeLate(t *testing.T) {
	var none error
	calls := 0
	db := new(cow.DB)
	of := cow.NewTable[string](db, "of", cow.Options[int]{})
	for i, k := range []string{"a", "b", "c"} {
		_, err := of.Set(k, i+1)
		require.NoError(t, err)
	}
	before := db.Load()
	fork := db.Fork(before)
	to, err := doubles(db, of, &calls, &none)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 2, "b": 4, "c": 6}, maps.Collect(to.All()))
	require.EqualValues(t, 4, db.Load().Version(), "by an update")
	require.Zero(t, to.In(before).Len())
	require.Equal(t, 1, calls)
	_, err = of.Set("d", 4)
	require.NoError(t, err)
	_, err = of.Delete("a")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"b": 4, "c": 6, "d": 8}, maps.Collect(to.All()))

	require.Zero(t, to.Of(fork).Len())
	_, err = of.Of(fork).Set("e", 5)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 2, "b": 4, "c": 6, "e": 10}, maps.Collect(to.Of(fork).All()))
}

// One that has nothing to follow from looks at everything once.
func TestADerivedTableWithoutRowsIsDerivedOnce(t *testing.T) {
	db := new(cow.DB)
	other := cow.NewTable[string](db, "other", cow.Options[int]{})
	seen := 0
	_, _ = cow.NewDerived(db, "nothing", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		for range other.During(tx).Diff(other.In(tx.Base())) {
			seen++
		}
		return nil
	})
	for i := range 5 {
		_, err := other.Set(string(rune('a'+i)), i)
		require.NoError(t, err)
		require.Equal(t, i+1, seen)
	}
}

// Where it cannot be derived no update goes through until it can.
func TestADerivedTableThatCannotBeMadeYet(t *testing.T) {
	fails := errors.New("not yet")
	calls := 0
	db := new(cow.DB)
	of := cow.NewTable[string](db, "of", cow.Options[int]{})
	_, err := of.Set("a", 1)
	require.NoError(t, err)
	to, err := doubles(db, of, &calls, &fails)
	require.ErrorIs(t, err, fails)
	_, err = of.Set("b", 2)
	require.ErrorIs(t, err, fails)
	require.EqualValues(t, 1, db.Load().Version())
	fails = nil
	_, err = of.Set("b", 2)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 2, "b": 4}, maps.Collect(to.All()))
}
