package cow_test

import (
	"context"
	"iter"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// Each pair of K and V that tests have a table of is all of this module to
// compile once more, and so is each type of index keys that goes with it. So tests
// share them: string keys with values that are int, string, []int, any, a pointer or
// a good; int keys with string and []int; and resourceKey, which has no order, with
// resource. What an index is by is an int of any of these, a string of a string, or a
// field of a good. Tests inside of the package have int keys, and any keys, which may
// be NaN, and int values.

// A resourceKey is a key that has no order, and is no key of a JSON object.
type resourceKey struct{ Namespace, Name string }

// A resource is a value with a map.
type resource struct {
	Node   string
	Labels map[string]string
}

// An upstream is a value that is an index key too.
type upstream struct {
	Weight int
	Zone   string
}

// A good is a value of all sorts of memory, with something for each kind of index.
type good struct {
	Serial int // never twice in a test: it tells writes apart
	Name   string
	Tags   []int
	Code   []byte
	Rank   int
	Weight []float64
	Parts  []part
	detail outer
}

// A part is an index key of three fields: its digits.
type part int

func partOf(team, level, name int) part { return part(team*100 + level*10 + name) }

func (p part) team() int  { return int(p) / 100 }
func (p part) level() int { return int(p) / 10 % 10 }
func (p part) name() int  { return int(p) % 10 }

// A subject is a table alone in its DB, or one beside another, for tests of what both promise.
type subject[V any] struct {
	update  func(f func(e *cow.Editor[string, V]) error) error
	load    func() *snapshot.Map[string, V]
	version func() uint64
	wait    func(ctx context.Context, after uint64) (version uint64, err error)
}

func aloneSubject[V any](o cow.Options[V]) subject[V] {
	s := cow.NewOne[string](o)
	return subject[V]{
		update:  s.Update,
		load:    s.Load,
		version: func() uint64 { return s.Load().Version() },
		wait: func(ctx context.Context, after uint64) (uint64, error) {
			m, err := s.Wait(ctx, after)
			return m.Version(), err
		},
	}
}

func tableSubject[V any](o cow.Options[V]) subject[V] {
	db := new(cow.DB)
	cow.NewTable[int](db, "another", cow.Options[[]int]{})
	t := cow.NewTable[string](db, "this", o)
	return subject[V]{
		update: func(f func(e *cow.Editor[string, V]) error) error {
			return db.Update(func(tx *cow.Tx) error { return f(t.Edit(tx)) })
		},
		load:    func() *snapshot.Map[string, V] { return t.In(db.Load()) },
		version: func() uint64 { return db.Load().Version() },
		wait: func(ctx context.Context, after uint64) (uint64, error) {
			s, err := db.Wait(ctx, after)
			return s.Version(), err
		},
	}
}

// transact returns an update of a table that is a transaction of Begin.
func transact[V any](db *cow.DB, table *cow.Table[string, V]) func(f func(e *cow.Editor[string, V]) error) error {
	return func(f func(e *cow.Editor[string, V]) error) error {
		tx := db.Begin()
		defer tx.Abort()
		if err := f(table.Edit(tx)); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// txSubject is a tableSubject whose updates are transactions.
func txSubject[V any](o cow.Options[V]) subject[V] {
	t := cow.New[string](o)
	return subject[V]{
		update:  transact(t.DB(), t),
		load:    t.Load,
		version: func() uint64 { return t.DB().Load().Version() },
		wait: func(ctx context.Context, after uint64) (uint64, error) {
			s, err := t.DB().Wait(ctx, after)
			return s.Version(), err
		},
	}
}

// forBoth runs f for a table alone in its DB and for one beside another.
func forBoth[V any](t *testing.T, o cow.Options[V], f func(t *testing.T, s subject[V])) {
	t.Helper()
	t.Run("alone", func(t *testing.T) { f(t, aloneSubject(o)) })
	t.Run("Table", func(t *testing.T) { f(t, tableSubject(o)) })
	t.Run("Tx", func(t *testing.T) { f(t, txSubject(o)) })
}

// do is an update that cannot fail.
func (s subject[V]) do(t *testing.T, f func(e *cow.Editor[string, V])) {
	t.Helper()
	require.NoError(t, s.update(func(e *cow.Editor[string, V]) error { f(e); return nil }))
}

func (s subject[V]) set(t *testing.T, key string, v V) {
	t.Helper()
	s.do(t, func(e *cow.Editor[string, V]) { e.Set(key, v) })
}

// requireContent requires that the current version holds exactly that, and
// that the writer's place is free.
func (s subject[V]) requireContent(t *testing.T, version uint64, want map[string]V) {
	t.Helper()
	require.NoError(t, s.update(func(e *cow.Editor[string, V]) error {
		require.Equal(t, version+1, e.Version())
		return nil
	}))
	require.Equal(t, version, s.version())
	require.Equal(t, want, maps.Collect(s.load().All()))
	require.Equal(t, len(want), s.load().Len())
}

// noDeadlock ends the process, with the stacks of all goroutines, if the test
// waits forever. The test says which one that is, and the limit nothing else: a
// machine may be as slow as it likes.
func noDeadlock(t *testing.T) {
	timer := time.AfterFunc(eventually, func() {
		buf := make([]byte, 1<<20)
		panic("deadlock in " + t.Name() + "\n\n" + string(buf[:runtime.Stack(buf, true)]))
	})
	t.Cleanup(func() { timer.Stop() })
}

// together calls f(0) to f(n-1) in n goroutines that begin at once, and waits
// for them.
func together(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			f(i)
		})
	}
	done.Wait()
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// exits calls f in a goroutine of its own, which f ends by runtime.Goexit or
// by returning.
func exits(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// requireNested requires that f panics because it would wait for itself.
func requireNested(t *testing.T, what string, f func()) {
	t.Helper()
	r := panicOf(f)
	require.NotNil(t, r, "no panic")
	require.IsType(t, "", r)
	if what == "an update" {
		what = "(an update|a transaction)"
	}
	require.Regexp(t, "^cow: "+what+" (inside an update of the same DB|in the goroutine that has a transaction of the same DB open) would wait for itself", r)
}

// soon is how long a test waits to see that something does not happen: a slow
// machine may miss that it does. Eventually is how long a test waits for what does.
const (
	soon       = 20 * time.Millisecond
	eventually = 5 * time.Minute
)

// until waits until done reports true.
func until(t *testing.T, done func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(eventually); !done(); time.Sleep(100 * time.Microsecond) {
		require.False(t, time.Now().After(end), "never came true: %s", what)
	}
}

// allocations returns how many allocations f takes by itself: the least of several
// counts, for whatever else runs in the process adds to some of them.
func allocations(f func()) float64 {
	least := testing.AllocsPerRun(100, f)
	for range 9 {
		least = min(least, testing.AllocsPerRun(100, f))
	}
	return least
}

// requireClosed requires that c is closed some time.
func requireClosed(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(eventually):
		require.Fail(t, what)
	}
}

// requireOpen requires that c is not closed for a while.
func requireOpen(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, what)
	case <-time.After(soon):
	}
}

// drain runs an iterator to its end.
func drain[V any](seq iter.Seq2[string, V]) {
	for range seq {
	}
}

// errOf returns the error of a verb.
func errOf(_ uint64, err error) error { return err }

// hasDeleted reports whether a Delete removed something. An error is none of its own.
func hasDeleted(rev uint64, err error) bool { return rev > 0 && err == nil }

// must returns what was isolated without an error.
func must[V any](i snapshot.Isolated[V], err error) snapshot.Isolated[V] {
	if err != nil {
		panic(err)
	}
	return i
}

// inlined says that functions are inlined: make test does without.
var inlined = func() bool {
	info, _ := debug.ReadBuildInfo()
	return !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-gcflags" })
}()

// inShort returns short in short mode, and else long.
func inShort(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}
