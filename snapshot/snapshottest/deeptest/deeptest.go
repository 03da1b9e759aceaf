// Package deeptest makes values that are nested deeply, for tests that show that nothing
// recurses without a bound, and runs such tests where they end no other.
package deeptest

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Link is a list of any length.
type Link struct {
	N    int
	Next *Link
}

// Lists are lists in lists.
type Lists []Lists

type boxed struct {
	N int
	V any
}

// Levels returns how many levels a value has in a test of what deep values do: more than may
// be, and too many for a function that calls itself for each, be it with 70 bytes, in short
// mode 140, on the stack that Apart leaves it. On the stack of 1 GB that goroutines have
// otherwise, millions are.
func Levels() int {
	if testing.Short() {
		return 15_000
	}
	return 60_000
}

// Values returns, by the names of the forms, values of so many levels. In short mode there
// are four forms.
func Values(levels int) iter.Seq2[string, any] {
	nest := func(v any, level func(v any) any) func() any {
		return func() any {
			v := v
			for range levels {
				v = level(v)
			}
			return v
		}
	}
	return func(yield func(string, any) bool) {
		forms := map[string]func() any{
			"a list of any":     nest(nil, func(v any) any { return []any{v} }),
			"a map of any":      nest(nil, func(v any) any { return map[string]any{"k": v} }),
			"a struct of any":   nest(nil, func(v any) any { return boxed{1, v} }),
			"an array of any":   nest(nil, func(v any) any { return [1]any{v} }),
			"a pointer to any":  nest(1, func(v any) any { return &v }),
			"a pointer in any":  nest(nil, func(v any) any { return &boxed{1, v} }),
			"a map by number":   nest(nil, func(v any) any { return map[int]any{1: v} }),
			"a list and a map":  nest(nil, func(v any) any { return []map[string]any{{"k": v}} }),
			"a linked list":     func() any { return LinkOf(levels) },
			"lists of a type":   func() any { return ListsOf(levels) },
			"a list, in a list": func() any { return []any{1, map[string]any{"a": LinkOf(levels)}, "x"} },
		}
		short := []string{"a linked list", "a list of any", "a map of any", "a struct of any"}
		for _, name := range slices.Sorted(maps.Keys(forms)) {
			if testing.Short() && !slices.Contains(short, name) {
				continue
			}
			if !yield(name, forms[name]()) {
				return
			}
		}
	}
}

// LinkOf returns a list of so many links.
func LinkOf(levels int) *Link {
	var l *Link
	for i := range levels {
		l = &Link{i, l}
	}
	return l
}

// ListsOf returns lists of so many levels.
func ListsOf(levels int) (l Lists) {
	for range levels {
		l = Lists{l}
	}
	return l
}

// Apart reports whether the test is to go on: in a process of its own, which has the test
// alone and whose goroutines have little stack. To exceed that ends a process, which no
// test survives. In the first process Apart runs that, fails the test if it failed, and
// returns false.
func Apart(t *testing.T) bool {
	t.Helper()
	const apart = "COWSTORE_TEST_APART"
	if os.Getenv(apart) == t.Name() {
		stack := 4 << 20
		if testing.Short() {
			stack = 2 << 20
		}
		debug.SetMaxStack(stack)
		return true
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Env = append(os.Environ(), apart+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		if begin := bytes.Index(out, []byte("\ngoroutine ")); begin >= 0 {
			out = out[:min(len(out), begin+4000)]
		}
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// Doing says what is being done, in case it ends the process.
func Doing(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// RequireAll fails the test unless each exported function and method of the package in the
// working directory is in exactly one of two lists: done, the names of those that a test
// calls, and others, names in texts, separated by spaces, by the reasons why it need not.
// A name that is in the package no more fails it too.
func RequireAll(t testing.TB, done []string, others map[string]string) {
	t.Helper()
	why := make(map[string]string)
	for _, name := range done {
		why[name] = "it is called"
	}
	for reason, names := range others {
		for name := range strings.FieldsSeq(names) {
			require.Empty(t, why[name], "%s: %s", name, reason)
			why[name] = reason
		}
	}
	there := exported(t)
	var fresh, gone []string
	for name := range there {
		if why[name] == "" {
			fresh = append(fresh, name)
		}
	}
	for name := range why {
		if _, ok := there[name]; !ok {
			gone = append(gone, name)
		}
	}
	require.Empty(t, fresh, "they are new: have the test call them, or say why not")
	require.Empty(t, gone, "there are no such functions or methods")
}

// exported returns the names of all exported functions and methods.
func exported(t testing.TB) map[string]bool {
	names := make(map[string]bool)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = receiver(fn.Recv.List[0].Type) + "." + name
			}
			names[name] = true
		}
	}
	require.NotEmpty(t, names)
	return names
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
