package snapshot

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	latePanic       = "snapshot: Editor used after its update or transaction has ended: get another one in the next"
	concurrentPanic = "snapshot: Editor used by two goroutines at once: do all edits of an update in its own goroutine"
	putPanic        = "snapshot: Put of a value that a map with other Options isolated: isolate it for this map"
)

// verbs are all uses of an Editor of the keys a, which is there, and b, which
// is not.
func verbs(i Isolated[*parcel]) map[string]func(e *Editor[string, *parcel]) {
	type editor = *Editor[string, *parcel]
	return map[string]func(e editor){
		"Get":      func(e editor) { e.Get("a") },
		"Has":      func(e editor) { e.Has("a") },
		"Revision": func(e editor) { e.Revision("a") },
		"Len":      func(e editor) { e.Len() },
		"All":      func(e editor) { drain(e.All()) },
		"Set":      func(e editor) { e.Set("a", nil) },
		"SetAll":   func(e editor) { e.SetAll(maps.All(map[string]*parcel{"b": nil})) },
		"Insert":   func(e editor) { _ = e.Insert("b", nil) },
		"SetIf":    func(e editor) { _ = e.SetIf("a", 1, nil) },
		"Check":    func(e editor) { _ = e.check("a", 1) },
		"Modify":   func(e editor) { _ = e.Modify("a", func(**parcel) error { return nil }) },
		"Upsert":   func(e editor) { _ = e.Upsert("b", func(**parcel, bool) error { return nil }) },
		"Delete":   func(e editor) { e.Delete("a") },
		"DeleteIf": func(e editor) { _ = e.DeleteIf("a", 1) },
		"Take":     func(e editor) { e.Take("a") },
		"Clear":    func(e editor) { e.Clear() },
		"Isolate":  func(e editor) { must(e.isolate("", nil)) },
		"Put":      func(e editor) { e.put("a", i) },
		"PutBatches": func(e editor) {
			b := e.batch(1)
			_ = b.Add("b", nil, 0)
			e.putBatches([]*Batch[string, *parcel]{b}, inTurn)
		},
		"PutBulk": func(e editor) {
			b := Builder[string, *parcel]{}.Bulk(e.Map())
			_ = b.Add("b", nil)
			e.putBulk(b)
		},
		"Seal": func(e editor) { e.Seal() },
	}
}

func drain[K, V any](seq iter.Seq2[K, V]) {
	for range seq {
	}
}

func TestLateUseOfAnEditorPanics(t *testing.T) {
	m := must(Collect(Options[*parcel]{}, maps.All(map[string]*parcel{"a": newParcel(1)})))
	empty := New[string](Options[*parcel]{})
	for name, verb := range verbs(must(m.isolate("", nil))) {
		for end, f := range map[string]func(e *Editor[string, *parcel]){
			"Seal":    func(e *Editor[string, *parcel]) { e.Seal() },
			"Discard": func(e *Editor[string, *parcel]) { e.discard() },
		} {
			for _, base := range []*Map[string, *parcel]{m, empty, nil} {
				e := base.Edit()
				if base == m {
					e.Set("a", newParcel(2))
				}
				f(e)
				cur := e.cur
				require.PanicsWithValue(t, latePanic, func() { verb(e) }, "%s after %s", name, end)
				require.Same(t, cur, e.cur)
			}
		}
	}
	v, _ := m.Get("a")
	require.Equal(t, 1, v.number())

	e := m.Edit()
	e.Set("a", newParcel(3))
	n := e.Seal()
	e.discard() // is what a deferred Discard does
	v, _ = n.Get("a")
	require.Equal(t, 3, v.number())
	require.Equal(t, uint64(2), e.Version(), "the version can be asked for at any time")
}

func TestLateUseByWhatAnEditorHandedOut(t *testing.T) {
	m := must(Collect(Options[*parcel]{}, maps.All(map[string]*parcel{"a": newParcel(1)})))
	e := m.Edit()
	all := e.All()
	e.Seal()
	require.PanicsWithValue(t, latePanic, func() { drain(all) })

	// What ends within an update function is no longer written by the update.
	for _, end := range []func(e *Editor[string, *parcel]){
		func(e *Editor[string, *parcel]) { e.Seal() },
		func(e *Editor[string, *parcel]) { e.discard() },
	} {
		e = m.Edit()
		require.PanicsWithValue(t, latePanic, func() {
			_ = e.Modify("a", func(v **parcel) error { end(e); *v = newParcel(9); return nil })
		})
		e = m.Edit()
		require.PanicsWithValue(t, latePanic, func() {
			e.SetAll(func(yield func(string, *parcel) bool) {
				yield("b", nil)
				end(e)
				yield("c", nil)
			})
		})
		e = m.Edit()
		for range e.All() {
			end(e) // fine: the iteration holds what it needs
		}
	}
	require.Equal(t, 1, m.Len())
	v, _ := m.Get("a")
	require.Equal(t, 1, v.number())
}

