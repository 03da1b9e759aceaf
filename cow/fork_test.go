package cow_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

type (
	rows     = snapshot.Map[int, []int]
	editor   = cow.Editor[int, []int]
	watched  = cow.Watched
	index    = cow.Index[int, []int, int]
	conflict = cow.Conflict[int, []int]
	resolver = func(c conflict) ([]int, bool, error)
)

// A branch is a One (one_test.go), or a DB of two tables, for tests of forks, merges and
// watches. A value is a slice of one number twice; an index is by that number.
type branch struct {
	tables int
	update func(f func(edit func(table int) *editor) error) error
	load   func() branchMoment
	at     func(version uint64) (branchMoment, error)
	retain func(r cow.Retention)
	pin    func(name string, version uint64) error
	pins   func() []branchMoment
	fork   func(m branchMoment) *branch
	merge  func(base, theirs branchMoment, resolvers ...resolver) (branchMoment, error) // by table; nil: none
	watch  func(ctx context.Context, table int, since branchMoment, of ...watched) (branchMoment, error)
	keys   func(table int, keys ...int) watched
	index  []*index // by table
	stats  func() cow.Stats
}

// A branchMoment is a snapshot of a branch: its map, or its Snapshot and the maps in
// it.
type branchMoment struct {
	version uint64
	maps    []*rows
	db      *cow.Snapshot
}

func byNumber(r cow.Row[int, []int], add func(int)) { add(r.Value()[0]) }

func aloneBranch(t *testing.T) *branch {
	s := cow.NewOne[int](cow.Options[[]int]{})
	x, err := cow.NewMultiIndex(s.Table, "number", byNumber, cow.IndexOptions[int]{})
	require.NoError(t, err)
	return branchOfOne(s, x)
}

func branchOfOne(s cow.One[int, []int], x *index) *branch {
	of := func(m *rows) branchMoment { return branchMoment{m.Version(), []*rows{m}, nil} }
	return &branch{
		tables: 1,
		update: func(f func(edit func(int) *editor) error) error {
			return s.Update(func(e *editor) error { return f(func(int) *editor { return e }) })
		},
		load: func() branchMoment { return of(s.Load()) },
		at: func(version uint64) (branchMoment, error) {
			m, err := s.At(version)
			return of(m), err
		},
		retain: s.Retain,
		pin:    s.Pin,
		pins: func() (all []branchMoment) {
			for _, m := range s.Pins() {
				all = append(all, of(m))
			}
			return all
		},
		fork: func(m branchMoment) *branch { return branchOfOne(s.Fork(m.maps[0]), x) },
		merge: func(base, theirs branchMoment, r ...resolver) (branchMoment, error) {
			m, err := s.Merge(base.maps[0], theirs.maps[0], append(r, nil)[0])
			return of(m), err
		},
		watch: func(ctx context.Context, _ int, since branchMoment, w ...watched) (branchMoment, error) {
			m, err := s.Watch(ctx, since.maps[0], w...)
			return of(m), err
		},
		keys:  func(_ int, keys ...int) watched { return s.OnKeys(keys...) },
		index: []*index{x},
		stats: s.Stats,
	}
}

func twoBranch(t *testing.T) *branch {
	db := new(cow.DB)
	var all []*cow.Table[int, []int]
	var by []*index
	for _, name := range []string{"this", "that"} {
		table := cow.NewTable[int](db, name, cow.Options[[]int]{})
		x, err := cow.NewMultiIndex(table, "number", byNumber, cow.IndexOptions[int]{})
		require.NoError(t, err)
		all, by = append(all, table), append(by, x)
	}
	return branchOfDB(db, all, by)
}

