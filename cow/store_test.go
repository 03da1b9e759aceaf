package cow_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

func TestTheZeroStoreIsUsable(t *testing.T) {
	s := cow.NewOne[string](cow.Options[[]int]{})
	m := s.Load()
	require.Zero(t, m.Len())
	require.Zero(t, m.Version())
	require.Zero(t, m.Revision("a"))
	require.Empty(t, maps.Collect(m.All()))

	_, ok := s.Get("a")
	require.False(t, ok)
	require.False(t, hasDeleted(s.Delete("a")))
	_, ok, _ = s.Take("a")
	require.False(t, ok)
	require.ErrorIs(t, errOf(s.Modify("a", func(*[]int) error { return nil })), cow.ErrNotFound)
	require.ErrorIs(t, errOf(s.SetIf("a", 1, nil)), cow.ErrRevision)
	require.ErrorIs(t, errOf(s.DeleteIf("a", 1)), cow.ErrRevision)
	require.NoError(t, errOf(s.DeleteIf("a", 0)))
	s.Replace(maps.All(map[string][]int{}))
	require.NoError(t, s.Update(func(e *cow.Editor[string, []int]) error {
		require.Zero(t, e.Len())
		e.Clear()
		return nil
	}))
	require.Zero(t, s.Load().Version())
	s.Set("a", []int{1})
	require.Equal(t, map[string][]int{"a": {1}}, maps.Collect(s.Load().All()))
	require.Zero(t, m.Len(), "the snapshot from before")
	require.Len(t, slices.Collect(func(yield func(snapshot.Kind) bool) {
		for c := range s.Load().Diff(m) {
			yield(c.Kind)
		}
	}), 1)

	for verb, write := range map[string]func(s cow.One[string, []int]){
		"Set":     func(s cow.One[string, []int]) { s.Set("a", []int{1}) },
		"Insert":  func(s cow.One[string, []int]) { require.NoError(t, errOf(s.Insert("a", []int{1}))) },
		"SetIf":   func(s cow.One[string, []int]) { require.NoError(t, errOf(s.SetIf("a", 0, []int{1}))) },
		"Replace": func(s cow.One[string, []int]) { s.Replace(maps.All(map[string][]int{"a": {1}})) },
		"Upsert": func(s cow.One[string, []int]) {
			require.NoError(t, errOf(s.Upsert("a", func(v *[]int, found bool) error { *v = []int{1}; return nil })))
		},
		"Update": func(s cow.One[string, []int]) {
			require.NoError(t, s.Update(func(e *cow.Editor[string, []int]) error { e.Set("a", []int{1}); return nil }))
		},
	} {
		s := cow.NewOne[string](cow.Options[[]int]{})
		write(s)
		require.Equal(t, map[string][]int{"a": {1}}, maps.Collect(s.Load().All()), verb)
		require.Equal(t, uint64(1), s.Load().Version(), verb)
	}
}

func TestFirstWritesOfTheZeroStoreAtOnce(t *testing.T) {
	noDeadlock(t)
	for range 200 {
		s := cow.NewOne[int](cow.Options[[]int]{})
		together(4, func(i int) { s.Set(i, []int{i}) })
		require.Equal(t, 4, s.Load().Len())
		require.Equal(t, uint64(4), s.Load().Version())
	}
}

