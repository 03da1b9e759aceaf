package cow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// What a test's resolver does about a key.
const (
	keepOurs = iota
	keepTheirs
	keepBase // or remove the key, where there was none
	keepNew
	remove
	ways
)

var errResolver = errors.New("not resolved")

// expectMerge returns what a merge of theirs must make of ours, which keys are
// in conflict, and whether anything changes. The conflict of key k is resolved
// in the way k%ways.
func expectMerge(base, ours, theirs branchModel, version uint64) (want branchModel, conflicts []map[int]bool, changed bool) {
	want = ours.clone()
	for table := range base {
		conflicts = append(conflicts, map[int]bool{})
		keys := map[int]bool{}
		for k := range base[table] {
			keys[k] = true
		}
		for k := range theirs[table] {
			keys[k] = true
		}
		for k := range keys {
			b, o, th := base[table][k], ours[table][k], theirs[table][k]
			var c branchCell
			var keep bool
			switch {
			case th.write == b.write || th.write == o.write:
				continue
			case o.write == b.write:
				c, keep = th, th.write != 0
			default:
				conflicts[table][k] = true
				writes++
				switch k % ways {
				case keepOurs:
					c, keep = o, o.write != 0
				case keepTheirs:
					c, keep = th, th.write != 0
				case keepBase:
					c, keep = b, b.write != 0
				case keepNew:
					c, keep = branchCell{n: 1000 + k}, true
				}
				c.write = writes
			}
			switch {
			case keep:
				c.rev = version + 1
				want[table][k] = c
				changed = true
			case o.write != 0:
				delete(want[table], k)
				changed = true
			}
		}
	}
	return want, conflicts, changed
}

// resolving returns resolvers that check what they are told, do what expectMerge
// expects, and spoil all that they were given, and later, all they returned.
func resolving(t *testing.T, base, ours, theirs branchModel, conflicts []map[int]bool) (all []resolver, spoil func()) {
	var given [][]int
	for table := range base {
		left := conflicts[table]
		all = append(all, func(c conflict) ([]int, bool, error) {
			require.True(t, left[c.Key], "key %d is no conflict, or one that was resolved", c.Key)
			delete(left, c.Key)
			var is [3][]int
			var there [3]bool
			for range 2 { // the second time is after the first was spoiled
				for i, side := range []struct {
					get func() ([]int, bool)
					of  branchModel
				}{keepOurs: {c.Ours, ours}, keepTheirs: {c.Theirs, theirs}, keepBase: {c.Base, base}} {
					v, ok := side.get()
					want, found := side.of[table][c.Key]
					require.Equal(t, found, ok)
					if ok {
						require.Equal(t, []int{want.n, want.n}, v)
						is[i], there[i] = []int{v[0], v[1]}, true
						v[0], v[1] = -1, -2
					}
				}
			}
			var v []int
			keep := false
			switch way := c.Key % ways; way {
			case keepNew:
				v, keep = []int{1000 + c.Key, 1000 + c.Key}, true
			case remove:
				v = []int{-3, -3}
			default:
				v, keep = is[way], there[way]
			}
			given = append(given, v)
			return v, keep, nil
		})
	}
	return all, func() {
		for _, v := range given {
			clear(v)
		}
	}
}

