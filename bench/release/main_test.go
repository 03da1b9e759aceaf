package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const version = "v0.1.0"

// A repo is a repository of its own for a test.
type repo struct {
	t   *testing.T
	dir string
}

// newRepo returns a repository of a root and two nested modules, tools and bench,
// of which bench requires both others, in order for the release.
func newRepo(t *testing.T) repo {
	r := repo{t, t.TempDir()}
	r.git("init", "-q")
	r.write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	r.write("m.go", "package m\n")
	r.write("testdata/go.mod", "module no.such\n")
	r.write("tools/internal/gen/go.mod", "module gen\n") // nobody could import it
	r.write("tools/go.mod", "module example.com/m/tools\n\ngo 1.26.0\n\nrequire example.com/m v0.1.0\n")
	r.write("bench/go.mod", "module example.com/m/bench\n\ngo 1.26.0\n\nrequire (\n\texample.com/m v0.1.0\n\texample.com/m/tools v0.1.0\n\texample.com/other v1.2.3\n)\n")
	r.commit()
	return r
}

func (r repo) git(args ...string) {
	r.t.Helper()
	_, err := output(r.dir, "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
	require.NoError(r.t, err)
}

func (r repo) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o777))
	require.NoError(r.t, os.WriteFile(name, []byte(text), 0o666))
}

func (r repo) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	require.NoError(r.t, err)
	return string(text)
}

// edit puts text in place of old, which must be in the file.
func (r repo) edit(name, old, text string) {
	r.t.Helper()
	require.Contains(r.t, r.read(name), old)
	r.write(name, strings.ReplaceAll(r.read(name), old, text))
}

func (r repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "all")
}

// says runs the command and demands the exit code and each line of what it prints.
func (r repo) says(code int, lines ...string) {
	r.t.Helper()
	r.saysOf(version, code, lines...)
}

func (r repo) saysOf(version string, code int, lines ...string) {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	require.Equal(r.t, code, run(filepath.Join(r.dir, "bench"), []string{version}, &stdout, &stderr), stdout.String()+stderr.String())
	require.Empty(r.t, stderr.String())
	got := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	require.Equal(r.t, lines, func() (trimmed []string) {
		for _, line := range got[1:] {
			trimmed = append(trimmed, strings.TrimSpace(line))
		}
		return trimmed
	}())
}

func TestTagsInTheOrderOfTheirRequirements(t *testing.T) {
	newRepo(t).says(exitOK,
		"git tag v0.1.0 && git push origin v0.1.0",
		"(cd tools && go mod download example.com/m) && git commit -m 'release: hashes of v0.1.0' tools/go.sum",
		"git tag tools/v0.1.0 && git push origin tools/v0.1.0",
		"(cd bench && go mod download example.com/m example.com/m/tools) && git commit -m 'release: hashes of v0.1.0' bench/go.sum",
		"git tag bench/v0.1.0 && git push origin bench/v0.1.0")
}

// The steps may be followed one by one, with a check after each.
func TestWhatIsLeftAfterEachStep(t *testing.T) {
	r := newRepo(t)
	r.git("tag", version)
	r.says(exitFailed,
		"tools/go.sum: has no hash of example.com/m v0.1.0: go mod download example.com/m, in tools, adds it",
		"bench/go.sum: has no hash of example.com/m v0.1.0: go mod download example.com/m, in bench, adds it")

	sums := func(of string) string { return of + " v0.1.0 h1:x=\n" + of + " v0.1.0/go.mod h1:y=\n" }
	r.write("tools/go.sum", sums("example.com/m"))
	r.write("bench/go.sum", sums("example.com/m"))
	r.commit()
	r.says(exitOK,
		"git tag tools/v0.1.0 && git push origin tools/v0.1.0",
		"(cd bench && go mod download example.com/m/tools) && git commit -m 'release: hashes of v0.1.0' bench/go.sum",
		"git tag bench/v0.1.0 && git push origin bench/v0.1.0")

	r.git("tag", "tools/v0.1.0")
	r.write("bench/go.sum", sums("example.com/m")+sums("example.com/m/tools"))
	r.commit()
	r.says(exitOK, "git tag bench/v0.1.0 && git push origin bench/v0.1.0")

	r.git("tag", "bench/v0.1.0")
	r.says(exitFailed, "all tags of v0.1.0 are there already: choose another version")
}

