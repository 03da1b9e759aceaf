package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake makes the test binary a benchstat that prints the files it is given.
const fake = "fake-benchstat"

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != fake {
		os.Exit(m.Run())
	}
	for _, arg := range os.Args[2:] {
		if name, file, ok := strings.Cut(arg, "="); ok {
			text, _ := os.ReadFile(file) // a missing one shows in what is printed
			fmt.Printf("%s\n%s\n", name, text)
		}
	}
}

// source is a benchmark that reports a number, appends it to $TINY_LOG, and
// fails or hangs if its name is in $TINY_FAILS or $TINY_HANGS.
const source = `package tiny

import (
	"os"
	"testing"
	"time"
)

const number = "%d"

func BenchmarkTiny(b *testing.B) {
	log, err := os.OpenFile(os.Getenv("TINY_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	log.WriteString(number)
	log.Close()
	if os.Getenv("TINY_FAILS") == number {
		b.Fatal("as it was told")
	}
	if os.Getenv("TINY_HANGS") == number {
		time.Sleep(time.Minute)
	}
	b.ReportMetric(%[1]d, "number")
}
`

// newRepository makes a repository, in which number is 1 and then 2, the working
// directory, and an empty directory the one for temporary files.
func newRepository(t *testing.T) {
	t.Helper()
	dir, temp := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", temp)
	t.Setenv("TINY_LOG", filepath.Join(t.TempDir(), "log"))
	// Where a hook of git runs the tests, these would name another repository.
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "x")
		t.Setenv("GIT_"+who+"_EMAIL", "x@example.org")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git(t, "init", "--quiet")
	write(t, "go.mod", "module example.org/x\n\ngo 1.26\n")
	for number := 1; number <= 2; number++ {
		write(t, "tiny/tiny_test.go", fmt.Sprintf(source, number))
		git(t, "add", ".")
		git(t, "commit", "--quiet", "-m", "x")
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), "", "git", args...)
	require.NoError(t, err)
	return out
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// runFake runs the program with a fake benchstat and demands that it leaves
// neither a worktree nor a temporary file.
func runFake(t *testing.T, ctx context.Context, stderr *watcher, args ...string) (code int, stdout string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	var out strings.Builder
	code = run(ctx, args, []string{self, fake}, &out, stderr)
	require.Len(t, strings.Split(strings.TrimSpace(git(t, "worktree", "list")), "\n"), 1)
	require.NoDirExists(t, filepath.Join(strings.TrimSpace(git(t, "rev-parse", "--git-dir")), "worktrees"))
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "revisions-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	return code, out.String()
}

// A watcher keeps what is written and calls found once text is in it.
type watcher struct {
	strings.Builder
	text  string
	found func()
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if w.found != nil && strings.Contains(w.String(), w.text) {
		w.found()
	}
	return n, err
}

func ran(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(os.Getenv("TINY_LOG"))
	require.NoError(t, err)
	return string(log)
}

func TestWorkingTree(t *testing.T) {
	newRepository(t)
	write(t, "tiny/tiny_test.go", fmt.Sprintf(source, 3))
	write(t, "more/more_test.go", "package more\n\nfunc BenchmarkMore() {}\n")
	var stderr watcher
	code, stdout := runFake(t, t.Context(), &stderr, "-base", "HEAD~1", "-count", "2", "-benchtime", "1x")
	require.Equal(t, exitOK, code, stderr.String())
	require.Equal(t, "1313", ran(t), "in turn")
	require.Contains(t, stdout, "base: HEAD~1 ("+git(t, "rev-parse", "HEAD~1")[:10]+")\nhead: the working tree\n")
	_, results, _ := strings.Cut(stdout, "\nbase\n")
	base, head, _ := strings.Cut(results, "\nhead\n")
	require.Equal(t, 2, strings.Count(base, " 1.000 number"), stdout)
	require.Equal(t, 2, strings.Count(head, " 3.000 number"), stdout)
	require.Equal(t, 4, strings.Count(stdout, " allocs/op"))
	require.Contains(t, stderr.String(), "more: no benchmarks in base, skipped\n")
	require.Regexp(t, `(?m)^round 1 of 2\nround 2 of 2, about \d+s left$`, stderr.String())
}

