package cow_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// An indexedSubject is a subject that can have indexes.
type indexedSubject[V any] struct {
	subject[V]
	of *cow.Table[string, V]
}

// forBothIndexed is forBoth with what indexes are added to.
func forBothIndexed[V any](t *testing.T, f func(t *testing.T, s indexedSubject[V])) {
	t.Helper()
	t.Run("alone", func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[V]{})
		f(t, indexedSubject[V]{subject[V]{update: s.Update, load: s.Load,
			version: func() uint64 { return s.Load().Version() }}, s.Table})
	})
	t.Run("Table", func(t *testing.T) {
		db := new(cow.DB)
		cow.NewTable[int](db, "another", cow.Options[[]int]{})
		table := cow.NewTable[string](db, "this", cow.Options[V]{})
		f(t, indexedSubject[V]{subject[V]{
			update: func(f func(e *cow.Editor[string, V]) error) error {
				return db.Update(func(tx *cow.Tx) error { return f(table.Edit(tx)) })
			},
			load:    func() *snapshot.Map[string, V] { return table.In(db.Load()) },
			version: func() uint64 { return db.Load().Version() },
		}, table})
	})
	t.Run("Tx", func(t *testing.T) {
		table := cow.New[string](cow.Options[V]{})
		db := table.DB()
		f(t, indexedSubject[V]{subject[V]{update: transact(db, table), load: table.Load,
			version: func() uint64 { return db.Load().Version() }}, table})
	})
}

// itself is a value as its own index key.
func itself[V any](r cow.Row[string, V], add func(V)) { add(r.Value()) }

// ofValue makes a function of rows of one of their values.
func ofValue[K comparable, V, I any](keys func(v V, add func(I))) func(cow.Row[K, V], func(I)) {
	return func(r cow.Row[K, V], add func(I)) { keys(r.Value(), add) }
}

// willing makes a function that can refuse rows of one that does not.
func willing[K comparable, V, I any](keys func(r cow.Row[K, V], add func(I))) func(cow.Row[K, V], func(I)) error {
	return func(r cow.Row[K, V], add func(I)) error { keys(r, add); return nil }
}

func mustIndex[I any](x I, err error) I {
	if err != nil {
		panic(err)
	}
	return x
}

// pairs is a range as text.
func pairs[V, I any](r cow.Range[string, V, I]) string {
	var all []string
	for i, row := range r.All() {
		all = append(all, fmt.Sprint(i, ":", row.Key()))
	}
	return strings.Join(all, " ")
}

// requireIndexError requires that an update failed for two rows under a key.
func requireIndexError(t *testing.T, err error, index string, key any) {
	t.Helper()
	var ie *cow.IndexError
	require.True(t, errors.As(err, &ie), "%v", err)
	name := cmp.Or(ie.Name, "cow") // that of a table without a name
	require.Regexp(t, `^cow(: table "\w+")?$`, name)
	require.Equal(t, cow.IndexError{Name: ie.Name, Index: index, Key: key}, *ie)
	require.ErrorIs(t, err, cow.ErrExists)
	require.EqualError(t, err, fmt.Sprintf("%s: index %q: two rows under %v", name, index, key))
}

