package cow_test

import (
	"errors"
	"iter"
	"maps"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/clone"
)

// These tests hold that no memory of a stored value is anybody else's: neither
// that of the value a caller stored, nor that of a value a reader was given.

// A kind is a sort of mutable value.
type kind struct {
	name        string
	static, any func(*testing.T) // tests it as the V of a store, if not nil, and in an any
}

// kindOf makes a kind. fresh returns always an equal value; spoil modifies
// everything that can be modified in one.
func kindOf[V any](name string, fresh func() V, spoil func(V)) kind {
	return kind{
		name:   name,
		static: func(t *testing.T) { testIsolation(t, fresh, spoil) },
		any: func(t *testing.T) {
			testIsolation(t, func() any { return fresh() }, func(v any) { spoil(v.(V)) })
		},
	}
}

// inAny is kindOf without static: that it makes no difference which type V is, the
// tests of package snapshot hold for all of them, and each is a store of its own to
// compile. Those that other tests have stores of, there is one of each sort, are
// tested with both.
func inAny[V any](name string, fresh func() V, spoil func(V)) kind {
	return kind{name: name, any: func(t *testing.T) {
		testIsolation(t, func() any { return fresh() }, func(v any) { spoil(v.(V)) })
	}}
}

type inner struct {
	n    int
	tags []string
}

type outer struct {
	Name   string
	inner  inner
	ptr    *inner
	any    any
	err    error
	byName map[string]*inner
	arr    [2][]int
}

type failure struct{ codes []int }

func (*failure) Error() string { return "failure" }

func newOuter() outer {
	return outer{
		Name:   "o",
		inner:  inner{1, []string{"a"}},
		ptr:    &inner{2, []string{"b"}},
		any:    inner{3, []string{"c"}},
		err:    &failure{[]int{1}},
		byName: map[string]*inner{"k": {4, []string{"d"}}},
		arr:    [2][]int{{1}, {2}},
	}
}

func spoilOuter(o *outer) {
	o.inner.tags[0] = "x"
	o.ptr.n, o.ptr.tags[0] = 99, "x"
	o.any.(inner).tags[0] = "x"
	o.err.(*failure).codes[0] = 99
	o.byName["k"].tags[0] = "x"
	o.byName["new"] = nil
	o.arr[0][0], o.arr[1][0] = 99, 99
}

