package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain has the go command use what was built for the tests: it builds with the same flags.
func TestMain(m *testing.M) {
	flag.Parse()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" || s.Key == "-gcflags" {
				os.Setenv("GOFLAGS", fmt.Sprintf("%s '%s=%s'", os.Getenv("GOFLAGS"), s.Key, s.Value))
			}
		}
	}
	os.Exit(m.Run())
}

// folder returns a new package of this module with the file types.go.
func folder(t *testing.T, types string) string {
	t.Helper()
	dir, err := os.MkdirTemp("testdata", "run-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	put(t, dir, "types.go", types)
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func vet(dir string) (string, error) {
	out, err := exec.Command("go", "vet", "./"+dir).CombinedOutput()
	return string(out), err
}

const small = `package small

type Profile struct {
	Name string
	Tags []string
}

func first(v ProfileView) string { return v.Tags().At(0) }

var _ = first(ProfileView{}) + Profile{}.Clone().Name
`

// A file that is missing, broken or of other types does not matter.
func TestOneRunIsEnough(t *testing.T) {
	dir := folder(t, small)
	require.NoError(t, run([]string{"-type", "Profile"}, dir, io.Discard))
	want := read(t, dir, "cow_view.go")
	for _, old := range []string{
		"",
		header + "\n\npackage small\n\nfunc broken( {",
		"<<<<<<< ours\n" + want + "=======\n" + want,
		header + "\n\npackage other\n",
		strings.ReplaceAll(want, "Tags", "Gone"),
		want + "\nimport \"example.org/missing\"\n",
		want + "\nfunc (p Profile) Name() {}\n",
	} {
		put(t, dir, "cow_view.go", old)
		require.Error(t, run([]string{"-type", "Profile", "-check"}, dir, io.Discard))
		require.NoError(t, run([]string{"-type", "Profile"}, dir, io.Discard), old)
		require.Equal(t, want, read(t, dir, "cow_view.go"))
	}
	require.NoError(t, run([]string{"-type", "Profile"}, dir, io.Discard), "it writes what is there")
	out, err := vet(dir)
	require.NoError(t, err, out)
}

func TestChangedStructDoesNotCompile(t *testing.T) {
	dir := folder(t, small+"\ntype List[T any] struct{ A []T }\n")
	args := []string{"-type", "Profile,List"}
	require.NoError(t, run(args, dir, io.Discard))
	for old, new := range map[string]string{
		"Name string": "Name string; Age int",
		"A []T":       "A []T; B int",
	} {
		put(t, dir, "types.go", strings.Replace(read(t, dir, "types.go"), old, new, 1))
		out, err := vet(dir)
		require.Error(t, err)
		require.Contains(t, out, "cannot convert")
		err = run(append(args, "-check"), dir, io.Discard)
		require.ErrorContains(t, err, "cow_view.go is not what cowview generates now, from line ")
		require.ErrorContains(t, err, "run go generate")
		require.NoError(t, run(args, dir, io.Discard))
		out, err = vet(dir)
		require.NoError(t, err, out)
	}
	put(t, dir, "types.go", strings.Replace(read(t, dir, "types.go"), "Name string", "Name string `json:\"n\"`", 1))
	require.NoError(t, run(append(args, "-check"), dir, io.Discard), "tags do not matter")
}

func TestCheckWritesNothing(t *testing.T) {
	dir := folder(t, small)
	err := run([]string{"-type", "Profile", "-check"}, dir, io.Discard)
	require.EqualError(t, err, "cow_view.go does not exist: run go generate")
	require.NoFileExists(t, filepath.Join(dir, "cow_view.go"))
}

func TestHandWrittenFilesStay(t *testing.T) {
	dir := folder(t, small)
	err := run([]string{"-type", "Profile", "-output", "types.go"}, dir, io.Discard)
	require.Error(t, err)
	put(t, dir, "mine.go", "package small\n\nvar mine int\n")
	err = run([]string{"-type", "Profile", "-output", "mine.go"}, dir, io.Discard)
	require.EqualError(t, err, "mine.go was not written by cowview: remove it, or say another -output")
	require.Equal(t, small, read(t, dir, "types.go"))
}

func TestTwoFilesOfOnePackage(t *testing.T) {
	dir := folder(t, "package two\n\ntype A struct{ B *B }\n\ntype B struct{ S []int }\n")
	require.NoError(t, run([]string{"-type", "B", "-output", "b_view.go"}, dir, io.Discard))
	require.NoError(t, run([]string{"-type", "A"}, dir, io.Discard))
	require.NotContains(t, read(t, dir, "cow_view.go"), "type BView")
	out, err := vet(dir)
	require.NoError(t, err, out)
	require.ErrorContains(t, run([]string{"-type", "A,B"}, dir, io.Discard), "BView is declared already")
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no types: say -type Profile,Team"},
		{"-type Profile Team", `unexpected argument "Team": types go into -type, with commas between them`},
		{"-type Nobody", "package small has no type Nobody"},
		{"-type first", "types.go:8: first is not a type"},
	} {
		dir := folder(t, small)
		require.EqualError(t, run(strings.Fields(c.args), dir, io.Discard), c.want, c.args)
	}
	var help bytes.Buffer
	require.Error(t, run([]string{"-h"}, ".", &help))
	require.Contains(t, help.String(), "-check")
}
