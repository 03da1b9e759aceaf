package cow_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// These tests hold that an update is all or nothing, and over when it is over:
// nothing of one that failed is seen, and nothing that an update function kept
// reaches what was published.

var errTest = errors.New("test")

func TestWhatAnUpdateFunctionKeptReachesNothing(t *testing.T) {
	forBoth(t, cow.Options[*node]{}, func(t *testing.T, s subject[*node]) {
		mine := []string{"mine"}
		var handle **node
		var stored *node
		s.do(t, func(e *cow.Editor[string, *node]) {
			e.Set("k", &node{name: "n"})
			require.NoError(t, e.Modify("k", func(v **node) error {
				(*v).tags = mine
				handle, stored = v, *v
				return nil
			}))
			mine[0] = "late, but inside the update"
		})
		mine[0] = "late"
		stored.name = "late"
		stored.tags[0] = "late"
		*handle = nil
		s.requireContent(t, 1, map[string]*node{"k": {name: "n", tags: []string{"mine"}}})
	})
}

// endings are the ways in which an update function can end without success.
var endings = map[string]func(){
	"error":  func() {},
	"panic":  func() { panic(errTest) },
	"Goexit": runtime.Goexit,
}

// fails runs an update of s whose function ends in one of those ways after f.
func fails[V any](t *testing.T, s subject[V], ending string, f func(e *cow.Editor[string, V])) {
	t.Helper()
	var err error
	var panicked any
	returned := false
	exits(func() {
		panicked = panicOf(func() {
			err = s.update(func(e *cow.Editor[string, V]) error {
				f(e)
				endings[ending]()
				return errTest
			})
			returned = true
		})
	})
	require.Equal(t, ending == "error", returned)
	if returned {
		require.Same(t, errTest, err)
	}
	if ending == "panic" {
		require.Same(t, errTest, panicked)
	}
}

func TestAFailedUpdatePublishesNothingAndFreesTheLock(t *testing.T) {
	for ending := range endings {
		t.Run(ending, func(t *testing.T) {
			forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
				noDeadlock(t)
				fails(t, s, ending, func(e *cow.Editor[string, []int]) { e.Set("first", []int{1}) })
				s.requireContent(t, 0, map[string][]int{})

				s.set(t, "a", []int{1})
				s.set(t, "b", []int{2})
				before := s.load()
				for range 3 {
					fails(t, s, ending, func(e *cow.Editor[string, []int]) {
						e.Set("c", []int{3})
						e.Delete("a")
						require.NoError(t, e.Modify("b", func(v *[]int) error { (*v)[0] = 99; return nil }))
					})
					fails(t, s, ending, func(e *cow.Editor[string, []int]) { e.Clear(); e.Set("a", nil) })
					require.Same(t, before, s.load())
					s.requireContent(t, 2, map[string][]int{"a": {1}, "b": {2}})
				}
				s.set(t, "c", []int{3})
				s.requireContent(t, 3, map[string][]int{"a": {1}, "b": {2}, "c": {3}})
			})
		})
	}
}

