package cow_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// These tests hold who waits for whom: readers for nobody, updates for one
// another, and an update that would wait for itself for nothing, as it panics.

func TestAReaderNeverWaits(t *testing.T) {
	forBoth(t, cow.Options[[]int]{}, func(t *testing.T, s subject[[]int]) {
		noDeadlock(t)
		s.set(t, "a", []int{1})
		s.do(t, func(e *cow.Editor[string, []int]) {
			e.Set("a", []int{2})
			done := make(chan struct{})
			go func() {
				defer close(done)
				m := s.load()
				v, _ := m.Get("a")
				w, _ := m.Shared().Get("a")
				if v[0] != 1 || w[0] != 1 || len(maps.Collect(m.All())) != 1 || m.Len() != 1 || m.Revision("a") != 1 {
					t.Error("a reader saw an unpublished write")
				}
				if version, err := s.wait(t.Context(), 0); version != 1 || err != nil {
					t.Error("Wait for a version that is there")
				}
			}()
			requireClosed(t, done, "a reader waited for an update")
		})
	})
	t.Run("Table.Get, and the DB's", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[int]{})
		s.Set("a", 1)
		s.Set("b", 1)
		require.NoError(t, s.Update(func(*cow.Editor[string, int]) error {
			done := make(chan struct{})
			go func() { defer close(done); s.Get("a") }()
			requireClosed(t, done, "Get waited for an update")
			return nil
		}))
	})
}

// A Delete that begins while an update runs takes effect after it, whatever
// the update did to the key.
func TestAnUpdateOfAnotherGoroutineQueues(t *testing.T) {
	forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
		noDeadlock(t)
		s.set(t, "a", 1)
		deleted := make(chan struct{})
		found := false
		s.do(t, func(e *cow.Editor[string, int]) {
			go func() {
				defer close(deleted)
				_ = s.update(func(e *cow.Editor[string, int]) error { found = e.Delete("a"); return nil })
			}()
			requireOpen(t, deleted, "the Delete did not wait")
			require.NoError(t, e.Modify("a", func(v *int) error { *v++; return nil }))
			requireOpen(t, deleted, "the Delete did not wait")
			require.Equal(t, 1, s.load().Len())
		})
		requireClosed(t, deleted, "the Delete is still waiting")
		require.True(t, found)
		s.requireContent(t, 3, map[string]int{})
	})
	t.Run("one-key verbs", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[int]{})
		s.Set("a", 1)
		deleted := make(chan struct{})
		require.NoError(t, errOf(s.Modify("a", func(v *int) error {
			go func() {
				defer close(deleted)
				if !hasDeleted(s.Delete("a")) {
					t.Error("nothing to delete")
				}
			}()
			requireOpen(t, deleted, "the Delete did not wait")
			*v++
			return nil
		})))
		requireClosed(t, deleted, "the Delete is still waiting")
		require.Zero(t, s.Load().Len())
		require.Equal(t, uint64(3), s.Load().Version())
	})
}

func TestATableIsAddedAtAnyTime(t *testing.T) {
	noDeadlock(t)
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		a.Edit(tx).Set("k", 1)
		require.Equal(t, `cow: table "b" made inside a transaction of the same DB: make it before that begins, or after it has ended`,
			panicOf(func() { cow.NewTable[string](db, "b", cow.Options[int]{}) }))
		made := make(chan *cow.Table[string, int])
		go func() { made <- cow.NewTable[string](db, "b", cow.Options[int]{}) }()
		b := <-made // NewTable does not wait for an update
		b.Edit(tx).Set("k", 2)
		require.Zero(t, b.In(db.Load()).Len())
		return nil
	}))
	require.PanicsWithValue(t, `cow: the DB has a table "b" already: make each table once and keep it`,
		func() { cow.NewTable[string](db, "b", cow.Options[int]{}) })
	require.Equal(t, map[string]int{"k": 1}, maps.Collect(a.In(db.Load()).All()))
	require.Equal(t, 2, db.Load().Len())
}

