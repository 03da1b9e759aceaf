package cow

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/snapshot"
)

// A bareCodec is there to be one.
type bareCodec struct{ Codec[int] }

// A table whose keys have no bytes is told of by the first who asks for them.
func TestKeysThatCannotBeStored(t *testing.T) {
	var db DB
	NewTable[any](&db, "keys", Options[int]{Codec: bareCodec{}})
	l := sink.For(&db)
	require.ErrorContains(t, l.Attach(struct{ sink.Sink }{}, l.Contents(), nil), `table "keys" cannot be stored: keys of type interface {}`)
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
	t.Run("alone", func(t *testing.T) {
		s := NewOne[int](Options[int]{})
		write := func() {
			require.NoError(t, s.Update(func(e *Editor[int, int]) error {
				for k := range 10 {
					e.Set(k, int(e.Version()))
				}
				return nil
			}))
		}
		commit(t, 0, write)
		_, err := NewMultiIndex(s.Table, "a", func(r Row[int, int], add func(int)) { add(r.Value()) }, IndexOptions[int]{})
		require.NoError(t, err)
		x, err := NewMultiIndex(s.Table, "b", func(r Row[int, int], add func(int)) { add(-r.Value()) }, IndexOptions[int]{})
		require.NoError(t, err)
		commit(t, 1, write)
		s.Retain(Retention{Versions: 100, Bytes: 1 << 20})
		commit(t, 1, write)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for _, of := range [][]Watched{nil, {s.OnKeys(1000)}, {x.OnKeys(1000)}} {
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

// Nothing else in the package, and below it, compares versions for a commit: these are
// the functions that call Diff, for readers and for forks.
func TestOnlyReadersCompareVersions(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	below, err := filepath.Glob("internal/*/*.go")
	require.NoError(t, err)
	var callers []string
	for _, name := range append(files, below...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
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
	require.Equal(t, []string{"Adder", "Changes", "Diff", "Differs", "all", "between", "changed", "exclusive", "imagesOf", "lost"}, slices.Compact(callers))
}

// A key that cannot be hashed leaves nothing behind, and neither does a slice that
// its owner goes on to use.
func TestKeysOfAWatch(t *testing.T) {
	s := NewOne[any](Options[int]{})
	for range 3 {
		require.Panics(t, func() { _, _ = s.Watch(t.Context(), s.Load(), s.OnKeys("good", []int{1})) })
		require.Panics(t, func() { _, _ = s.Watch(t.Context(), s.Load(), s.OnKeys("good"), s.OnKeys([]int{1})) })
	}
	requireNoWatch(t, s.Table)

	keys := []any{"a", "b"}
	since := s.Load()
	w := s.OnKeys(keys...)
	got := make(chan *snapshot.Map[any, int])
	go func() {
		m, _ := s.Watch(t.Context(), since, w)
		got <- m
	}()
	keys[0], keys[1] = "x", "y"
	for s.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Set("x", 1)
	s.Set("a", 1)
	require.Equal(t, uint64(2), (<-got).Version())
}
