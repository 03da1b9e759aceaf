// Command bench is the memory of a coding agent under load: the documented
// symbols of the Go installation at hand as records, looked up by readers while
// a writer indexes them anew, in cowstore and in what people use instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a store broke its promise, or the report could not be written
	exitUsage       = 2 // also: nothing to run on
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command line.
type options struct {
	settings
	asJSON   bool
	bars     bool
	barsOnly string
}

// run is main with its surroundings as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitUsage
	}
	if o.bars {
		return runBars(ctx, stdout, o.asJSON, o.barsOnly)
	}
	return compare(ctx, o, stdout, stderr)
}

// parse returns the command line as options, or an error that says what is
// wrong with it.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var names string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are returned, and printed once
	fs.DurationVar(&o.duration, "duration", 5*time.Second, "how long to measure each store")
	fs.IntVar(&o.readers, "readers", runtime.GOMAXPROCS(0), "goroutines that look records up")
	fs.IntVar(&o.rate, "writes", 1000, "records indexed anew a second; 0: as many as the store takes")
	fs.IntVar(&o.n, "n", 0, "records, sampled or replicated; 0: one a symbol")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of all that is random but the hashes")
	fs.StringVar(&names, "stores", ids(stores.Kinds()), "stores to compare; there are also "+ids(stores.More())+"; all: every one")
	fs.BoolVar(&o.asJSON, "json", false, "print JSON")
	fs.BoolVar(&o.bars, "bars", false, "measure instead what the project promises of its speed")
	fs.StringVar(&o.barsOnly, "only", "", "with -bars: only this group (reads, commits, scans, memory, diff, clone, history, fork, indexes, watches, values, vectors, pauses, texts)")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "usage of bench:")
			fs.SetOutput(usage)
			fs.PrintDefaults()
		}
		return o, err
	}
	var err error
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.duration < 30*time.Millisecond || o.duration > time.Hour:
		return o, fmt.Errorf("-duration %v: must be from 30ms to 1h", o.duration)
	case o.readers < 1 || o.readers > 1024:
		return o, fmt.Errorf("-readers %d: must be from 1 to 1024", o.readers)
	case o.rate < 0:
		return o, fmt.Errorf("-writes %d: must not be negative", o.rate)
	case o.n < 0 || o.n > 10_000_000:
		return o, fmt.Errorf("-n %d: must be from 0 to 10000000", o.n)
	case o.barsOnly != "" && !o.bars:
		return o, errors.New("-only: has no meaning without -bars")
	}
	o.kinds, err = choose(names)
	return o, err
}

// choose returns the kinds of stores in a comma-separated list of IDs.
func choose(names string) ([]stores.Kind, error) {
	known := append(stores.Kinds(), stores.More()...)
	if names == "all" {
		return known, nil
	}
	var kinds []stores.Kind
	taken := make(map[string]bool)
next:
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if taken[name] {
			return nil, fmt.Errorf("-stores: %q is there twice", name)
		}
		taken[name] = true
		for _, k := range known {
			if k.ID == name {
				kinds = append(kinds, k)
				continue next
			}
		}
		return nil, fmt.Errorf("-stores: unknown store %q: there are %s", name, ids(known))
	}
	return kinds, nil
}

func ids(kinds []stores.Kind) string {
	var s []string
	for _, k := range kinds {
		s = append(s, k.ID)
	}
	return strings.Join(s, ",")
}
