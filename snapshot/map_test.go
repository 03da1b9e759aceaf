package snapshot

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// must returns v, which was made without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// small returns a map of the parcels of 1 to n, under their numbers in words.
func small(n int) *Map[string, *parcel] {
	e := New[string](Options[*parcel]{}).Edit()
	for i := 1; i <= n; i++ {
		e.Set(fmt.Sprint("key", i), newParcel(i))
	}
	return e.Seal()
}

func TestNilAndZeroMapsAreEmptyAndUsable(t *testing.T) {
	zero := new(Map[string, *parcel])
	for name, m := range map[string]*Map[string, *parcel]{
		"nil": nil, "zero": zero, "new": New[string](Options[*parcel]{}),
	} {
		t.Run(name, func(t *testing.T) {
			v, ok := m.Get("a")
			require.Nil(t, v)
			require.False(t, ok)
			require.False(t, m.Has("a"))
			require.Zero(t, m.Revision("a"))
			require.Zero(t, m.Version())
			require.Zero(t, m.Len())
			require.Empty(t, maps.Collect(m.All()))
			require.Empty(t, slices.Collect(m.Keys()))
			s := m.Shared()
			_, ok = s.Get("a")
			require.False(t, ok)
			require.Empty(t, maps.Collect(s.All()))
			require.Empty(t, slices.Collect(m.Diff(nil)))
			require.Empty(t, slices.Collect(m.Diff(zero)))
			require.Empty(t, slices.Collect(zero.Diff(m)))
			checkTree(t, m)

			p := newParcel(1)
			i := must(m.isolate("", p))
			require.NotSame(t, p, i.value)
			require.Equal(t, p, i.value)

			e := m.Edit()
			e.put("a", i)
			e.Delete("a")
			require.Same(t, m, e.Seal())

			e = m.Edit()
			require.Equal(t, uint64(1), e.Version())
			_, ok = e.Get("a")
			require.False(t, ok)
			require.False(t, e.Has("a"))
			require.Zero(t, e.Revision("a"))
			require.Zero(t, e.Len())
			require.Empty(t, maps.Collect(e.All()))
			require.False(t, e.Delete("a"))
			_, ok = e.Take("a")
			require.False(t, ok)
			require.NoError(t, e.DeleteIf("a", 0))
			require.ErrorIs(t, e.DeleteIf("a", 1), ErrRevision)
			require.ErrorIs(t, e.Modify("a", uncalled), ErrNotFound)
			e.Clear()
			e.SetAll(maps.All(map[string]*parcel{}))
			require.Same(t, m, e.Seal())

			writes := map[string]func(e *Editor[string, *parcel]){
				"Set":    func(e *Editor[string, *parcel]) { e.Set("a", p) },
				"SetAll": func(e *Editor[string, *parcel]) { e.SetAll(maps.All(map[string]*parcel{"a": p})) },
				"Put":    func(e *Editor[string, *parcel]) { e.put("a", must(e.isolate("", p))) },
				"Insert": func(e *Editor[string, *parcel]) { require.NoError(t, e.Insert("a", p)) },
				"SetIf":  func(e *Editor[string, *parcel]) { require.NoError(t, e.SetIf("a", 0, p)) },
				"Upsert": func(e *Editor[string, *parcel]) {
					require.NoError(t, e.Upsert("a", func(v **parcel, found bool) error {
						require.False(t, found)
						*v = p
						return nil
					}))
				},
			}
			for verb, write := range writes {
				e := m.Edit()
				write(e)
				n := e.Seal()
				require.Equal(t, map[string]*parcel{"a": p}, maps.Collect(n.All()), verb)
				require.NotSame(t, p, n.lookup("a").value, verb)
				require.Equal(t, uint64(1), n.Version(), verb)
				require.Zero(t, m.Len(), verb)
				changes := slices.Collect(n.Diff(m))
				require.Len(t, changes, 1, verb)
				require.Equal(t, Added, changes[0].Kind, verb)
				changes = slices.Collect(m.Diff(n))
				require.Len(t, changes, 1, verb)
				require.Equal(t, Removed, changes[0].Kind, verb)

				e = m.Edit()
				write(e)
				require.True(t, e.Delete("a"), verb)
				require.Same(t, m, e.Seal(), "%s: nothing has changed in the end", verb)
			}
		})
	}
	// All of them have the same Options, so they take each other's values.
	e := (*Map[string, *parcel])(nil).Edit()
	e.put("a", must(zero.isolate("", nil)))
	e.put("b", must(new(Map[string, *parcel]).isolate("", nil)))
	e.put("c", must((*Map[string, *parcel])(nil).isolate("", nil)))
	e.put("d", must(e.isolate("", nil)))
	require.Equal(t, 4, e.Seal().Len())

	var v Shared[string, int]

	require.Empty(t, maps.Collect(v.All()))
	_, ok := v.Get("a")
	require.False(t, ok)
}