func branchOfDB(db *cow.DB, all []*cow.Table[int, []int], by []*index) *branch {
	of := func(s *cow.Snapshot) branchMoment {
		m := branchMoment{version: s.Version(), db: s}
		for _, table := range all {
			m.maps = append(m.maps, table.In(s))
		}
		return m
	}
	return &branch{
		tables: len(all),
		update: func(f func(edit func(int) *editor) error) error {
			return db.Update(func(tx *cow.Tx) error {
				return f(func(table int) *editor { return all[table].Edit(tx) })
			})
		},
		load: func() branchMoment { return of(db.Load()) },
		at: func(version uint64) (branchMoment, error) {
			s, err := db.At(version)
			return of(s), err
		},
		retain: db.Retain,
		pin:    db.Pin,
		pins: func() (list []branchMoment) {
			for _, s := range db.Pins() {
				list = append(list, of(s))
			}
			return list
		},
		fork: func(m branchMoment) *branch { return branchOfDB(db.Fork(m.db), all, by) },
		merge: func(base, theirs branchMoment, r ...resolver) (branchMoment, error) {
			var of2 []cow.Resolver
			for i, f := range r {
				if f != nil {
					of2 = append(of2, all[i].Resolve(f))
				}
			}
			s, err := db.Merge(base.db, theirs.db, of2...)
			return of(s), err
		},
		watch: func(ctx context.Context, table int, since branchMoment, w ...watched) (branchMoment, error) {
			if len(w) == 0 {
				w = []watched{all[table].OnAll()}
			}
			s, err := db.Watch(ctx, since.db, w...)
			return of(s), err
		},
		keys:  func(table int, keys ...int) watched { return all[table].OnKeys(keys...) },
		index: by,
		stats: db.Stats,
	}
}

// forBranches runs f for a table alone in its DB and for a DB of two.
func forBranches(t *testing.T, f func(t *testing.T, l *branch)) {
	t.Run("alone", func(t *testing.T) { f(t, aloneBranch(t)) })
	t.Run("DB", func(t *testing.T) { f(t, twoBranch(t)) })
}

func (l *branch) set(t *testing.T, table, key, n int) {
	t.Helper()
	require.NoError(t, l.update(func(edit func(int) *editor) error {
		edit(table).Set(key, []int{n, n})
		return nil
	}))
}

func (l *branch) delete(t *testing.T, table, key int) {
	t.Helper()
	require.NoError(t, l.update(func(edit func(int) *editor) error {
		edit(table).Delete(key)
		return nil
	}))
}

// A branchCell is what a model has under a key. A write is a number that no other
// write has; a merge makes the same write in another branch.
type branchCell struct {
	n     int
	write int
	rev   uint64
}

// A branchModel is what a branch should hold, by table.
type branchModel []map[int]branchCell

func (m branchModel) clone() branchModel {
	c := make(branchModel, len(m))
	for i := range m {
		c[i] = maps.Clone(m[i])
	}
	return c
}