func TestTwoRevisions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for seconds")
	}
	newRepository(t)
	git(t, "tag", "old", "HEAD~1")
	write(t, "tiny/tiny_test.go", "not to be looked at")
	t.Chdir("tiny") // any directory of the repository will do
	var stderr watcher
	code, stdout := runFake(t, t.Context(), &stderr, "-base", "HEAD", "-head", "old", "-pkg", "tiny", "-count", "1", "-benchtime", "1x")
	require.Equal(t, exitOK, code, stderr.String())
	require.Equal(t, "21", ran(t))
	require.Contains(t, stdout, "base: HEAD (")
	require.Contains(t, stdout, "head: old (")
}

func TestNothingToCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds benchmarks")
	}
	newRepository(t)
	for args, want := range map[string]string{
		"-base nowhere":                        "-base nowhere: git knows no such revision",
		"-base HEAD -head nowhere":             "-head nowhere: git knows no such revision",
		"-base --all":                          "-base --all: git knows no such revision",
		"-base HEAD -pkg none":                 "-pkg none: no benchmarks in base nor in head",
		"-base HEAD -bench None -benchtime 1x": "-bench None matches no benchmark in base",
		"-count 2":                             "-base says",
	} {
		var stderr watcher
		code, stdout := runFake(t, t.Context(), &stderr, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr.String())
		require.Contains(t, stderr.String(), "revisions: "+want, args)
		require.Empty(t, stdout, args)
	}
	t.Chdir(t.TempDir())
	var stderr strings.Builder
	require.Equal(t, exitUsage, run(t.Context(), []string{"-base", "HEAD"}, nil, &stderr, &stderr))
	require.Contains(t, stderr.String(), "must run in a git repository")
}

func TestFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for seconds")
	}
	newRepository(t)
	t.Setenv("TINY_FAILS", "2")
	var stderr watcher
	code, stdout := runFake(t, t.Context(), &stderr, "-base", "HEAD~1", "-benchtime", "1x")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr.String(), "as it was told")
	require.Contains(t, stderr.String(), "tiny in head: ")
	require.Empty(t, stdout)

	write(t, "tiny/tiny_test.go", "func BenchmarkTiny() {}\n")
	stderr = watcher{}
	code, _ = runFake(t, t.Context(), &stderr, "-base", "HEAD")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr.String(), "tiny does not build in head")

	stderr = watcher{}
	require.Equal(t, exitFailed, run(t.Context(), []string{"-base", "HEAD"}, []string{"./no-benchstat"}, &stderr, &stderr))
	require.Contains(t, stderr.String(), "no-benchstat")
	require.NotContains(t, stderr.String(), "round")
}

func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds benchmarks")
	}
	for _, at := range []struct {
		text string
		runs int // that are compared, of each side
	}{
		{"building", 0},
		{"round 1", 0},
		{"round 3", 2},
	} {
		t.Run(at.text, func(t *testing.T) {
			newRepository(t)
			ctx, cancel := context.WithCancel(t.Context())
			stderr := &watcher{text: at.text, found: cancel}
			code, stdout := runFake(t, ctx, stderr, "-base", "HEAD~1", "-benchtime", "1x")
			require.Equal(t, exitInterrupted, code)
			require.Contains(t, stderr.String(), "revisions: interrupted")
			require.Equal(t, at.runs, strings.Count(stdout, " 1.000 number"))
			require.Equal(t, at.runs, strings.Count(stdout, " 2.000 number"))
		})
	}
}

// A benchmark that runs is stopped, and not compared.
func TestInterruptBenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds benchmarks")
	}
	newRepository(t)
	t.Setenv("TINY_HANGS", "2")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if log, _ := os.ReadFile(os.Getenv("TINY_LOG")); string(log) == "12" {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var stderr watcher
	code, stdout := runFake(t, ctx, &stderr, "-base", "HEAD~1", "-benchtime", "1x")
	require.Equal(t, exitInterrupted, code, stderr.String())
	require.Equal(t, "12", ran(t))
	require.Empty(t, stdout, "head has no whole run")
}

// What Ctrl-C ended before ctx knew of it is no failure.
func TestCommandWaitsForInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := command(ctx, "", "./none")
	require.Error(t, err)
	require.Error(t, ctx.Err())
}