// verbs are all ways to update a table.
var verbs = map[string]func(s cow.One[string, int]){
	"Set":    func(s cow.One[string, int]) { s.Set("a", 99) },
	"Insert": func(s cow.One[string, int]) { _, _ = s.Insert("a", 99) },
	"SetIf":  func(s cow.One[string, int]) { _, _ = s.SetIf("a", 0, 99) },
	"Modify": func(s cow.One[string, int]) { _, _ = s.Modify("a", func(v *int) error { *v = 99; return nil }) },
	"Upsert": func(s cow.One[string, int]) {
		_, _ = s.Upsert("a", func(v *int, _ bool) error { *v = 99; return nil })
	},
	"Delete":   func(s cow.One[string, int]) { s.Delete("a") },
	"DeleteIf": func(s cow.One[string, int]) { _, _ = s.DeleteIf("a", 0) },
	"Take":     func(s cow.One[string, int]) { s.Take("a") },
	"Replace":  func(s cow.One[string, int]) { s.Replace(maps.All(map[string]int{"a": 99})) },
	"Update":   func(s cow.One[string, int]) { _ = s.Update(func(*cow.Editor[string, int]) error { return nil }) },
}

func TestAnUpdateInsideAnUpdatePanics(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		noDeadlock(t)
		for _, s := range []cow.One[string, int]{cow.NewOne[string](cow.Options[int]{}), cow.NewOne[string](cow.Options[int]{})} {
			for outer, update := range map[string]func(f func()) error{
				"Update": func(f func()) error {
					return s.Update(func(e *cow.Editor[string, int]) error { f(); e.Set("a", 1); return nil })
				},
				"Modify": func(f func()) error {
					s.Set("a", 1)
					return errOf(s.Modify("a", func(*int) error { f(); return nil }))
				},
				"Upsert": func(f func()) error {
					return errOf(s.Upsert("a", func(v *int, _ bool) error { f(); *v = 1; return nil }))
				},
			} {
				t.Run(outer, func(t *testing.T) {
					require.NoError(t, update(func() {
						for _, verb := range verbs {
							requireNested(t, "an update", func() { verb(s) })
						}
						requireNested(t, "a Wait", func() { _, _ = s.Wait(context.Background(), s.Load().Version()) })
						if version := s.Load().Version(); version > 0 {
							m, err := s.Wait(context.Background(), version-1) // is there already
							require.NoError(t, err)
							require.Equal(t, version, m.Version())
						}
					}))
					require.Equal(t, map[string]int{"a": 1}, maps.Collect(s.Load().All()))
				})
				s.Set("a", 1) // the lock is free
			}
		}
	})
	t.Run("DB", func(t *testing.T) {
		noDeadlock(t)
		db := new(cow.DB)
		table := cow.NewTable[string](db, "a", cow.Options[int]{})
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			requireNested(t, "an update", func() { _ = db.Update(func(*cow.Tx) error { return nil }) })
			requireNested(t, "Retain", func() { db.Retain(cow.Retention{Versions: 1}) })
			requireNested(t, "a Watch", func() { _, _ = db.Watch(context.Background(), db.Load()) })
			requireNested(t, "a Wait", func() { _, _ = db.Wait(context.Background(), 0) })
			table.Edit(tx).Set("k", 1)
			return nil
		}))
		require.Equal(t, map[string]int{"k": 1}, maps.Collect(table.In(db.Load()).All()))
		b := cow.NewTable[string](db, "b", cow.Options[int]{})
		require.Zero(t, b.In(db.Load()).Len())
	})
	t.Run("not recovered", func(t *testing.T) {
		forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
			noDeadlock(t)
			requireNested(t, "an update", func() {
				_ = s.update(func(e *cow.Editor[string, int]) error {
					e.Set("a", 1)
					return s.update(func(e *cow.Editor[string, int]) error { return nil })
				})
			})
			s.requireContent(t, 0, map[string]int{})
		})
	})
}

