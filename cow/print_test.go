package cow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
)

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// prints is Printed of a v that nobody writes to, and demands that all verbs that texts have
// agree.
func prints(t *testing.T, v any) []string {
	t.Helper()
	all := snapshottest.Printed(t, v)
	for _, i := range []int{1, 3} {
		require.Equal(t, all[0], all[i])
	}
	require.Equal(t, fmt.Sprintf("%q", all[0]), all[4])
	return all
}

func TestJSONOfATableGoesBack(t *testing.T) {
	s := cow.New[string](cow.Options[[]int]{})
	_, err := s.Set("<a>", []int{1})
	require.NoError(t, err)
	require.Equal(t, `{"\u003ca\u003e":[1]}`, jsonOf(t, s.Load()))
	var plain map[string][]int
	require.NoError(t, json.Unmarshal([]byte(jsonOf(t, s.Load())), &plain))
	require.NoError(t, s.Replace(maps.All(plain)))
	require.Equal(t, `{"\u003ca\u003e":[1]}`, jsonOf(t, s.Load()))
}

func TestSnapshotsMarshalAsJSON(t *testing.T) {
	var db cow.DB
	require.Equal(t, `null`, jsonOf(t, (*cow.Snapshot)(nil)))
	require.Equal(t, `{"version":0,"tables":{}}`, jsonOf(t, db.Load()))
	require.Equal(t, `{"version":0,"tables":{}}`, jsonOf(t, new(cow.Snapshot)))
	users := cow.NewTable[string](&db, "users", cow.Options[any]{})
	byAge := cow.NewTable[int](&db, "<by age>", cow.Options[string]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", map[string]any{"age": 36})
		return nil
	}))
	before := db.Load()
	_, err := byAge.Set(36, "ada")
	require.NoError(t, err)

	require.Equal(t, `{"version":2,"tables":{"\u003cby age\u003e":{"36":"ada"},"users":{"ada":{"age":36}}}}`, jsonOf(t, db.Load()))
	require.Equal(t, `{"version":1,"tables":{"\u003cby age\u003e":{},"users":{"ada":{"age":36}}}}`, jsonOf(t, before))
	require.Equal(t, `{"ada":{"age":36}}`, jsonOf(t, users.Load()))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(before))
	require.Contains(t, b.String(), `"<by age>":{}`)

	flags := cow.NewTable[resourceKey](&db, "flags", cow.Options[resource]{})
	_, err = flags.Set(resourceKey{}, resource{})
	require.NoError(t, err)
	for _, v := range []any{db.Load(), flags.Load()} {
		_, err = json.Marshal(v)
		require.ErrorContains(t, err, `cow: table "flags": json: unsupported `) // type or value: that depends on the release of Go
	}
}

func TestCommitsMarshalAsJSONAndPrint(t *testing.T) {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	cow.NewTable[string](&db, "more", cow.Options[int]{})
	store := cow.NewOne[string](cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 10})
	store.Retain(cow.Retention{Versions: 10})
	require.NoError(t, users.Update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); e.Set("b", 2); return nil }))
	require.NoError(t, store.Update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); e.Set("b", 2); return nil }))
	for _, changes := range []func() *cow.Commit{
		func() *cow.Commit {
			for c := range db.Changes(t.Context(), 0) {
				return c
			}
			return nil
		},
		func() *cow.Commit {
			for c := range store.Changes(t.Context(), 0) {
				return c
			}
			return nil
		},
	} {
		c := changes()
		require.Equal(t, "commit 1 (2 changes)", prints(t, c)[0])
		require.Contains(t, prints(t, c)[8], `"a":{"version":1,"time":"`)
		require.Contains(t, prints(t, c)[8], `,"changes":2}`)
		var is struct {
			Version uint64
			Time    string
			Cursor  string
			Changes int
		}
		require.NoError(t, json.Unmarshal([]byte(jsonOf(t, c)), &is))
		require.Equal(t, c.Version(), is.Version)
		require.Equal(t, c.Cursor(), is.Cursor)
		require.Equal(t, 2, is.Changes)
		when, err := c.Time().UTC().MarshalText()
		require.NoError(t, err)
		require.Equal(t, string(when), is.Time)
	}
	require.Equal(t, "commit 0 (0 changes)", prints(t, new(cow.Commit))[0])
	require.Contains(t, jsonOf(t, new(cow.Commit)), `"version":0,"time":"1970-01-01T00:00:00Z"`)
}