// mergeInto merges theirs into l with every sort of resolver, and requires what
// the model says. It returns the base for the next merge.
func (l *tracked) mergeInto(t *testing.T, base branchMoment, baseModel branchModel, from *tracked) (next branchMoment) {
	t.Helper()
	theirs := from.load()
	want, conflicts, changed := expectMerge(baseModel, l.branchModel, from.branchModel, l.version)
	n := 0
	expected := map[string]bool{}
	for table := range conflicts {
		n += len(conflicts[table])
		for k := range conflicts[table] {
			expected[fmt.Sprintf("%s: %d: changed on both sides", tableNames[l.tables][table], k)] = true
		}
	}
	if n > 0 {
		// None resolves: all conflicts are listed.
		_, err := l.merge(base, theirs)
		require.ErrorIs(t, err, cow.ErrConflict)
		listed := map[string]bool{}
		for _, c := range conflictsOf(t, err) {
			listed[c.Error()] = true
		}
		require.Equal(t, expected, listed)
		require.Len(t, conflictsOf(t, err), n)
		// One fails, or panics, at the last conflict it meets: nothing is published.
		for _, fails := range []bool{true, false} {
			all, _ := resolving(t, baseModel, l.branchModel, from.branchModel, cloneSets(conflicts))
			left := n
			for i, resolve := range all {
				all[i] = func(c conflict) ([]int, bool, error) {
					if left--; left == 0 && fails {
						return nil, true, errResolver
					} else if left == 0 {
						panic(errResolver)
					}
					return resolve(c)
				}
			}
			if fails {
				_, err := l.merge(base, theirs, all...)
				require.ErrorIs(t, err, errResolver)
			} else {
				require.Equal(t, errResolver, panicOf(func() { _, _ = l.merge(base, theirs, all...) }))
			}
		}
		require.Equal(t, l.version, l.load().version)
		require.NoError(t, l.update(func(func(int) *editor) error { return nil }), "the writer's place is free")
		l.branchModel.check(t, l.branch, l.load())
	}
	before, beforeModel := l.load(), l.branchModel
	all, spoil := resolving(t, baseModel, l.branchModel, from.branchModel, conflicts)
	next, err := l.merge(base, theirs, all...)
	require.NoError(t, err)
	for _, left := range conflicts {
		require.Empty(t, left, "conflicts that nobody was asked about")
	}
	spoil()
	l.branchModel = want
	if changed {
		l.version++
	}
	require.Equal(t, l.version, l.load().version, "one version a merge, none if nothing changes")
	l.branchModel.check(t, l.branch, l.load())
	beforeModel.check(t, l.branch, before)
	baseModel.check(t, l.branch, base)
	from.branchModel.check(t, from.branch, from.load())
	return next
}

var tableNames = map[int][]string{1: {"cow"}, 2: {`cow: table "this"`, `cow: table "that"`}}

// conflictsOf returns the errors that a merge returned, one for each conflict.
func conflictsOf(t *testing.T, err error) []error {
	t.Helper()
	require.ErrorIs(t, err, cow.ErrConflict)
	all, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	return all.Unwrap()
}

func cloneSets(sets []map[int]bool) (c []map[int]bool) {
	for _, set := range sets {
		one := map[int]bool{}
		for k := range set {
			one[k] = true
		}
		c = append(c, one)
	}
	return c
}

func TestAMergeMakesTheirChangesHere(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		r := rand.New(rand.NewPCG(3, 4))
		origin := track(l)
		for range 60 {
			keys := 10 + r.IntN(50)
			for range r.IntN(8) {
				origin.edit(t, r, keys)
			}
			base, baseModel := origin.load(), origin.branchModel
			fork := origin.forkAt(base, baseModel)
			for range r.IntN(8) {
				origin.edit(t, r, keys)
			}
			for range r.IntN(8) {
				fork.edit(t, r, keys)
			}
			into, from := origin, fork
			if r.IntN(2) == 0 {
				into, from = fork, origin
			}
			into.mergeInto(t, base, baseModel, from)
		}
	})
}

func TestMergesOfOneForkGoOn(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		r := rand.New(rand.NewPCG(5, 6))
		origin := track(l)
		for range 10 {
			origin.edit(t, r, 30)
		}
		base, baseModel := origin.load(), origin.branchModel
		fork := origin.forkAt(base, baseModel)
		for range 60 {
			for range r.IntN(4) {
				origin.edit(t, r, 30)
			}
			for range r.IntN(4) {
				fork.edit(t, r, 30)
			}
			base, baseModel = origin.mergeInto(t, base, baseModel, fork), fork.branchModel
		}
	})
}

func TestMergesGoOnInBothDirections(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		r := rand.New(rand.NewPCG(7, 8))
		origin := track(l)
		for range 10 {
			origin.edit(t, r, 30)
		}
		base, baseModel := origin.load(), origin.branchModel
		fork := origin.forkAt(base, baseModel)
		for range 60 {
			for range r.IntN(4) {
				origin.edit(t, r, 30)
			}
			for range r.IntN(4) {
				fork.edit(t, r, 30)
			}
			into, from := origin, fork
			if r.IntN(2) == 0 {
				into, from = fork, origin
			}
			base, baseModel = into.mergeInto(t, base, baseModel, from), from.branchModel
		}
	})
}

func TestAKeyThatAMergeBroughtIsNoConflictNextTime(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		base := l.load()
		f := l.fork(base)
		var err error
		for n := range 30 {
			f.set(t, 0, 1, n)
			base, err = l.merge(base, f.load())
			require.NoError(t, err, "merge %d", n)
			v, _ := l.load().maps[0].Get(1)
			require.Equal(t, []int{n, n}, v)
		}
	})
}