func TestOneKeyVerbs(t *testing.T) {
	s := cow.NewOne[string](cow.Options[[]int]{})
	requireState := func(version uint64, want map[string][]int) {
		t.Helper()
		require.Equal(t, version, s.Load().Version())
		require.Equal(t, want, maps.Collect(s.Load().All()))
		require.Equal(t, len(want), s.Load().Len())
	}
	s.Set("a", []int{1})
	requireState(1, map[string][]int{"a": {1}})
	v, ok := s.Get("a")
	require.True(t, ok)
	require.Equal(t, []int{1}, v)
	_, ok = s.Get("b")
	require.False(t, ok)

	require.ErrorIs(t, errOf(s.Insert("a", []int{2})), cow.ErrExists)
	requireState(1, map[string][]int{"a": {1}})
	require.NoError(t, errOf(s.Insert("b", []int{2})))
	requireState(2, map[string][]int{"a": {1}, "b": {2}})

	require.ErrorIs(t, errOf(s.SetIf("a", 2, []int{3})), cow.ErrRevision)
	require.ErrorIs(t, errOf(s.SetIf("a", 0, []int{3})), cow.ErrRevision)
	require.ErrorIs(t, errOf(s.SetIf("c", 1, []int{3})), cow.ErrRevision)
	requireState(2, map[string][]int{"a": {1}, "b": {2}})
	require.NoError(t, errOf(s.SetIf("a", 1, []int{3})))
	require.NoError(t, errOf(s.SetIf("c", 0, []int{4})))
	requireState(4, map[string][]int{"a": {3}, "b": {2}, "c": {4}})
	require.Equal(t, uint64(3), s.Load().Revision("a"))
	require.Equal(t, uint64(2), s.Load().Revision("b"))
	require.Equal(t, uint64(4), s.Load().Revision("c"))
	require.Zero(t, s.Load().Revision("d"))

	require.NoError(t, errOf(s.Modify("a", func(v *[]int) error { *v = append(*v, 5); return nil })))
	require.ErrorIs(t, errOf(s.Modify("d", func(*[]int) error { return nil })), cow.ErrNotFound)
	require.Same(t, errTest, errOf(s.Modify("a", func(v *[]int) error { *v = nil; return errTest })))
	requireState(5, map[string][]int{"a": {3, 5}, "b": {2}, "c": {4}})

	require.NoError(t, errOf(s.Upsert("a", func(v *[]int, found bool) error {
		require.True(t, found)
		*v = append(*v, 6)
		return nil
	})))
	require.NoError(t, errOf(s.Upsert("d", func(v *[]int, found bool) error {
		require.False(t, found)
		require.Nil(t, *v)
		*v = append(*v, 7)
		return nil
	})))
	require.Same(t, errTest, errOf(s.Upsert("e", func(v *[]int, _ bool) error { *v = []int{8}; return errTest })))
	requireState(7, map[string][]int{"a": {3, 5, 6}, "b": {2}, "c": {4}, "d": {7}})

	require.True(t, hasDeleted(s.Delete("d")))
	require.False(t, hasDeleted(s.Delete("d")))
	require.ErrorIs(t, errOf(s.DeleteIf("c", 3)), cow.ErrRevision)
	require.ErrorIs(t, errOf(s.DeleteIf("c", 0)), cow.ErrRevision)
	require.NoError(t, errOf(s.DeleteIf("c", 4)))
	requireState(9, map[string][]int{"a": {3, 5, 6}, "b": {2}})
	v, ok, _ = s.Take("b")
	require.True(t, ok)
	require.Equal(t, []int{2}, v)
	v, ok, _ = s.Take("b")
	require.False(t, ok)
	require.Nil(t, v)
	requireState(10, map[string][]int{"a": {3, 5, 6}})
}

func TestErrorsNameTheKey(t *testing.T) {
	s := cow.NewOne[resourceKey](cow.Options[resource]{})
	key := resourceKey{"a", "b"}
	s.Set(key, resource{})
	for _, c := range []struct {
		err, is error
		text    string
	}{
		{errOf(s.Insert(key, resource{})), cow.ErrExists, "{a b}: key exists"},
		{errOf(s.SetIf(key, 7, resource{})), cow.ErrRevision, "{a b}: key is not at that revision"},
		{errOf(s.DeleteIf(key, 7)), cow.ErrRevision, "{a b}: key is not at that revision"},
		{errOf(s.Modify(resourceKey{}, uncalled)), cow.ErrNotFound, "{ }: key not found"},
	} {
		require.ErrorIs(t, c.err, c.is)
		require.ErrorContains(t, c.err, c.text)
		var keyed *snapshot.KeyError[resourceKey]
		require.ErrorAs(t, c.err, &keyed)
	}
}

func TestReplaceIsOneVersion(t *testing.T) {
	forRounds := map[string][]int{"a": {1}, "b": {2}, "c": nil}
	s := cow.NewOne[string](cow.Options[[]int]{})
	s.Set("a", []int{0})
	s.Set("gone", []int{9})
	before := s.Load()
	s.Replace(maps.All(forRounds))
	require.Equal(t, forRounds, maps.Collect(s.Load().All()))
	require.Equal(t, uint64(3), s.Load().Version())
	for k := range forRounds {
		require.Equal(t, uint64(3), s.Load().Revision(k))
	}
	require.Zero(t, s.Load().Revision("gone"))
	require.Equal(t, map[string][]int{"a": {0}, "gone": {9}}, maps.Collect(before.All()))
	kinds := map[string]snapshot.Kind{}
	for c := range s.Load().Diff(before) {
		kinds[c.Key] = c.Kind
	}
	require.Equal(t, map[string]snapshot.Kind{
		"a": snapshot.Changed, "b": snapshot.Added, "c": snapshot.Added, "gone": snapshot.Removed,
	}, kinds)

	// By what another store, or this one, holds.
	s.Replace(before.All())
	require.Equal(t, maps.Collect(before.All()), maps.Collect(s.Load().All()))
	s.Replace(s.Load().All())
	require.Equal(t, maps.Collect(before.All()), maps.Collect(s.Load().All()))
	require.Equal(t, uint64(5), s.Load().Version())

	// The last of equal keys wins, as in a loop of Set.
	s.Replace(func(yield func(string, []int) bool) {
		_ = yield("k", []int{1}) && yield("l", nil) && yield("k", []int{2})
	})
	require.Equal(t, map[string][]int{"k": {2}, "l": nil}, maps.Collect(s.Load().All()))

	// A sequence that panics leaves everything as it was.
	require.Same(t, errTest, panicOf(func() {
		s.Replace(func(yield func(string, []int) bool) { yield("x", nil); panic(errTest) })
	}))
	require.Equal(t, uint64(6), s.Load().Version())
	s.Replace(maps.All(map[string][]int{}))
	require.Zero(t, s.Load().Len())
	require.Equal(t, uint64(7), s.Load().Version())
	s.Replace(maps.All(map[string][]int{}))
	require.Equal(t, uint64(7), s.Load().Version(), "empty by empty")
}