func TestTwoRowsUnderOneKeyOfAUniqueIndexAreRefused(t *testing.T) {
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		byHash := mustIndex(cow.NewMultiIndex(s.of, "value", itself[int], cow.IndexOptions[string]{Unique: true}))
		byOrder := mustIndex(cow.NewIndexFunc(s.of, "func", willing(itself[int]), cow.IndexOptions[string]{Unique: true}, cmp.Compare[int]))
		want := map[string]int{"a": 1, "b": 2, "c": 3}
		s.do(t, func(e *cow.Editor[string, int]) {
			for k, v := range want {
				e.Set(k, v)
			}
		})
		holds := func(version uint64) {
			t.Helper()
			s.requireContent(t, version, want)
			for _, x := range []*cow.Index[string, int, int]{byHash, byOrder} {
				in := x.In(s.load())
				require.Equal(t, len(want), in.Len())
				for k, v := range want {
					row, ok := in.Get(v)
					require.True(t, ok)
					require.Equal(t, k, row.Key())
				}
				_, ok := in.Get(99)
				require.False(t, ok)
			}
		}
		holds(1)
		for name, f := range map[string]func(e *cow.Editor[string, int]){
			"a new row":       func(e *cow.Editor[string, int]) { e.Set("d", 2) },
			"a changed row":   func(e *cow.Editor[string, int]) { e.Set("a", 2) },
			"two that change": func(e *cow.Editor[string, int]) { e.Set("a", 2); e.Set("b", 2) },
			"three":           func(e *cow.Editor[string, int]) { e.Set("a", 2); e.Set("c", 2); e.Set("c", 2) },
			"seen before": func(e *cow.Editor[string, int]) {
				e.Set("a", 2)
				require.Equal(t, "2:a 2:b 3:c", pairs(byHash.During(e)))
				require.Equal(t, 2, byHash.During(e).Equal(2).Len())
				row, ok := byHash.During(e).Get(2)
				require.True(t, ok)
				require.Equal(t, "a", row.Key(), "of several the first")
				e.Delete("c")
			},
			"after a repair of another": func(e *cow.Editor[string, int]) {
				e.Set("a", 2)
				e.Set("c", 2)
				require.Equal(t, "2:a 2:b 2:c", pairs(byHash.During(e)))
				e.Set("a", 7)
				require.Equal(t, "2:b 2:c 7:a", pairs(byHash.During(e)))
			},
		} {
			err := s.update(func(e *cow.Editor[string, int]) error { f(e); return nil })
			require.Error(t, err, name)
			requireIndexError(t, err, "value", 2)
			holds(1)
		}
		version := uint64(1)
		for _, step := range []map[string]int{
			{"a": 2, "b": 1},         // a swap
			{"a": 1, "b": 3, "c": 2}, // three rotate
			{"a": 1},                 // the same again
			{"a": 9},
		} {
			s.do(t, func(e *cow.Editor[string, int]) {
				for k, v := range step {
					e.Set(k, v)
					want[k] = v
				}
			})
			version++
			holds(version)
		}
		// What is repaired before the function returns is no violation, whether
		// or not anybody looked.
		for _, looks := range []bool{true, false} {
			s.do(t, func(e *cow.Editor[string, int]) {
				for i, v := range []int{3, 2, 3, 30 + int(version)} {
					e.Set("a", v)
					if looks {
						require.Equal(t, 3, byHash.During(e).Len(), i)
						require.Equal(t, 3, byOrder.During(e).Len(), i)
					}
					want["a"] = v
				}
			})
			version++
			holds(version)
		}
		s.do(t, func(e *cow.Editor[string, int]) { // the one that was there goes
			e.Set("a", want["b"])
			require.Equal(t, 2, byHash.During(e).Equal(want["b"]).Len())
			e.Delete("b")
			row, ok := byHash.During(e).Get(want["b"])
			require.True(t, ok)
			require.Equal(t, "a", row.Key())
		})
		want["a"] = want["b"]
		delete(want, "b")
		holds(version + 1)
	})
}

func TestKeysOfAUniqueIndexThatAreEqualAndDiffer(t *testing.T) {
	// NaN is not equal to itself and 0 equals -0; what counts is the order.
	forBothIndexed(t, func(t *testing.T, s indexedSubject[good]) {
		x := mustIndex(cow.NewMultiIndex(s.of, "weight", func(r cow.Row[string, good], add func(float64)) { add(r.Value().Weight[0]) }, cow.IndexOptions[string]{Unique: true}))
		weighs := func(f float64) good { return good{Weight: []float64{f}} }
		nan := oddFloats[0]
		for _, f := range oddFloats[:3] {
			s.do(t, func(e *cow.Editor[string, good]) { e.Clear(); e.Set("a", weighs(f)) })
			require.Error(t, s.update(func(e *cow.Editor[string, good]) error { e.Set("b", weighs(f)); return nil }), f)
			require.Error(t, s.update(func(e *cow.Editor[string, good]) error { e.Set("b", weighs(f)); e.Set("a", weighs(f)); return nil }), f)
			row, ok := x.In(s.load()).Get(f)
			require.True(t, ok)
			require.Equal(t, "a", row.Key())
		}
		require.Error(t, s.update(func(e *cow.Editor[string, good]) error { e.Set("b", weighs(0)); return nil }))
		s.do(t, func(e *cow.Editor[string, good]) { e.Set("a", weighs(nan)); e.Set("b", weighs(0)) })
		s.do(t, func(e *cow.Editor[string, good]) { e.Set("b", weighs(nan)); e.Set("a", weighs(0)) })
		require.Equal(t, "NaN:b 0:a", pairs(x.In(s.load())))
	})
}