func TestCollect(t *testing.T) {
	p := newParcel(1)
	m := must(Collect(Options[*parcel]{}, func(yield func(string, *parcel) bool) {
		_ = yield("a", p) && yield("b", p) && yield("a", newParcel(2))
	}))
	require.Equal(t, uint64(1), m.Version())
	require.Equal(t, 2, m.Len())
	require.Equal(t, uint64(1), m.Revision("a"))
	p.spoil()
	a, _ := m.Get("a")
	b, _ := m.Get("b")
	require.Equal(t, 2, a.number(), "of equal keys the last wins")
	require.Equal(t, 1, b.number())

	empty := must(Collect(Options[int]{}, maps.All(map[string]int{})))
	require.Zero(t, empty.Len())
	require.Zero(t, empty.Version(), "nothing was edited")
	require.NotNil(t, empty.cfg)

	require.Panics(t, func() { newConfig[string](Options[sync.Mutex]{}) })
}

func TestReadsAreIsolatedAndSharedOnesAreNot(t *testing.T) {
	m := small(3)
	stored := m.lookup("key1").value
	for range 3 {
		v, ok := m.Get("key1")
		require.True(t, ok)
		require.NotSame(t, stored, v)
		require.Equal(t, 1, v.number())
		v.spoil()
		for _, v := range m.All() {
			require.Positive(t, v.number())
			v.spoil()
		}
		s, ok := m.Shared().Get("key1")
		require.True(t, ok)
		require.Same(t, stored, s)
		for k, v := range m.Shared().All() {
			require.Same(t, m.lookup(k).value, v)
			require.Positive(t, v.number())
		}
	}

}

func TestOptionsReachEveryRead(t *testing.T) {
	clones := 0
	o := Options[int]{Clone: func(v int) int { clones++; return v + 100 }}
	m := must(Collect(o, maps.All(map[string]int{"a": 1})))
	require.Equal(t, 1, clones)
	count := func(want int, f func()) {
		t.Helper()
		clones = 0
		f()
		require.Equal(t, want, clones)
	}
	count(1, func() { v, _ := m.Get("a"); require.Equal(t, 201, v) })
	count(1, func() {
		for _, v := range m.All() {
			require.Equal(t, 201, v)
		}
	})
	count(0, func() {
		v, _ := m.Shared().Get("a")
		require.Equal(t, 101, v)
		for range m.Shared().All() {
		}
		for range m.Keys() {
		}
		m.Has("a")
		m.Has("b")
		m.Get("b")
		m.Len()
		m.Revision("a")
	})
	count(1, func() { must(m.isolate("", 1)) })
	count(0, func() { m.Edit().Seal() })

	p := new(int)
	i := must(Collect(Options[*int]{Immutable: true}, maps.All(map[string]*int{"a": p})))
	v, _ := i.Get("a")
	require.Same(t, p, v)
}

func TestOrderIsTheSameEachTimeAndForEachMethod(t *testing.T) {
	m := must(Collect(Options[int]{}, numbers(3000)))
	keys := slices.Collect(m.Keys())
	require.Len(t, keys, 3000)
	for range 3 {
		i := 0
		for k, v := range m.All() {
			require.Equal(t, keys[i], k)
			require.Equal(t, k, v)
			i++
		}
		i = 0
		for k := range m.Shared().All() {
			require.Equal(t, keys[i], k)
			i++
		}
		require.Equal(t, keys, slices.Collect(m.Keys()))
	}
}

