package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// What cannot be done is an error with the place and the path.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, types, want string }{
		{"lock", `import "sync"; type T struct { mu sync.Mutex; S []int }`,
			"types.go:2: T.mu: sync.Mutex must not be copied; give T a method Clone"},
		{"lock behind a pointer", `import "sync/atomic"; type T struct { P *struct{ n []atomic.Int64 } }`,
			"types.go:2: T.P.n[]: atomic.Int64 must not be copied; give T a method Clone"},
		{"unsafe pointer", `import "unsafe"; type T struct { P map[string]unsafe.Pointer }`,
			"types.go:2: T.P[]: unsafe.Pointer must not be copied; give T a method Clone"},
		{"nested", `import "sync"; type T struct { U U }; type U struct { mu sync.RWMutex; M map[string]int }`,
			"types.go:2: T.U.mu: sync.RWMutex must not be copied; give T a method Clone"},
		{"undeclared", `type T struct { A Missing }`,
			"types.go:2: T.A: its type cannot be known: undefined: Missing"},
		{"taken", `type T struct { U U }; type U struct { S []int }; type UView struct{}`,
			"types.go:2: T.U: UView is declared at types.go:2, and is no view of U: it lacks a method ViewOf"},
		{"taken adapter", `type T struct { U []U }; type U []int; type UView int`,
			"types.go:2: T.U[]: UView is declared at types.go:2, and is needed for views of U"},
		{"type of a variable's name", `type T struct { S [][]i }; type i []int`, "types.go:2: generated code needs the name i for something else"},
		{"predeclared", `type T struct { S []bool }; type bool int`, "types.go:2: generated code needs the name bool for something else"},
		{"parameter without a name", `type T[_ any] struct { S []int }`, "types.go:2: T: a type parameter has no name"},
		{"not a struct", `type T []int`, "types.go:2: T is not a struct type"},
		{"alias", `type U struct{}; type T = U`, "types.go:2: T is an alias; name the type that it stands for"},
		{"method of that name", "type T struct { S []int }\n//cowview:readonly\nfunc (T) Valid() bool { return true }",
			"types.go:4: T.Valid: cannot be offered: the view has a method Valid of its own"},
		{"method that lends", "type T struct { S []int }\n//cowview:readonly\nfunc (t T) Each(f func([]int)) { f(t.S) }",
			"types.go:4: T.Each: cannot be offered: it would pass what can be modified through f"},
		{"method that yields", "import \"iter\"\ntype T struct { S [][]int }\n//cowview:readonly\nfunc (t T) All() iter.Seq[[]int] { return nil }",
			"types.go:5: T.All: cannot be offered: what can be modified would get out through its result"},
		{"result that is locked", "import \"sync\"\ntype T struct { S [][]int }\n//cowview:readonly\nfunc (t T) Lock() *sync.Mutex { return nil }",
			"types.go:5: T.Lock: cannot be offered: its result holds sync.Mutex, which must not be copied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, "package p\n"+c.types+"\n")
			require.EqualError(t, run([]string{"-type", "T"}, dir, io.Discard), c.want)
			require.NoFileExists(t, dir+"/cow_view.go")
		})
	}
}

// Functions and channels are found wherever a method takes or returns them.
func TestMethodsByWhichMemoryWouldGetOut(t *testing.T) {
	for sig, ok := range map[string]bool{
		"(fs ...func([]int))":                false,
		"(f func(func() []int))":             false,
		"(f func(func([]int)))":              true,
		"(o struct{ F func([]int) })":        false,
		"(o *Hooks)":                         false,
		"(c chan<- []int)":                   false,
		"(c <-chan []int)":                   true,
		"(c chan<- int)":                     true,
		"(f func() []int)":                   true,
		"() func() func() []int":             false,
		"() func(func(func(func([]int))))":   false,
		"() func(func(func([]int)))":         true,
		"() []func() []int":                  false,
		"() map[string]*Hooks":               true,
		"() (int, struct{ F func() []int })": false,
		"() <-chan []int":                    false,
		"() chan<- []int":                    true,
		"() [][]int":                         true,
	} {
		dir := folder(t, "package p\ntype Hooks struct { F func([]int); next *Hooks }\ntype T struct { S []int }\n//cowview:readonly\nfunc (t *T) M"+sig+" { panic(0) }\n")
		err := run([]string{"-type", "T"}, dir, io.Discard)
		if ok {
			require.NoError(t, err, sig)
		} else {
			require.ErrorContains(t, err, "types.go:5: T.M: cannot be offered", sig)
		}
	}
}

func TestAllErrorsAreSaid(t *testing.T) {
	dir := folder(t, "package p\nimport \"sync\"\ntype T struct {\n\tmu sync.Mutex\n\tA Missing\n}\n")
	err := run([]string{"-type", "T"}, dir, io.Discard)
	require.ErrorContains(t, err, "types.go:4: T.mu: ")
	require.ErrorContains(t, err, "types.go:5: T.A: ")
}

func TestNotes(t *testing.T) {
	dir := folder(t, "package p\n\ntype T struct {\n\tA any\n\tM map[any]int\n\tL []struct{ S []int }\n}\n")
	var notes bytes.Buffer
	require.NoError(t, run([]string{"-type", "T"}, dir, &notes))
	require.Contains(t, notes.String(), "cowview: T.A: handed out as a clone: it is an interface\n")
	require.Contains(t, notes.String(), "cowview: T.M: handed out as a clone: its keys reach what can be modified\n")
	require.Contains(t, notes.String(), "cowview: T.L[]: handed out as a clone: its type has no name\n")
	require.Contains(t, read(t, dir, "cow_view.go"), "A returns an isolated clone of the field A: it is an interface.")
}
