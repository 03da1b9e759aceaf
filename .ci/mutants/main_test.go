package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line of the list fits the source as it is, and has its test.
func TestTheListFits(t *testing.T) {
	t.Chdir("../..")
	mutants, err := parse(list, "")
	require.NoError(t, err)
	require.Greater(t, len(mutants), 400)
}

func TestMutate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte("if x { // as ever\n\tf(a,\n\t\tb)\n\ta++\n}\na++ // more\n"), 0o666))
	for _, c := range []struct{ old, new, want string }{
		{"if x { f(a, b);", "f(a)", "f(a)\n\ta++\n}\na++ // more\n"},
		{"}; a++", "", "if x { // as ever\n\tf(a,\n\t\tb)\n\ta++\n // more\n"},
		{"f ( a, b ) ; a++ }", "}", "if x { // as ever\n\t}\na++ // more\n"},
	} {
		got, err := mutate(file, c.old, c.new)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
	for _, old := range []string{"a++", "f(b)", "", "as ever", "f(a, b); a++; }; a++; }"} {
		_, err := mutate(file, old, "x")
		require.ErrorContains(t, err, "places, not one", old)
	}
}

func TestParse(t *testing.T) {
	t.Chdir("../..")
	const file = ".ci/hello.go\n\t"
	mutants, err := parse("# a comment\n\n.ci/mutants/main.go\n\tTestParse: package main => package x\n"+file+".ci/mutants TestParse: func main() =>", "Parse")
	require.NoError(t, err)
	require.Len(t, mutants, 2)
	require.Equal(t, ".ci/mutants", mutants[0].pkg)
	require.Equal(t, ".ci/mutants", mutants[1].pkg)
	require.Equal(t, "TestParse", mutants[1].test)
	require.NotContains(t, string(mutants[1].mutated), "func main()")
	_, err = parse(file+".ci/mutants TestNone: package main => package x", "")
	require.ErrorContains(t, err, "no such test")
}