var kinds = []kind{
	inAny("map[string]any",
		func() map[string]any {
			return map[string]any{"s": "v", "n": 1, "m": map[string]any{"x": []any{1}}, "t": []string{"a"}}
		},
		func(m map[string]any) {
			m["m"].(map[string]any)["x"].([]any)[0] = "x"
			m["m"].(map[string]any)["new"] = 1
			m["t"].([]string)[0] = "x"
			m["s"] = "x"
			delete(m, "n")
		}),
	inAny("[]any", func() []any { return []any{1, []any{2}, []byte("b"), &inner{1, []string{"a"}}} },
		func(v []any) {
			v[0] = "x"
			v[1].([]any)[0] = "x"
			v[2].([]byte)[0] = 'x'
			v[3].(*inner).tags[0] = "x"
		}),
	inAny("[]string", func() []string { return []string{"a", "b"} }, func(v []string) { v[1] = "x" }),
	inAny("[]byte", func() []byte { return []byte("abc") }, func(v []byte) { v[1] = 'x' }),
	kindOf("[]int", func() []int { return []int{1, 2} }, func(v []int) { v[1] = 99 }),
	inAny("[]float64", func() []float64 { return []float64{1, 2} }, func(v []float64) { v[1] = 99 }),
	inAny("[][]float64", func() [][]float64 { return [][]float64{{1}, nil, {}} },
		func(v [][]float64) { v[0][0] = 99; v[1] = v[0] }),
	inAny("map[string]string", func() map[string]string { return map[string]string{"a": "1"} },
		func(m map[string]string) { m["a"] = "x"; m["new"] = "x" }),
	inAny("map[string][]string", func() map[string][]string { return map[string][]string{"a": {"1"}, "n": nil} },
		func(m map[string][]string) { m["a"][0] = "x"; m["n"] = m["a"] }),
	inAny("[]map[string]any", func() []map[string]any { return []map[string]any{{"a": []int{1}}, nil} },
		func(v []map[string]any) { v[0]["a"].([]int)[0] = 99; v[0]["new"] = 1; v[1] = v[0] }),
	kindOf("struct with unexported fields",
		func() good { return good{Tags: []int{1}, Code: []byte("a"), detail: newOuter()} },
		func(g good) { g.Tags[0], g.Code[0] = 99, 'x'; spoilOuter(&g.detail) }),
	kindOf("pointer to struct", func() *outer { o := newOuter(); return &o },
		func(o *outer) { spoilOuter(o); o.Name = "x" }),
	inAny("pointer to pointer", func() **inner { p := &inner{1, []string{"a"}}; return &p },
		func(p **inner) { (*p).tags[0] = "x"; *p = nil }),
	inAny("pointer to slice", func() *[]any { return &[]any{[]int{1}} },
		func(p *[]any) { (*p)[0].([]int)[0] = 99; *p = nil }),
	inAny("pointer to interface", func() *any { var a any = []int{1}; return &a },
		func(p *any) { (*p).([]int)[0] = 99; *p = nil }),
	inAny("array", func() [2]*inner { return [2]*inner{{1, []string{"a"}}, nil} },
		func(a [2]*inner) { a[0].n = 99; a[0].tags[0] = "x" }),
	inAny("pointer to array", func() *[300]int { return &[300]int{7: 7} }, func(a *[300]int) { a[7] = 99 }),
	inAny("interface with methods", func() error { return &failure{[]int{1}} },
		func(err error) { err.(*failure).codes[0] = 99 }),
}

func TestStoredValuesAreApartFromTheirCallers(t *testing.T) {
	for _, k := range kinds {
		if k.static != nil {
			t.Run(k.name, k.static)
		}
		t.Run("any of "+k.name, k.any)
	}
}

// requireFresh requires that m holds v under "k", in its own memory. v is
// compared with nil and empty told apart.
func requireFresh[V any](t *testing.T, m *snapshot.Map[string, V], v V, way string) {
	t.Helper()
	stored, ok := m.Shared().Get("k")
	require.True(t, ok, way)
	if !reflect.DeepEqual(v, stored) {
		require.Failf(t, "the store was modified", "%s: %#v", way, stored)
	}
}

func testIsolation[V any](t *testing.T, fresh func() V, spoil func(V)) {
	v := fresh()
	spoil(v)
	require.NotEqual(t, fresh(), v, "spoil does nothing")

	forBoth(t, cow.Options[V]{}, func(t *testing.T, s subject[V]) {
		testWaysIn(t, s, fresh, spoil)
		testWaysOut(t, s, fresh, spoil)
		testChanges(t, s, fresh, spoil)
		testModify(t, s, fresh, spoil)
	})
	testOneKeyVerbs(t, fresh, spoil)
}

// testWaysIn stores values and modifies them afterwards.
func testWaysIn[V any](t *testing.T, s subject[V], fresh func() V, spoil func(V)) {
	type editor = cow.Editor[string, V]
	var b snapshot.Builder[string, V]
	for way, store := range map[string]func(e *editor, v V) error{
		"Set":    func(e *editor, v V) error { e.Set("k", v); return nil },
		"SetAll": func(e *editor, v V) error { e.SetAll(maps.All(map[string]V{"k": v})); return nil },
		"Insert": func(e *editor, v V) error { e.Delete("k"); return e.Insert("k", v) },
		"SetIf":  func(e *editor, v V) error { return e.SetIf("k", e.Revision("k"), v) },
		"Put":    func(e *editor, v V) error { b.Put(e, "k", must(b.Isolate(e.Map(), "", v))); return nil },
		"PutBulk": func(e *editor, v V) error {
			bulk := b.Bulk(e.Map())
			defer b.PutBulk(e, bulk)
			return bulk.Add("k", v)
		},
		"Modify": func(e *editor, v V) error { return e.Modify("k", func(p *V) error { *p = v; return nil }) },
		"Upsert": func(e *editor, v V) error {
			e.Delete("k")
			return e.Upsert("k", func(p *V, _ bool) error { *p = v; return nil })
		},
	} {
		s.set(t, "k", fresh())
		v := fresh()
		require.NoError(t, s.update(func(e *editor) error { return store(e, v) }), way)
		spoil(v)
		requireFresh(t, s.load(), fresh(), way)

		v = fresh()
		require.NoError(t, s.update(func(e *editor) error {
			err := store(e, v)
			spoil(v)
			return err
		}), way)
		requireFresh(t, s.load(), fresh(), way+", spoiled inside the update")
	}
}