// It panics as well when the update inside is far from the one outside.
func TestAnUpdateFarInsideAnUpdatePanics(t *testing.T) {
	var deep func(n int, f func())
	deep = func(n int, f func()) {
		if n == 0 {
			f()
			return
		}
		deep(n-1, f)
	}
	other := cow.NewOne[string](cow.Options[int]{})
	ways := map[string]func(f func()){
		"behind 10 frames":     func(f func()) { deep(10, f) },
		"behind 1,000 frames":  func(f func()) { deep(1000, f) },
		"deferred":             func(f func()) { defer f() },
		"in a sort":            func(f func()) { slices.SortFunc([]int{1, 2}, func(a, b int) int { f(); return a - b }) },
		"in a sync.Once":       func(f func()) { new(sync.Once).Do(f) },
		"in a range function":  func(f func()) { ranged(func() { f() }) },
		"in a pulled iterator": pulled,
		"in an update of another store": func(f func()) {
			_ = other.Update(func(*cow.Editor[string, int]) error { f(); return nil })
		},
		"after updates of other stores": func(f func()) {
			for range 100 {
				another := cow.NewOne[string](cow.Options[int]{})
				another.Set("a", 1)
			}
			f()
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			forBoth(t, cow.Options[int]{}, func(t *testing.T, s subject[int]) {
				noDeadlock(t)
				s.do(t, func(e *cow.Editor[string, int]) {
					way(func() {
						requireNested(t, "an update", func() {
							_ = s.update(func(*cow.Editor[string, int]) error { return nil })
						})
					})
				})
			})
		})
	}
	t.Run("behind a deep stack", func(t *testing.T) {
		noDeadlock(t)
		s := aloneSubject(cow.Options[int]{})
		deep(1000, func() {
			s.do(t, func(*cow.Editor[string, int]) {
				requireNested(t, "an update", func() { s.set(t, "a", 1) })
			})
		})
	})
	t.Run("in Clone", func(t *testing.T) {
		noDeadlock(t)
		var s cow.One[string, int]
		s = cow.NewOne[string](cow.Options[int]{Clone: func(v int) int { s.Delete("a"); return v }})
		s.Set("a", 1) // Clone runs before Set queues, so it may update
		requireNested(t, "an update", func() {
			_ = s.Update(func(e *cow.Editor[string, int]) error { e.Set("a", 2); return nil })
		})
	})
	t.Run("in what Replace iterates over", func(t *testing.T) {
		noDeadlock(t)
		s := cow.NewOne[string](cow.Options[int]{})
		s.Replace(func(yield func(string, int) bool) {
			s.Set("a", 1) // all of the iteration comes before the update
			yield("b", 2)
		})
		require.Equal(t, map[string]int{"b": 2}, maps.Collect(s.Load().All()))
	})
}

func ranged(f func()) {
	for range iter.Seq[int](func(yield func(int) bool) { yield(1) }) {
		f()
	}
}

// pulled calls f where the goroutine of another function stands still; it is
// the coroutine that waits, and f still runs below the update.
func pulled(f func()) {
	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	defer stop()
	next()
	f()
}

// An update of another store is none inside itself: it waits, and does not
// panic, when somebody else is updating that store.
func TestAnUpdateOfAnotherStoreInsideAnUpdateWaits(t *testing.T) {
	noDeadlock(t)
	// Several, of which some look alike where stacks are compared.
	var stores []subject[int]
	for i := range 40 {
		s := aloneSubject(cow.Options[int]{})
		if i%2 == 0 {
			s = tableSubject(cow.Options[int]{})
		}
		s.set(t, "a", 0)
		stores = append(stores, s)
	}
	outer, others := stores[len(stores)-1], stores[:len(stores)-1]
	outer.do(t, func(e *cow.Editor[string, int]) {
		for _, s := range others {
			holding, release := make(chan struct{}), make(chan struct{})
			go func() {
				_ = s.update(func(e *cow.Editor[string, int]) error {
					close(holding)
					<-release
					e.Set("a", 1)
					return nil
				})
			}()
			<-holding
			time.AfterFunc(soon/4, func() { close(release) })
			s.do(t, func(e *cow.Editor[string, int]) {
				require.NoError(t, e.Modify("a", func(v *int) error { *v *= 10; return nil }))
			})
			s.requireContent(t, 3, map[string]int{"a": 10})
		}
		e.Set("a", 1)
	})
	outer.requireContent(t, 2, map[string]int{"a": 1})
}
