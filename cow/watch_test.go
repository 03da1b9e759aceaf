package cow_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// branchBubbles runs f in a bubble, for a table alone in its DB and for a DB of two.
func branchBubbles(t *testing.T, f func(t *testing.T, l *branch)) {
	t.Run("alone", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, aloneBranch(t)) }) })
	t.Run("DB", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, twoBranch(t)) }) })
}

// A sight is what a watch watches: in one table, keys and keys of the index, or
// all of it if there are neither.
type sight struct {
	table     int
	keys      [][]int
	indexKeys [][]int
}

func (w sight) of(l *branch) (of []watched) {
	for _, keys := range w.keys {
		of = append(of, l.keys(w.table, keys...))
	}
	for _, keys := range w.indexKeys {
		of = append(of, l.index[w.table].OnKeys(keys...))
	}
	return of
}

// differs compares two moments row by row.
func (w sight) differs(l *branch, a, b branchMoment) bool {
	x, y := a.maps[w.table], b.maps[w.table]
	if w.keys == nil && w.indexKeys == nil {
		if x.Len() != y.Len() {
			return true
		}
		for row := range x.Rows() {
			if was, _ := y.Row(row.Key()); was != row {
				return true
			}
		}
		return false
	}
	for _, keys := range w.keys {
		for _, k := range keys {
			p, _ := x.Row(k)
			q, _ := y.Row(k)
			if p != q {
				return true
			}
		}
	}
	under := func(m *rows, n int) map[cow.Row[int, []int]]bool {
		set := map[cow.Row[int, []int]]bool{}
		for row := range m.Rows() {
			if row.Shared()[0] == n {
				set[row] = true
			}
		}
		return set
	}
	for _, keys := range w.indexKeys {
		for _, n := range keys {
			p, q := under(x, n), under(y, n)
			if len(p) != len(q) {
				return true
			}
			for row := range p {
				if !q[row] {
					return true
				}
			}
		}
	}
	return false
}

// A watcher is a Watch in a goroutine of its own.
type watcher struct {
	sight
	since branchMoment
	done  atomic.Bool
	at    branchMoment
	err   error
	end   context.CancelFunc
}

func startWatch(ctx context.Context, l *branch, since branchMoment, w sight) *watcher {
	ctx, end := context.WithCancel(ctx)
	c := &watcher{sight: w, since: since, end: end}
	of := w.of(l)
	go func() {
		c.at, c.err = l.watch(ctx, w.table, since, of...)
		c.done.Store(true)
	}()
	return c
}

// requireDone requires that the watcher has returned if what it watches differs,
// with the current snapshot, and only then. Everybody must be blocked.
func (c *watcher) requireDone(t *testing.T, l *branch) (done bool) {
	t.Helper()
	now := l.load()
	want := c.differs(l, now, c.since)
	require.Equal(t, want, c.done.Load(), "%+v since %d, at version %d", c.sight, c.since.version, now.version)
	if want {
		require.NoError(t, c.err)
		require.Equal(t, now.version, c.at.version)
		require.Equal(t, now.maps, c.at.maps)
		c.end()
	}
	return want
}

func randomSight(r *rand.Rand, l *branch, keys, numbers int) sight {
	some := func(n int) (list [][]int) {
		for range 1 + r.IntN(2) {
			one := []int{}
			for range r.IntN(4) {
				one = append(one, r.IntN(n))
			}
			list = append(list, one)
		}
		return list
	}
	w := sight{table: r.IntN(l.tables)}
	switch r.IntN(8) {
	case 0: // all of it
	case 1, 2, 3:
		w.keys = some(keys)
	case 4, 5, 6:
		w.indexKeys = some(numbers)
	default:
		w.keys, w.indexKeys = some(keys), some(numbers)
	}
	return w
}