// An Editor in the midst of a step takes no other: it panics, whatever that one is.
func TestConcurrentUseOfAnEditorPanics(t *testing.T) {
	m := must(Collect(Options[*parcel]{}, maps.All(map[string]*parcel{"a": newParcel(1)})))
	for name, verb := range verbs(must(m.isolate("", nil))) {
		e := m.Edit()
		e.enter() // as another goroutine would have
		require.PanicsWithValue(t, concurrentPanic, func() { verb(e) }, name)
		e.leave()
		require.NotPanics(t, func() { verb(e) }, name)

		e = m.Edit()
		e.enter()
		e.discard()
		e.leave()
		require.PanicsWithValue(t, latePanic, func() { verb(e) }, "%s: Discard ends it even then", name)
	}
}

// A clone that runs for the Editor is foreign code: it may use the Editor.
func TestAnEditorMayBeUsedInTheFunctionsItCalls(t *testing.T) {
	var e *Editor[string, int]
	inside := false
	m := New[string](Options[int]{Clone: func(v int) int {
		if e != nil && !inside {
			inside = true
			e.Set("clone", e.Len())
			inside = false
		}
		return v
	}})
	e = m.Edit()
	e.Set("a", 1)
	require.NoError(t, e.Insert("b", 2))
	require.NoError(t, e.Modify("a", func(v *int) error {
		e.Set("modify", 1)
		return e.Upsert("c", func(v *int, found bool) error {
			*v, _ = e.Get("a")
			return nil
		})
	}))
	e.SetAll(func(yield func(string, int) bool) {
		e.Set("setall", 1)
		yield("d", e.Len())
	})
	n := e.Seal()
	e = nil
	require.Equal(t, 7, n.Len())
	checkTree(t, n)
}

// Whatever two goroutines do to one Editor, a sealed map does not change.
func TestMisuseByManyGoroutinesTouchesNoSealedMap(t *testing.T) {
	if raceEnabled {
		t.Skip("it is a race")
	}
	m := small(100)
	before := fingerprint(m)
	for range 20 {
		e := m.Edit()
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() {
				defer func() { _ = recover() }() // most find out, and panic
				for i := range 2000 {
					e.Set(fmt.Sprint("key", i%200), nil)
					e.Delete(fmt.Sprint("key", i%100))
				}
				e.discard()
			})
		}
		g.Wait()
		require.Equal(t, before, fingerprint(m))
		checkTree(t, m)
	}
}

func TestSealWithoutAChangeReturnsTheSameMap(t *testing.T) {
	m := small(200)
	same := func(edit func(e *Editor[string, *parcel])) {
		t.Helper()
		e := m.Edit()
		edit(e)
		require.Same(t, m, e.Seal())
	}
	same(func(*Editor[string, *parcel]) {})
	same(func(e *Editor[string, *parcel]) {
		e.Get("key1")
		drain(e.All())
		e.Delete("absent")
		e.Take("absent")
		require.Error(t, e.Insert("key1", nil))
		require.Error(t, e.SetIf("key1", 9, nil))
		require.Error(t, e.DeleteIf("key1", 9))
		require.Error(t, e.Modify("absent", uncalled))
		require.Error(t, e.Modify("key1", func(v **parcel) error { (*v).spoil(); *v = nil; return errors.New("no") }))
	})
	same(func(e *Editor[string, *parcel]) {
		e.Set("new", newParcel(1))
		require.True(t, e.Delete("new"))
	})
	same(func(e *Editor[string, *parcel]) {
		// Enough to split pages, and to join them again.
		for i := range 5000 {
			e.Set(fmt.Sprint("new", i), nil)
		}
		for i := range 5000 {
			e.Take(fmt.Sprint("new", i))
		}
	})

	changes := func(edit func(e *Editor[string, *parcel])) {
		t.Helper()
		e := m.Edit()
		edit(e)
		n := e.Seal()
		require.NotSame(t, m, n)
		require.Equal(t, uint64(2), n.Version())
		require.Equal(t, uint64(1), m.Version())
	}
	changes(func(e *Editor[string, *parcel]) { v, _ := e.Get("key1"); e.Set("key1", v) })
	changes(func(e *Editor[string, *parcel]) { v, _ := e.Take("key1"); e.Set("key1", v) })
	changes(func(e *Editor[string, *parcel]) { e.Delete("key1") })
	changes(func(e *Editor[string, *parcel]) { e.Clear() })
	changes(func(e *Editor[string, *parcel]) {
		e.Set("new", nil)
		e.Delete("new")
		e.Set("key1", nil)
	})
	changes(func(e *Editor[string, *parcel]) {
		require.NoError(t, e.Modify("key1", func(**parcel) error { return nil }))
	})
}