func TestAUniqueIndexThatTheRowsDoNotAllowLeavesNoTrace(t *testing.T) {
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		s.do(t, func(e *cow.Editor[string, int]) { e.Set("a", 1); e.Set("b", 1) })
		before := s.load()
		_, err := cow.NewMultiIndex(s.of, "value", itself[int], cow.IndexOptions[string]{Unique: true})
		requireIndexError(t, err, "value", 1)
		_, err = cow.NewIndexFunc(s.of, "func", willing(itself[int]), cow.IndexOptions[string]{Unique: true}, cmp.Compare[int])
		requireIndexError(t, err, "func", 1)
		require.Same(t, before, s.load())
		s.set(t, "c", 1)
		s.requireContent(t, 2, map[string]int{"a": 1, "b": 1, "c": 1})

		s.do(t, func(e *cow.Editor[string, int]) { e.Set("b", 2); e.Delete("c") })
		x := mustIndex(cow.NewMultiIndex(s.of, "value", itself[int], cow.IndexOptions[string]{Unique: true}))
		require.Equal(t, "value", x.Name())
		require.Equal(t, uint64(3), s.version(), "an index is no new version")
		require.Equal(t, "1:a 2:b", pairs(x.In(s.load())))
		require.Equal(t, "1:a 1:b", pairs(x.In(before)), "the past may break a rule that came later")
		row, ok := x.In(before).Get(1)
		require.True(t, ok)
		require.Equal(t, "a", row.Key())
	})
}

func TestAViolationInOneTableLeavesAll(t *testing.T) {
	var db cow.DB
	one := cow.NewTable[string](&db, "one", cow.Options[int]{})
	two := cow.NewTable[string](&db, "two", cow.Options[int]{})
	x := mustIndex(cow.NewMultiIndex(one, "x", itself[int], cow.IndexOptions[string]{}))
	y := mustIndex(cow.NewMultiIndex(two, "y", itself[int], cow.IndexOptions[string]{Unique: true}))
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		one.Edit(tx).Set("a", 1)
		two.Edit(tx).Set("a", 1)
		return nil
	}))
	before := db.Load()
	for _, order := range [][]*cow.Table[string, int]{{one, two}, {two, one}} {
		err := db.Update(func(tx *cow.Tx) error {
			for _, table := range order {
				table.Edit(tx).Set("b", 1)
			}
			return nil
		})
		requireIndexError(t, err, "y", 1)
		require.Same(t, before, db.Load())
	}
	require.NoError(t, db.Update(func(tx *cow.Tx) error { one.Edit(tx).Set("b", 1); two.Edit(tx).Set("b", 2); return nil }))
	require.Equal(t, "1:a 1:b", pairs(x.In(one.In(db.Load()))))
	require.Equal(t, "1:a 2:b", pairs(y.In(two.In(db.Load()))))
	require.Equal(t, uint64(2), db.Load().Version())
}

func TestAnIndexFunctionGetsAPrivateClone(t *testing.T) {
	tagged := func(tags ...int) good { return good{Tags: tags} }
	forBothIndexed(t, func(t *testing.T, s indexedSubject[good]) {
		spoiling := func(v good, add func(int)) {
			for i := range v.Tags {
				add(v.Tags[i])
				v.Tags[i] = -1
			}
		}
		s.set(t, "a", tagged(3, 4))
		x := mustIndex(cow.NewMultiIndex(s.of, "spoils", ofValue[string](spoiling), cow.IndexOptions[string]{}))
		s.set(t, "b", tagged(1, 4))
		s.do(t, func(e *cow.Editor[string, good]) {
			e.Set("c", tagged(5))
			require.Equal(t, "1:b 3:a 4:a 4:b 5:c", pairs(x.During(e)))
		})
		s.requireContent(t, 3, map[string]good{"a": tagged(3, 4), "b": tagged(1, 4), "c": tagged(5)})
		row, ok := x.In(s.load()).Get(4)
		require.True(t, ok)
		row.Value().Tags[0] = -1
		require.Equal(t, tagged(3, 4), row.Value(), "Value is isolated")
		require.Same(t, &row.Shared().Tags[0], &row.Shared().Tags[0], "Shared is not cloned")
		require.Equal(t, uint64(1), row.Revision())
	})
}