// check requires that a moment is what the model says, and so are the indexes.
func (m branchModel) check(t *testing.T, l *branch, at branchMoment) {
	t.Helper()
	for table, want := range m {
		is := at.maps[table]
		require.Equal(t, len(want), is.Len())
		for k, v := range is.All() {
			c, ok := want[k]
			require.True(t, ok, "key %d", k)
			require.Equal(t, []int{c.n, c.n}, v, "key %d", k)
			require.Equal(t, c.rev, is.Revision(k), "key %d", k)
		}
		var order [][2]int
		for k, c := range want {
			order = append(order, [2]int{c.n, k})
		}
		slices.SortFunc(order, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		i := 0
		for n, row := range l.index[table].In(is).All() {
			require.Less(t, i, len(order))
			require.Equal(t, order[i], [2]int{n, row.Key()})
			i++
		}
		require.Equal(t, len(order), i)
	}
}

// A tracked branch has its model beside it.
type tracked struct {
	*branch
	branchModel branchModel
	version     uint64
}

func track(l *branch) *tracked {
	m := make(branchModel, l.tables)
	for i := range m {
		m[i] = map[int]branchCell{}
	}
	return &tracked{branch: l, branchModel: m}
}

var writes int // made by all models, to number them

// edit makes one random update.
func (l *tracked) edit(t *testing.T, r *rand.Rand, keys int) {
	t.Helper()
	next := l.branchModel.clone()
	changed := false
	require.NoError(t, l.update(func(edit func(int) *editor) error {
		for range 1 + r.IntN(4) {
			table, k := r.IntN(l.tables), r.IntN(keys)
			e := edit(table)
			was, there := next[table][k]
			n := r.IntN(20)
			switch r.IntN(4) {
			case 0:
				require.Equal(t, there, e.Delete(k))
				delete(next[table], k)
				continue
			case 1:
				n = was.n // an equal value, where there is one
			}
			v := []int{n, n}
			e.Set(k, v)
			v[0] = -1
			writes++
			next[table][k] = branchCell{n, writes, l.version + 1}
		}
		return nil
	}))
	for table := range next {
		changed = changed || !maps.Equal(next[table], l.branchModel[table])
	}
	if changed {
		l.version++
	}
	l.branchModel = next
	require.Equal(t, l.version, l.load().version)
}

func (l *tracked) forkAt(m branchMoment, is branchModel) *tracked {
	f := &tracked{l.fork(m), is.clone(), m.version}
	f.retain(cow.Retention{Versions: 1000})
	return f
}

func TestForksAreIndependent(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		r := rand.New(rand.NewPCG(1, 2))
		type kept struct {
			of          *tracked
			at          branchMoment
			branchModel branchModel
		}
		branches := []*tracked{track(l)}
		l.retain(cow.Retention{Versions: 1000})
		past := []map[uint64]branchModel{{0: branches[0].branchModel.clone()}}
		all := []kept{{branches[0], l.load(), branches[0].branchModel.clone()}}
		check := func() {
			for _, k := range all {
				k.branchModel.check(t, k.of.branch, k.at)
			}
			for _, o := range branches {
				o.branchModel.check(t, o.branch, o.load())
			}
		}
		steps := inShort(250, 600)
		for step := range steps {
			i := r.IntN(len(branches))
			o := branches[i]
			if step < steps-50 {
				o.edit(t, r, 40)
				past[i][o.version] = o.branchModel.clone()
			}
			if step%20 == 19 {
				at := o.load()
				want := o.branchModel
				versions := slices.Sorted(maps.Keys(past[i]))
				switch r.IntN(4) {
				case 0, 1: // a past one
					version := versions[r.IntN(len(versions))]
					m, err := o.at(version)
					require.NoError(t, err)
					at, want = m, past[i][version]
				case 2: // a pinned one
					version := versions[r.IntN(len(versions))]
					require.NoError(t, o.pin(strconv.Itoa(step), version))
					for _, p := range o.pins() {
						if p.version == version {
							at, want = p, past[i][version]
						}
					}
				}
				by := branches[r.IntN(len(branches))] // any of the family may make the fork
				f := by.forkAt(at, want)
				require.Equal(t, at.version, f.load().version)
				require.Equal(t, 0, f.stats().Pins+f.stats().Retained+f.stats().Waiting)
				branches = append(branches, f)
				past = append(past, map[uint64]branchModel{f.version: f.branchModel.clone()})
				all = append(all, kept{o, at, want.clone()}, kept{f, f.load(), want.clone()})
			}
			if step%100 == 0 {
				check()
			}
		}
		check()
		for i, o := range branches {
			for version, want := range past[i] {
				m, err := o.at(version)
				require.NoError(t, err)
				require.Equal(t, version, m.version)
				want.check(t, o.branch, m)
			}
		}
	})
}

func TestAForkOfNothingIsEmpty(t *testing.T) {
	s := cow.NewOne[int](cow.Options[[]int]{})
	f := s.Fork(s.Load())
	require.Equal(t, uint64(0), f.Load().Version())
	f.Set(1, []int{1})
	require.Equal(t, uint64(1), f.Load().Version())
	require.Equal(t, 0, s.Load().Len())

	db := new(cow.DB)
	early := db.Fork(nil)
	table := cow.NewTable[int](db, "a", cow.Options[[]int]{})
	g := db.Fork(db.Load())
	for _, d := range []*cow.DB{early, g} {
		require.NoError(t, d.Update(func(tx *cow.Tx) error { table.Edit(tx).Set(1, []int{1}); return nil }))
		require.Equal(t, uint64(1), d.Load().Version())
		require.Equal(t, 1, table.In(d.Load()).Len())
	}
	require.Equal(t, 0, table.In(db.Load()).Len())
	require.Equal(t, uint64(0), db.Load().Version())
}