// testWaysOut modifies what reads return.
func testWaysOut[V any](t *testing.T, s subject[V], fresh func() V, spoil func(V)) {
	s.set(t, "k", fresh())
	m := s.load()
	for way, read := range map[string]func() V{
		"Get":     func() V { v, _ := m.Get("k"); return v },
		"GetMany": func() V { return one(m.GetMany([]string{"k"})) },
		"All":     func() V { _, v := only(m.All()); return v },
	} {
		v := read()
		require.Equal(t, fresh(), v, way)
		spoil(v)
		requireFresh(t, m, fresh(), way)
	}
	for way, read := range map[string]func(e *cow.Editor[string, V]) V{
		"Editor.Get":     func(e *cow.Editor[string, V]) V { v, _ := e.Get("k"); return v },
		"Editor.GetMany": func(e *cow.Editor[string, V]) V { return one(e.GetMany([]string{"k"})) },
		"Editor.All":     func(e *cow.Editor[string, V]) V { _, v := only(e.All()); return v },
		"Editor.Take":    func(e *cow.Editor[string, V]) V { v, _ := e.Take("k"); e.Set("k", v); return v },
	} {
		s.set(t, "k", fresh())
		m := s.load()
		s.do(t, func(e *cow.Editor[string, V]) {
			v := read(e)
			require.Equal(t, fresh(), v, way)
			spoil(v)
		})
		requireFresh(t, m, fresh(), way)
		requireFresh(t, s.load(), fresh(), way)
		s.do(t, func(e *cow.Editor[string, V]) {
			e.Set("k", fresh())
			spoil(read(e))
		})
		requireFresh(t, s.load(), fresh(), way+" of what the update wrote")
	}
}

// testChanges modifies what the changes between two maps return.
func testChanges[V any](t *testing.T, s subject[V], fresh func() V, spoil func(V)) {
	s.do(t, func(e *cow.Editor[string, V]) { e.Delete("k") })
	absent := s.load()
	s.set(t, "k", fresh())
	first := s.load()
	s.set(t, "k", fresh())
	second := s.load()
	for _, c := range []struct {
		older, newer *snapshot.Map[string, V]
		kind         snapshot.Kind
	}{{absent, first, snapshot.Added}, {first, second, snapshot.Changed}, {second, absent, snapshot.Removed}} {
		n := 0
		for change := range c.newer.Diff(c.older) {
			n++
			require.Equal(t, c.kind, change.Kind)
			for _, side := range []func() (V, bool){change.Old, change.New} {
				if v, ok := side(); ok {
					require.Equal(t, fresh(), v)
					spoil(v)
				}
			}
			requireFresh(t, first, fresh(), c.kind.String())
			requireFresh(t, second, fresh(), c.kind.String())
		}
		require.Equal(t, 1, n)
	}
}