func TestAnIndexFunctionThatPanicsPublishesNothing(t *testing.T) {
	noDeadlock(t)
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		keys := func(v int, add func(int)) {
			if v < 0 {
				panic(errTest)
			}
			add(v)
		}
		x := mustIndex(cow.NewMultiIndex(s.of, "panics", ofValue[string](keys), cow.IndexOptions[string]{Unique: true}))
		s.set(t, "a", 1)
		require.Equal(t, errTest, panicOf(func() { s.set(t, "b", -1) }))
		require.Equal(t, errTest, panicOf(func() {
			_ = s.update(func(e *cow.Editor[string, int]) error { e.Set("b", -1); x.During(e); return nil })
		}))
		s.requireContent(t, 1, map[string]int{"a": 1})
		// An update may go on after it has seen one, and repair it.
		s.do(t, func(e *cow.Editor[string, int]) {
			e.Set("b", -1)
			require.Equal(t, errTest, panicOf(func() { x.During(e) }))
			e.Set("b", 2)
		})
		require.Equal(t, "1:a 2:b", pairs(x.In(s.load())))

		before := s.load()
		require.Equal(t, errTest, panicOf(func() {
			_, _ = cow.NewMultiIndex(s.of, "panics at once", func(cow.Row[string, int], func(int)) { panic(errTest) }, cow.IndexOptions[string]{})
		}))
		require.Same(t, before, s.load())
		s.set(t, "b", 3)
		require.Equal(t, "1:a 3:b", pairs(x.In(s.load())))
	})
}

func TestAnUpdateInsideAnIndexFunctionPanics(t *testing.T) {
	noDeadlock(t)
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		armed := false
		x := mustIndex(cow.NewMultiIndex(s.of, "updates", func(r cow.Row[string, int], add func(int)) {
			v := r.Value()
			if armed {
				_ = s.update(func(*cow.Editor[string, int]) error { return nil })
			}
			add(v)
		}, cow.IndexOptions[string]{}))
		armed = true
		requireNested(t, "an update", func() { s.set(t, "a", 1) })
		const made = `cow: index "in an update" made inside a transaction of the same DB: make it before that begins, or after it has ended`
		require.Equal(t, made, panicOf(func() {
			_ = s.update(func(*cow.Editor[string, int]) error {
				_, err := cow.NewMultiIndex(s.of, "in an update", itself[int], cow.IndexOptions[string]{})
				return err
			})
		}))
		armed = false
		s.requireContent(t, 0, map[string]int{})
		s.set(t, "a", 1)
		armed = true
		requireNested(t, "an update", func() {
			_, _ = cow.NewMultiIndex(s.of, "updates as well", func(cow.Row[string, int], func(int)) {
				_ = s.update(func(*cow.Editor[string, int]) error { return nil })
			}, cow.IndexOptions[string]{})
		})
		armed = false
		s.requireContent(t, 1, map[string]int{"a": 1})
		require.Equal(t, "1:a", pairs(x.In(s.load())))
	})
}

func TestDuringSeesEachWriteAndChangesNothing(t *testing.T) {
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		calls := 0
		x := mustIndex(cow.NewMultiIndex(s.of, "counts", func(r cow.Row[string, int], add func(int)) { calls++; add(r.Value()) }, cow.IndexOptions[string]{}))
		s.do(t, func(e *cow.Editor[string, int]) {
			for i := range 500 {
				e.Set(fmt.Sprint(i), i)
			}
		})
		before := s.load()
		s.do(t, func(e *cow.Editor[string, int]) { require.Equal(t, 500, x.During(e).Len()) })
		require.Same(t, before, s.load(), "to look is no change")

		calls = 0
		s.do(t, func(e *cow.Editor[string, int]) {
			for i := range 200 {
				e.Set(fmt.Sprint(i), 1000+i)
				require.Equal(t, 500-i-1, x.During(e).To(1000).Len())
			}
		})
		require.LessOrEqual(t, calls, 3*2*200, "each time only what was written since counts")
		require.Equal(t, 300, x.In(s.load()).To(1000).Len())
		calls = 0
		require.Equal(t, 500, x.In(s.load()).Len())
		require.Zero(t, calls, "a published snapshot has its index")
	})
}

