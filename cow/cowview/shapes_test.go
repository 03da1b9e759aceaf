package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	// What the tests of the shapes need: when it changes, they are to run again.
	_ "github.com/cowstore/cowstore/cow"
	_ "github.com/cowstore/cowstore/cow/cowview/internal/shape"
	_ "github.com/cowstore/cowstore/cow/cowview/internal/sound"
	_ "github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// shapes is a folder of packages that have struct types of all sorts, and of tests of their
// views. Of what is generated there is but a sample in it, to see what changes.
const shapes = "testdata/shapes"

var update = flag.Bool("update", false, "write the sample of what is generated")

var generateLine = regexp.MustCompile(`(?m)^//go:generate .*cowview (-.*)$`)

// The views of all shapes are generated in a copy, and tested there.
func TestShapes(t *testing.T) {
	dir, err := os.MkdirTemp("testdata", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, filepath.WalkDir(shapes, func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, strings.TrimPrefix(path, shapes))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case filepath.Ext(path) == ".go" && !strings.HasPrefix(d.Name(), "cow_view"):
			put(t, "", to, strings.ReplaceAll(read(t, "", path), "cowview/"+shapes, "cowview/"+filepath.ToSlash(dir)))
		}
		return nil
	}))
	full, err := filepath.Abs(dir)
	require.NoError(t, err)
	// Packages that others import come first: their views are used there.
	for pkg := range strings.Lines(command(t, "go", "list", "-e", "-deps", "-f", "{{.Dir}}", "./"+dir+"/...")) {
		if at, found := strings.CutPrefix(strings.TrimSpace(pkg), full+string(filepath.Separator)); found {
			generateShapes(t, filepath.Join(dir, at), filepath.Join(shapes, at))
		}
	}
	require.Empty(t, command(t, "gofmt", "-l", dir))
	if testing.Short() {
		leaveOut(t, dir, "arrays", "dynamic", "embed", "generic", "graphs", "kinds", "other", "pod", "std", "tables", "uses", "viewer", "clone_test.go", "race_test.go")
	}
	command(t, "go", "vet", "./"+dir+"/...") // which compiles what the others import
	args := []string{"test", "-vet=off"}
	if testing.Short() {
		args = append(args, "-short")
	}
	tested := command(t, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./"+dir+"/...")
	command(t, "go", append(args, strings.Fields(tested)...)...)
}

// generateShapes generates the views of the package in dir, a copy of that in from, and
// compares what it writes, and says, with what there is of it.
func generateShapes(t *testing.T, dir, from string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		line := generateLine.FindStringSubmatch(read(t, "", file))
		if line == nil {
			continue
		}
		var notes bytes.Buffer
		require.NoError(t, run(strings.Fields(line[1]), dir, &notes), dir)
		put(t, dir, "notes.txt", notes.String())
		for _, name := range []string{"notes.txt", "cow_view.go", "cow_view_test.go"} {
			want, err := os.ReadFile(filepath.Join(from, name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case *update:
				put(t, from, name, read(t, dir, name))
			default:
				require.NoError(t, err)
				require.Equal(t, string(want), read(t, dir, name), from)
			}
		}
	}
}

// leaveOut removes packages of shapes, which take longest to compile, and tests that need them.
func leaveOut(t *testing.T, dir string, names ...string) {
	var all []string
	for line := range strings.Lines(read(t, dir, "all.go")) {
		if !slices.ContainsFunc(names, func(name string) bool {
			return strings.Contains(line, "/"+name+`"`) || strings.HasPrefix(line, "\t\t"+name+".")
		}) {
			all = append(all, line)
		}
	}
	put(t, dir, "all.go", strings.Join(all, ""))
	for _, name := range names {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestOutputIsDeterministic(t *testing.T) {
	path, err := filepath.Abs(filepath.Join(shapes, "basic", "cow_view.go"))
	require.NoError(t, err)
	for range 3 {
		text, _, err := generate(path, []string{"Profile", "Team"}, false)
		require.NoError(t, err)
		require.Equal(t, read(t, "", path), string(text))
	}
}

func TestTheExamplesAreCurrent(t *testing.T) {
	for _, dir := range []string{"../examples/start", "../examples/views"} {
		require.NoError(t, run([]string{"-type", "Profile", "-check"}, dir, io.Discard), dir)
	}
}