func TestVersionsAndRevisions(t *testing.T) {
	m := New[string](Options[int]{})
	e := m.Edit()
	require.Equal(t, uint64(1), e.Version())
	e.Set("a", 1)
	e.Set("b", 1)
	require.Equal(t, uint64(Pending), e.Revision("a"))
	require.ErrorIs(t, e.check("a", Pending), ErrRevision)
	require.ErrorIs(t, e.check("a", 1), ErrRevision)
	require.ErrorIs(t, e.check("c", Pending), ErrRevision)
	require.Zero(t, e.Revision("c"))
	m1 := e.Seal()
	require.Equal(t, uint64(1), m1.Version())

	e = m1.editAt(40)
	require.Equal(t, uint64(40), e.Version())
	require.Equal(t, uint64(1), e.Revision("a"))
	e.Set("a", 2)
	require.Equal(t, uint64(Pending), e.Revision("a"))
	m40 := e.Seal()
	require.Equal(t, uint64(40), m40.Version())
	require.Equal(t, uint64(40), m40.Revision("a"))
	require.Equal(t, uint64(1), m40.Revision("b"))
	require.Equal(t, uint64(1), m1.Revision("a"))
	require.Zero(t, m40.Revision("c"))
	require.Equal(t, uint64(41), m40.Edit().Version())

	require.Same(t, m40, m40.editAt(99).Seal(), "no change, no version")
	for _, version := range []uint64{0, 39, 40, 1 << 55, 1<<64 - 1} {
		require.Panics(t, func() { m40.editAt(version) })
	}
	require.Panics(t, func() { m.editAt(0) })
	require.Panics(t, func() { (*Map[string, int])(nil).editAt(0) })
	e = m40.editAt(1<<55 - 1)
	e.Delete("a")
	e.Set("b", 1)
	last := e.Seal()
	require.Equal(t, uint64(1<<55-1), last.Version())
	require.Equal(t, uint64(1<<55-1), last.Revision("b"))
	require.Zero(t, last.Revision("a"))
	v, ok := last.Get("b")
	require.True(t, ok)
	require.Equal(t, 1, v)
	require.Panics(t, func() { last.Edit() }, "there is no higher version")
}