func TestKeysRemovedOnBothSidesAreNoConflict(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		l.set(t, 0, 1, 1)
		l.set(t, 0, 2, 2)
		base := l.load()
		f := l.fork(base)
		f.delete(t, 0, 1)
		l.delete(t, 0, 1)
		next, err := l.merge(base, f.load(), func(c conflict) ([]int, bool, error) {
			t.Errorf("asked about key %d, which both removed", c.Key)
			return nil, false, nil
		})
		require.NoError(t, err)
		require.Equal(t, uint64(3), l.load().version, "nothing to change")
		l.set(t, 0, 1, 3)
		_, err = f.merge(base, l.load())
		require.ErrorIs(t, err, cow.ErrConflict, "base is older than the last merge")
		_, err = f.merge(next, l.load())
		require.NoError(t, err, "only one side has it again")
		require.True(t, f.load().maps[0].Has(1))
		f.delete(t, 0, 2)
		l.set(t, 0, 2, 2)
		_, err = l.merge(base, f.load())
		require.ErrorIs(t, err, cow.ErrConflict)
	})
}

func TestAMergeOfNoChangesPublishesNothing(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		for range 2 { // of nothing, then of something
			base := l.load()
			f := l.fork(base)
			f.set(t, 0, 7, 7)
			f.delete(t, 0, 7)
			next, err := l.merge(base, f.load())
			require.NoError(t, err)
			require.Equal(t, f.load().version, next.version)
			require.Equal(t, base.version, l.load().version)
			l.set(t, 0, 1, 1)
		}
	})
}

func TestAMergeOnlyAsksTheResolverOfTheTable(t *testing.T) {
	l := twoBranch(t)
	base := l.load()
	f := l.fork(base)
	for table := range 2 {
		for k := range 3 {
			l.set(t, table, k, 1)
			f.set(t, table, k, 2)
		}
	}
	version := l.load().version
	_, err := l.merge(base, f.load(), nil, func(c conflict) ([]int, bool, error) {
		v, ok := c.Theirs()
		return v, ok, nil
	})
	var keys []int
	for _, err := range conflictsOf(t, err) {
		var of *cow.KeyError[int]
		require.ErrorAs(t, err, &of)
		require.Equal(t, `cow: table "this"`, of.Name)
		keys = append(keys, of.Key)
	}
	require.ElementsMatch(t, []int{0, 1, 2}, keys)
	require.Equal(t, version, l.load().version)
	v, _ := l.load().maps[1].Get(0)
	require.Equal(t, []int{1, 1}, v, "the other table is as it was")
}

// What a resolver returns ends the merge, and be it what another merge failed with.
func TestAnErrorOfAResolverEndsTheMerge(t *testing.T) {
	var db cow.DB
	first, second := cow.NewTable[string](&db, "first", cow.Options[int]{}), cow.NewTable[string](&db, "second", cow.Options[int]{})
	fork := db.Fork(nil)
	for i, d := range []*cow.DB{&db, fork} {
		for _, table := range []*cow.Table[string, int]{first, second} {
			require.NoError(t, errOf(table.Of(d).Set("a", i)))
		}
	}
	_, of := db.Merge(nil, fork.Load())
	require.Len(t, conflictsOf(t, of), 2)
	_, err := db.Merge(nil, fork.Load(),
		first.Resolve(func(cow.Conflict[string, int]) (int, bool, error) { return 0, false, of }),
		second.Resolve(func(cow.Conflict[string, int]) (int, bool, error) { panic("asked") }))
	require.ErrorIs(t, err, of)
}

func TestAMergeOfAnotherDBPanics(t *testing.T) {
	var db cow.DB
	other := cow.New[string](cow.Options[int]{})
	require.NoError(t, errOf(other.Set("a", 1)))
	const message = "cow: Merge of a snapshot of another DB: it must be of the DB's own, or of a fork"
	require.Equal(t, message, panicOf(func() { _, _ = db.Merge(nil, other.DB().Load()) }))
	require.Equal(t, message, panicOf(func() { _, _ = db.Merge(other.DB().Load(), nil) }))
}

func TestAMergeErrorNamesAFewKeys(t *testing.T) {
	s := cow.NewOne[int](cow.Options[[]int]{})
	base := s.Load()
	f := s.Fork(base)
	for k := range 7 {
		require.NoError(t, errOf(s.Set(k, nil)))
		require.NoError(t, errOf(f.Set(k, nil)))
	}
	_, err := s.Merge(base, f.Load(), nil)
	require.Len(t, conflictsOf(t, err), 7)
	require.Regexp(t, `^(cow: \d: changed on both sides; ){5}and 2 more$`, err.Error())
}