func TestIndexedVersionsAreLetGo(t *testing.T) {
	// What an index remembers must not keep every version alive.
	s := cow.NewOne[string](cow.Options[int]{})
	x := mustIndex(cow.NewMultiIndex(s.Table, "value", itself[int], cow.IndexOptions[string]{}))
	var old []weak.Pointer[snapshot.Map[string, int]]
	for i := range 20 {
		require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
			e.Set(fmt.Sprint(i%3), i)
			require.Equal(t, e.Len(), x.During(e).Len())
			if i%2 == 0 {
				e.Set("another", i)
			}
			return nil
		}))
		old = append(old, weak.Make(s.Load()))
	}
	current := s.Load()
	runtime.GC()
	runtime.GC()
	kept := 0
	for _, p := range old[:15] {
		if p.Value() != nil {
			kept++
		}
	}
	require.LessOrEqual(t, kept, 2)
	runtime.KeepAlive(current)
}

// Neither do what dropped indexes had, and what During finds in a table without the index.
func TestWhatAnIndexHadIsLetGo(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	require.NoError(t, errOf(s.Set("a", 1)))
	x := mustIndex(cow.NewMultiIndex(s.Table, "value", itself[int], cow.IndexOptions[string]{}))
	x.Drop(s.Table)
	dropped := weak.Make(s.Load())
	var during weak.Pointer[snapshot.Map[string, int]]
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		require.Equal(t, 1, x.During(e).Len())
		during = weak.Make(e.Map())
		e.Set("b", 2)
		return nil
	}))
	require.NoError(t, s.Replace(maps.All(map[string]int{"c": 3})))
	require.NoError(t, errOf(s.Set("d", 4)))
	runtime.GC()
	runtime.GC()
	require.Nil(t, dropped.Value())
	require.Nil(t, during.Value())
	runtime.KeepAlive(s)
}

func TestEverySnapshotHasTheIndexOfItsRows(t *testing.T) {
	forBothIndexed(t, func(t *testing.T, s indexedSubject[int]) {
		const rows, places, moves = 40, 5, 300
		x := mustIndex(cow.NewMultiIndex(s.of, "place", func(r cow.Row[string, int], add func(int)) { add(r.Value() % places) }, cow.IndexOptions[string]{}))
		y := mustIndex(cow.NewMultiIndex(s.of, "serial", itself[int], cow.IndexOptions[string]{Unique: true}))
		s.do(t, func(e *cow.Editor[string, int]) {
			for i := range rows {
				e.Set(fmt.Sprint(i), i)
			}
		})
		check := func(m *snapshot.Map[string, int]) (wrong string) {
			if n := x.In(m).Len(); n != rows {
				return fmt.Sprint(n, " rows in the index")
			}
			seen := make(map[string]bool)
			for place, row := range x.In(m).All() {
				same, ok := m.Row(row.Key())
				if !ok || same != row || row.Value()%places != place || seen[row.Key()] {
					return fmt.Sprint("row ", row.Key(), " is wrong under ", place)
				}
				seen[row.Key()] = true
				if other, ok := y.In(m).Get(row.Value()); !ok || other != row {
					return fmt.Sprint("row ", row.Key(), " is wrong in the other index")
				}
			}
			return ""
		}
		var mu sync.Mutex
		var wrong []string
		done := make(chan struct{})
		together(4, func(g int) {
			if g == 0 {
				defer close(done)
				for i := range moves {
					_ = s.update(func(e *cow.Editor[string, int]) error {
						for j := range 3 {
							key := fmt.Sprint((i*7 + j*11) % rows)
							e.Set(key, (i+1)*rows*3+j*rows)
							if i%4 == 0 {
								x.During(e).Len()
							}
						}
						if i%5 == 0 {
							return errTest
						}
						return nil
					})
				}
				return
			}
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true
				default:
				}
				if w := check(s.load()); w != "" {
					mu.Lock()
					wrong = append(wrong, w)
					mu.Unlock()
					return
				}
			}
		})
		require.Empty(t, wrong)
		require.Equal(t, uint64(1+moves-moves/5), s.version())
		require.Empty(t, check(s.load()))
		require.True(t, slices.IsSorted(slices.Collect(func(yield func(int) bool) {
			for i := range x.In(s.load()).All() {
				if !yield(i) {
					return
				}
			}
		})))
	})
}