func TestAWatchEndsExactlyWhenWhatItWatchesDiffers(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		const keys, numbers = 40, 30
		r := rand.New(rand.NewPCG(9, 10))
		l.retain(cow.Retention{Versions: 1000})
		branches := []*branch{l}
		all := [][]*watcher{nil}
		past := [][]branchMoment{{l.load()}}
		woken := 0
		for step := range 300 {
			i := r.IntN(len(branches))
			o := branches[i]
			if n := len(past[i]); step%60 == 59 {
				// A fork, of a past snapshot: its watches are its own.
				at := past[i][r.IntN(n)]
				if r.IntN(2) == 0 {
					var err error
					at, err = o.at(at.version)
					require.NoError(t, err)
				}
				if at.db != nil || at.version > 0 {
					f := o.fork(at)
					f.retain(cow.Retention{Versions: 1000})
					branches, all, past = append(branches, f), append(all, nil), append(past, []branchMoment{f.load()})
				}
			}
			for len(all[i]) < 40 {
				since := o.load()
				if r.IntN(10) == 0 {
					since = past[i][r.IntN(len(past[i]))]
				}
				all[i] = append(all[i], startWatch(t.Context(), o, since, randomSight(r, o, keys, numbers)))
			}
			synctest.Wait()
			sift := func() {
				for i, o := range branches {
					var left []*watcher
					for _, c := range all[i] {
						if c.requireDone(t, o) {
							woken++
						} else {
							left = append(left, c)
						}
					}
					all[i] = left
					require.Equal(t, len(left), o.stats().Waiting)
				}
			}
			sift()
			require.NoError(t, o.update(func(edit func(int) *editor) error {
				e := edit(r.IntN(o.tables))
				switch r.IntN(20) {
				case 0:
					e.Clear()
				case 1:
					e.Clear()
					for range r.IntN(20) {
						n := r.IntN(numbers)
						e.Set(r.IntN(keys), []int{n, n})
					}
				default:
					for range 1 + r.IntN(3) {
						k, n := r.IntN(keys), r.IntN(numbers)
						switch r.IntN(4) {
						case 0:
							e.Delete(k)
						case 1:
							if v, ok := e.Get(k); ok {
								n = v[0]
							}
							fallthrough
						default:
							e.Set(k, []int{n, n})
						}
						if r.IntN(4) == 0 {
							e = edit(r.IntN(o.tables))
						}
					}
				}
				return nil
			}))
			past[i] = append(past[i], o.load())
			synctest.Wait()
			sift()
		}
		require.Greater(t, woken, 500)
		for _, list := range all {
			for _, c := range list {
				c.end()
			}
		}
		synctest.Wait()
		for i, o := range branches {
			require.Equal(t, 0, o.stats().Waiting)
			for _, c := range all[i] {
				require.ErrorIs(t, c.err, context.Canceled)
			}
		}
	})
}

func TestBulkCommitsWakeWatches(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		const size = 24_000
		load := func(from, to, by int) {
			require.NoError(t, l.update(func(edit func(int) *editor) error {
				edit(l.tables - 1).SetAll(func(yield func(int, []int) bool) {
					for k := from; k < to && yield(k, []int{k + by, k + by}); k++ {
					}
				})
				return nil
			}))
		}
		load(0, size, 0)
		// The index lists few touched keys, too many, or is built anew.
		for round, bulk := range []int{100, 5000, size / 2} {
			from, by := 1000, (round+1)*100_000
			at := l.tables - 1
			var all []*watcher
			for _, w := range []sight{
				{table: at},
				{table: at, keys: [][]int{{from}}},
				{table: at, keys: [][]int{{from + bulk - 1, from + bulk}}},
				{table: at, keys: [][]int{{from - 1, from + bulk, -1}}},
				{table: at, indexKeys: [][]int{{from + by}}},
				{table: at, indexKeys: [][]int{{from + by - 1, 10_000_000}, {from + by + bulk - 1}}},
				{table: at, indexKeys: [][]int{{from + by - 1, from + by + bulk, from - 1, 10_000_000}}},
				{table: 0, keys: [][]int{{from - 1}}},
			} {
				all = append(all, startWatch(t.Context(), l, l.load(), w))
			}
			check := func() (done int) {
				synctest.Wait()
				for _, c := range all {
					if c.requireDone(t, l) {
						done++
					}
				}
				return done
			}
			require.Equal(t, 0, check())
			load(from, from+bulk, by)
			require.Equal(t, 5, check())
			for _, c := range all {
				c.end()
			}
			synctest.Wait()
			require.Equal(t, 0, l.stats().Waiting)
		}
	})
}

func TestReplaceAndClearWakeWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := cow.NewOne[int](cow.Options[[]int]{})
		x, err := cow.NewMultiIndex(s.Table, "number", byNumber, cow.IndexOptions[int]{})
		require.NoError(t, err)
		l := branchOfOne(s, x)
		s.Set(1, []int{1, 1})
		step := func(change func(), done ...bool) {
			t.Helper()
			var all []*watcher
			for _, w := range []sight{{}, {keys: [][]int{{1}}}, {keys: [][]int{{2}}}, {indexKeys: [][]int{{1}}}, {indexKeys: [][]int{{2}}}} {
				all = append(all, startWatch(t.Context(), l, l.load(), w))
			}
			synctest.Wait()
			change()
			synctest.Wait()
			for i, c := range all {
				require.Equal(t, done[i], c.requireDone(t, l), "%+v", c.sight)
				c.end()
			}
			synctest.Wait()
		}
		step(func() { s.Replace(map2(1, 1)) }, true, true, false, true, false)
		step(func() { s.Replace(map2(2, 2)) }, true, true, true, true, true)
		step(func() { s.Replace(map2(2, 2)) }, true, false, true, false, true)
		step(func() { _ = s.Update(func(e *editor) error { e.Clear(); return nil }) }, true, false, true, false, true)
		step(func() { _ = s.Update(func(e *editor) error { e.Clear(); return nil }) }, false, false, false, false, false)
		step(func() { s.Set(2, []int{1, 1}) }, true, false, true, true, false)
		step(func() { s.Set(2, []int{2, 2}) }, true, false, true, true, true)
		step(func() { _ = s.Update(func(e *editor) error { e.Set(1, []int{1, 1}); e.Delete(1); return nil }) },
			false, false, false, false, false)
	})
}

// map2 yields one pair.
func map2(k, n int) func(yield func(int, []int) bool) {
	return func(yield func(int, []int) bool) { yield(k, []int{n, n}) }
}

func TestAWatchLooksBeforeItWaits(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		empty := l.load()
		l.set(t, 0, 1, 1)
		first := l.load()
		l.set(t, 0, 1, 2)
		l.set(t, 0, 1, 1)
		on := []sight{{}, {keys: [][]int{{1}}}, {indexKeys: [][]int{{1}}}}
		for _, since := range []branchMoment{empty, first} { // changed, and changed back: another write
			for _, w := range on {
				c := startWatch(t.Context(), l, since, w)
				synctest.Wait()
				require.True(t, c.requireDone(t, l))
			}
		}
		// Added and removed is as if nothing was.
		l.delete(t, 0, 1)
		var all []*watcher
		for _, w := range append(on, sight{keys: [][]int{{}}}, sight{indexKeys: [][]int{{}}}) {
			all = append(all, startWatch(t.Context(), l, empty, w))
		}
		synctest.Wait()
		for _, c := range all {
			require.False(t, c.requireDone(t, l))
		}
		l.set(t, 0, 1, 1)
		synctest.Wait()
		for i, c := range all {
			require.Equal(t, i < len(on), c.requireDone(t, l))
			c.end()
		}
	})
}

func TestWritesElsewhereEndNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := twoBranch(t)
		f := l.fork(l.load())
		l.set(t, 0, 1, 1)
		g := l.fork(l.load())
		branches := []*branch{l, f, g}
		f.set(t, 0, 1, 1) // the nil snapshot is that of l
		var all []*watcher
		for _, o := range branches {
			for table := range 2 {
				for _, w := range []sight{{table: table}, {table: table, keys: [][]int{{1}}}, {table: table, indexKeys: [][]int{{1}}}} {
					all = append(all, startWatch(t.Context(), o, o.load(), w))
				}
			}
		}
		check := func(woken int) {
			t.Helper()
			synctest.Wait()
			for i, c := range all {
				require.Equal(t, i < woken, c.done.Load(), "watch %d", i)
			}
		}
		check(0)
		for i, o := range branches {
			for table := range 2 {
				o.set(t, table, 1, 1)
				check(6*i + 3*(table+1))
			}
		}
	})
}

func TestAWatchOfNothingYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[int]{})
		db := new(cow.DB)
		table := cow.NewTable[string](db, "a", cow.Options[int]{})
		var versions [2]uint64
		for i, of := range [][]cow.Watched{nil, {s.OnKeys("a")}} {
			go func() {
				m, err := s.Watch(t.Context(), nil, of...)
				require.NoError(t, err)
				versions[i] = m.Version()
			}()
			synctest.Wait()
		}
		s.Set("a", 1)
		synctest.Wait()
		require.Equal(t, [2]uint64{1, 1}, versions)
		versions = [2]uint64{}
		for i, of := range [][]cow.Watched{nil, {table.OnKeys("a")}} {
			go func() {
				at, err := db.Watch(t.Context(), nil, of...)
				require.NoError(t, err)
				versions[i] = at.Version()
			}()
			synctest.Wait()
		}
		require.NoError(t, db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 1); return nil }))
		synctest.Wait()
		require.Equal(t, [2]uint64{1, 1}, versions)
	})
}

func TestAWatchMayNameAThingTwice(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		all := []*watcher{
			startWatch(t.Context(), l, l.load(), sight{keys: [][]int{{1, 1}, {1}}}),
			startWatch(t.Context(), l, l.load(), sight{indexKeys: [][]int{{1, 1}}}),
			startWatch(t.Context(), l, l.load(), sight{indexKeys: [][]int{{1}, {1}}}),
			startWatch(t.Context(), l, l.load(), sight{indexKeys: [][]int{{1}, {}}}),
		}
		none := startWatch(t.Context(), l, l.load(), sight{indexKeys: [][]int{{}, {}}})
		synctest.Wait()
		l.set(t, 0, 1, 1)
		synctest.Wait()
		for _, c := range all {
			require.True(t, c.requireDone(t, l))
		}
		require.False(t, none.requireDone(t, l))
		none.end()
	})
}

func TestAForkOfThePastWakesIndexWatches(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		l.retain(cow.Retention{Versions: 100})
		l.set(t, 0, 1, 1)
		past := l.load()
		for n := range 10 {
			l.set(t, 0, 1, 2+n)
		}
		at, err := l.at(past.version)
		require.NoError(t, err)
		f := l.fork(at)
		c := startWatch(t.Context(), f, f.load(), sight{indexKeys: [][]int{{1}}})
		synctest.Wait()
		f.set(t, 0, 1, 100) // the row leaves 1; the origin's, for long, has another number
		synctest.Wait()
		require.True(t, c.requireDone(t, f))
	})
}

func TestAWatchReturnsTheCauseOfItsContext(t *testing.T) {
	branchBubbles(t, func(t *testing.T, l *branch) {
		cause := errors.New("enough")
		ended, end := context.WithCancelCause(t.Context())
		end(cause)
		later, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		for _, ctx := range []context.Context{ended, later} {
			for _, w := range []sight{{}, {keys: [][]int{{1}}}, {indexKeys: [][]int{{1}}}} {
				at, err := l.watch(ctx, w.table, l.load(), w.of(l)...)
				require.Equal(t, cause, err)
				require.Nil(t, at.db)
				require.Equal(t, 0, at.maps[0].Len())
				require.Equal(t, 0, l.stats().Waiting)
			}
		}
		// What differs already comes before the context.
		before := l.load()
		l.set(t, 0, 1, 1)
		_, err := l.watch(ended, 0, before)
		require.NoError(t, err)
	})
}

func TestAWatchInsideAnUpdatePanics(t *testing.T) {
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		requireNested(t, "a Watch", func() {
			_ = l.update(func(func(int) *editor) error {
				_, _ = l.watch(context.Background(), 0, l.load(), l.keys(0, 1))
				return nil
			})
		})
		require.Equal(t, 0, l.stats().Waiting)
		l.set(t, 0, 1, 1)
		f := l.fork(l.load())
		before := f.load()
		require.NoError(t, l.update(func(func(int) *editor) error {
			go f.set(t, 0, 1, 2)
			_, err := f.watch(t.Context(), 0, before) // another store: fine
			return err
		}))
	})
}