func TestIterationsEndEarly(t *testing.T) {
	big := func() *Map[int, int] { return must(Collect(Options[int]{}, numbers(3000))) }
	constant := func() *Map[int, int] {
		m := New[int](Options[int]{})
		spoilHash(m, badHashes["constant"])
		e := m.Edit()
		e.SetAll(numbers(200))
		return e.Seal()
	}
	for name, m := range map[string]*Map[int, int]{"pages": big(), "bag": constant()} {
		other := big()
		if name == "bag" {
			other = constant()
		}
		other.cfg.hash = m.cfg.hash
		for _, n := range []int{1, 2, 60, 150} {
			stopAfter(t, n, second(m.All()))
			stopAfter(t, n, m.Keys())
			stopAfter(t, n, second(m.Shared().All()))
			stopAfter(t, n, second(m.Edit().All()))
			stopAfter(t, n, m.Diff(nil))
			stopAfter(t, n, New[int](Options[int]{}).Diff(m))
			stopAfter(t, n, m.Diff(other))
		}
	}
	// Between pages of one size, and of different ones.
	a, b := big(), big()
	e := a.Edit()
	for i := range 3000 {
		if i%3 == 0 {
			e.Delete(i)
		}
		e.Set(-i-1, i)
	}
	a = e.Seal()
	for n := range 100 {
		stopAfter(t, 1+n*20, a.Diff(b))
		stopAfter(t, 1+n*20, b.Diff(a))
	}
}

func second[K, V any](seq iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		seq(func(_ K, v V) bool { return yield(v) })
	}
}

// stopAfter calls seq with a function that returns false the nth time, and
// must not be called again.
func stopAfter[T any](t *testing.T, n int, seq iter.Seq[T]) {
	t.Helper()
	calls := 0
	seq(func(T) bool { calls++; return calls < n })
	require.Equal(t, n, calls)
}

func TestKeysThatAreNotEqualToThemselves(t *testing.T) {
	type point struct{ x, y float64 }
	nan := any(point{1, math.NaN()})
	m := must(Collect(Options[int]{}, maps.All(map[any]int{point{1, 1}: 1})))
	for name, set := range map[string]func(e *Editor[any, int]){
		"Set":    func(e *Editor[any, int]) { e.Set(nan, 1) },
		"Put":    func(e *Editor[any, int]) { e.put(nan, must(e.isolate(0, 1))) },
		"SetAll": func(e *Editor[any, int]) { e.SetAll(maps.All(map[any]int{point{2, 2}: 2, nan: 1, point{3, 3}: 3})) },
	} {
		t.Run(name, func(t *testing.T) {
			e := m.Edit()
			e.Set(point{2, 2}, 2)
			require.NoError(t, e.Err())
			set(e)
			e.Set(point{3, 3}, 3)
			require.ErrorIs(t, e.Err(), ErrKey)
			require.False(t, e.Has(nan))
			require.Same(t, m, e.Seal())
			require.ErrorIs(t, e.Err(), ErrKey)
		})
	}
	e := m.Edit()
	require.ErrorIs(t, e.Insert(nan, 1), ErrKey)
	require.ErrorIs(t, e.SetIf(nan, 0, 1), ErrKey)
	require.ErrorIs(t, e.SetIf(nan, 1, 1), ErrRevision)
	require.ErrorIs(t, e.Modify(nan, uncalled), ErrKey)
	require.ErrorIs(t, e.Upsert(nan, func(*int, bool) error { panic("it was called") }), ErrKey)
	require.False(t, e.Delete(nan))
	_, ok := e.Get(nan)
	require.False(t, ok)
	require.NoError(t, e.Err(), "what returned its error is the caller's to judge")
	require.Same(t, m, e.Seal())
	require.Panics(t, func() { must(Collect(Options[int]{}, maps.All(map[any]int{nan: 1}))) })
}

func TestKeysThatCannotBeHashedPanicAndDoNoHarm(t *testing.T) {
	e := New[any](Options[int]{}).Edit()
	e.Set("a", 1)
	bad := any([]int{1})
	type holds struct{ v any }
	for _, k := range []any{bad, holds{bad}, [1]any{map[string]int{}}} {
		require.Panics(t, func() { e.Set(k, 1) })
		require.Panics(t, func() { e.Insert(k, 1) })
		require.Panics(t, func() { e.Get(k) })
		require.Panics(t, func() { e.Has(k) })
		require.Panics(t, func() { e.Delete(k) })
		require.Panics(t, func() { e.Upsert(k, func(*int, bool) error { return nil }) })
		require.Panics(t, func() { e.SetAll(maps.All(map[any]int{"x": 1, &k: 2})); e.Set(k, 1) })
	}
	e.Set("b", 2)
	m := e.Seal()
	require.True(t, m.Has("a"))
	require.True(t, m.Has("b"))
	require.Panics(t, func() { m.Get(bad) })
	require.False(t, m.Has(&bad))
	checkTree(t, m)
}