func TestAKeptEditorPanics(t *testing.T) {
	var b snapshot.Builder[string, int]
	const ended = "snapshot: Editor used after its update or transaction has ended: get another one in the next"
	uses := map[string]func(e *cow.Editor[string, int]){
		"Get":        func(e *cow.Editor[string, int]) { e.Get("a") },
		"Has":        func(e *cow.Editor[string, int]) { e.Has("a") },
		"Revision":   func(e *cow.Editor[string, int]) { e.Revision("a") },
		"Len":        func(e *cow.Editor[string, int]) { e.Len() },
		"All":        func(e *cow.Editor[string, int]) { drain(e.All()) },
		"Set":        func(e *cow.Editor[string, int]) { e.Set("a", 99) },
		"SetAll":     func(e *cow.Editor[string, int]) { e.SetAll(maps.All(map[string]int{"a": 99})) },
		"PutBulk":    func(e *cow.Editor[string, int]) { b.PutBulk(e, b.Bulk(e.Map())) },
		"PutBatches": func(e *cow.Editor[string, int]) { b.PutBatches(e, nil, nil) },
		"Insert":     func(e *cow.Editor[string, int]) { _ = e.Insert("new", 99) },
		"SetIf":      func(e *cow.Editor[string, int]) { _ = e.SetIf("a", 1, 99) },
		"Modify":     func(e *cow.Editor[string, int]) { _ = e.Modify("a", func(v *int) error { *v = 99; return nil }) },
		"Upsert": func(e *cow.Editor[string, int]) {
			_ = e.Upsert("a", func(v *int, _ bool) error { *v = 99; return nil })
		},
		"Delete":   func(e *cow.Editor[string, int]) { e.Delete("a") },
		"DeleteIf": func(e *cow.Editor[string, int]) { _ = e.DeleteIf("a", 1) },
		"Take":     func(e *cow.Editor[string, int]) { e.Take("a") },
		"Clear":    func(e *cow.Editor[string, int]) { e.Clear() },
		"Seal":     func(e *cow.Editor[string, int]) { e.Seal() },
	}
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		noDeadlock(t)
		var kept *cow.Editor[string, int]
		keep := func(e *cow.Editor[string, int]) { kept = e; e.Set("a", 1) }
		s.do(t, keep)
		requireEnded := func() {
			t.Helper()
			for name, use := range uses {
				require.Equal(t, ended, panicOf(func() { use(kept) }), name)
			}
			s.requireContent(t, 1, map[string]int{"a": 1})
		}
		requireEnded()
		for ending := range endings {
			fails(t, s, ending, keep)
			requireEnded()
		}
		// One that was not written to as well.
		s.do(t, func(e *cow.Editor[string, int]) { kept = e })
		requireEnded()
		// The iterator of one, and an Isolated, which is only a value.
		all := kept.All()
		require.Equal(t, ended, panicOf(func() { drain(all) }))
		// And one that is used while the next update runs.
		s.do(t, func(e *cow.Editor[string, int]) {
			for name, use := range uses {
				require.Equal(t, ended, panicOf(func() { use(kept) }), name)
			}
			require.Equal(t, 1, e.Len())
		})
		s.requireContent(t, 1, map[string]int{"a": 1})
	})
}

func TestAKeptTxPanics(t *testing.T) {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	b := cow.NewTable[string](db, "b", cow.Options[int]{})
	var kept *cow.Tx
	requireEnded := func() {
		t.Helper()
		require.Equal(t, "cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort", panicOf(func() { a.Edit(kept) }))
		require.Equal(t, "cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort", panicOf(func() { b.Edit(kept) }))
		require.Equal(t, "cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort", panicOf(func() { a.During(kept) }))
	}
	require.NoError(t, db.Update(func(tx *cow.Tx) error { kept = tx; a.Edit(tx).Set("k", 1); return nil }))
	requireEnded()
	require.Error(t, db.Update(func(tx *cow.Tx) error { kept = tx; a.Edit(tx).Set("k", 2); return errTest }))
	requireEnded()
	require.Panics(t, func() { _ = db.Update(func(tx *cow.Tx) error { kept = tx; panic(errTest) }) })
	requireEnded()
	require.NoError(t, db.Update(func(tx *cow.Tx) error { kept = tx; return nil }))
	requireEnded()
	require.Equal(t, uint64(1), db.Load().Version())
	require.Equal(t, uint64(2), kept.Version(), "which version it was to be may be asked")
}

// An Editor that somebody ends inside the update fails the update.
func TestSealInsideAnUpdatePublishesNothing(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		noDeadlock(t)
		require.Panics(t, func() {
			_ = s.update(func(e *cow.Editor[string, int]) error {
				e.Set("a", 1)
				e.Seal()
				return nil
			})
		})
		s.requireContent(t, 0, map[string]int{})
	})
}

func TestAFailedModifyLeavesTheEntryAndTheUpdateGoesOn(t *testing.T) {
	change := func(v *[]int) { (*v)[0] = 99; *v = nil }
	for _, how := range []string{"error", "panic"} {
		t.Run(how, func(t *testing.T) {
			// fail ends f's function for it, in that way.
			fail := func(f func(end func() error) error) {
				t.Helper()
				if how == "error" {
					require.Same(t, errTest, f(func() error { return errTest }))
				} else {
					require.Same(t, errTest, panicOf(func() { _ = f(func() error { panic(errTest) }) }))
				}
			}
			forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
				s.set(t, "a", []int{1})
				s.do(t, func(e *cow.Editor[string, []int]) {
					e.Set("b", []int{2})
					for _, key := range []string{"a", "b"} {
						rev := e.Revision(key)
						fail(func(end func() error) error {
							return e.Modify(key, func(v *[]int) error { change(v); return end() })
						})
						fail(func(end func() error) error {
							return e.Upsert(key, func(v *[]int, found bool) error {
								require.True(t, found)
								change(v)
								return end()
							})
						})
						require.Equal(t, rev, e.Revision(key))
					}
					fail(func(end func() error) error {
						return e.Upsert("c", func(v *[]int, found bool) error {
							require.False(t, found)
							*v = []int{}
							return end()
						})
					})
					require.False(t, e.Has("c"))
					e.Set("d", nil)
				})
				s.requireContent(t, 2, map[string][]int{"a": {1}, "b": {2}, "d": nil})
				require.Equal(t, uint64(1), s.load().Revision("a"))
			})
		})
	}
}