// testModify modifies what a function was handed, or what it assigned, after
// the function, and after the update.
func testModify[V any](t *testing.T, s subject[V], fresh func() V, spoil func(V)) {
	s.set(t, "k", fresh())
	old := s.load()
	var handed, assigned V
	var kept []*V
	s.do(t, func(e *cow.Editor[string, V]) {
		require.NoError(t, e.Modify("k", func(v *V) error {
			require.Equal(t, fresh(), *v)
			handed = *v
			kept = append(kept, v)
			return nil
		}))
		require.NoError(t, e.Upsert("other", func(v *V, found bool) error {
			require.False(t, found)
			assigned = fresh()
			*v = assigned
			kept = append(kept, v)
			return nil
		}))
		spoil(handed)
		requireFresh(t, old, fresh(), "Modify, what it was handed, before the end of the update")
	})
	requireFresh(t, s.load(), fresh(), "Modify, what it was handed")
	spoil(assigned)
	other, _ := s.load().Get("other")
	require.Equal(t, fresh(), other, "Upsert, what it assigned")
	var zero V
	for _, v := range kept {
		*v = zero
	}
	requireFresh(t, s.load(), fresh(), "Modify, the pointer")
	other, _ = s.load().Get("other")
	require.Equal(t, fresh(), other, "Upsert, the pointer")

	require.ErrorIs(t, s.update(func(e *cow.Editor[string, V]) error {
		return e.Modify("k", func(v *V) error {
			spoil(*v)
			return errTest
		})
	}), errTest)
	requireFresh(t, s.load(), fresh(), "Modify that fails")
	s.do(t, func(e *cow.Editor[string, V]) {
		require.Equal(t, errTest, e.Modify("k", func(v *V) error {
			spoil(*v)
			*v = zero
			return errTest
		}))
		e.Delete("other")
	})
	requireFresh(t, s.load(), fresh(), "Modify that fails in an update that does not")
	requireFresh(t, old, fresh(), "an old version")
}

func testOneKeyVerbs[V any](t *testing.T, fresh func() V, spoil func(V)) {
	type store = cow.Table[string, V]
	for way, put := range map[string]func(s *store, v V){
		"Set":     func(s *store, v V) { s.Set("k", v) },
		"Insert":  func(s *store, v V) { require.NoError(t, errOf(s.Insert("k", v))) },
		"SetIf":   func(s *store, v V) { require.NoError(t, errOf(s.SetIf("k", 0, v))) },
		"Replace": func(s *store, v V) { s.Replace(maps.All(map[string]V{"k": v})) },
		"Upsert": func(s *store, v V) {
			require.NoError(t, errOf(s.Upsert("k", func(p *V, _ bool) error { *p = v; return nil })))
		},
		"Modify": func(s *store, v V) {
			s.Set("k", v)
			require.NoError(t, errOf(s.Modify("k", func(p *V) error { *p = v; return nil })))
		},
	} {
		s := cow.New[string](cow.Options[V]{})
		v := fresh()
		put(s, v)
		spoil(v)
		requireFresh(t, s.Load(), fresh(), "Table."+way)
	}

	s := cow.New[string](cow.Options[V]{})
	s.Set("k", fresh())
	old := s.Load()
	v, ok := s.Get("k")
	require.True(t, ok)
	spoil(v)
	requireFresh(t, s.Load(), fresh(), "Table.Get")
	require.NoError(t, errOf(s.Modify("k", func(p *V) error { v = *p; return nil })))
	spoil(v)
	requireFresh(t, s.Load(), fresh(), "Table.Modify, what it was handed")
	require.NoError(t, errOf(s.Upsert("k", func(p *V, _ bool) error { v = *p; return nil })))
	spoil(v)
	requireFresh(t, s.Load(), fresh(), "Table.Upsert, what it was handed")
	last := s.Load()
	v, ok, _ = s.Take("k")
	require.True(t, ok)
	require.Equal(t, fresh(), v)
	spoil(v)
	requireFresh(t, last, fresh(), "Table.Take")
	requireFresh(t, old, fresh(), "an old version")

	// A snapshot of one store may be loaded into another, which shares nothing
	// with it.
	other := cow.New[string](cow.Options[V]{})
	other.Replace(last.All())
	v, _ = other.Load().Shared().Get("k")
	spoil(v)
	requireFresh(t, last, fresh(), "Replace by another store's All")
}