func TestVerbs(t *testing.T) {
	e := New[string](Options[int]{}).Edit()
	e.Set("a", 1)
	e.Set("a", 2)
	require.Equal(t, 1, e.Len())
	v, ok := e.Get("a")
	require.True(t, ok)
	require.Equal(t, 2, v)

	require.NoError(t, e.Insert("b", 3))
	require.ErrorIs(t, e.Insert("b", 4), ErrExists)
	require.NoError(t, e.SetIf("c", 0, 5))
	require.ErrorIs(t, e.SetIf("c", 1, 6), ErrRevision)
	require.ErrorIs(t, e.SetIf("c", Pending, 6), ErrRevision)
	e.Set("c", 6)
	require.EqualError(t, e.SetIf("c", 0, 7), "snapshot: c: key is not at that revision: key exists")
	require.EqualError(t, e.SetIf("d", 1, 7), "snapshot: d: key is not at that revision: key not found")
	require.ErrorIs(t, e.SetIf("c", 0, 7), ErrRevision)
	require.ErrorIs(t, e.SetIf("c", 0, 7), ErrExists)
	require.ErrorIs(t, e.SetIf("d", 1, 7), ErrRevision)
	require.ErrorIs(t, e.DeleteIf("d", 1), ErrNotFound)
	require.ErrorIs(t, e.check("c", Pending), ErrRevision)
	require.NoError(t, e.check("d", 0))
	require.Equal(t, map[string]int{"a": 2, "b": 3, "c": 6}, maps.Collect(e.All()))

	require.NoError(t, e.Modify("a", func(v *int) error { *v += 10; return nil }))
	require.NoError(t, e.Upsert("a", func(v *int, found bool) error { require.True(t, found); *v += 10; return nil }))
	require.NoError(t, e.Upsert("d", func(v *int, found bool) error {
		require.False(t, found)
		require.Zero(t, *v)
		*v = 4
		return nil
	}))
	e.SetAll(maps.All(map[string]int{"a": 30, "e": 5}))
	require.Equal(t, map[string]int{"a": 30, "b": 3, "c": 6, "d": 4, "e": 5}, maps.Collect(e.All()))

	v, ok = e.Take("a")
	require.True(t, ok)
	require.Equal(t, 30, v)
	_, ok = e.Take("a")
	require.False(t, ok)
	require.True(t, e.Delete("b"))
	require.False(t, e.Delete("b"))
	require.NoError(t, e.DeleteIf("b", 0))
	require.ErrorIs(t, e.DeleteIf("c", 0), ErrRevision)
	require.True(t, e.Has("c"))
	require.ErrorIs(t, e.DeleteIf("c", 1), ErrRevision)
	require.True(t, e.Delete("c"))
	require.False(t, e.Has("c"))
	require.Equal(t, 2, e.Len())
	m := e.Seal()
	require.Equal(t, map[string]int{"d": 4, "e": 5}, maps.Collect(m.All()))

	e = m.Edit()
	e.Clear()
	e.Clear()
	require.Zero(t, e.Len())
	require.False(t, e.Has("d"))
	e.Set("f", 6)
	require.Equal(t, map[string]int{"f": 6}, maps.Collect(e.All()))
	e.Set("e", 5)
	require.Equal(t, map[string]int{"d": 4, "e": 5}, maps.Collect(m.All()))
	n := e.Seal()
	require.Equal(t, uint64(2), n.Revision("e"))
	checkTree(t, n)
}

func TestAnUpdateThatFailsLeavesItsEntry(t *testing.T) {
	m := must(Collect(Options[*parcel]{}, maps.All(map[string]*parcel{"a": newParcel(1)})))
	e := m.Edit()
	e.Set("b", newParcel(2))
	no := errors.New("no")
	var kept **parcel
	spoil := func(v **parcel) {
		kept = v
		(*v).spoil()
		*v = newParcel(9)
	}
	for _, key := range []string{"a", "b"} {
		entry := e.cur.lookup(key)
		require.Equal(t, no, e.Modify(key, func(v **parcel) error { spoil(v); return no }))
		require.Equal(t, no, e.Upsert(key, func(v **parcel, _ bool) error { spoil(v); return no }))
		require.PanicsWithValue(t, no, func() { _ = e.Modify(key, func(v **parcel) error { spoil(v); panic(no) }) })
		require.PanicsWithValue(t, no, func() { _ = e.Upsert(key, func(v **parcel, _ bool) error { spoil(v); panic(no) }) })
		(*kept).spoil()
		require.Same(t, entry, e.cur.lookup(key))
	}
	require.Equal(t, no, e.Upsert("c", func(v **parcel, _ bool) error { *v = newParcel(3); return no }))
	require.False(t, e.Has("c"))
	done := make(chan bool)
	go func() {
		defer close(done)
		_ = e.Modify("a", func(v **parcel) error { spoil(v); runtime.Goexit(); return nil })
	}()
	<-done
	a, _ := e.Get("a")
	b, _ := e.Get("b")
	require.Equal(t, 1, a.number())
	require.Equal(t, 2, b.number())
	e.Delete("b")
	require.Same(t, m, e.Seal())
}