func TestTablesAreThereInAllForks(t *testing.T) {
	db := new(cow.DB)
	first := cow.NewTable[string](db, "first", cow.Options[int]{})
	put := func(d *cow.DB, table *cow.Table[string, int], v int) {
		require.NoError(t, d.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", v); return nil }))
	}
	put(db, first, 1)
	f := db.Fork(db.Load())
	g := f.Fork(f.Load())
	of := []*cow.DB{db, f, g}
	for i, maker := range of {
		table := cow.NewTable[string](maker, "made in "+strconv.Itoa(i), cow.Options[int]{})
		for _, d := range of {
			require.Equal(t, 0, table.In(d.Load()).Len())
			require.Equal(t, 1, first.In(d.Load()).Len())
		}
		for j, d := range of {
			put(d, table, j)
			for k, other := range of {
				v, ok := table.In(other.Load()).Get("a")
				require.Equal(t, k <= j, ok)
				if ok {
					require.Equal(t, k, v)
				}
			}
		}
		for _, d := range of {
			require.Panics(t, func() { cow.NewTable[string](d, table.Name(), cow.Options[int]{}) })
		}
	}
	for _, d := range of {
		require.Equal(t, uint64(4), d.Load().Version(), "versions go on from the snapshot's")
	}
}

func TestAStrangersSnapshotPanics(t *testing.T) {
	make2 := func() (*cow.DB, *cow.Table[string, int]) {
		db := new(cow.DB)
		table := cow.NewTable[string](db, "a", cow.Options[int]{})
		require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 1); return nil }))
		return db, table
	}
	db, table := make2()
	other, theirs := make2()
	fork := db.Fork(db.Load())
	for _, stranger := range []*cow.DB{other, other.Fork(other.Load())} {
		require.Panics(t, func() { db.Fork(stranger.Load()) })
		require.Panics(t, func() { fork.Fork(stranger.Load()) })
		require.Panics(t, func() { table.In(stranger.Load()) })
		require.Panics(t, func() { _, _ = db.Watch(t.Context(), stranger.Load(), table.OnAll()) })
		require.Panics(t, func() { _ = stranger.Update(func(tx *cow.Tx) error { table.Edit(tx); return nil }) })
		require.Panics(t, func() { _, _ = db.Merge(stranger.Load(), stranger.Load()) })
		require.Panics(t, func() { _, _ = db.Merge(nil, nil, theirs.Resolve(nil)) })
	}
	for _, d := range []*cow.DB{db, fork, other} { // and nothing is locked or changed
		require.Equal(t, uint64(1), d.Load().Version())
		require.NoError(t, d.Update(func(tx *cow.Tx) error { return nil }))
	}
}

func TestAForkMayBeUpdatedInsideAnUpdate(t *testing.T) {
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		l.set(t, 0, 1, 1)
		f := l.fork(l.load())
		require.NoError(t, l.update(func(edit func(int) *editor) error {
			edit(0).Set(1, []int{2, 2})
			f.set(t, 0, 1, 3)
			return nil
		}))
		v, _ := l.load().maps[0].Get(1)
		require.Equal(t, []int{2, 2}, v)
		v, _ = f.load().maps[0].Get(1)
		require.Equal(t, []int{3, 3}, v)
	})
}

func TestAForkTakesConstantTime(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	allocs := func(make func(*testing.T) *branch, n int) float64 {
		l := make(t)
		require.NoError(t, l.update(func(edit func(int) *editor) error {
			edit(l.tables - 1).SetAll(func(yield func(int, []int) bool) {
				for k := range n {
					if !yield(k, []int{k % 100, k % 100}) {
						return
					}
				}
			})
			return nil
		}))
		at := l.load()
		return allocations(func() { l.fork(at) })
	}
	for _, make := range []func(*testing.T) *branch{aloneBranch, twoBranch} {
		require.Equal(t, allocs(make, 1000), allocs(make, 100_000))
	}
}

func TestAForkHasTheIndexesOfItsSnapshot(t *testing.T) {
	calls := 0
	s := cow.NewOne[string](cow.Options[int]{})
	x, err := cow.NewMultiIndex(s.Table, "unique", func(r cow.Row[string, int], add func(int)) { calls++; add(r.Value()) }, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	for k := range 100 {
		s.Set(strconv.Itoa(k), k)
	}
	f := s.Fork(s.Load())
	g := f.Fork(f.Load())
	calls = 0
	require.ErrorIs(t, f.Update(func(e *cow.Editor[string, int]) error { e.Set("1000", 5); return nil }), cow.ErrExists)
	f.Set("5", -5)
	f.Set("1000", 5)
	require.Less(t, calls, 20, "a fork's indexes are not built anew")
	for _, c := range []struct {
		of  cow.One[string, int]
		key string
	}{{s, "5"}, {f, "1000"}, {g, "5"}} {
		row, ok := x.In(c.of.Load()).Get(5)
		require.True(t, ok)
		require.Equal(t, c.key, row.Key())
	}
	_, ok := x.In(s.Load()).Get(-5)
	require.False(t, ok)
}