// only returns the one pair under "k".
func only[V any](seq func(yield func(string, V) bool)) (key string, v V) {
	for key, v = range seq {
		if key == "k" {
			break
		}
	}
	return key, v
}

func TestDynamicTypesAndNilAndEmptyAreKept(t *testing.T) {
	values := []any{
		nil, 1, int8(1), uint64(1), "s", 1.5, true, complex(1, 2),
		[]any(nil), []any{}, map[string]any(nil), map[string]any{}, []string(nil), []string{}, []byte(nil), []byte{},
		[]int(nil), []int{}, []float64(nil), []float64{}, [][]float64(nil), [][]float64{}, [][]float64{nil, {}},
		map[string]string(nil), map[string]string{}, map[string][]string(nil), map[string][]string{"n": nil, "e": {}},
		[]map[string]any(nil), []map[string]any{nil, {}}, inner{}, &inner{}, (*inner)(nil), (**inner)(nil),
		[2]*inner{}, &[]any{nil, []any(nil), []any{}}, error((*failure)(nil)), (chan int)(nil), struct{}{},
	}
	same := func(t *testing.T, want, got any) {
		t.Helper()
		require.IsType(t, want, got)
		if !reflect.DeepEqual(want, got) { // require.Equal takes a nil []byte for an empty one
			require.Failf(t, "changed", "%#v is not %#v", got, want)
		}
	}
	forBoth(t, cow.Options[any]{}, func(t *testing.T, s subject[any]) {
		for _, v := range values {
			s.set(t, "k", v)
			got, ok := s.load().Get("k")
			require.True(t, ok)
			same(t, v, got)
			s.set(t, "k", map[string]any{"in": []any{v}})
			got, _ = s.load().Get("k")
			same(t, map[string]any{"in": []any{v}}, got)
		}
		s.set(t, "k", values)
		require.NoError(t, s.update(func(e *cow.Editor[string, any]) error {
			return e.Modify("k", func(v *any) error { same(t, values, *v); return nil })
		}))
		s.do(t, func(e *cow.Editor[string, any]) {
			got, ok := e.Take("k")
			require.True(t, ok)
			same(t, values, got)
		})
	})
}

func TestNilAndEmptyValuesAreKeptByType(t *testing.T) {
	s := cow.NewOne[string](cow.Options[[]int]{})
	s.Set("nil", nil)
	s.Set("empty", []int{})
	v, ok := s.Get("nil")
	require.True(t, ok)
	require.Nil(t, v)
	v, _ = s.Get("empty")
	require.NotNil(t, v)
	m := cow.NewOne[string](cow.Options[good]{})
	m.Set("nil", good{})
	m.Set("empty", good{Tags: []int{}, detail: outer{byName: map[string]*inner{}}})
	w, ok := m.Get("nil")
	require.True(t, ok)
	require.Nil(t, w.Tags)
	require.Nil(t, w.detail.byName)
	w, _ = m.Get("empty")
	require.NotNil(t, w.Tags)
	require.NotNil(t, w.detail.byName)
}

// A value appended to after it was read does not grow into stored memory.
func TestSlicesAreClippedToTheirLength(t *testing.T) {
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		backing := []int{1, 2, 3, 4}
		s.set(t, "k", backing[:2])
		v, _ := s.load().Get("k")
		require.Equal(t, 2, cap(v))
		stored, _ := s.load().Shared().Get("k")
		require.Equal(t, 2, cap(stored))
	})
}

type node struct {
	next *node
	name string
	tags []string
}