// What an update function was handed, or assigned, is severed when it returns.
func TestValuesAreSeveredFromWhatUpdateFunctionsKeep(t *testing.T) {
	e := New[string](Options[*parcel]{}).Edit()
	check := func(key string, n int) {
		t.Helper()
		v, _ := e.Get(key)
		require.Equal(t, n, v.number())
		v.spoil()
		require.Equal(t, n, e.cur.lookup(key).value.number())
	}
	given := newParcel(1)
	e.Set("a", given)
	given.spoil()
	check("a", 1)

	var handed *parcel
	require.NoError(t, e.Modify("a", func(v **parcel) error { handed = *v; return nil }))
	handed.spoil()
	check("a", 1)

	assigned := newParcel(2)
	require.NoError(t, e.Modify("a", func(v **parcel) error { *v = assigned; return nil }))
	assigned.spoil()
	check("a", 2)

	assigned = newParcel(3)
	require.NoError(t, e.Upsert("b", func(v **parcel, _ bool) error { *v = assigned; return nil }))
	assigned.spoil()
	check("b", 3)

	var pointer **parcel
	require.NoError(t, e.Upsert("b", func(v **parcel, _ bool) error { pointer = v; return nil }))
	(*pointer).spoil()
	*pointer = nil
	check("b", 3)

	given = newParcel(4)
	require.NoError(t, e.Insert("c", given))
	given.spoil()
	check("c", 4)
	given = newParcel(5)
	require.True(t, e.Delete("c"))
	require.NoError(t, e.SetIf("c", 0, given))
	given.spoil()
	check("c", 5)
	given = newParcel(6)
	e.SetAll(maps.All(map[string]*parcel{"d": given, "e": given}))
	given.spoil()
	check("d", 6)
	require.NotSame(t, e.cur.lookup("d").value, e.cur.lookup("e").value)
	taken, _ := e.Take("d")
	e.Set("d", taken)
	taken.spoil()
	check("d", 6)
	for _, v := range e.All() {
		v.spoil()
	}
	for key, n := range map[string]int{"a": 2, "b": 3, "c": 5, "d": 6, "e": 6} {
		check(key, n)
	}
}

func TestAnUpdateFunctionThatWritesItsOwnKey(t *testing.T) {
	writes := map[string]func(e *Editor[string, int]) error{
		"Set":    func(e *Editor[string, int]) error { e.Set("a", 7); return nil },
		"Delete": func(e *Editor[string, int]) error { e.Delete("a"); return nil },
		"Take":   func(e *Editor[string, int]) error { e.Take("a"); return nil },
		"Clear":  func(e *Editor[string, int]) error { e.Clear(); return nil },
		"Modify": func(e *Editor[string, int]) error { return e.Modify("a", func(v *int) error { *v = 7; return nil }) },
		"twice":  func(e *Editor[string, int]) error { e.Delete("a"); e.Set("a", 7); return nil },
	}
	m := must(Collect(Options[int]{}, maps.All(map[string]int{"a": 1, "b": 2})))
	for name, write := range writes {
		for _, own := range []bool{false, true} {
			e := m.Edit()
			if own {
				e.Set("a", 1) // now the page is edited in place
			}
			alone := m.Edit()
			require.NoError(t, write(alone))
			err := e.Modify("a", func(v *int) error { *v = 9; return write(e) })
			require.ErrorIs(t, err, ErrModified, name)
			require.Equal(t, maps.Collect(alone.All()), maps.Collect(e.All()), "%s: as the function left it", name)

			e = m.Edit()
			err = e.Upsert("a", func(v *int, found bool) error { *v = 9; return write(e) })
			require.ErrorIs(t, err, ErrModified, name)
			require.Equal(t, maps.Collect(alone.All()), maps.Collect(e.All()), name)
		}
	}
	e := m.Edit()
	require.ErrorIs(t, e.Upsert("c", func(v *int, _ bool) error { e.Set("c", 7); return nil }), ErrModified)
	require.NoError(t, e.Modify("a", func(v *int) error { e.Set("b", 8); e.Delete("c"); *v = 9; return nil }))
	require.Equal(t, map[string]int{"a": 9, "b": 8}, maps.Collect(e.All()))
}

func TestKeyErrors(t *testing.T) {
	e := New[composite](Options[int]{}).Edit()
	key := composite{n: 1, s: "x"}
	err := e.Modify(key, uncalled)
	require.EqualError(t, err, "snapshot: {1 x false}: key not found")
	require.ErrorIs(t, err, ErrNotFound)
	var k *KeyError[composite]
	require.ErrorAs(t, err, &k)
	require.Equal(t, key, k.Key)
	require.Equal(t, ErrNotFound, errors.Unwrap(err))
	e.Set(key, 1)
	require.EqualError(t, e.Insert(key, 2), "snapshot: {1 x false}: key exists")
	require.EqualError(t, e.SetIf(key, 7, 2), "snapshot: {1 x false}: key is not at that revision")
	require.EqualError(t, e.Modify(key, func(*int) error { e.Delete(key); return nil }),
		"snapshot: {1 x false}: key was written by its own change")
}