func TestPointersAreComparedAsPointers(t *testing.T) {
	a, b := new(int), new(int)
	m := must(Collect(Options[string]{}, maps.All(map[*int]string{a: "a", b: "b"})))
	*a, *b = 1, 2
	v, _ := m.Get(a)
	require.Equal(t, "a", v)
	require.False(t, m.Has(new(int)))
	require.False(t, m.Has(nil))
}

// fingerprint returns all of what a map says, as a reader would see it.
func fingerprint[K comparable](m *Map[K, *parcel]) string {
	var b strings.Builder
	fmt.Fprintln(&b, m.Len(), m.Version())
	for k, v := range m.All() {
		fmt.Fprintln(&b, k, v.number(), m.Revision(k))
	}
	return b.String()
}

func TestAMapNeverChanges(t *testing.T) {
	m := small(1500) // with directories below the root
	before := fingerprint(m)
	root := m.root
	for round := range 5 {
		e := m.Edit()
		for i := range 1800 {
			key := fmt.Sprint("key", i)
			switch (i + round) % 6 {
			case 0:
				e.Set(key, newParcel(-i))
			case 1:
				e.Delete(key)
			case 2:
				_ = e.Modify(key, func(v **parcel) error { (*v).spoil(); *v = newParcel(i); return nil })
			case 3:
				if v, ok := e.Take(key); ok {
					v.spoil()
				}
			case 4:
				_ = e.Upsert(key, func(v **parcel, _ bool) error { (*v).spoil(); return fmt.Errorf("no") })
			}
		}
		if round == 4 {
			e.Clear()
		}
		n := e.Seal()
		require.Equal(t, before, fingerprint(m))
		after := fingerprint(n)
		require.NotEqual(t, before, after)

		// Nor does a map that was edited from the same one, at the same version.
		e = m.Edit()
		for i := range 100 {
			e.Set(fmt.Sprint("key", i), newParcel(7))
			e.Delete(fmt.Sprint("key", i+100))
		}
		other := e.Seal()
		require.Equal(t, n.Version(), other.Version())
		require.Equal(t, after, fingerprint(n))
		checkTree(t, other)
		checkTree(t, n)
	}
	require.Equal(t, root, m.root)
}

// Two Editors of one map, at work in turn, share nothing that either writes.
func TestEditorsOfOneMapAreIndependent(t *testing.T) {
	m := small(300)
	a, b := m.Edit(), m.Edit()
	for i := 1; i <= 300; i++ {
		key := fmt.Sprint("key", i)
		a.Set(key, newParcel(1000+i))
		b.Set(key, newParcel(2000+i))
		b.Set("b"+key, newParcel(i))
		a.Delete(fmt.Sprint("key", i-2))
	}
	ma := a.Seal()
	for i := 1; i <= 300; i++ {
		require.NoError(t, b.Modify(fmt.Sprint("key", i), func(v **parcel) error { *v = newParcel(3000 + i); return nil }))
	}
	mb := b.Seal()
	require.Equal(t, 2, ma.Len())
	require.Equal(t, 600, mb.Len())
	for i := 1; i <= 300; i++ {
		key := fmt.Sprint("key", i)
		v, _ := m.Get(key)
		require.Equal(t, i, v.number())
		v, _ = mb.Get(key)
		require.Equal(t, 3000+i, v.number())
	}
	for _, m := range []*Map[string, *parcel]{m, ma, mb} {
		checkTree(t, m)
	}
}

