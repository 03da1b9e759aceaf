package cow

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/door"
	"github.com/cowstore/cowstore/snapshot"
)

// A bareCodec is there to be one.
type bareCodec struct{ Codec[int] }

// A table whose keys have no bytes is told of by the first who asks for them.
func TestKeysThatCannotBeStored(t *testing.T) {
	var db DB
	NewTable[any](&db, "keys", Options[int]{Codec: bareCodec{}})
	l := door.Of(&db)
	require.ErrorContains(t, l.Attach(struct{ door.Sink }{}, l.Contents(), nil), `table "keys" cannot be stored: keys of type interface {}`)
}

// A commit is compared with the version before it once for each of its tables,
// whatever hangs on it, and not at all if nothing does.
func TestACommitIsComparedOnce(t *testing.T) {
	compared := 0
	comparing = func() { compared++ }
	defer func() { comparing = nil }()
	commit := func(t *testing.T, want int, update func()) {
		t.Helper()
		compared = 0
		update()
		require.Equal(t, want, compared)
	}
	t.Run("Store", func(t *testing.T) {
		s := New[int](Options[int]{})
		write := func() {
			require.NoError(t, s.Update(func(e *Editor[int, int]) error {
				for k := range 10 {
					e.Set(k, int(e.Version()))
				}
				return nil
			}))
		}
		commit(t, 0, write)
		_, err := NewMultiIndex(s, "a", func(v int, add func(int)) { add(v) }, IndexOptions[int]{})
		require.NoError(t, err)
		x, err := NewMultiIndex(s, "b", func(v int, add func(int)) { add(-v) }, IndexOptions[int]{})
		require.NoError(t, err)
		commit(t, 1, write)
		s.Retain(Retention{Versions: 100, Bytes: 1 << 20})
		commit(t, 1, write)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for _, of := range [][]Watched[int, int]{nil, {s.OnKeys(1000)}, {x.OnKeys(1000)}} {
			go func() { _, _ = s.Watch(ctx, s.Load(), of...) }()
		}
		go func() {
			for range s.Changes(ctx, s.Load().Version()) {
			}
		}()
		for s.Stats().Waiting < 4 {
			time.Sleep(time.Millisecond)
		}
		commit(t, 1, write)
	})
	t.Run("DB", func(t *testing.T) {
		db := new(DB)
		a, b := NewTable[int](db, "a", Options[int]{}), NewTable[int](db, "b", Options[int]{})
		NewOrder(a, "order")
		write := func() {
			require.NoError(t, db.Update(func(tx *Tx) error {
				a.Edit(tx).Set(1, 1)
				b.Edit(tx).Set(1, 1)
				return nil
			}))
		}
		commit(t, 1, write) // a has an index
		db.Retain(Retention{Versions: 10})
		commit(t, 2, write)
	})
}

