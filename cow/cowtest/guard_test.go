package cowtest

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A recorder is a testing.TB that keeps what it is told.
type recorder struct {
	testing.TB
	errors  []string
	cleanup []func()
	begin   string // of the path to what was modified
}

func (r *recorder) Helper()                   {}
func (r *recorder) Cleanup(f func())          { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }

// message is what Check reports about one value.
func message(key string, revision int, where string) string {
	return fmt.Sprintf("cowtest: the value stored under key %s at revision %d was modified%s: "+
		"what Shared, or a map of Immutable values, gives out must not be", key, revision, where)
}

type inner struct {
	n    int
	tags []string
}

type record struct {
	Name   string
	hidden *inner
	any    any
}

type handle struct {
	mu   sync.Mutex
	uses atomic.Int64
	name string
}

// guarded returns a store of one value under "k", at revision 1, that is guarded by the
// recorder, and the stored value. It is a store of anything: one for each type is long in
// compiling.
func guarded[V any](o cow.Options[any], v V) (*recorder, *Guarded[string, any], V) {
	s := cow.New[string](o)
	s.Set("k", v)
	r := new(recorder)
	g := Guard(r, s.Load)
	stored, _ := s.Load().Shared().Get("k")
	r.begin = fmt.Sprintf(" at .(%T)", v)
	return r, g, stored.(V)
}

func TestGuardNamesWhatWasModified(t *testing.T) {
	caught := func(t *testing.T, r *recorder, check func(), path string) {
		t.Helper()
		check()
		require.Equal(t, []string{message(`"k"`, 1, r.begin+path)}, r.errors)
		check()
		require.Len(t, r.errors, 1, "reported again")
	}
	t.Run("regexp", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, regexp.MustCompile("a(?P<x>|b)"))
		v.FindString("ab")
		g.Check()
		require.Empty(t, r.errors)
		v.Longest()
		caught(t, r, g.Check, ".longest")
	})
	t.Run("group", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, slog.Group("g", "a", 1, "b", 2))
		v.Value.Group()[1].Key = "modified"
		caught(t, r, g.Check, ".Value.Group()[1].Key")
	})
	t.Run("map", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, map[string]any{"a": 1, "b": map[string]any{"c": 1.5}})
		v["b"].(map[string]any)["c"] = 2.5
		caught(t, r, g.Check, `["b"].(map[string]interface {})["c"]`)
	})
	t.Run("map, a new key", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, map[int]string{1: "a"})
		v[2] = "b"
		caught(t, r, g.Check, "")
	})
	t.Run("slice element", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, []string{"a", "b"})
		v[1] = "x"
		caught(t, r, g.Check, `[1]`)
	})
	t.Run("long slice of numbers", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, map[string][]byte{"data": make([]byte, 1000)})
		v["data"][999]++
		caught(t, r, g.Check, `["data"]`)
	})
	t.Run("far element of a long slice", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, make([]string, 1000))
		v[999] = "x"
		r.begin = "" // it is too far to be told from the others
		caught(t, r, g.Check, "")
	})
	t.Run("unexported field behind a pointer", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, record{hidden: &inner{1, []string{"a"}}})
		v.hidden.n++
		caught(t, r, g.Check, `.hidden.n`)
	})
	t.Run("behind an unexported interface", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, &record{any: []any{nil, inner{1, []string{"a"}}}})
		v.any.([]any)[1].(inner).tags[0] = "x"
		caught(t, r, g.Check, `.any.([]interface {})[1].(cowtest.inner).tags[0]`)
	})
	t.Run("array", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, new([2][2]int))
		v[1][0] = 1
		caught(t, r, g.Check, `[1][0]`)
	})
	t.Run("pointer to an equal value", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, &record{hidden: &inner{n: 1}})
		v.hidden = &inner{n: 1}
		caught(t, r, g.Check, `.hidden`)
	})
	t.Run("bits of a NaN", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, []float64{math.NaN()})
		v[0] = math.Float64frombits(math.Float64bits(v[0]) ^ 1)
		caught(t, r, g.Check, `[0]`)
	})
	t.Run("channel", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{}, []chan int{make(chan int)})
		v[0] = make(chan int)
		caught(t, r, g.Check, `[0]`)
	})
	t.Run("function", func(t *testing.T) {
		f := func(n int) func() int { return func() int { return n } }
		r, g, v := guarded(cow.Options[any]{}, map[string]func() int{"f": f(1)})
		v["f"] = f(2)
		caught(t, r, g.Check, `["f"]`)
	})
	t.Run("field of an immutable handle", func(t *testing.T) {
		r, g, v := guarded(cow.Options[any]{Immutable: true}, &handle{name: "a"})
		v.name = "b"
		caught(t, r, g.Check, `.name`)
	})
	t.Run("at the end of the test", func(t *testing.T) {
		r, _, v := guarded(cow.Options[any]{}, []string{"a"})
		v[0] = "x"
		require.Len(t, r.cleanup, 1)
		caught(t, r, r.cleanup[0], `[0]`)
	})
}