func TestCyclicAndSharedValuesKeepTheirShape(t *testing.T) {
	forBoth(t, cow.Options[*node]{}, func(t *testing.T, s subject[*node]) {
		a := &node{name: "a"}
		a.next = &node{next: a, name: "b"}
		s.set(t, "k", a)
		a.name = "x"
		stored, _ := s.load().Shared().Get("k")
		got, _ := s.load().Get("k")
		for _, c := range []*node{stored, got} {
			require.Equal(t, "a", c.name)
			require.Equal(t, "b", c.next.name)
			require.Same(t, c, c.next.next)
			require.NotSame(t, a, c)
		}
		require.NotSame(t, stored, got)
	})
	forBoth(t, cow.Options[any]{}, func(t *testing.T, s subject[any]) {
		shared := &node{name: "s"}
		list := []any{1, shared}
		m := map[string]any{"a": shared, "b": []*node{shared}, "l": list, "m": list}
		m["self"] = m
		s.set(t, "k", m)
		get := func() map[string]any { v, _ := s.load().Get("k"); return v.(map[string]any) }
		got := get()
		require.NotSame(t, shared, got["a"])
		require.Same(t, got["a"], got["b"].([]*node)[0])
		require.Same(t, got["a"], got["l"].([]any)[1])
		got["l"].([]any)[0] = 99
		require.Equal(t, 99, got["m"].([]any)[0])
		got["new"] = true
		require.Equal(t, true, got["self"].(map[string]any)["new"])
		require.NotContains(t, m, "new")
		again := get()
		require.NotContains(t, again, "new")
		require.Equal(t, 1, again["m"].([]any)[0])
	})
}

func TestAChainOfAMillionNodesIsCloned(t *testing.T) {
	length := 1_000_000
	if testing.Short() {
		length = 100_000
	}
	chain := &node{}
	for range length - 1 {
		chain = &node{next: chain}
	}
	count := func(n *node) (total int) {
		for ; n != nil; n = n.next {
			total++
		}
		return total
	}
	t.Run("by type", func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[*node]{})
		s.Set("k", chain)
		got, _ := s.Get("k")
		require.NotSame(t, chain, got)
		require.Equal(t, length, count(got))
	})
	t.Run("in any", func(t *testing.T) {
		db := new(cow.DB)
		table := cow.NewTable[string](db, "t", cow.Options[any]{})
		require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("k", []any{chain}); return nil }))
		got, _ := table.In(db.Load()).Get("k")
		require.Equal(t, length, count(got.([]any)[0].(*node)))
	})
}

type conn struct {
	name string
	//lint:ignore U1000 It is there to be found.
	mu sync.Mutex
}

