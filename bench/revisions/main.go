// Command revisions compares the benchmarks of two revisions of this
// repository, by default of a commit and of the working tree as it is:
//
//	go run ./revisions -base rev [-head rev] [-bench regexp] [-pkg dirs] [-count n] [-benchtime d]
//
// The two take turns, so that what changes in the machine meanwhile changes both
// alike, and benchstat says what is left of the difference. All benchmarks with
// the defaults take about ten minutes; -pkg and -bench choose some.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a build, a benchmark or benchstat did
	exitUsage       = 2 // as asked, there is nothing to compare
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Who reads along may be interrupted too, and first: there is still to tidy up.
	signal.Ignore(syscall.SIGPIPE)
	benchstat := []string{"go", "run", "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"}
	code := run(ctx, os.Args[1:], benchstat, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings as arguments: benchstat is the command that
// compares. It returns the exit code.
func run(ctx context.Context, args, benchstat []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		err = compare(ctx, o, benchstat, stdout, stderr)
	}
	var usage usageError
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "revisions: interrupted")
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "revisions:", err)
		return exitUsage
	case err != nil:
		fmt.Fprintln(stderr, "revisions:", err)
		return exitFailed
	}
	return exitOK
}

// A usageError is the caller's: the same arguments fail again.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// options are what the flags say.
type options struct {
	base, head string // revisions; no head is the working tree
	bench      string
	benchtime  string
	count      int
	pkgs       []string // directories in the repository, with slashes; none are all
}

// parse returns a usageError if args make no sense, and flag.ErrHelp after it
// wrote how to use them to help.
func parse(args []string, help io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("revisions", flag.ContinueOnError)
	fs.StringVar(&o.base, "base", "", "the `revision` to compare with; required")
	fs.StringVar(&o.head, "head", "", "the `revision` to compare (default the working tree as it is)")
	fs.StringVar(&o.bench, "bench", ".", "only benchmarks that match this `regexp`, as for go test")
	fs.IntVar(&o.count, "count", 10, "`runs` of each benchmark on each side; fewer than 6 rarely prove a thing")
	fs.StringVar(&o.benchtime, "benchtime", "100ms", "`duration` of a run, or its iterations as in 100x")
	pkgs := fs.String("pkg", "", "only packages in these `directories` of the repository, with commas between (default all)")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fs.SetOutput(help)
		fs.Usage()
		return o, err
	} else if err != nil {
		return o, usageError{err}
	}
	switch _, err := regexp.Compile(o.bench); {
	case fs.NArg() > 0:
		return o, usagef("%q is no flag", fs.Arg(0))
	case o.base == "":
		return o, usagef("-base says which revision to compare with, as in -base HEAD~1")
	case err != nil:
		return o, usagef("-bench: %w", err)
	case o.count < 1:
		return o, usagef("-count %d: must be 1 or more", o.count)
	case !isBenchtime(o.benchtime):
		return o, usagef("-benchtime %q: must be like 100ms or 100x", o.benchtime)
	}
	if *pkgs == "" {
		return o, nil
	}
	for dir := range strings.SplitSeq(*pkgs, ",") {
		dir = filepath.Clean(strings.TrimSpace(dir))
		if !filepath.IsLocal(dir) {
			return o, usagef("-pkg %s: must be relative to the root of the repository, and in it", dir)
		}
		o.pkgs = append(o.pkgs, filepath.ToSlash(dir))
	}
	return o, nil
}

func isBenchtime(s string) bool {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		i, err := strconv.Atoi(n)
		return err == nil && i > 0
	}
	d, err := time.ParseDuration(s)
	return err == nil && d > 0
}