// A store that is reloaded while others read is never seen half loaded.
func TestReplaceIsSeenWhole(t *testing.T) {
	noDeadlock(t)
	const keys = 500
	load := func(generation int) map[string]int {
		m := map[string]int{}
		for i := range keys {
			m[fmt.Sprint(generation, " ", i)] = generation
		}
		return m
	}
	s := cow.NewOne[string](cow.Options[int]{})
	s.Replace(maps.All(load(0)))
	together(3, func(i int) {
		for generation := range 50 {
			if i == 0 {
				s.Replace(maps.All(load(generation)))
				continue
			}
			m := s.Load()
			n, first := 0, -1
			for _, v := range m.All() {
				if first < 0 {
					first = v
				}
				if v != first {
					t.Errorf("generations %d and %d in one snapshot", first, v)
					return
				}
				n++
			}
			if n != keys {
				t.Errorf("%d keys", n)
			}
		}
	})
}

func TestSnapshotsStayAsTheyAre(t *testing.T) {
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		type past struct {
			m    *snapshot.Map[string, []int]
			want map[string][]int
		}
		var pasts []past
		now := map[string][]int{}
		for i := range 200 {
			key := fmt.Sprint(i * 7 % 40)
			s.do(t, func(e *cow.Editor[string, []int]) {
				switch i % 4 {
				case 0, 1:
					e.Set(key, []int{i, 0})
					now[key] = []int{i, 0}
				case 2:
					_ = e.Upsert(key, func(v *[]int, found bool) error {
						if !found {
							*v = []int{-1, 0}
						}
						(*v)[1] = i
						return nil
					})
					now[key] = slices.Clone(now[key])
					if now[key] == nil {
						now[key] = []int{-1, 0}
					}
					now[key][1] = i
				case 3:
					e.Delete(key)
					delete(now, key)
				}
			})
			require.Equal(t, now, maps.Collect(s.load().All()))
			pasts = append(pasts, past{s.load(), maps.Clone(now)})
		}
		for i, p := range pasts {
			require.Equal(t, p.want, maps.Collect(p.m.All()), i)
			require.Equal(t, len(p.want), p.m.Len())
		}
	})
}

func TestVersionsAndRevisions(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		for i := range uint64(50) {
			key := fmt.Sprint(i % 7)
			s.do(t, func(e *cow.Editor[string, int]) {
				require.Equal(t, i+1, e.Version())
				e.Set(key, 0)
				require.Equal(t, uint64(snapshot.Pending), e.Revision(key))
			})
			require.Equal(t, i+1, s.version())
			require.Equal(t, i+1, s.load().Version())
			require.Equal(t, i+1, s.load().Revision(key))
			for k := range s.load().Keys() {
				require.LessOrEqual(t, s.load().Revision(k), i+1)
			}
		}
	})
}

func TestOptionsThatContradictEachOtherPanic(t *testing.T) {
	o := cow.Options[int]{Clone: func(v int) int { return v }, Immutable: true}
	require.PanicsWithValue(t, "snapshot: Options.Clone and Options.Immutable exclude each other", func() { cow.NewOne[string](o) })
	db := new(cow.DB)
	require.Panics(t, func() { cow.NewTable[string](db, "t", o) })
	cow.NewTable[string](db, "t", cow.Options[int]{}) // the name is still free
}