func TestAFunctionThatWritesItsOwnKeyIsRefused(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		s.set(t, "a", 1)
		s.do(t, func(e *cow.Editor[string, int]) {
			require.Error(t, e.Modify("a", func(v *int) error { e.Set("a", 2); *v = 3; return nil }))
			require.Error(t, e.Upsert("b", func(v *int, _ bool) error { e.Set("b", 2); *v = 3; return nil }))
			require.NoError(t, e.Modify("a", func(v *int) error { e.Set("c", 4); *v++; return nil }))
		})
		s.requireContent(t, 2, map[string]int{"a": 3, "b": 2, "c": 4})
	})
}

func TestReadsInsideAnUpdateSeeItsWrites(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		noDeadlock(t)
		s.do(t, func(e *cow.Editor[string, int]) {
			for i := range 100 {
				e.Set(fmt.Sprint(i), i)
			}
		})
		before := maps.Collect(s.load().All())
		s.do(t, func(e *cow.Editor[string, int]) {
			require.Equal(t, uint64(2), e.Version())
			e.Set("new", 1)
			v, ok := e.Get("new")
			require.True(t, ok)
			require.Equal(t, 1, v)
			require.Equal(t, uint64(snapshot.Pending), e.Revision("new"))
			require.Equal(t, uint64(1), e.Revision("7"))
			require.True(t, e.Delete("7"))
			require.False(t, e.Has("7"))
			require.Zero(t, e.Revision("7"))
			require.Equal(t, 100, e.Len())
			all := maps.Collect(e.All())
			require.Len(t, all, 100)
			require.NotContains(t, all, "7")
			require.Equal(t, 1, all["new"])

			// The store itself shows the version before, to anybody.
			require.Equal(t, before, maps.Collect(s.load().All()))
			require.Equal(t, uint64(1), s.version())
		})
		require.Equal(t, 100, s.load().Len())
	})
}

// What is written while an iteration runs is not seen by it, and no iteration
// changes under a write.
func TestAnUpdateMayWriteWhileItIterates(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		const n = 300
		want := map[string]int{}
		s.do(t, func(e *cow.Editor[string, int]) {
			for i := range n {
				e.Set(fmt.Sprint(i), i)
				want[fmt.Sprint(i)] = i
			}
			seen := map[string]int{}
			for k, v := range e.All() {
				require.NotContains(t, seen, k)
				seen[k] = v
				for other := range maps.Keys(want) {
					if _, ok := seen[other]; !ok {
						e.Set(other, -1) // still to come in this iteration
						break
					}
				}
				e.Delete(k)
				e.Set("new "+k, v)
			}
			require.Equal(t, want, seen)
			require.Equal(t, n, e.Len())
			for k := range e.All() {
				e.Clear()
				e.Set(k, 1)
			}
			require.Equal(t, 1, e.Len())
			e.Clear()
			e.SetAll(maps.All(want))
		})
		s.requireContent(t, 1, want)

		// With nothing written before the iteration as well.
		before := s.load()
		s.do(t, func(e *cow.Editor[string, int]) {
			for k := range e.All() {
				e.Delete(k)
			}
		})
		s.requireContent(t, 2, map[string]int{})
		require.Equal(t, want, maps.Collect(before.All()))
	})
}

