package cow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
	"github.com/cowstore/cowstore/snapshot/view"
)

func requireTooDeep(t *testing.T, show json.Marshaler) {
	t.Helper()
	_, err := json.Marshal(show)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	require.ErrorContains(t, err, "ada: ")
}

func requireShort(t *testing.T, values ...any) {
	t.Helper()
	for _, x := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
			require.Less(t, len(fmt.Sprintf(verb, x)), 2000)
		}
	}
}

// deepStore calls what a table does with values, with one that is nested deeply.
func deepStore[V any](t *testing.T, v V) {
	s := cow.NewOne[string](cow.Options[V]{})
	s.Retain(cow.Retention{Versions: 100})
	first := s.Load()
	x, err := cow.NewIndex(s.Table, "by length", func(cow.Row[string, V]) int { return 1 }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	values, err := cow.NewIndexFunc(s.Table, "by value", func(r cow.Row[string, V], add func(V)) error { add(r.Value()); return nil }, cow.IndexOptions[string]{}, func(V, V) int { return 0 })
	require.NoError(t, err)
	unique, err := cow.NewIndexFunc(s.Table, "unique", func(r cow.Row[string, V], add func(V)) error { add(r.Value()); return nil }, cow.IndexOptions[string]{Unique: true}, func(V, V) int { return 0 })
	require.NoError(t, err)
	require.NoError(t, s.Update(func(e *cow.Editor[string, V]) error { e.Set("ada", v); return nil }))
	_, err = s.Insert("bob", v)
	require.ErrorIs(t, err, cow.ErrExists)
	requireShort(t, err)
	unique.Drop(s.Table)
	must := func(_ uint64, err error) { require.NoError(t, err) }
	must(s.Set("ada", v))
	must(s.Insert("bob", v))
	must(s.SetIf("cyd", 0, v))
	must(s.Modify("cyd", func(*V) error { return nil }))
	must(s.Upsert("dan", func(at *V, _ bool) error { *at = v; return nil }))
	s.Get("ada")
	for range s.GetMany([]string{"ada"}) {
	}
	for range s.All() {
		break
	}
	_, _, err = s.Take("dan")
	require.NoError(t, err)
	_, err = s.DeleteFunc(func(key string, _ V) bool { return key == "cyd" })
	require.NoError(t, err)
	rows := maps.All(map[string]V{"ada": v})
	require.NoError(t, s.Replace(rows))
	before := s.Load()
	require.NoError(t, s.Sync(rows, func(a, b V) bool { return view.Equal(view.To(&a), view.To(&b)) }))
	require.Same(t, before, s.Load(), "they are equal")
	require.NoError(t, s.Update(func(e *cow.Editor[string, V]) error {
		e.Set("ada", v)
		require.Equal(t, 1, x.During(e).Len())
		return nil
	}))
	for range x.In(s.Load()).All() {
		break
	}
	_, err = values.In(s.Load()).Cursor(v, "ada")
	require.ErrorIs(t, err, cow.ErrTooDeep)
	for range values.In(s.Load()).All() {
		break
	}
	views := cow.NewViews[view.Cloned[V]](s)
	w, _ := views.Get("ada")
	for range views.GetMany([]string{"ada"}) {
	}
	for range values.In(s.Load()).GetMany([]V{v}) {
	}
	w.Get()
	requireShort(t, s, s.Load(), x, x.In(s.Load()), w)
	requireTooDeep(t, s.Load())

	fork := s.Fork(s.Load())
	base := s.Load()
	must(fork.Set("ada", v))
	told := new(witness)
	remove := s.DB().AddHook(told)
	must(s.Set("ada", v))
	remove()
	require.Len(t, told.last(t).Tables(), 1)
	_, err = s.Merge(base, fork.Load(), nil)
	require.ErrorIs(t, err, cow.ErrConflict)
	requireShort(t, err)
	_, err = s.Merge(base, fork.Load(), func(c cow.Conflict[string, V]) (V, bool, error) {
		v, ok := c.Theirs()
		return v, ok, nil
	})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, end := s.DB().Notify(s.DB().Load(), s.OnKeys("ada"), x.OnKeys(1), values.OnKeys(v))
	end()
	_, err = s.Watch(ctx, first, s.OnKeys("ada"), x.OnKeys(1))
	require.NoError(t, err)
	for c, err := range s.Changes(ctx, first.Version()) {
		require.NoError(t, err)
		for row := range s.Rows(c) {
			row.New()
			if row.Key == "ada" {
				requireTooDeep(t, row)
			}
		}
		requireShort(t, c)
		_, err := json.Marshal(c)
		require.NoError(t, err)
		if c.Version() == s.Load().Version() {
			break
		}
	}
	_, err = s.At(first.Version() + 1)
	require.NoError(t, err)
}

// deepTable does what there is for tables alone.
func deepTable[V any](t *testing.T, v V) {
	var db, other cow.DB
	table := cow.NewTable[string](&db, "users", cow.Options[V]{Codec: cow.Versioned[V]{}})
	cow.NewTable[string](&other, "users", cow.Options[V]{Codec: cow.Versioned[V]{}})
	_, err := cow.NewDerived(&db, "copies", cow.Options[V]{}, func(tx *cow.Tx, e *cow.Editor[string, V]) error {
		e.SetAll(table.During(tx).All())
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		table.Edit(tx).Set("ada", v)
		requireShort(t, tx)
		table.During(tx).Get("ada")
		return nil
	}))
	tx := db.Begin()
	table.Edit(tx).Set("ada", v)
	for c := range table.Changes(tx) {
		c.New()
	}
	require.NoError(t, tx.Commit())
	tx.Abort()
	requireTooDeep(t, db.Load())
	requireTooDeep(t, table.Load())
	_, err = json.Marshal(db.Load())
	require.ErrorContains(t, err, `table "`)
	requireShort(t, &db, db.Load(), table)
	fork := db.Fork(db.Load())
	_, err = table.Of(fork).Set("ada", v)
	require.NoError(t, err)
	base := db.Load()
	_, err = table.Set("ada", v)
	require.NoError(t, err)
	_, err = db.Merge(base, fork.Load())
	require.ErrorIs(t, err, cow.ErrConflict)
	requireShort(t, err)
	_, err = db.Merge(base, fork.Load(), table.Resolve(func(c cow.Conflict[string, V]) (V, bool, error) {
		v, ok := c.Ours()
		return v, ok, nil
	}))
	require.NoError(t, err)

	_, err = db.Erase(context.Background(), func(tx *cow.Tx) error {
		require.False(t, tx.Replays())
		table.Erase(tx, "ada")
		return nil
	})
	require.NoError(t, err)

	// What goes to a sink goes through the codec.
	var stored cow.DB
	users := cow.NewTable[string](&stored, "users", cow.Options[V]{Codec: cow.Versioned[V]{}})
	cowtest.Follow(t, &other, &stored)
	_, err = users.Set("ada", v)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	require.ErrorContains(t, err, `table "users": ada: `)
	var none V
	_, err = users.Set("ada", none)
	require.NoError(t, err, "the next is none the worse for it")
}

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields(`Commit.MarshalJSON Commit.String DB.AddHook DB.Begin DB.Changes DB.Erase DB.Fork DB.Format DB.Merge DB.Notify DB.Retain DB.String DB.Update DB.Watch Index.During Index.In Index.String IndexError.Error IndexError.Format
		IndexError.MarshalJSON New NewIndex NewDerived NewIndexFunc NewTable NewViews Range.All Range.Cursor Range.String Snapshot.MarshalJSON
		Snapshot.String Table.All Table.Changes Table.DB Table.DeleteFunc Table.During Table.Edit Table.Erase Table.Get Table.GetMany Table.Insert
		Table.Modify Table.Of Table.OnKeys Table.Replace Table.Resolve Table.Rows Table.Set Table.SetIf Table.String Table.Sync
		Table.Take Table.Update Table.Upsert Tx.Abort Tx.Commit Tx.Replays Tx.String Versioned.Append Versioned.Decode Views.Get Views.GetMany
		conflicts.Error`),
		map[string]string{
			"it does what is called here, for an order or pointers": `NewMultiIndex NewOrder NewPointerViews
				DB.BeginContext DB.UpdateContext Table.In Table.OnAll Table.Load Table.Restore Table.UpdateContext Views.All Views.In Views.Row`,
			"it shows what String does": "DB.Stats Snapshot.LogValue",
			"it calls what it is given": "Hooked Tx.Defer",
			"it has to do with rows, versions or whole maps": `Commit.Cursor Commit.Time Commit.Version DB.AsOf DB.At DB.Close DB.Sweep DB.SweepEvery
				DB.Commits DB.Compact DB.Cursor DB.TrackSnapshots DB.Lineage DB.Load DB.ParseCursor DB.Pin DB.Pins DB.Restore DB.Resume DB.Unpin
				DB.Versions DB.Wait Index.Drop Index.Name Index.OnKeys Index.OnRange IndexError.Unwrap Range.Above Range.After Range.Before
				Range.Changes Range.Delete Range.Equal Range.First Range.From Range.Get Range.GetMany Range.Leading Range.Len Range.Limit
				Range.LongestPrefix Range.Prefix Range.Reverse Range.Skip Range.TakeFirst Range.Through Range.To Snapshot.Due Snapshot.Len Snapshot.Version Table.Expiry Table.Clear Table.Delete Table.DeleteIf Table.Has Table.Len
				Table.Name Tx.Base Tx.Local Tx.Version changes.Len changes.Rewind changes.Weigh conflicts.Unwrap catalog.Changed catalog.Exclusive
				catalog.Rows catalog.Soonest catalog.Strong catalog.Structure catalog.Weak`,
			"it takes a text":                  "Range.Resume",
			"it takes rows that are encoded":   "replayer.Lost replayer.Replay replayer.Restore replayer.Rows replayer.Freeze replayer.Stored",
			"it looks at types or one pointer": "Versioned.Schema Sentinel",
			"it is not exported":               "oneMap.Load tableDef.String",
			"package inspect tests it": `looker.Held looker.Tables mapLook.ByIndex mapLook.Diff mapLook.Key mapLook.Len mapLook.Row mapLook.Rows tableLook.In
				tableLook.Indexes tableLook.Name`,
		})
	if !deeptest.Apart(t) {
		return
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		if testing.Short() && name != "a map of any" {
			continue // the others go through the map alone
		}
		deeptest.Doing("%s", name)
		deepStore(t, v)
		deepTable(t, v)
	}
	deeptest.Doing("by type")
	deepStore(t, deeptest.LinkOf(deeptest.Levels()))
	deepTable(t, deeptest.LinkOf(deeptest.Levels()))

	// What comes in as text is as deep as JSON is read, or an error.
	text := append([]byte{0}, strings.Repeat("[", 10*depth.Limit)+strings.Repeat("]", 10*depth.Limit)...)
	_, err := cow.Versioned[any]{}.Decode(text)
	require.Error(t, err)
}