func TestWhatHasToChange(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r repo)
		says   []string
	}{
		"a replace": {
			func(r repo) {
				r.write("bench/go.mod", r.read("bench/go.mod")+"\nreplace example.com/m => ../\n")
				r.write("go.mod", r.read("go.mod")+"\nreplace example.com/other => example.com/fork v1.0.0\n")
				r.commit()
			},
			[]string{
				"go.mod: drop the replace of example.com/other by example.com/fork v1.0.0",
				"bench/go.mod: drop the replace of example.com/m by ../",
			},
		},
		"another version": {
			func(r repo) { r.edit("bench/go.mod", "example.com/m v0.1.0", "example.com/m v0.0.0"); r.commit() },
			[]string{"bench/go.mod: require example.com/m v0.1.0, not v0.0.0"},
		},
		"another path": {
			func(r repo) {
				r.edit("bench/go.mod", "module example.com/m/bench", "module example.com/bench")
				r.commit()
			},
			[]string{"bench/go.mod: call the module example.com/m/bench, not example.com/bench"},
		},
		"not committed": {
			func(r repo) { r.write("new.txt", "new"); r.write("m.go", "package m // changed\n") },
			[]string{"commit or remove: M m.go", "commit or remove: ?? new.txt"},
		},
		"not formatted": {
			func(r repo) { r.write("bench/b.go", "package  bench\n"); r.commit() },
			[]string{"gofmt -w bench/b.go"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			c.change(r)
			r.says(exitFailed, c.says...)
		})
	}
}

// A tag stays good while other modules go on, and no longer.
func TestATagOfOtherFiles(t *testing.T) {
	r := newRepo(t)
	r.git("tag", "bench/v0.1.0")
	r.write("m.go", "package m // the root goes on\n")
	r.commit()
	r.says(exitOK,
		"git tag v0.1.0 && git push origin v0.1.0",
		"(cd tools && go mod download example.com/m) && git commit -m 'release: hashes of v0.1.0' tools/go.sum",
		"git tag tools/v0.1.0 && git push origin tools/v0.1.0")

	r.write("bench/b.go", "package bench\n")
	r.commit()
	at, err := output(r.dir, "git", "rev-parse", "--short", "bench/v0.1.0")
	require.NoError(t, err)
	r.says(exitFailed, "tag bench/v0.1.0: is there already, at "+at+", with other files: choose another version")
}

func TestMajorVersionsAreInThePath(t *testing.T) {
	r := newRepo(t)
	r.git("rm", "-rq", "tools", "bench/go.mod")
	r.write("bench/b.go", "package bench\n") // where says runs it
	r.commit()
	r.saysOf("v2.0.0", exitFailed, "go.mod: call the module example.com/m/v2, not example.com/m")
	r.edit("go.mod", "example.com/m", "example.com/m/v2")
	r.write("bench/go.mod", "module example.com/m/bench/v2\n\ngo 1.26.0\n\nrequire example.com/m/v2 v2.0.0\n")
	r.commit()
	r.saysOf("v2.0.0", exitOK,
		"git tag v2.0.0 && git push origin v2.0.0",
		"(cd bench && go mod download example.com/m/v2) && git commit -m 'release: hashes of v2.0.0' bench/go.sum",
		"git tag bench/v2.0.0 && git push origin bench/v2.0.0")
}

func TestModulesThatRequireOneAnother(t *testing.T) {
	r := newRepo(t)
	r.edit("tools/go.mod", "example.com/m v0.1.0", "example.com/m/bench v0.1.0")
	r.commit()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFailed, run(r.dir, []string{version}, &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Contains(t, stderr.String(), "in a circle")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"0.1.0"}, {"v1"}, {"v1.2"}, {"v01.2.3"}, {"v1.2.3+x"}, {"v1.2.3-"}, {"v1.2.3", "v1.2.3"}, {"latest"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(".", args, &stdout, &stderr), args)
		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), "v0.1.0")
	}
	for _, v := range []string{"v0.0.0", "v1.20.3", "v1.0.0-rc.1"} {
		require.True(t, semver.MatchString(v), v)
	}
}

func TestOutsideOfARepository(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFailed, run(t.TempDir(), []string{version}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "git rev-parse")
}

// The modules of this repository are found, the root first.
func TestModulesOfThisRepository(t *testing.T) {
	all, err := modules("../..")
	require.NoError(t, err)
	all, err = ordered(all)
	require.NoError(t, err)
	require.Equal(t, ".", all[0].dir)
	var tags []string
	for _, m := range all {
		tags = append(tags, m.tag(version))
	}
	require.Contains(t, tags, "bench/v0.1.0")
}