func TestPutTakesOnlyWhatSuchAMapIsolated(t *testing.T) {
	m := small(3)
	p := newParcel(1)
	i := must(m.isolate("", p))
	p.spoil()
	e := m.Edit()
	e.put("a", i)
	e.put("b", i)
	n := e.Seal()
	e = n.Edit()
	e.put("c", i)                                  // by an older map
	e.put("key1", must(n.isolate("", nil)))        // by this one
	e.put("key2", must(e.isolate("", nil)))        // by the Editor
	e.put("key3", must(emptied(m).isolate("", p))) // by a fork
	last := e.Seal()
	for _, key := range []string{"a", "b", "c"} {
		v, _ := last.Get(key)
		require.Equal(t, 1, v.number())
		v.spoil()
	}
	e = last.Edit()
	require.NoError(t, e.Modify("a", func(v **parcel) error { (*v).spoil(); return nil }))
	v, _ := e.Get("b")
	require.Equal(t, 1, v.number(), "what is put twice is not one value to those who modify it")

	other := New[string](Options[*parcel]{})
	shared := New[string](Options[*parcel]{Immutable: true})
	for _, foreign := range []Isolated[*parcel]{{}, must(other.isolate("", p)), must(shared.isolate("", p)), {by: New[int](Options[*parcel]{}).cfg}} {
		e := m.Edit()
		require.PanicsWithValue(t, putPanic, func() { e.put("a", foreign) })
		require.False(t, e.Has("a"))
		e.Set("a", nil)
	}
	for _, foreign := range []*Map[string, *parcel]{other, shared} {
		e, b := m.Edit(), Builder[string, *parcel]{}.Bulk(foreign)
		require.NoError(t, b.Add("a", p))
		require.PanicsWithValue(t, "snapshot: PutBulk of a Bulk for a map with other Options: make it for this Editor", func() { e.putBulk(b) })
		require.False(t, e.Has("a"))
		e.Set("a", nil)
	}
}

// emptied returns a fork of m without keys.
func emptied(m *Map[string, *parcel]) *Map[string, *parcel] {
	e := m.Edit()
	e.Clear()
	return e.Seal()
}

// An iteration of an Editor shows what was there when it began, and gives up
// the pages it shows.
func TestAllOfAnEditorDuringWrites(t *testing.T) {
	e := must(Collect(Options[int]{}, numbers(500))).Edit()
	for i := range 500 {
		e.Set(i, -i) // all pages are the Editor's own now
	}
	seen := 0
	for k, v := range e.All() {
		require.Equal(t, -k, v)
		seen++
		for j := range 500 {
			e.Set(j, seen)
		}
		e.Delete((k + 1) % 500)
		e.Set(1000+k, 0)
		nested := 0
		for range e.All() {
			nested++
			if nested == 3 {
				break
			}
		}
		if seen == 200 { // far beyond what one page holds
			break
		}
	}
	require.Equal(t, 200, seen)
	all := e.All()
	before := maps.Collect(all)
	require.Len(t, before, e.Len())
	e.Set(-1, 1)
	require.Len(t, maps.Collect(all), e.Len(), "it begins anew each time")
	checkTree(t, e.Seal())
}

func TestAllOfAnEditorSetIntoItself(t *testing.T) {
	e := must(Collect(Options[int]{}, numbers(1000))).Edit()
	e.SetAll(func(yield func(int, int) bool) {
		for k, v := range e.All() {
			if !yield(k+500, v) {
				return
			}
		}
	})
	m := e.Seal()
	require.Equal(t, 1500, m.Len())
	for k, v := range m.All() {
		if k >= 500 {
			k -= 500
		}
		require.Equal(t, k, v)
	}
}

