package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// compare measures both sides and writes to stdout what benchstat says of them.
// If ctx ends meanwhile, that is of the runs there are, if there are any.
func compare(ctx context.Context, o options, benchstat []string, stdout, stderr io.Writer) error {
	root, err := findRoot(ctx)
	if err != nil {
		return err
	}
	base, head := &side{name: "base", rev: o.base}, &side{name: "head", rev: o.head}
	sides := []*side{base, head}
	for _, s := range sides {
		if err := s.resolve(ctx, root); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "revisions-")
	if err != nil {
		return err
	}
	defer func() {
		if err := cleanUp(ctx, root, temp); err != nil {
			fmt.Fprintln(stderr, "revisions: cannot clean up:", err)
		}
	}()
	for _, s := range sides {
		if err := s.checkOut(ctx, root, temp); err != nil {
			return err
		}
	}
	pkgs, err := choose(base.found, head.found, o.pkgs, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "building", strings.Join(pkgs, ", "))
	// If there is no benchstat, say so now and not after minutes of measuring.
	if _, err := command(ctx, temp, benchstat[0], slices.Concat(benchstat[1:], []string{"-h"})...); err != nil {
		return err
	}
	for _, pkg := range pkgs {
		for _, s := range sides {
			if _, err := command(ctx, s.path(pkg), "go", "test", "-c", "-o", s.binary(pkg), "."); err != nil {
				return fmt.Errorf("%s does not build in %s, leave it out with -pkg: %w", pkg, s.name, err)
			}
		}
	}
	stopped := measure(ctx, o, sides, pkgs, stderr)
	if stopped != nil && (ctx.Err() == nil || !base.measured || !head.measured) {
		return stopped
	}
	args := slices.Concat(benchstat[1:], []string{"base=" + base.results, "head=" + head.results})
	out, err := command(context.WithoutCancel(ctx), temp, benchstat[0], args...)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "base: %v\nhead: %v\n\n%s", base, head, out)
	return stopped
}

// measure runs all benchmarks o.count times, on both sides in turn. If one
// fails or ctx ends, the results are those of the runs before.
func measure(ctx context.Context, o options, sides []*side, pkgs []string, stderr io.Writer) error {
	start := time.Now()
	for round := range o.count {
		left := ""
		if round > 0 {
			each := time.Since(start) / time.Duration(round)
			left = fmt.Sprintf(", about %v left", (each * time.Duration(o.count-round)).Round(time.Second))
		}
		fmt.Fprintf(stderr, "round %d of %d%s\n", round+1, o.count, left)
		for _, pkg := range pkgs {
			for _, s := range sides {
				if err := s.run(ctx, o, pkg); err != nil {
					return err
				}
			}
		}
		for _, s := range sides {
			if !s.measured {
				return usagef("-bench %s matches no benchmark in %s", o.bench, s.name)
			}
		}
	}
	fmt.Fprintf(stderr, "measured for %v\n", time.Since(start).Round(time.Second))
	return nil
}

// A line of results begins with the name and the number of iterations.
var result = regexp.MustCompile(`(?m)^Benchmark\S*\s+\d+\s`)

// run runs the matching benchmarks of pkg once and appends to the results.
func (s *side) run(ctx context.Context, o options, pkg string) error {
	out, err := command(ctx, s.path(pkg), s.binary(pkg), "-test.run=^$", "-test.bench="+o.bench,
		"-test.benchtime="+o.benchtime, "-test.benchmem", "-test.count=1")
	if err != nil {
		return fmt.Errorf("%s in %s: %w", pkg, s.name, err)
	}
	s.measured = s.measured || result.MatchString(out)
	f, err := os.OpenFile(s.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(out)
	return errors.Join(err, f.Close())
}

// path returns the directory of pkg.
func (s *side) path(pkg string) string { return filepath.Join(s.dir, filepath.FromSlash(pkg)) }

// binary returns where the tests of pkg are compiled to.
func (s *side) binary(pkg string) string {
	return filepath.Join(filepath.Dir(s.results), s.name+"-"+strings.ReplaceAll(pkg, "/", "-")+".test")
}
