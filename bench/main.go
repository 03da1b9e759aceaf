// Command bench answers whether to replace a map behind a mutex: it measures
// cowstore and what people use instead of it, side by side on this machine. By
// default it runs the memory of a coding agent under load; -matrix runs more.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a store broke its promise, a bar is missed, or the report could not be written
	exitUsage       = 2 // also: nothing to run on
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Who reads along may be interrupted too, and first: there is still a report to
	// write.
	signal.Ignore(syscall.SIGPIPE)
	context.AfterFunc(ctx, stop) // a second time ends it at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command line.
type options struct {
	settings
	asJSON bool
	out    string
	update bool
	bars   bool
	only   string
	readme string
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
	p := newProgress(stderr)
	defer p.clear()
	if o.readme != "" {
		if err := updateReadmes(o.readme, o.out); err != nil {
			return p.fail(err, exitFailed)
		}
		return exitOK
	}
	return compare(ctx, o, args, p, stdout)
}

// parse returns the command line as options, or an error that says what is
// wrong with it.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var names, loads, matrix string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are returned, and printed once
	fs.StringVar(&loads, "workloads", "docs", "workloads to run: "+workloadIDs()+"; all: every one; none: only -bars")
	fs.StringVar(&names, "stores", ids(stores.Kinds()), "stores to compare; there are also "+ids(stores.More())+"; all: every one")
	fs.StringVar(&matrix, "matrix", "", "workloads and stores together: quick, the three and those that matter most; full, all at every size")
	fs.DurationVar(&o.duration, "duration", 0, "how long to measure each store in each case (default 5s; with -matrix 3s, or full 0.9s)")
	fs.IntVar(&o.rounds, "rounds", 3, "turns of each store in each case, of which figures are the medians")
	fs.IntVar(&o.clients, "readers", runtime.GOMAXPROCS(0), "goroutines that use a store, where the workload does not say")
	fs.IntVar(&o.rate, "writes", usualRate, "with docs, records indexed anew a second; 0: as many as the store takes")
	fs.IntVar(&o.n, "n", 0, "records, or users, instead of as many as the workload says")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of all that is random but the hashes")
	fs.StringVar(&o.records, "records", "", "with records, a file of JSON Lines as memory exports them, instead of a small example")
	fs.StringVar(&o.queries, "queries", "", `with -records, the queries: {"space":[…],"key":"…"} or {"space":[…],"text":"…","relevant":["key",…]}`)
	fs.StringVar(&o.out, "out", "", "folder for report.html, report.json and PNGs")
	fs.BoolVar(&o.update, "update", false, "with -out, keep what the report there has of other workloads and bars")
	fs.BoolVar(&o.asJSON, "json", false, "print JSON instead of tables")
	fs.BoolVar(&o.bars, "bars", false, "measure what the project promises of its speed; without -workloads or -matrix, only that")
	fs.StringVar(&o.only, "only", "", "with -bars: only this group ("+strings.Join(groupNames(), ", ")+")")
	fs.StringVar(&o.readme, "readme", "", "put the figures of the report.json in -out into these files, separated by commas, and measure nothing")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "usage of bench:")
			fs.SetOutput(usage)
			fs.PrintDefaults()
		}
		return o, err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.full = matrix == "full"
	usual := 5 * time.Second
	switch matrix {
	case "quick":
		loads, usual = quickWorkloads, 3*time.Second
		names = ids(stores.Kinds()) + "," + quickMemories
	case "full":
		loads, names, usual = "all", "all", 900*time.Millisecond
	}
	if o.bars && matrix == "" && !given["workloads"] {
		loads = "none"
	}
	if !given["duration"] {
		o.duration = usual
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case given["matrix"] && matrix != "quick" && matrix != "full":
		return o, fmt.Errorf("-matrix %q: must be quick or full", matrix)
	case matrix != "" && (given["workloads"] || given["stores"]):
		return o, errors.New("-matrix: has no meaning together with -workloads or -stores")
	case o.duration < 30*time.Millisecond || o.duration > time.Hour:
		return o, fmt.Errorf("-duration %v: must be from 30ms to 1h", o.duration)
	case o.rounds < 1 || o.rounds > 99:
		return o, fmt.Errorf("-rounds %d: must be from 1 to 99", o.rounds)
	case o.clients < 1 || o.clients > 1024:
		return o, fmt.Errorf("-readers %d: must be from 1 to 1024", o.clients)
	case o.rate < 0:
		return o, fmt.Errorf("-writes %d: must not be negative", o.rate)
	case o.n < 0 || o.n > 10_000_000:
		return o, fmt.Errorf("-n %d: must be from 0 to 10000000", o.n)
	case o.only != "" && !o.bars:
		return o, errors.New("-only: has no meaning without -bars")
	case o.only != "" && !slices.Contains(groupNames(), o.only):
		return o, fmt.Errorf("-only: unknown group %q: there are %s", o.only, strings.Join(groupNames(), ", "))
	case (o.records == "") != (o.queries == ""):
		return o, errors.New("-records and -queries: each needs the other")
	case o.update && o.out == "":
		return o, errors.New("-update: needs -out, the folder with report.json")
	case o.readme != "" && o.out == "":
		return o, errors.New("-readme: needs -out, the folder with report.json")
	}
	if o.records != "" && matrix == "" && !given["workloads"] {
		loads = "records"
		if !given["stores"] {
			names = "all"
		}
	}
	var err error
	if o.workloads, err = chooseWorkloads(loads); err != nil {
		return o, err
	}
	if o.records != "" && !slices.ContainsFunc(o.workloads, func(w workload) bool { return w.id == "records" }) {
		return o, errors.New("-records: has no meaning without the workload records")
	}
	if o.kinds, err = chooseStores(names); err != nil {
		return o, err
	}
	for _, w := range o.workloads {
		if !slices.ContainsFunc(o.kinds, w.able) {
			return o, fmt.Errorf("-workloads: none of the stores %s can run %s", ids(o.kinds), w.id)
		}
	}
	return o, nil
}