func TestAnUpdateWithoutANetChangePublishesNothing(t *testing.T) {
	nothing := map[string]func(t *testing.T, e *cow.Editor[string, int]){
		"nothing": func(*testing.T, *cow.Editor[string, int]) {},
		"reads": func(_ *testing.T, e *cow.Editor[string, int]) {
			e.Get("a")
			drain(e.All())
		},
		"insert and delete": func(t *testing.T, e *cow.Editor[string, int]) {
			require.NoError(t, e.Insert("new", 1))
			require.True(t, e.Delete("new"))
		},
		"insert and take": func(t *testing.T, e *cow.Editor[string, int]) {
			e.Set("new", 1)
			_, ok := e.Take("new")
			require.True(t, ok)
		},
		"delete what is absent": func(t *testing.T, e *cow.Editor[string, int]) {
			require.False(t, e.Delete("absent"))
			_, ok := e.Take("absent")
			require.False(t, ok)
			require.NoError(t, e.DeleteIf("absent", 0))
		},
		"errors that the function passes over": func(t *testing.T, e *cow.Editor[string, int]) {
			require.ErrorIs(t, e.Modify("absent", func(*int) error { return nil }), cow.ErrNotFound)
			require.ErrorIs(t, e.SetIf("absent", 7, 1), cow.ErrRevision)
			require.ErrorIs(t, e.DeleteIf("absent", 7), cow.ErrRevision)
			require.ErrorIs(t, e.Upsert("absent", func(*int, bool) error { return errTest }), errTest)
		},
		"many inserted and deleted one by one": func(_ *testing.T, e *cow.Editor[string, int]) {
			for i := range 500 {
				e.Set(fmt.Sprint("new", i), i)
			}
			for i := range 500 {
				e.Delete(fmt.Sprint("new", i))
			}
		},
	}
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		for name, f := range nothing {
			s.do(t, func(e *cow.Editor[string, int]) { f(t, e) })
			require.Zero(t, s.version(), name)
		}
		for name, f := range map[string]func(e *cow.Editor[string, int]){
			"Clear of empty":    func(e *cow.Editor[string, int]) { e.Clear() },
			"insert and Clear":  func(e *cow.Editor[string, int]) { e.Set("new", 1); e.Clear() },
			"SetAll of nothing": func(e *cow.Editor[string, int]) { e.SetAll(maps.All(map[string]int{})) },
		} {
			s.do(t, f)
			require.Zero(t, s.version(), name)
		}
		s.do(t, func(e *cow.Editor[string, int]) { e.Set("a", 1); e.Set("b", 2) })
		before := s.load()
		for name, f := range nothing {
			s.do(t, func(e *cow.Editor[string, int]) { f(t, e) })
			require.Same(t, before, s.load(), name)
			s.requireContent(t, 1, map[string]int{"a": 1, "b": 2})
		}

		// To set an equal value is a change.
		s.set(t, "a", 1)
		require.Equal(t, uint64(2), s.version())
		s.do(t, func(e *cow.Editor[string, int]) { v, _ := e.Take("b"); e.Set("b", v) })
		require.Equal(t, uint64(3), s.version())
		require.Equal(t, uint64(3), s.load().Revision("b"))
		s.do(t, func(e *cow.Editor[string, int]) { e.Clear(); e.Set("a", 1); e.Set("b", 2) })
		require.Equal(t, uint64(4), s.version())
		s.do(t, func(e *cow.Editor[string, int]) { e.Set("new", 1); e.Delete("new"); e.Delete("a") })
		s.requireContent(t, 5, map[string]int{"b": 2})
	})
}

func TestIncrementsAreNotLost(t *testing.T) {
	const writers, each = 8, 500
	for name, increment := range map[string]func(e *cow.Editor[string, []int]) error{
		"Modify": func(e *cow.Editor[string, []int]) error {
			return e.Modify("n", func(v *[]int) error {
				n := (*v)[0]
				runtime.Gosched()
				(*v)[0] = n + 1
				return nil
			})
		},
		"Get and Set": func(e *cow.Editor[string, []int]) error {
			v, _ := e.Get("n")
			runtime.Gosched()
			e.Set("n", []int{v[0] + 1})
			return nil
		},
		"SetIf": func(e *cow.Editor[string, []int]) error {
			rev := e.Revision("n")
			v, _ := e.Get("n")
			runtime.Gosched()
			return e.SetIf("n", rev, []int{v[0] + 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
				noDeadlock(t)
				s.set(t, "n", []int{0})
				together(writers, func(int) {
					for range each {
						if err := s.update(increment); err != nil {
							t.Error(err)
						}
					}
				})
				s.requireContent(t, 1+writers*each, map[string][]int{"n": {writers * each}})
			})
		})
	}
}

func TestOneKeyVerbsAreOneStep(t *testing.T) {
	noDeadlock(t)
	const writers, each = 8, 500
	s := cow.NewOne[string](cow.Options[int]{})
	together(writers, func(i int) {
		for range each {
			switch i % 2 {
			case 0:
				_, _ = s.Upsert("n", func(v *int, _ bool) error {
					n := *v
					runtime.Gosched()
					*v = n + 1
					return nil
				})
			case 1:
				for {
					m := s.Load()
					v, _ := m.Get("n")
					if errOf(s.SetIf("n", m.Revision("n"), v+1)) == nil {
						break
					}
				}
			}
		}
	})
	n, _ := s.Get("n")
	require.Equal(t, writers*each, n)
	require.Equal(t, uint64(writers*each), s.Load().Version())
}