func TestDeepKeysOfStores(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	key := any(1)
	for range deeptest.Levels() {
		key = [1]any{key}
	}
	s := cow.NewOne[any](cow.Options[int]{})
	_, err := cow.NewIndex(s.Table, "unique", func(cow.Row[any, int]) int { return 1 }, cow.IndexOptions[any]{Unique: true, CompareKeys: func(a, b any) int { return 0 }})
	require.NoError(t, err)
	_, err = s.Set(key, 1)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	for _, e := range []any{err, &cow.IndexError{Index: "x", Key: key}, cow.IndexError{Key: key}, cow.KeyError[any]{Key: key, Err: err}} {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.Less(t, len(text), 600)
	}
	rows := maps.All(map[any]int{2: 1})
	require.NoError(t, s.Sync(rows, func(a, b int) bool { return a == b }))
	bad := func(yield func(any, int) bool) { _ = yield(key, 1) && yield(3, 1) }
	require.ErrorIs(t, s.Sync(bad, func(a, b int) bool { return a == b }), cow.ErrTooDeep)
	require.ErrorIs(t, s.Replace(bad), cow.ErrTooDeep)
	require.Equal(t, 1, s.Len())

	synctest.Test(t, func(t *testing.T) {
		done, before := make(chan error, 1), s.Load()
		go func() {
			_, err := s.Watch(t.Context(), before, s.OnKeys(key, 4))
			done <- err
		}()
		synctest.Wait()
		_, err = s.Delete(2)
		require.NoError(t, err)
		synctest.Wait()
		require.Empty(t, done)
		_, err = s.Set(4, 1)
		require.NoError(t, err)
		require.NoError(t, <-done)
	})

	requireShort(t, &cow.IndexError{Key: key})
}