func TestAWatchStartsNoGoroutine(t *testing.T) {
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		const n = 50
		before := runtime.NumGoroutine()
		ctx, end := context.WithCancel(t.Context())
		var all []*watcher
		for i := range n {
			c := &watcher{}
			all = append(all, c)
			of := sight{keys: [][]int{{i}}}.of(l)
			go func() {
				c.at, c.err = l.watch(ctx, 0, l.load(), of...)
				c.done.Store(true)
			}()
		}
		for l.stats().Waiting < n {
			runtime.Gosched()
		}
		require.LessOrEqual(t, runtime.NumGoroutine(), before+n)
		end()
		for _, c := range all {
			for !c.done.Load() {
				runtime.Gosched()
			}
		}
		require.Equal(t, 0, l.stats().Waiting)
	})
}

func TestTwoFirstWatchesAtOnce(t *testing.T) {
	noDeadlock(t)
	for range 300 {
		s := cow.NewOne[string](cow.Options[int]{})
		db := new(cow.DB)
		table := cow.NewTable[string](db, "a", cow.Options[int]{})
		var left atomic.Int64
		left.Store(4)
		done := make(chan struct{})
		go func() {
			defer close(done)
			together(5, func(i int) {
				switch i {
				case 0, 1:
					_, err := s.Watch(t.Context(), nil, s.OnKeys("a"))
					require.NoError(t, err)
				case 2, 3:
					_, err := db.Watch(t.Context(), nil, table.OnKeys("a"))
					require.NoError(t, err)
				default:
					s.Set("a", 1)
					_ = db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 1); return nil })
				}
			})
		}()
		requireClosed(t, done, "a first Watch missed the commit")
	}
}

func TestWatchesOfOtherKeysCostACommitNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		const watchers, each = 1000, 100
		for k := range 1000 {
			l.set(t, 0, k, k)
		}
		commit := func() float64 {
			return allocations(func() {
				_ = l.update(func(edit func(int) *editor) error { edit(0).Set(500, []int{1, 1}); return nil })
			})
		}
		without := commit()
		ctx, end := context.WithCancel(t.Context())
		since := l.load()
		for i := range watchers {
			keys := make([]int, each)
			for j := range keys {
				keys[j] = 1_000_000 + i*each + j
			}
			go func() { _, _ = l.watch(ctx, 0, since, l.keys(0, keys...)) }()
		}
		for l.stats().Waiting < watchers {
			runtime.Gosched()
		}
		with := commit()
		end()
		for l.stats().Waiting > 0 {
			runtime.Gosched()
		}
		require.Equal(t, without, with, "allocations of a commit")
	})
}

// Each watcher begins its next Watch at the snapshot that the last one returned,
// until the counter is at its end: none may sleep through the last change.
func TestWatchersFollowACounterToItsEnd(t *testing.T) {
	noDeadlock(t)
	forBranches(t, func(t *testing.T, l *branch) {
		const writers, watchers, each = 8, 32, 150
		const end = writers * each
		var missed atomic.Int64
		last := l.tables - 1
		together(writers+watchers, func(i int) {
			if i < writers {
				for n := range each {
					err := l.update(func(edit func(int) *editor) error {
						edit(0).Set(1+i, []int{n, n}) // and another key
						return edit(last).Upsert(0, func(v *[]int, found bool) error {
							if !found {
								*v = []int{0, 0}
							}
							*v = []int{(*v)[0] + 1, (*v)[0] + 1}
							return nil
						})
					})
					if err != nil {
						missed.Add(1)
					}
				}
				return
			}
			of := []watched{l.keys(last, 0)}
			if i%3 == 1 {
				of = append(of, l.index[last].OnKeys(end))
			} else if i%3 == 2 {
				of = nil
			}
			seen, version := 0, uint64(0)
			at := branchMoment{maps: make([]*rows, l.tables)}
			for seen < end {
				next, err := l.watch(context.Background(), last, at, of...)
				v, ok := next.maps[last].Get(0)
				if err != nil || !ok || next.version <= version || v[0] <= seen {
					missed.Add(1)
					return
				}
				at, seen, version = next, v[0], next.version
			}
		})
		require.Equal(t, int64(0), missed.Load())
		require.Equal(t, 0, l.stats().Waiting)
	})
}
