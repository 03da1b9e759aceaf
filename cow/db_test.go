package cow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

func TestTheZeroDBIsUsable(t *testing.T) {
	var db cow.DB
	require.Equal(t, "cow@0 (0 tables, 0 rows)", db.Load().String())
	require.Zero(t, db.Load().Version())
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		require.Equal(t, uint64(1), tx.Version())
		return nil
	}))
	require.Zero(t, db.Load().Version())
	before := db.Load()
	table := cow.NewTable[string](&db, "t", cow.Options[[]int]{})
	require.Same(t, before, db.Load(), "a table is no version")
	text, err := json.Marshal(before)
	require.NoError(t, err)
	require.JSONEq(t, `{"version":0,"tables":{"t":{}}}`, string(text))
	require.Equal(t, "cow@0 (1 table, 0 rows)", before.String())
	require.Equal(t, "t", table.Name())
	require.Zero(t, table.In(db.Load()).Len())
	require.Zero(t, table.In(nil).Version())
	_, ok := table.In(nil).Get("a")
	require.False(t, ok)
	require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", []int{1}); return nil }))
	require.Equal(t, uint64(1), db.Load().Version())
	require.Equal(t, map[string][]int{"a": {1}}, maps.Collect(table.In(db.Load()).All()))
}

func TestAllTablesHaveTheVersionOfTheDB(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	b := cow.NewTable[int](db, "b", cow.Options[string]{})
	c := cow.NewTable[string](db, "c", cow.Options[int]{})
	update := func(f func(tx *cow.Tx)) {
		t.Helper()
		want := db.Load().Version() + 1
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			require.Equal(t, want, tx.Version())
			f(tx)
			return nil
		}))
		require.Equal(t, want, db.Load().Version())
	}
	update(func(tx *cow.Tx) { c.Edit(tx).Set("k", 1) })
	update(func(tx *cow.Tx) { a.Edit(tx).Set("k", 2) })
	update(func(tx *cow.Tx) { b.Edit(tx).Set(3, "three"); c.Edit(tx).Set("l", 3) })
	s := db.Load()
	require.Equal(t, []uint64{2, 3, 3},
		[]uint64{a.In(s).Version(), b.In(s).Version(), c.In(s).Version()}, "the update that changed it last")
	require.Equal(t, uint64(2), a.In(s).Revision("k"))
	require.Equal(t, uint64(3), b.In(s).Revision(3))
	require.Equal(t, uint64(1), c.In(s).Revision("k"))
	require.Equal(t, uint64(3), c.In(s).Revision("l"))

	// A table that an update edits without a change is the same map.
	update(func(tx *cow.Tx) {
		a.Edit(tx).Set("new", 1)
		a.Edit(tx).Delete("new")
		require.False(t, b.Edit(tx).Has(7))
		c.Edit(tx).Delete("k")
		require.Equal(t, uint64(4), c.Edit(tx).Version())
	})
	require.Same(t, a.In(s), a.In(db.Load()))
	require.Same(t, b.In(s), b.In(db.Load()))
	require.Equal(t, map[string]int{"l": 3}, maps.Collect(c.In(db.Load()).All()))
	require.Equal(t, map[string]int{"k": 1, "l": 3}, maps.Collect(c.In(s).All()))
}

func TestOneUpdateHasOneEditorATable(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	b := cow.NewTable[string](db, "b", cow.Options[int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		e := a.Edit(tx)
		require.Same(t, e, a.Edit(tx))
		require.NotSame(t, e, b.Edit(tx))
		e.Set("k", 1)
		require.True(t, a.Edit(tx).Has("k"))
		require.False(t, b.Edit(tx).Has("k"))
		return nil
	}))
}