func TestGuardFindsWritesToOldVersions(t *testing.T) {
	s := cow.New[int](cow.Options[[]int]{})
	s.Set(1, []int{1})
	s.Set(2, []int{2})
	r := new(recorder)
	g := Guard(r, s.Load)
	old, _ := s.Load().Shared().Get(1)
	both, _ := s.Load().Shared().Get(2)
	for i := range kept - 1 {
		s.Set(1, []int{i})
		g.Check()
	}
	require.Empty(t, r.errors)
	old[0] = 99
	both[0] = 99
	g.Check()
	require.ElementsMatch(t, []string{message("1", 1, " at [0]"), message("2", 2, " at [0]")}, r.errors)
	s.Delete(2)
	g.Check()
	require.Len(t, r.errors, 2, "a value in several maps is reported once")

	s.Set(1, nil)
	g.Check()
	require.Len(t, g.seen, kept)
	old[0]++
	g.Check()
	require.Len(t, r.errors, 2, "the map it was in is forgotten")
}

func TestGuardNamesTenValuesAtMost(t *testing.T) {
	s := cow.New[int](cow.Options[[]int]{})
	for i := range 25 {
		s.Set(i, []int{0})
	}
	r := new(recorder)
	g := Guard(r, s.Load)
	for _, v := range s.Load().Shared().All() {
		v[0]++
	}
	g.Check()
	require.Len(t, r.errors, 11)
	require.Equal(t, "cowtest: and 15 more stored values", r.errors[10])
}

func TestGuardIsSilentWhereNothingWasModified(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[any]{})
	r := new(recorder)
	store := cow.New[int](cow.Options[[]int]{})
	g := Guard(r, func() *snapshot.Map[string, any] { return table.In(db.Load()) })
	h := Guard(r, store.Load)
	fresh := func() map[string]any {
		cycle := map[string]any{"nan": math.NaN(), "list": []any{1, "a", nil, [2]bool{true}}}
		cycle["self"] = cycle
		cycle["nans"] = map[float64]any{math.NaN(): 1, math.Inf(1): 2, math.NaN(): cycle}
		cycle["time"], cycle["re"], cycle["lock"] = time.Now(), regexp.MustCompile("a+"), (*sync.Mutex)(nil)
		cycle["any keys"] = map[any]int{1: 1, "1": 2, [1]any{2}: 3, inner{}.n: 4, math.NaN(): 5}
		return cycle
	}
	for i := range 3 * kept {
		key := fmt.Sprint(i % 5)
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			table.Edit(tx).Set(key, fresh())
			table.Edit(tx).Delete(fmt.Sprint(i % 3))
			return nil
		}))
		require.NoError(t, store.Update(func(e *cow.Editor[int, []int]) error {
			return e.Upsert(i%5, func(v *[]int, _ bool) error { *v = append(*v, i); return nil })
		}))
		for _, v := range table.In(db.Load()).All() {
			clear(v.(map[string]any))
		}
		for _, v := range store.Load().All() {
			v[0] = -1
		}
		g.Check()
		h.Check()
	}
	require.Empty(t, r.errors)
}

func TestGuardLeavesLocksAndAtomicsOut(t *testing.T) {
	r, g, h := guarded(cow.Options[any]{Immutable: true}, &handle{})
	h.mu.Lock()
	h.uses.Add(1)
	g.Check()
	h.mu.Unlock()
	g.Check()
	require.Empty(t, r.errors)
}

// It says something with the race detector: fingerprints are taken of what
// others read.
func TestGuardReadsWhileOthersRead(t *testing.T) {
	s := cow.New[int](cow.Options[[]int]{})
	g := Guard(t, s.Load)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 100 {
				m := s.Load()
				for _, v := range m.Shared().All() {
					_ = v[0]
				}
				for _, v := range m.All() {
					v[0]++
				}
				g.Check()
				s.Set(i%7, []int{i})
			}
		})
	}
	wg.Wait()
}

func TestPrintOfADeepValueNeedsNoStack(t *testing.T) {
	type node struct {
		next *node
		any  any
	}
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	const depth = 20_000
	list := new(node)
	last := list
	for range depth {
		last.next = new(node)
		last = last.next
	}
	before := printOf(list)
	require.Equal(t, before, printOf(list))
	last.any = 1
	require.NotEqual(t, before.sum, printOf(list).sum)

	var boxes any
	for range depth {
		boxes = map[string]any{"a": [1]any{boxes}}
	}
	require.Equal(t, printOf(boxes), printOf(boxes))
}

func TestPrintSeesEveryKindOfKeyAndElement(t *testing.T) {
	p := new(int)
	for _, m := range []any{
		map[any]any{1: 1, uint8(2): 2, "s": 3, p: 4, [1]any{p}: []int{1}, 1.5: nil, struct{}{}: func() {}},
		map[*int][]string{p: {"a"}, nil: nil},
		map[[2]string]chan int{{"a", "b"}: make(chan int)},
	} {
		before := printOf(m)
		for range 20 {
			// The order of a map changes from one walk to the next.
			require.Equal(t, before, printOf(m))
		}
	}
	m := map[any]any{p: 1}
	before := printOf(m)
	*p++
	require.NotEqual(t, before.sum, printOf(m).sum, "what a key points to")
	require.Equal(t, "[a *int].(*int)", firstChange(m, before))
	require.Equal(t, `[-1][0]`, func() string {
		m := map[int8][]bool{-1: {true}}
		before := printOf(m)
		m[-1][0] = false
		return firstChange(m, before)
	}())
	require.Equal(t, `[1]`, func() string {
		m := maps.Collect(maps.All(map[uint]bool{1: true}))
		before := printOf(m)
		m[1] = false
		return firstChange(m, before)
	}())
}