func TestReadsDoNotAllocate(t *testing.T) {
	if !inlined {
		t.Skip("an iteration allocates nothing where it is inlined")
	}
	type flat = upstream
	key := strings.Repeat("k", 20)
	ints := cow.NewOne[string](cow.Options[int]{})
	flats := cow.NewOne[string](cow.Options[flat]{})
	maps := cow.NewOne[string](cow.Options[any]{})
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[flat]{})
	large := cow.NewTable[string](db, "large", cow.Options[int]{})
	require.NoError(t, large.Update(func(e *cow.Editor[string, int]) error {
		for i := range 20_000 { // so many that lookups wait for memory together
			e.Set(fmt.Sprint(key, i), i)
		}
		return nil
	}))
	for i := range 1000 {
		k := fmt.Sprint(key, i)
		ints.Set(k, i)
		flats.Set(k, flat{Zone: k})
		maps.Set(k, map[string]any{"a": i})
		require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set(k, flat{Zone: k}); return nil }))
	}
	keys := []string{key, fmt.Sprint(key, 1), fmt.Sprint(key, 77), fmt.Sprint(key, 999)}
	key = fmt.Sprint(key, 777)
	for name, read := range map[string]func(){
		"Load":       func() { _ = ints.Load() },
		"Len":        func() { _ = ints.Load().Len() },
		"Version":    func() { _ = ints.Load().Version() },
		"Revision":   func() { _ = ints.Load().Revision(key) },
		"Get":        func() { _, _ = ints.Get(key) },
		"Get absent": func() { _, _ = ints.Get("absent") },
		"GetMany": func() {
			for range ints.GetMany(keys) {
			}
		},
		"GetMany of a large one": func() {
			for range large.GetMany(keys) {
			}
		},
		"Table.GetMany": func() {
			for range table.In(db.Load()).Shared().GetMany(keys) {
			}
		},
		"Get struct": func() { _, _ = flats.Get(key) },
		"Map.Get":    func() { _, _ = ints.Load().Get(key) },
		"Shared.Get": func() { _, _ = maps.Load().Shared().Get(key) },
		"Table":      func() { _, _ = table.In(db.Load()).Get(key) },
		"Table, shared": func() {
			s := db.Load()
			_ = s.Version()
			_ = table.In(s).Len()
			_, _ = table.In(s).Shared().Get(key)
		},
		"All": func() {
			for range flats.Load().All() {
			}
		},
		"Shared.All": func() {
			for range maps.Load().Shared().All() {
			}
		},
	} {
		if strings.HasSuffix(name, "All") {
			// An iterator may cost a few for itself; its entries cost none.
			require.LessOrEqual(t, testing.AllocsPerRun(10, read), 4.0, name)
			continue
		}
		require.Zero(t, testing.AllocsPerRun(1000, read), name)
	}
}

// A commit to one table makes four objects: the row, the page that holds it, the map and the
// version. To call a function takes two more, and its Tx another two.
func TestObjectsThatACommitMakes(t *testing.T) {
	if !inlined || raceEnabled {
		t.Skip("there are more without inlining, and where pools forget")
	}
	s := cow.New[uint64](cow.Options[int]{})
	require.NoError(t, s.Update(func(e *cow.Editor[uint64, int]) error {
		for i := range 100 { // so few that no directory is below another, whatever the hashes are
			e.Set(uint64(i), i)
		}
		return nil
	}))
	v := 0
	edit := func(e *cow.Editor[uint64, int]) error { v++; e.Set(7, v); return nil }
	inTx := func(tx *cow.Tx) error { v++; s.Edit(tx).Set(7, v); return nil }
	for name, c := range map[string]struct {
		commit func()
		most   float64
	}{
		"Set":       {func() { v++; _, _ = s.Set(7, v) }, 4},
		"Update":    {func() { _ = s.Update(edit) }, 6},
		"DB.Update": {func() { _ = s.DB().Update(inTx) }, 8},
	} {
		require.LessOrEqual(t, allocations(c.commit), c.most, name)
	}
}

// uncalled is a function of Modify that nobody calls.
func uncalled[V any](*V) error { panic("it was called") }

func TestNilFunctions(t *testing.T) {
	db := new(cow.DB)
	s := cow.NewTable[string](db, "a", cow.Options[int]{})
	for verb, call := range map[string]func(){
		"cow: Update":      func() { _ = db.Update(nil) },
		"cow: Update ":     func() { _ = s.Update(nil) },
		"cow: Erase":       func() { _, _ = db.Erase(t.Context(), nil) },
		"cow: DeleteFunc":  func() { _, _ = s.DeleteFunc(nil) },
		"cow: Replace":     func() { _ = s.Replace(nil) },
		"cow: Sync":        func() { _ = s.Sync(nil, func(a, b int) bool { return a == b }) },
		"cow: NewDerived":  func() { _, _ = cow.NewDerived[string](db, "b", cow.Options[int]{}, nil) },
		"snapshot: Modify": func() { _, _ = s.Modify("a", nil) },
		"snapshot: Upsert": func() { _, _ = s.Upsert("a", nil) },
	} {
		require.PanicsWithValue(t, strings.TrimSpace(verb)+" with a nil function: give it one", call)
	}
	_, err := s.Set("a", 1)
	require.NoError(t, err, "nobody has the writer's place")
}
