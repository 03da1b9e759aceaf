package main

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"-base", "v1"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, options{base: "v1", bench: ".", benchtime: "100ms", count: 10}, o)

	o, err = parse([]string{"-base=v1", "-head=v2", "-bench=Set/a", "-count=3", "-benchtime=5x", "-pkg=./memory/text/, cow,."}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, options{"v1", "v2", "Set/a", "5x", 3, []string{"memory/text", "cow", "."}}, o)
}

func TestParseRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                       "-base says",
		"-base v1 v2":            `"v2" is no flag`,
		"-base v1 -x":            "not defined: -x",
		"-base v1 -bench (":      "-bench: ",
		"-base v1 -count 0":      "-count 0",
		"-base v1 -count x":      "-count",
		"-base v1 -benchtime 3":  `-benchtime "3"`,
		"-base v1 -benchtime x":  `-benchtime "x"`,
		"-base v1 -benchtime 0x": `-benchtime "0x"`,
		"-base v1 -benchtime 0s": `-benchtime "0s"`,
		"-base v1 -pkg ../x":     "-pkg ../x",
		"-base v1 -pkg cow,/x":   "-pkg /x",
	} {
		_, err := parse(strings.Fields(args), io.Discard)
		require.ErrorContains(t, err, want, args)
		require.ErrorAs(t, err, new(usageError), args)
	}
}

func TestHelp(t *testing.T) {
	var help strings.Builder
	_, err := parse([]string{"-h"}, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{"-base", "-head", "-bench", "-count", "-pkg", "-benchtime"} {
		require.Contains(t, help.String(), "\n  "+name+" ")
	}
	require.Equal(t, exitOK, run(t.Context(), []string{"-h"}, nil, io.Discard, io.Discard))
}

func TestChoose(t *testing.T) {
	base, head := []string{"a", "b", "old"}, []string{"a", "b", "new"}
	var said strings.Builder
	pkgs, err := choose(base, head, nil, &said)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, pkgs)
	require.Equal(t, "new: no benchmarks in base, skipped\nold: no benchmarks in head, skipped\n", said.String())

	pkgs, err = choose(base, head, []string{"b", "old", "b"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, pkgs)

	_, err = choose(base, head, []string{"a", "c"}, io.Discard)
	require.ErrorContains(t, err, "-pkg c: no benchmarks in base nor in head")
	_, err = choose(base, head, []string{"old", "new"}, io.Discard)
	require.ErrorContains(t, err, "no package has benchmarks in both")
	require.ErrorAs(t, err, new(usageError))
}

func TestFindPackages(t *testing.T) {
	newRepository(t)
	bench := "package x\n\nfunc BenchmarkX(b *testing.B) {}\n"
	write(t, "x_test.go", bench)
	write(t, "a/b/untracked_test.go", bench)
	write(t, "a/b/second_test.go", bench)
	write(t, "a/bench.go", bench)
	write(t, "a/a_test.go", "package a\n\n// func BenchmarkX(b *testing.B) {}\nfunc TestX(t *testing.T) {}\n")
	write(t, "testdata/x_test.go", bench)
	write(t, "a/vendor/x/x_test.go", bench)
	write(t, "_a/x_test.go", bench)
	write(t, ".a/x_test.go", bench)
	write(t, "a/_x_test.go", bench)
	write(t, "out/x_test.go", bench)
	write(t, ".gitignore", "/out\n")
	write(t, "nested/go.mod", "module nested\n")
	write(t, "nested/gone/x_test.go", bench)
	write(t, "nested/x_test.go", bench)
	git(t, "add", "nested")
	require.NoError(t, os.RemoveAll("nested/gone"))
	root, err := findRoot(t.Context())
	require.NoError(t, err)
	found, err := findPackages(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, []string{".", "a/b", "nested", "tiny"}, found)
}