func TestSnapshotsFromBeforeATableHaveItEmpty(t *testing.T) {
	db := new(cow.DB)
	var tables []*cow.Table[string, int]
	var snapshots []*cow.Snapshot
	for i := range 20 {
		tables = append(tables, cow.NewTable[string](db, fmt.Sprint(i), cow.Options[int]{}))
		snapshots = append(snapshots, db.Load())
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			require.Zero(t, tables[i].Edit(tx).Len())
			tables[i].Edit(tx).Set("k", i)
			return nil
		}))
	}
	snapshots = append(snapshots, db.Load())
	for version, s := range snapshots {
		require.Equal(t, uint64(version), s.Version())
		for i, table := range tables {
			want := map[string]int{}
			if i < version {
				want["k"] = i
			}
			require.Equal(t, want, maps.Collect(table.In(s).All()))
		}
	}
	// A late table may be the first that is written to.
	late := new(cow.DB)
	cow.NewTable[string](late, "a", cow.Options[int]{})
	b := cow.NewTable[string](late, "b", cow.Options[int]{})
	require.NoError(t, late.Update(func(tx *cow.Tx) error { b.Edit(tx).Set("k", 1); return nil }))
	c := cow.NewTable[string](late, "c", cow.Options[int]{})
	require.NoError(t, late.Update(func(tx *cow.Tx) error { c.Edit(tx).Set("k", 2); return nil }))
	require.Equal(t, map[string]int{"k": 1}, maps.Collect(b.In(late.Load()).All()))
	require.Equal(t, map[string]int{"k": 2}, maps.Collect(c.In(late.Load()).All()))
}

func TestMisuseOfTablesPanics(t *testing.T) {
	noDeadlock(t)
	db, other := new(cow.DB), new(cow.DB)
	table := cow.NewTable[string](db, "users", cow.Options[int]{})
	foreign := cow.NewTable[string](other, "users", cow.Options[int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 1); return nil }))

	require.PanicsWithValue(t, `cow: the DB has a table "users" already: make each table once and keep it`, func() {
		cow.NewTable[int](db, "users", cow.Options[string]{})
	})
	require.PanicsWithValue(t, `cow: table "users" looked for in a snapshot of another DB: ask the table that was made for that one`, func() { foreign.In(db.Load()) })
	require.PanicsWithValue(t, `cow: table "users" edited in an update of another DB: edit the table that was made for that one`, func() {
		_ = db.Update(func(tx *cow.Tx) error { foreign.Edit(tx); return nil })
	})
	require.PanicsWithValue(t, `cow: table "users" looked for in an update of another DB: ask the table that was made for that one`, func() {
		_ = db.Update(func(tx *cow.Tx) error { foreign.During(tx); return nil })
	})
	require.Zero(t, foreign.In(nil).Len(), "no snapshot is nobody's")

	// Nothing of that did any harm.
	require.Equal(t, uint64(1), db.Load().Version())
	require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("b", 2); return nil }))
	require.Equal(t, map[string]int{"a": 1, "b": 2}, maps.Collect(table.In(db.Load()).All()))
}

func TestATableDuringAnUpdate(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[[]int]{})
	b := cow.NewTable[string](db, "b", cow.Options[[]int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error { a.Edit(tx).Set("k", []int{1}); return nil }))
	var kept *cow.Map[string, []int]
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		require.Same(t, a.In(tx.Base()), a.During(tx))
		require.Zero(t, b.During(tx).Len(), "nothing was ever in it")
		e := a.Edit(tx)
		require.Same(t, a.In(tx.Base()), a.During(tx), "nothing was edited yet")
		e.Set("k", []int{2})
		kept = a.During(tx)
		e.Set("k", []int{3})
		e.Set("l", nil)
		got, _ := kept.Get("k")
		got[0] = 4 // which is a clone
		require.Equal(t, map[string][]int{"k": {2}}, maps.Collect(kept.All()), "later edits are not in it")
		require.Equal(t, map[string][]int{"k": {3}, "l": nil}, maps.Collect(a.During(tx).All()))
		return nil
	}))
	require.Equal(t, map[string][]int{"k": {3}, "l": nil}, maps.Collect(a.In(db.Load()).All()))
	require.Equal(t, map[string][]int{"k": {2}}, maps.Collect(kept.All()))
	require.NoError(t, db.Update(func(tx *cow.Tx) error { a.During(tx); b.During(tx); return nil }))
	require.Equal(t, uint64(2), db.Load().Version(), "to look is no edit")
}