// Pairs are sorted by their hashes before they are stored: the last of equal keys
// must stay the last, also where all hashes are equal.
func TestSetAllStoresTheLastOfEqualKeys(t *testing.T) {
	for _, bad := range []func(uint64) uint64{func(h uint64) uint64 { return h }, badHashes["constant"], badHashes["8bits"]} {
		m := New[int](Options[string]{})
		spoilHash(m, bad)
		e := m.Edit()
		e.SetAll(func(yield func(int, string) bool) {
			for i := range 2000 {
				if !yield(i%100, fmt.Sprint(i)) {
					return
				}
			}
		})
		m = e.Seal()
		require.Equal(t, 100, m.Len())
		for k, v := range m.All() {
			require.Equal(t, fmt.Sprint(1900+k), v)
		}
		checkTree(t, m)
	}
}

// More pairs than are taken at a time, with keys that are in several lots.
func TestSetAllOfMoreThanOneLot(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("takes long")
	}
	const n = maxBulk + 1000
	e := New[int](Options[int]{}).Edit()
	e.SetAll(func(yield func(int, int) bool) {
		for i := range n {
			if !yield(i%(maxBulk/2+7), i) {
				return
			}
			if i == maxBulk-1 {
				require.Equal(t, maxBulk/2+7, e.Len(), "the first lot is stored")
			}
		}
	})
	m := e.Seal()
	require.Equal(t, maxBulk/2+7, m.Len())
	for k, v := range m.All() {
		want := int(k)
		for want+maxBulk/2+7 < n {
			want += maxBulk/2 + 7
		}
		if v != want {
			t.Fatalf("key %d: %d, want %d", k, v, want)
		}
	}
}

func TestASequenceThatPanicsStoresNothingHalf(t *testing.T) {
	e := small(10).Edit()
	var seq iter.Seq2[string, *parcel] = func(yield func(string, *parcel) bool) {
		yield("a", nil)
		panic("seq")
	}
	require.PanicsWithValue(t, "seq", func() { e.SetAll(seq) })
	e.Set("b", nil)
	checkTree(t, e.Seal())
}

// A key that was absent, was written by the function and is absent again.
func TestAnUpsertThatWritesAndDeletesItsOwnKeyIsRefused(t *testing.T) {
	for name, undo := range map[string]func(e *Editor[int, int]){
		"Delete": func(e *Editor[int, int]) { e.Delete(1) },
		"Take":   func(e *Editor[int, int]) { e.Take(1) },
		"Clear":  func(e *Editor[int, int]) { e.Clear() },
		"a second": func(e *Editor[int, int]) {
			require.NoError(t, e.Upsert(2, func(*int, bool) error { e.Delete(1); return nil }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := New[int](Options[int]{}).Edit()
			err := e.Upsert(1, func(v *int, found bool) error { e.Set(1, 7); undo(e); *v = 3; return nil })
			require.ErrorIs(t, err, ErrModified)
			require.False(t, e.Has(1))
			require.NoError(t, e.Upsert(1, func(v *int, found bool) error { e.Set(3, 7); e.Delete(3); *v = 4; return nil }))
			v, _ := e.Get(1)
			require.Equal(t, 4, v)
		})
	}
}

// What cannot be stored, and no verb returns, is kept for the end: the first of it.
func TestErrIsTheFirst(t *testing.T) {
	m := New[string](Options[any]{Name: "things"})
	e := m.Edit()
	require.NoError(t, e.Err())
	e.Set("good", 1)
	e.Set("bad", new(sync.Mutex))
	e.SetAll(maps.All(map[string]any{"worse": new(sync.Mutex)}))
	e.Set("good", 2)
	require.Same(t, m, e.Seal())
	var ke *KeyError[string]
	require.ErrorAs(t, e.Err(), &ke)
	require.Equal(t, "bad", ke.Key)
	require.ErrorContains(t, e.Err(), "things: bad: ")
	_, err := m.isolate("bad", new(sync.Mutex))
	require.ErrorContains(t, err, "things: bad: ")
}

// uncalled is a function of Modify that nobody calls.
func uncalled[V any](*V) error { panic("it was called") }

func TestNilFunctions(t *testing.T) {
	e := New[string](Options[int]{}).Edit()
	require.PanicsWithValue(t, "snapshot: Modify with a nil function: give it one", func() { _ = e.Modify("a", nil) })
	require.PanicsWithValue(t, "snapshot: Upsert with a nil function: give it one", func() { _ = e.Upsert("a", nil) })
	require.PanicsWithValue(t, "snapshot: SetAll with a nil function: give it one", func() { e.SetAll(nil) })
	e.Set("a", 1)
	require.Equal(t, 1, e.Seal().Len(), "nothing is the worse for it")
}
