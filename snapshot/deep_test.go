package snapshot_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// deepCalls calls, with a value that is nested deeply, all that walks values. DeepCalled
// has their names.
func deepCalls[V any](t *testing.T, o snapshot.Options[V], v V) {
	o.Name = "users"
	var b snapshot.Builder[string, V]
	empty := snapshot.New[string](o)
	tooDeep := func(show json.Marshaler) {
		_, err := json.Marshal(show)
		require.ErrorIs(t, err, snapshot.ErrTooDeep)
		require.ErrorContains(t, err, "users: ada: ")
		_, err = show.MarshalJSON()
		require.ErrorIs(t, err, snapshot.ErrTooDeep)
	}
	printed := func(values ...any) {
		for _, x := range values {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
				require.Less(t, len(fmt.Sprintf(verb, x)), 2000)
			}
			if x, ok := x.(slog.LogValuer); ok {
				require.NotNil(t, x.LogValue())
			}
		}
	}

	e := empty.Edit()
	e.Set("ada", v)
	e.SetAll(maps.All(map[string]V{"bob": v}))
	require.NoError(t, e.Insert("cyd", v))
	require.NoError(t, e.SetIf("dan", 0, v))
	require.NoError(t, e.Modify("dan", func(*V) error { return nil }))
	require.NoError(t, e.Upsert("eve", func(at *V, _ bool) error { *at = v; return nil }))
	e.Get("eve")
	for range e.GetMany([]string{"ada", "eve"}) {
	}
	for range e.All() {
		break
	}
	e.Take("eve")
	require.NoError(t, e.Err())
	m := e.Map()
	printed(e, m)
	m = e.Seal()

	m.Get("ada")
	for range m.GetMany([]string{"ada"}) {
	}
	for range m.All() {
		break
	}
	for range m.Values() {
		break
	}
	shared := m.Shared()
	shared.Get("ada")
	for range shared.GetMany([]string{"ada"}) {
	}
	for range shared.All() {
		break
	}
	tooDeep(m)
	_, err := b.JSON(m, 2)
	require.ErrorIs(t, err, snapshot.ErrTooDeep)
	row, ok := m.Row("ada")
	require.True(t, ok)
	row.Value()
	row.Shared()
	require.Positive(t, b.Size(row))
	require.Positive(t, b.Structure(m))
	tooDeep(row)
	printed(m, shared, row)

	for old, new := range map[*snapshot.Map[string, V]]*snapshot.Map[string, V]{empty: m, m: empty, m.Edit().Seal(): m} {
		for c := range new.Diff(old) {
			c.Old()
			c.New()
			if c.Key == "ada" {
				tooDeep(c)
			}
			printed(c)
		}
	}
	set := func(m *snapshot.Map[string, V]) *snapshot.Map[string, V] {
		e := m.Edit()
		e.Set("ada", v)
		return e.Seal()
	}
	e = set(m).Edit()
	conflicts := 0
	require.NoError(t, e.Merge(m, set(m), func(c snapshot.Conflict[string, V]) (V, bool, error) {
		conflicts++
		c.Base()
		c.Ours()
		printed(c)
		v, ok := c.Theirs()
		return v, ok, nil
	}))
	require.Equal(t, 1, conflicts)

	isolated, err := b.Isolate(m, "ada", v)
	require.NoError(t, err)
	e = m.Edit()
	b.Put(e, "ada", isolated)
	bulk := b.Bulk(m)
	require.NoError(t, bulk.Add("bob", v))
	b.PutBulk(e, bulk)
	batch := b.Batch(e, 1)
	require.NoError(t, batch.Add("ada", v, 0))
	b.PutBatches(e, []*snapshot.Batch[string, V]{batch}, func(n int, do func(int)) {
		for i := range n {
			do(i)
		}
	})
	m, err = snapshot.Collect(o, e.Seal().All())
	require.NoError(t, err)
	require.Equal(t, 4, m.Len())
}

const deepCalled = `Batch.Add Builder.Batch Builder.Isolate Builder.Bulk Builder.Put Builder.PutBulk Bulk.Add Builder.PutBatches
	Builder.JSON Builder.Size Builder.Structure Change.LogValue Change.MarshalJSON Change.New Change.Old Change.String
	Collect Conflict.Base Conflict.Ours Conflict.String
	Conflict.Theirs Editor.All Editor.Err Editor.Get Editor.GetMany Editor.Insert Editor.Map Editor.Merge
	Editor.Modify Editor.Seal Editor.Set Editor.SetAll Editor.SetIf Editor.String Editor.Take Editor.Upsert
	KeyError.Error KeyError.Format Map.All Map.Diff Map.Edit Map.Get Map.GetMany
	Map.LogValue Map.MarshalJSON Map.Row Map.Shared Map.String Map.Values New Row.LogValue Row.MarshalJSON
	Row.Shared Row.String Row.Value Shared.All Shared.Get Shared.GetMany`