// What the quick matrix runs: the workloads that matter most, and beside the usual
// stores those that agents' memories are compared with.
const (
	quickWorkloads = "ycsb-b,stream,agent-turn"
	quickMemories  = "memory,chromem"
)

// chooseStores returns the kinds of stores in a comma-separated list of IDs, in its
// order, but those that are isolated in front.
func chooseStores(names string) ([]stores.Kind, error) {
	kinds, err := choose("-stores", "store", names, append(stores.Kinds(), stores.More()...), func(k stores.Kind) string { return k.ID })
	slices.SortStableFunc(kinds, func(a, b stores.Kind) int { return result.IsolatedFirst(a.Isolated, b.Isolated) })
	return kinds, err
}

// chooseWorkloads returns the workloads in a comma-separated list of IDs.
func chooseWorkloads(names string) ([]workload, error) {
	if names == "none" {
		return nil, nil
	}
	return choose("-workloads", "workload", names, workloads(), func(w workload) string { return w.id })
}

// choose returns those of known whose IDs are in a comma-separated list, in its
// order.
func choose[T any](option, what, names string, known []T, id func(T) string) (chosen []T, err error) {
	if names == "all" {
		return known, nil
	}
	var taken []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if slices.Contains(taken, name) {
			return nil, fmt.Errorf("%s: %q is there twice", option, name)
		}
		taken = append(taken, name)
		i := slices.IndexFunc(known, func(k T) bool { return id(k) == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: unknown %s %q: there are %s", option, what, name, idsOf(known, id))
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

func idsOf[T any](all []T, id func(T) string) string {
	var s []string
	for _, k := range all {
		s = append(s, id(k))
	}
	return strings.Join(s, ",")
}

func ids(kinds []stores.Kind) string {
	return idsOf(kinds, func(k stores.Kind) string { return k.ID })
}

func workloadIDs() string { return idsOf(workloads(), func(w workload) string { return w.id }) }