// Readers that hold old maps while others are edited out of them see what
// there was. Each version sets all keys of a group to one number, so that any
// reader can tell a map that is not whole.
func TestReadersOfOldMapsDuringEdits(t *testing.T) {
	const groups, members = 8, 40
	key := func(g, i int) string { return fmt.Sprint("group", g, "member", i) }
	e := New[string](Options[*parcel]{}).Edit()
	for g := range groups {
		for i := range members {
			e.Set(key(g, i), newParcel(0))
		}
	}
	var current atomic.Pointer[Map[string, *parcel]]
	current.Store(e.Seal())
	whole := func(m *Map[string, *parcel]) error {
		sum := 0
		for g := range groups {
			first, _ := m.Get(key(g, 0))
			for i := range members {
				v, ok := m.Get(key(g, i))
				if !ok || v.number() < 0 || v.number() != first.number() || m.Revision(key(g, i)) != m.Revision(key(g, 0)) {
					return fmt.Errorf("version %d: group %d is not whole", m.Version(), g)
				}
			}
			sum += first.number()
			first.spoil()
		}
		if uint64(sum) != m.Version()-1 || m.Len() != groups*members {
			return fmt.Errorf("version %d: sum %d, %d keys", m.Version(), sum, m.Len())
		}
		return nil
	}
	rounds := 200
	if raceEnabled {
		rounds = 60
	}
	var readers sync.WaitGroup
	var done atomic.Bool
	errs := make(chan error, 3)
	for range cap(errs) {
		readers.Go(func() {
			var old []*Map[string, *parcel]
			for !done.Load() {
				m := current.Load()
				old = append(old, m)
				for _, m := range []*Map[string, *parcel]{m, old[len(old)/2]} {
					if err := whole(m); err != nil {
						errs <- err
						return
					}
				}
			}
		})
	}
	for n := range rounds {
		m := current.Load()
		e := m.Edit()
		g := n % groups
		for i := range members {
			// Out and in again, and through values that others have read.
			v, _ := e.Take(key(g, i))
			number := v.number()
			v.spoil()
			e.Set(key(g, i), newParcel(-5))
			require.NoError(t, e.Modify(key(g, i), func(v **parcel) error { *v = newParcel(number + 1); return nil }))
		}
		current.Store(e.Seal())
	}
	done.Store(true)
	readers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	require.NoError(t, whole(current.Load()))
	require.Equal(t, uint64(rounds+1), current.Load().Version())
}

func TestReadsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	noAllocs(t, "string", stringKeys[string](2000), "absent")
	noAllocs(t, "int", keysOf(2000, func(i int) int { return i }), -1)
	noAllocs(t, "struct", keysOf(2000, func(i int) composite { return composite{n: int32(i), s: "x"} }), composite{})
	noAllocs(t, "interface", keysOf(2000, anyKey), "absent")
}

func noAllocs[K comparable](t *testing.T, name string, keys []K, absent K) {
	m := must(Collect(Options[int]{}, func(yield func(K, int) bool) {
		for i, k := range keys {
			if !yield(k, i) {
				return
			}
		}
	}))
	i := 0
	allocs := testing.AllocsPerRun(1000, func() {
		key := keys[i%len(keys)]
		i++
		if v, ok := m.Get(key); !ok || keys[v] != key {
			panic("wrong")
		}
		if v, ok := m.Shared().Get(key); !ok || keys[v] != key {
			panic("wrong")
		}
		if !m.Has(key) || m.Has(absent) || m.Revision(key) != 1 || m.Len() != len(keys) {
			panic("wrong")
		}
		if _, ok := m.Get(absent); ok {
			panic("wrong")
		}
	})
	require.Zero(t, allocs, name)
}

// One key edited alone: an Editor, a Map, the directories down to one page,
// that page, and an entry.
func TestAOneKeyEditAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 100_000
	ints := must(Collect(Options[int]{}, numbers(n)))
	i := 0
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		e := ints.Edit()
		e.Set(i%n, i)
		i += 7919
		ints = e.Seal()
	}), 7.0)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint("a key of some length ", i)
	}
	strs := must(Collect(Options[int]{}, func(yield func(string, int) bool) {
		for i, k := range keys {
			if !yield(k, i) {
				return
			}
		}
	}))
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		e := strs.Edit()
		e.Set(keys[i%n], i)
		i += 7919
		strs = e.Seal()
	}), 7.0)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		e := strs.Edit()
		e.Delete(keys[i%n])
		i += 7919
		strs = e.Seal()
	}), 7.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { ints.Edit().Seal() }), 1.0,
		"an edit without a change makes nothing but its Editor")
}