// Tables have options of their own.
func TestEachTableClonesAsItsOptionsSay(t *testing.T) {
	db := new(cow.DB)
	deep := cow.NewTable[string](db, "deep", cow.Options[[]int]{})
	shared := cow.NewTable[string](db, "shared", cow.Options[[]int]{Immutable: true})
	custom := cow.NewTable[string](db, "custom", cow.Options[[]int]{Clone: func(v []int) []int { return append([]int{0}, v...) }})
	v := []int{1}
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		deep.Edit(tx).Set("k", v)
		shared.Edit(tx).Set("k", v)
		custom.Edit(tx).Set("k", v)
		return nil
	}))
	v[0] = 2
	s := db.Load()
	got, _ := deep.In(s).Get("k")
	require.Equal(t, []int{1}, got)
	got, _ = shared.In(s).Get("k")
	require.Same(t, &v[0], &got[0])
	got, _ = custom.In(s).Get("k")
	require.Equal(t, []int{0, 0, 1}, got)
}

func TestValuesOfTwoTablesWithOneTypeAreApart(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[[]int]{})
	b := cow.NewTable[string](db, "b", cow.Options[[]int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error { a.Edit(tx).Set("k", []int{1}); return nil }))
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		b.Edit(tx).SetAll(a.Edit(tx).All()) // from one to the other, in one update
		return nil
	}))
	x, _ := a.In(db.Load()).Shared().Get("k")
	y, _ := b.In(db.Load()).Shared().Get("k")
	require.Equal(t, x, y)
	require.NotSame(t, &x[0], &y[0])
	// What one isolated the other does not take: it may have other Options.
	require.Panics(t, func() {
		_ = db.Update(func(tx *cow.Tx) error {
			var builder snapshot.Builder[string, []int]
			builder.Put(b.Edit(tx), "l", must(builder.Isolate(a.Edit(tx).Map(), "", nil)))
			return nil
		})
	})
	require.Equal(t, uint64(2), db.Load().Version())
}

// A copy has the locks and waiters of what it was copied from: to write to it panics.
func TestACopyOfWhatWasUsedPanics(t *testing.T) {
	const want = "cow: a DB must not be copied after its first use: pass a pointer to it"
	copyOf := func(p any) any { // without go vet's knowledge
		v := reflect.New(reflect.TypeOf(p).Elem())
		v.Elem().Set(reflect.ValueOf(p).Elem())
		return v.Interface()
	}
	waited := func(t *testing.T, wait func(ctx context.Context)) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		wait(ctx)
	}
	use := map[string]func(s cow.One[string, int]){
		"a write": func(s cow.One[string, int]) { _, _ = s.Set("ada", 1) },
		"a wait": func(s cow.One[string, int]) {
			waited(t, func(ctx context.Context) { _, _ = s.Wait(ctx, s.Load().Version()) })
		},
		"Retain": func(s cow.One[string, int]) { s.Retain(cow.Retention{Versions: 1}) },
	}
	for first, do := range use {
		s := cow.NewOne[string](cow.Options[int]{})
		do(s)
		used := cow.One[string, int]{Table: s.Of(copyOf(s.DB()).(*cow.DB))}
		for then, do := range use {
			if then == "a wait" && first == "a wait" {
				continue // it finds what there is to wait for
			}
			require.PanicsWithValue(t, want, func() { do(used) }, "%s after %s", then, first)
			do(s)
		}
		_, _ = used.Get("ada") // a read looks at nothing
	}

	var db cow.DB
	table := cow.NewTable[string](&db, "users", cow.Options[int]{})
	waited(t, func(ctx context.Context) { _, _ = db.Wait(ctx, 0) })
	used := copyOf(&db).(*cow.DB)
	require.PanicsWithValue(t, want, func() { _, _ = table.Of(used).Set("ada", 1) })
	require.PanicsWithValue(t, want, func() { cow.NewTable[string](used, "more", cow.Options[int]{}) })
	_, err := table.Set("ada", 1)
	require.NoError(t, err)
}