func TestTenThousandLevelsAreStored(t *testing.T) {
	for _, c := range []struct {
		levels int
		err    error
	}{{depth.Limit, nil}, {depth.Limit + 1, cow.ErrTooDeep}} {
		b, err := cow.Versioned[deeptest.Lists]{}.Append(nil, deeptest.ListsOf(c.levels))
		require.ErrorIs(t, err, c.err)
		if err == nil {
			back, err := cow.Versioned[deeptest.Lists]{}.Decode(b)
			require.NoError(t, err)
			lists := deeptest.ListsOf(c.levels)
			require.True(t, view.Equal(view.To(&lists), view.To(&back)))
		}
		// With three levels around it: the snapshot, the tables, the table.
		var db cow.DB
		table := cow.NewTable[string](&db, "users", cow.Options[any]{})
		_, err = table.Set("ada", deeptest.ListsOf(c.levels-3))
		require.NoError(t, err)
		text, err := json.Marshal(db.Load())
		require.ErrorIs(t, err, c.err)
		if err == nil {
			require.NoError(t, json.Unmarshal(text, new(any)))
		} else {
			require.ErrorContains(t, err, `cow: table "users": ada: `)
		}
	}
	raw := json.RawMessage(strings.Repeat("[", depth.Limit) + strings.Repeat("]", depth.Limit))
	_, err := cow.Versioned[json.RawMessage]{}.Append(nil, raw)
	require.NoError(t, err)
	_, err = cow.Versioned[[]json.RawMessage]{}.Append(nil, []json.RawMessage{raw})
	require.Error(t, err, "it could not be decoded") // encoding/json says so itself, in some releases
	loop := []any{1}
	loop[0] = loop
	_, err = cow.Versioned[any]{}.Append(nil, loop)
	require.ErrorIs(t, err, cow.ErrTooDeep)
}

// A key that is as deep as may be is deeper than JSON reads with what an error has around it.
func TestErrorsOfTheDeepestKeysAreJSON(t *testing.T) {
	key := any(1)
	for range depth.Limit {
		key = [1]any{key}
	}
	s := cow.NewOne[any](cow.Options[int]{})
	base := s.Load()
	fork := s.Fork(base)
	_, err := s.Set(key, 1)
	require.NoError(t, err)
	_, err = fork.Set(key, 2)
	require.NoError(t, err)
	_, merge := s.Merge(base, fork.Load(), nil)
	require.ErrorIs(t, merge, cow.ErrConflict)
	_, insert := s.Insert(key, 2)
	require.ErrorIs(t, insert, cow.ErrExists)
	for _, e := range []any{merge, insert, &cow.IndexError{Key: key}} {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, new(any)))
	}
}