// deepKeyed is what the calls with keys add to them.
const deepKeyed = `Builder.Lookup Builder.Probe Builder.RowsFrom Builder.RowsOf Editor.Delete Editor.DeleteIf
	Editor.Has Editor.Revision KeyError.MarshalJSON Map.Has Map.Revision`

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields(deepCalled+" "+deepKeyed), map[string]string{
		"it has to do with whole maps or edits": `Builder.Akin Builder.Annotate Builder.AnnotateDuring Builder.AnnotateSealed Builder.Annotation Builder.Check Builder.CheckAbsent Builder.Cleared
			Builder.Concerns Builder.Discard Builder.EditAt Builder.Erase Builder.Erases Builder.Remake
			Builder.Empty Builder.Name Builder.Net Builder.Rewind Editor.Clear Editor.Len Editor.Version Map.Len
			Map.Version`,
		"it gives out what is there": `Builder.Between Builder.Deref Builder.Forget Builder.KeyOf Builder.Part Builder.Pointer Builder.Prefetch Builder.PutRow Builder.Ref
			Change.Rows Conflict.Rows Deref.Row KeyError.Unwrap Map.Keys Map.Rows Row.Key Row.Revision`,
		"it is of a kind": "Kind.MarshalText Kind.String Kind.UnmarshalText",
		"it is for vet":   "noCopy.Lock noCopy.Unlock",
	})
	if !deeptest.Apart(t) {
		return
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		if testing.Short() && name != "a map of any" {
			continue // the others go through the clone alone
		}
		deeptest.Doing("%s", name)
		deepCalls(t, snapshot.Options[any]{}, v)
	}
	deeptest.Doing("by type")
	deepCalls(t, snapshot.Options[any]{Immutable: true}, any(deeptest.LinkOf(deeptest.Levels())))
	deepCalls(t, snapshot.Options[*deeptest.Link]{}, deeptest.LinkOf(deeptest.Levels()))
	deepCalls(t, snapshot.Options[deeptest.Lists]{}, deeptest.ListsOf(deeptest.Levels()))
	deepCalls(t, snapshot.Options[deeptest.Lists]{Clone: slices.Clone[deeptest.Lists]}, deeptest.ListsOf(deeptest.Levels()))
}

// What can be read from JSON can be written, to the last level.
func TestTenThousandLevelsAreJSON(t *testing.T) {
	store := func(v any) *snapshot.Map[string, any] {
		m, err := snapshot.Collect(snapshot.Options[any]{Name: "users"}, maps.All(map[string]any{"ada": v}))
		require.NoError(t, err)
		return m
	}
	for name, v := range deeptest.Values(depth.Limit - 1) {
		if strings.HasPrefix(name, "a list") && name != "a list of any" {
			continue // of more levels
		}
		text, err := json.Marshal(store(v))
		require.NoError(t, err, name)
		require.NoError(t, json.Unmarshal(text, new(map[string]any)), name)
		if name != "a pointer to any" { // which JSON does not show
			require.Error(t, json.Unmarshal(slices.Concat([]byte("["), text, []byte("]")), new([]any)), name)
		}
	}
	_, err := json.Marshal(store(deeptest.ListsOf(depth.Limit)))
	require.ErrorIs(t, err, snapshot.ErrTooDeep)
	require.ErrorContains(t, err, "users: ada: value is nested too deeply: more than 10000 levels")
}

// A key can be deep where it holds what an interface holds; == and hashes recurse.
func TestDeepKeys(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	type structKey struct {
		n int
		v any
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		if name != "a struct of any" && name != "an array of any" {
			continue
		}
		deeptest.Doing("%s", name)
		deepKey(t, v)
		if testing.Short() {
			continue
		}
		deepKey(t, structKey{1, v})
		deepKey(t, [2]any{1, v})
	}
	// A pointer is compared as one, and never looked behind.
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[any]int{deeptest.LinkOf(deeptest.Levels()): 1}))
	require.NoError(t, err)
	for key := range m.Keys() {
		require.True(t, m.Has(key))
		row, _ := m.Row(key)
		require.Less(t, len(row.String()), 100)
		_, err := row.MarshalJSON()
		require.ErrorIs(t, err, snapshot.ErrTooDeep)
		require.Less(t, len(err.Error()), 200)
	}
}

func deepKey[K comparable](t *testing.T, key K) {
	var b snapshot.Builder[K, int]
	o := snapshot.Options[int]{Name: "users"}
	m := snapshot.New[K](o)
	want := func(err error) {
		require.ErrorIs(t, err, snapshot.ErrTooDeep)
		require.ErrorContains(t, err, "users: ")
		for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
			require.Less(t, len(fmt.Sprintf(verb, err)), 400)
		}
		text, jerr := json.Marshal(struct{ E error }{err})
		require.NoError(t, jerr)
		require.Less(t, len(text), 600)
	}
	e := m.Edit()
	want(e.Insert(key, 1))
	want(e.SetIf(key, 0, 1))
	want(e.Upsert(key, func(*int, bool) error { return nil }))
	require.Error(t, e.Modify(key, func(*int) error { return nil }))
	require.False(t, e.Has(key))
	require.False(t, e.Delete(key))
	require.Error(t, e.DeleteIf(key, 0))
	require.Zero(t, e.Revision(key))
	for _, set := range []func(*snapshot.Editor[K, int]){
		func(e *snapshot.Editor[K, int]) { e.Set(key, 1) },
		func(e *snapshot.Editor[K, int]) {
			e.SetAll(func(yield func(K, int) bool) { yield(key, 1) })
		},
		func(e *snapshot.Editor[K, int]) {
			i, err := b.Isolate(m, *new(K), 1)
			require.NoError(t, err)
			b.Put(e, key, i)
		},
	} {
		e := m.Edit()
		set(e)
		want(e.Err())
		require.Zero(t, e.Len())
	}
	_, err := b.Isolate(m, key, 1)
	want(err)
	want(b.Batch(e, 1).Add(key, 1, 0))
	require.Nil(t, b.Lookup(m, key))
	require.False(t, m.Has(key))
	require.Zero(t, m.Revision(key))
	_, ok := m.Get(key)
	require.False(t, ok)
	for range b.RowsOf(m, []K{key}) {
		require.Fail(t, "found")
	}
	for range b.RowsFrom(m, &key, true) {
		break
	}
	require.Less(t, len(b.Probe(m, key).String()), 400)
	require.Less(t, len(snapshot.Change[K, int]{Key: key}.String()), 400)
	require.Less(t, len(snapshot.Conflict[K, int]{Key: key}.String()), 400)
}
