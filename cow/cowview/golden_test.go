package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where a golden package does not compile, and with it this test, go generate in its
// folder writes its file.
var update = flag.Bool("update", false, "write the golden files")

// packagesOf are the folders of testdata, those that others import first.
var packagesOf = []string{"other", "basic", "shapes", "uses", "graphs", "tested"}

var generateLine = regexp.MustCompile(`(?m)^//go:generate go tool cowview (.*)$`)

// argsOf returns the arguments in the go:generate line of a package.
func argsOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "types*.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if m := generateLine.FindSubmatch(text); m != nil {
			return strings.Fields(string(m[1]))
		}
	}
	t.Fatalf("%s has no go:generate line", dir)
	return nil
}

func TestGolden(t *testing.T) {
	for _, name := range packagesOf {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			args := argsOf(t, dir)
			var notes bytes.Buffer
			if *update {
				require.NoError(t, run(args, dir, &notes))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), notes.Bytes(), 0o644))
				return
			}
			require.NoError(t, run(append(args, "-check"), dir, &notes))
			require.Empty(t, notes.String(), "a check says nothing")
		})
	}
}

func TestNotesAreGolden(t *testing.T) {
	for _, name := range packagesOf {
		dir := filepath.Join("testdata", name)
		var notes bytes.Buffer
		require.NoError(t, run(argsOf(t, dir), dir, &notes), "it writes what is there")
		want, err := os.ReadFile(filepath.Join(dir, "notes.txt"))
		require.NoError(t, err)
		require.Equal(t, string(want), notes.String())
	}
}

func TestGoldenPackagesPassVet(t *testing.T) {
	args := []string{"vet"}
	for _, name := range packagesOf {
		args = append(args, "./testdata/"+name)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestGoldenFilesAreFormatted(t *testing.T) {
	out, err := exec.Command("gofmt", "-l", "testdata").CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(out))
}