func TestAMergeThatBreaksAUniqueIndexFailsWhole(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	x, err := cow.NewMultiIndex(s.Table, "unique", func(r cow.Row[string, int], add func(int)) { add(r.Value()) }, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	s.Set("a", 10)
	s.Set("b", 20)
	base := s.Load()
	f := s.Fork(base)
	f.Set("c", 30)
	f.Set("d", 40)
	s.Set("e", 40)
	before := s.Load()
	_, err = s.Merge(base, f.Load(), nil)
	require.ErrorIs(t, err, cow.ErrExists)
	var e *cow.IndexError
	require.ErrorAs(t, err, &e)
	require.Equal(t, 40, e.Key)
	require.Same(t, before, s.Load())
	f.Delete("d")
	// Two rows may swap.
	f.Set("a", -1)
	f.Set("b", 10)
	f.Set("a", 20)
	_, err = s.Merge(base, f.Load(), nil)
	require.NoError(t, err)
	for number, key := range map[int]string{10: "b", 20: "a", 30: "c", 40: "e"} {
		row, ok := x.In(s.Load()).Get(number)
		require.True(t, ok)
		require.Equal(t, key, row.Key())
	}
	require.Equal(t, 4, x.In(s.Load()).Len())
}

func TestAMergedRowIsNobodysToModify(t *testing.T) {
	forBranches(t, func(t *testing.T, l *branch) {
		base := l.load()
		f := l.fork(base)
		f.set(t, 0, 1, 1)
		_, err := l.merge(base, f.load())
		require.NoError(t, err)
		for _, o := range []*branch{l, f} {
			v, _ := o.load().maps[0].Get(1)
			v[0] = 9
			for _, v := range o.load().maps[0].All() {
				v[1] = 9
			}
			require.ErrorIs(t, o.update(func(edit func(int) *editor) error {
				v, _ := edit(0).Get(1)
				v[0] = 9
				return edit(0).Modify(1, func(v *[]int) error { (*v)[0] = 9; return errResolver })
			}), errResolver)
			for _, o := range []*branch{l, f} {
				v, _ := o.load().maps[0].Get(1)
				require.Equal(t, []int{1, 1}, v)
			}
		}
		require.NoError(t, f.update(func(edit func(int) *editor) error {
			return edit(0).Modify(1, func(v *[]int) error { (*v)[0] = 2; return nil })
		}))
		v, _ := l.load().maps[0].Get(1)
		require.Equal(t, []int{1, 1}, v)
		v, _ = f.load().maps[0].Get(1)
		require.Equal(t, []int{2, 1}, v)
	})
}

func TestAMergeInsideAnUpdatePanics(t *testing.T) {
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		base := l.load()
		f := l.fork(base)
		f.set(t, 0, 1, 1)
		requireNested(t, "an update", func() {
			_ = l.update(func(func(int) *editor) error {
				_, _ = l.merge(base, f.load())
				return nil
			})
		})
		_, err := l.merge(base, f.load())
		require.NoError(t, err)
	})
}

func TestAMergeOfAStrangerPanicsAndChangesNothing(t *testing.T) {
	const message = "snapshot: Merge of a map with other Options: merge what was derived from the same map"
	s := cow.NewOne[string](cow.Options[[]int]{})
	s.Set("k", []int{1})
	shared := cow.NewOne[string](cow.Options[[]int]{Immutable: true})
	base := shared.Load()
	shared.Set("k", []int{9})
	resolve := func(c conflictOf) ([]int, bool, error) {
		t.Error("asked")
		return nil, false, errResolver
	}
	for _, resolve := range []func(conflictOf) ([]int, bool, error){nil, resolve} {
		require.Equal(t, message, panicOf(func() { _, _ = s.Merge(base, shared.Load(), resolve) }))
		require.Equal(t, message, panicOf(func() { _, _ = s.Merge(shared.Load(), base, resolve) }), "a removal")
		require.Equal(t, message, panicOf(func() { _, _ = shared.Merge(s.Load(), shared.Load(), resolve) }))
	}
	require.Equal(t, uint64(1), s.Load().Version())
	v, _ := s.Get("k")
	require.Equal(t, []int{1}, v)
	s.Set("k", []int{2}) // the writer's place is free
}

type conflictOf = cow.Conflict[string, []int]
