package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A side is one of the two that are compared.
type side struct {
	name     string   // base or head
	rev      string   // as the caller calls it; empty: the working tree
	hash     string   // of its commit
	dir      string   // where its files are
	found    []string // packages with benchmarks
	results  string   // the file of the outputs
	measured bool     // there are results in it
}

func (s *side) String() string {
	if s.rev == "" {
		return "the working tree"
	}
	return fmt.Sprintf("%s (%.10s)", s.rev, s.hash)
}

// findRoot returns the root of the repository that the working directory is in.
func findRoot(ctx context.Context) (string, error) {
	out, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", usagef("must run in a git repository: %w", err)
	}
	return filepath.FromSlash(strings.TrimSuffix(out, "\n")), nil
}

// resolve finds the commit of s.
func (s *side) resolve(ctx context.Context, root string) error {
	if s.rev == "" {
		return nil
	}
	out, err := command(ctx, root, "git", "rev-parse", "--verify", "--quiet", s.rev+"^{commit}")
	if err != nil {
		return usagef("-%s %s: git knows no such revision here", s.name, s.rev)
	}
	s.hash = strings.TrimSpace(out)
	return nil
}

// checkOut puts the files of s into a worktree in temp, if they are not those of
// the working tree, and finds its packages with benchmarks.
func (s *side) checkOut(ctx context.Context, root, temp string) error {
	s.dir, s.results = root, filepath.Join(temp, s.name+".txt")
	if s.rev != "" {
		s.dir = filepath.Join(temp, s.name)
		// Not to be interrupted: git would leave a child that goes on writing.
		if _, err := command(context.WithoutCancel(ctx), root, "git", "worktree", "add", "--quiet", "--detach", s.dir, s.hash); err != nil {
			return err
		}
	}
	var err error
	s.found, err = findPackages(ctx, s.dir)
	return err
}

// cleanUp removes temp and what git knows of the worktrees in it.
func cleanUp(ctx context.Context, root, temp string) error {
	// A child that was just interrupted may still be writing.
	err := os.RemoveAll(temp)
	for tries := 0; err != nil && tries < 20; tries++ {
		time.Sleep(100 * time.Millisecond)
		err = os.RemoveAll(temp)
	}
	_, pruneErr := command(context.WithoutCancel(ctx), root, "git", "worktree", "prune")
	return errors.Join(err, pruneErr)
}

var benchmark = regexp.MustCompile(`(?m)^func Benchmark\w*\(`)

// findPackages returns the directories below root with benchmarks, in whatever
// module: of files that git knows or would add, and that the go command looks at.
func findPackages(ctx context.Context, root string) ([]string, error) {
	out, err := command(ctx, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*_test.go")
	if err != nil {
		return nil, err
	}
	var found []string
	for name := range strings.SplitSeq(out, "\x00") {
		dir := path.Dir(name)
		if slices.Contains(found, dir) || slices.ContainsFunc(strings.Split(name, "/"), ignored) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil && benchmark.Match(source) {
			found = append(found, dir)
		} // an error: deleted, and git does not know yet
	}
	slices.Sort(found)
	return found, nil
}

// ignored reports whether the go command passes over files and directories of
// that name.
func ignored(name string) bool {
	return name == "" || name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor"
}

// choose returns the packages that both sides have, and says on w which of those
// wanted they do not. None wanted are all.
func choose(base, head, wanted []string, w io.Writer) ([]string, error) {
	if len(wanted) == 0 {
		wanted = slices.Concat(base, head)
	}
	var pkgs []string
	for _, pkg := range slices.Compact(slices.Sorted(slices.Values(wanted))) {
		inBase, inHead := slices.Contains(base, pkg), slices.Contains(head, pkg)
		switch {
		case inBase && inHead:
			pkgs = append(pkgs, pkg)
		case inBase:
			fmt.Fprintf(w, "%s: no benchmarks in head, skipped\n", pkg)
		case inHead:
			fmt.Fprintf(w, "%s: no benchmarks in base, skipped\n", pkg)
		default:
			return nil, usagef("-pkg %s: no benchmarks in base nor in head", pkg)
		}
	}
	if len(pkgs) == 0 {
		return nil, usagef("no package has benchmarks in both base and head")
	}
	return pkgs, nil
}

// command runs a program and returns what it wrote to its standard output; the
// error tells what it wrote at all.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(c.Environ(), "GOWORK=off")
	// Asked and not killed, go and git remove their own temporary files.
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		// Ctrl-C on a terminal reaches the program too, maybe before ctx ends.
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		lines := strings.Split(strings.TrimSpace(out.String()+errs.String()), "\n")
		last := strings.Join(lines[max(0, len(lines)-40):], "\n")
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, last)
	}
	return out.String(), nil
}