func TestStoresPrintAsFigures(t *testing.T) {
	const rows = 10_000
	clones := 0
	clone := func(v string) string { clones++; return v }
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{Clone: clone})
	cow.NewTable[int](&db, "more", cow.Options[string]{})
	store := cow.NewOne[string](cow.Options[string]{Clone: clone})
	index, err := cow.NewMultiIndex(store.Table, "by text", func(r cow.Row[string, string], add func(string)) { add(r.Value()) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	fill := func(e *cow.Editor[string, string]) error {
		for i := range rows {
			e.Set(strconv.Itoa(i), "secret")
		}
		return nil
	}
	require.NoError(t, users.Update(fill))
	require.NoError(t, store.Update(fill))
	whole := index.In(store.Load())
	clones = 0

	require.Equal(t, "cow@1 (2 tables, 10000 rows)", prints(t, &db)[0])
	require.Equal(t, "cow@1 (2 tables, 10000 rows)", prints(t, db.Load())[0])
	require.Contains(t, prints(t, &db)[7], `a="cow@1 (2 tables, 10000 rows)"`)
	require.Contains(t, prints(t, db.Load())[8], `"a":{"version":1,"tables":2,"rows":10000}`)
	require.Equal(t, `cow: table "users"@1 (10000 rows)`, prints(t, users)[0])
	require.Equal(t, `cow@1 (10000 rows)`, prints(t, store.Table)[0])
	require.Equal(t, `index "by text"`, prints(t, index)[0])
	require.Equal(t, `index "by text" (10000 entries)`, prints(t, whole)[0])
	require.Equal(t, `part of index "by text" (10000 entries)`, prints(t, new(whole.From("a")))[0])
	require.Equal(t, `part of index "by text" (10000 entries)`, prints(t, whole.To("a"))[0])
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		require.Equal(t, "update of cow@1 (2 tables, 10000 rows)", prints(t, tx)[0])
		require.Equal(t, "cow@1 (2 tables, 10000 rows)", prints(t, &db)[0])
		require.Equal(t, `edit of cow: table "users"@1 (10000 rows)`, prints(t, users.Edit(tx))[0])
		return nil
	}))
	require.Zero(t, clones)

	huge := strings.Repeat("x", 1<<20)
	prints(t, cow.NewTable[string](&db, huge, cow.Options[int]{}))
}

func TestNothingPrints(t *testing.T) {
	require.Equal(t, "cow@0 (0 tables, 0 rows)", prints(t, new(cow.DB))[0])
	require.Equal(t, "cow@0 (0 tables, 0 rows)", prints(t, (*cow.Snapshot)(nil))[0])
	require.Equal(t, "cow@0 (0 tables, 0 rows)", prints(t, new(cow.Snapshot))[0])
	require.Equal(t, "cow@0 (0 rows)", prints(t, cow.New[string](cow.Options[int]{}))[0])
	for _, v := range []any{
		(*cow.DB)(nil), (*cow.Table[string, int])(nil), new(cow.Table[string, int]),
		(*cow.Tx)(nil), new(cow.Tx), (*cow.Commit)(nil), (*cow.Index[string, int, int])(nil), new(cow.Index[string, int, int]),
		cow.Range[string, int, int]{}, new(cow.Range[string, int, int]),
	} {
		require.Equal(t, "<nil>", prints(t, v)[0], "%T", v)
	}
	fork := new(cow.DB).Fork(nil)
	require.Equal(t, "cow@0 (0 tables, 0 rows)", prints(t, fork.Load())[0])
}

// What prints and marshals does so beside writers.
func TestPrintingDuringWrites(t *testing.T) {
	var db cow.DB
	users := cow.NewTable[int](&db, "users", cow.Options[[]int]{})
	store := cow.NewOne[int](cow.Options[[]int]{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 300 {
			_, err := users.Set(i, []int{i})
			_, err2 := store.Set(i, []int{i})
			if err := errors.Join(err, err2); err != nil {
				panic(err)
			}
		}
	})
	group.Go(func() {
		for i := range 20 {
			cow.NewTable[string](&db, fmt.Sprint(i), cow.Options[int]{})
		}
	})
	for range 30 {
		for _, v := range []any{&db, db.Load(), users, store.Table, store.Load()} {
			snapshottest.Printed(t, v)
		}
		for _, v := range []any{db.Load(), store.Load()} {
			_ = jsonOf(t, v)
		}
	}
	group.Wait()
	require.Equal(t, "cow@300 (21 tables, 300 rows)", db.String())
}

// The texts of a table and of a row.
func ExampleTable_String() {
	users := cow.New[string](cow.Options[int]{})
	_, _ = users.Set("ada", 36)
	fmt.Println(users)
	row, _ := users.Load().Row("ada")
	fmt.Println(row)
	// Output:
	// cow@1 (1 row)
	// "ada"@1
}

// A DB logs as its figures, and marshals as its rows.
func ExampleSnapshot_MarshalJSON() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	teams := cow.NewTable[int](&db, "teams", cow.Options[string]{})
	_ = db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", 36)
		teams.Edit(tx).Set(1, "red")
		return nil
	})
	fmt.Println(&db)
	text, err := json.Marshal(db.Load())
	fmt.Println(string(text), err)

	// A table that was marshaled is loaded from a Go map.
	var saved struct {
		Tables struct{ Users map[string]int }
	}
	_ = json.Unmarshal(text, &saved)
	fmt.Println(users.Replace(maps.All(saved.Tables.Users)), users)
	// Output:
	// cow@1 (2 tables, 2 rows)
	// {"version":1,"tables":{"teams":{"1":"red"},"users":{"ada":36}}} <nil>
	// <nil> cow: table "users"@2 (1 row)
}