// Nothing else in the package compares versions for a commit: these are the
// functions that call Diff, for readers and for forks.
func TestOnlyReadersCompareVersions(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	var callers []string
	for _, file := range files {
		if name := file.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Diff" {
						callers = append(callers, fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	slices.Sort(callers)
	require.Equal(t, []string{"attach", "contentsOf", "differs", "lost"}, slices.Compact(callers))
}

// A clock that steps back makes no version older than it is.
func TestAsOfAfterTheClockSteppedBack(t *testing.T) {
	s := New[int](Options[int]{})
	s.Retain(Retention{Versions: 100})
	now := func() time.Time { // which is later than all that was, however coarse the clock is
		at := time.Now()
		for !time.Now().After(at) {
			runtime.Gosched()
		}
		return at
	}
	s.Set(1, 1)
	before := now()
	s.last = time.Now().Add(time.Hour).UnixNano() // the clock was an hour ahead
	s.Set(1, 2)
	between := now()
	s.Set(1, 3)
	for version, at := range map[uint64]time.Time{1: before, 2: between, 3: now()} {
		m, err := s.AsOf(at)
		require.NoError(t, err)
		require.Equal(t, version, m.Version())
	}
	var last time.Time
	for version, at := range s.Versions() {
		if version > 0 {
			require.False(t, at.Before(last))
			last = at
		}
	}
	_, err := s.AsOf(before.Add(-time.Hour))
	require.NoError(t, err, "version 0 was there from the beginning")
	m, err := s.AsOf(time.Now().Add(2 * time.Hour))
	require.NoError(t, err)
	require.Equal(t, uint64(3), m.Version())
}

// Registering many keys goes in steps, between which commits go first.
func TestAWatchOfManyKeysIsRegisteredInSteps(t *testing.T) {
	const n = 10 * atOnce
	keys := make([]int, n)
	for i := range keys {
		keys[i] = i
	}
	h := newHub[int, int]()
	c := make(chan struct{}, 1)
	largest, before := 0, 0
	h.stepping = func() {
		largest, before = max(largest, len(h.keys)-before, before-len(h.keys)), len(h.keys)
	}
	w := watchedKeys[int, int](keys)
	w.add(h, c)
	require.Len(t, h.keys, n)
	w.remove(h, c)
	require.Empty(t, h.keys)
	require.Equal(t, atOnce, largest, "keys registered at once")

	s := New[int](Options[int]{})
	x, err := NewMultiIndex(s, "x", func(v int, add func(int)) { add(v) }, IndexOptions[int]{})
	require.NoError(t, err)
	steps := 0
	h.stepping = func() { steps++ }
	x.OnKeys(keys...).add(h, c)
	require.Equal(t, n/atOnce, steps)
	x.OnKeys(keys...).remove(h, c)
	require.Equal(t, 2*n/atOnce, steps)
	h.forget(c)
	h.requireEmpty(t)
}

// Whoever registers between the moment at which a commit is looked up and that at
// which it is published is woken.
func TestAWatchThatComesWhileACommitIsUnderWay(t *testing.T) {
	s := New[int](Options[int]{})
	s.Set(1, 0)
	x, err := NewMultiIndex(s, "x", func(v int, add func(int)) { add(v) }, IndexOptions[int]{})
	require.NoError(t, err)
	since := s.Load()
	for name, w := range map[string]func() []Watched[int, int]{
		"key":               func() []Watched[int, int] { return []Watched[int, int]{s.OnKeys(1)} },
		"index key":         func() []Watched[int, int] { return []Watched[int, int]{x.OnKeys(1)} },
		"map":               func() []Watched[int, int] { return []Watched[int, int]{watchedMap[int, int]{}} },
		"the first watcher": func() []Watched[int, int] { return []Watched[int, int]{s.OnKeys(1)} },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub[int, int]()
			other := make(chan struct{}, 1)
			if name != "the first watcher" {
				h.waiting.Add(1)
				watchedKeys[int, int]{99}.add(h, other)
			}
			e := since.Edit()
			e.Set(1, 1)
			m, err := seal(e, since, indexList[int, int]{x.def}, h, new(changes[int, int]))
			require.NoError(t, err)
			c := make(chan struct{}, 1)
			h.waiting.Add(1)
			for _, w := range w() {
				w.add(h, c)
			}
			h.fire(m.Version())
			require.Len(t, c, 1, "it was registered before the swap")
			for len(other) > 0 {
				<-other
			}
			<-c
			// The next commit wakes those whom it concerns.
			e = m.Edit()
			e.Set(2, 7)
			n, err := seal(e, m, indexList[int, int]{x.def}, h, new(changes[int, int]))
			require.NoError(t, err)
			h.fire(n.Version())
			require.Empty(t, other)
			if name == "map" {
				require.Len(t, c, 1)
			} else {
				require.Empty(t, c)
			}
			require.Empty(t, h.pending)
			require.Empty(t, h.late)
		})
	}
}

// A key that cannot be hashed leaves nothing behind, and neither does a slice that
// its owner goes on to use.
func TestKeysOfAWatch(t *testing.T) {
	s := New[any](Options[int]{})
	for range 3 {
		require.Panics(t, func() { _, _ = s.Watch(t.Context(), s.Load(), s.OnKeys("good", []int{1})) })
		require.Panics(t, func() { _, _ = s.Watch(t.Context(), s.Load(), s.OnKeys("good"), s.OnKeys([]int{1})) })
	}
	s.hub.Load().requireEmpty(t)

	keys := []any{"a", "b"}
	since := s.Load()
	w := s.OnKeys(keys...)
	got := make(chan *snapshot.Map[any, int])
	go func() {
		m, _ := s.Watch(t.Context(), since, w)
		got <- m
	}()
	keys[0], keys[1] = "x", "y"
	require.Equal(t, watchedKeys[any, int]{"a", "b"}, w, "they are those of then")
	for s.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Set("x", 1)
	s.Set("a", 1)
	require.Equal(t, uint64(2), (<-got).Version())
}