func TestALockInAnInterfaceIsAnErrorWithItsPath(t *testing.T) {
	bad := map[string]any{"a": 1, "list": []any{nil, &conn{}}}
	const path = `.(map[string]interface {})["list"].([]interface {})[1].(*cow_test.conn).mu`
	requirePath := func(t *testing.T, key string, err error) {
		t.Helper()
		var ke *snapshot.KeyError[string]
		require.ErrorAs(t, err, &ke)
		require.Equal(t, key, ke.Key)
		var ce *clone.Error
		require.ErrorAs(t, err, &ce)
		require.Equal(t, path, ce.Path)
		require.Equal(t, reflect.TypeFor[sync.Mutex](), ce.Type)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "Options.Clone")
		require.ErrorContains(t, err, "Options.Immutable")
	}
	type editor = cow.Editor[string, any]
	want := map[string]any{"k": map[string]any{"v": 1}}

	forBoth(t, cow.Options[any]{}, func(t *testing.T, s subject[any]) {
		noDeadlock(t)
		s.set(t, "k", map[string]any{"v": 1})
		for key, f := range map[string]func(e *editor) error{
			"set": func(e *editor) error { e.Set("set", bad); return nil },
			"all": func(e *editor) error {
				e.SetAll(maps.All(map[string]any{"all": bad}))
				return nil
			},
			"new": func(e *editor) error { return e.Insert("new", bad) },
			"k":   func(e *editor) error { return e.Modify("k", func(v *any) error { *v = bad; return nil }) },
		} {
			requirePath(t, key, s.update(func(e *editor) error {
				e.Set("half", nil)
				return f(e)
			}))
			s.requireContent(t, 1, want)
		}
		// An error that is returned may be passed over; the entry is left alone.
		s.do(t, func(e *editor) {
			requirePath(t, "k", e.Modify("k", func(v *any) error { (*v).(map[string]any)["list"] = bad["list"]; return nil }))
			requirePath(t, "k", e.SetIf("k", 1, bad))
			e.Set("other", nil)
		})
		s.requireContent(t, 2, map[string]any{"k": map[string]any{"v": 1}, "other": nil})
		// One that cannot be is not.
		requirePath(t, "k", s.update(func(e *editor) error {
			e.Set("k", bad)
			e.Set("k", nil)
			return nil
		}))
		s.requireContent(t, 2, map[string]any{"k": map[string]any{"v": 1}, "other": nil})
	})

	t.Run("verbs", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[any]{})
		s.Set("k", map[string]any{"v": 1})
		always := func(a, b any) bool { return true }
		for key, f := range map[string]func() error{
			"k":   func() error { return errOf(s.Set("k", bad)) },
			"new": func() error { return errOf(s.Insert("new", bad)) },
			"if":  func() error { return errOf(s.SetIf("if", 1, bad)) },
			"upsert": func() error {
				return errOf(s.Upsert("upsert", func(v *any, _ bool) error { *v = bad; return nil }))
			},
			"b": func() error { return s.Replace(maps.All(map[string]any{"a": nil, "b": bad})) },
			"c": func() error { return s.Sync(maps.All(map[string]any{"a": nil, "c": bad}), always) },
		} {
			requirePath(t, key, f())
			require.Equal(t, want, maps.Collect(s.Load().All()))
			require.Equal(t, uint64(1), s.Load().Version())
		}
		requirePath(t, "k", errOf(s.Modify("k", func(v *any) error { *v = bad; return nil })))
		s.Set("k", nil)
		require.Equal(t, uint64(2), s.Load().Version())
	})

	t.Run("before the lock is taken", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[any]{})
		require.NoError(t, s.Update(func(*editor) error {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, err := range []error{
					errOf(s.Set("k", bad)), errOf(s.Insert("k", bad)), errOf(s.SetIf("k", 0, bad)),
					s.Replace(maps.All(map[string]any{"b": bad})),
					s.Sync(maps.All(map[string]any{"b": bad}), func(a, b any) bool { return true }),
				} {
					var ce *clone.Error
					if !errors.As(err, &ce) {
						t.Errorf("no CloneError but %v", err)
					}
				}
			}()
			requireClosed(t, done, "waited for the lock")
			return nil
		}))
	})
}

func TestAValueThatHoldsALockByTypeNeedsOptions(t *testing.T) {
	noDeadlock(t)
	requireRefused := func(f func()) {
		t.Helper()
		err, ok := panicOf(f).(*clone.Error)
		require.True(t, ok)
		require.Equal(t, "conn.mu", err.Path)
	}
	requireRefused(func() { cow.NewOne[string](cow.Options[*conn]{}) })

	db := new(cow.DB)
	requireRefused(func() { cow.NewTable[string](db, "conns", cow.Options[*conn]{}) })
	conns := cow.NewTable[string](db, "conns", cow.Options[*conn]{Immutable: true})
	c := &conn{}
	require.NoError(t, db.Update(func(tx *cow.Tx) error { conns.Edit(tx).Set("a", c); return nil }))
	got, _ := conns.In(db.Load()).Get("a")
	require.Same(t, c, got)

	renamed := cow.New[string](cow.Options[*conn]{Clone: func(c *conn) *conn { return &conn{name: c.name + "'"} }})
	renamed.Set("a", &conn{name: "c"})
	got, _ = renamed.Get("a")
	require.Equal(t, "c''", got.name, "cloned on the way in and on the way out")
	got, _ = renamed.Load().Shared().Get("a")
	require.Equal(t, "c'", got.name)
}

func one[V any](seq iter.Seq2[int, V]) (v V) {
	for _, v = range seq {
	}
	return v
}
