// Command bench answers whether to replace a map behind a mutex: it measures cowstore and
// what people use instead of it, side by side on this machine, in the memory of a coding
// agent under load. The same load, and all others, are ordinary benchmarks of this
// package: go test -bench.
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
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a store gave out what is not whole
	exitUsage       = 2 // also: nothing to run on
	exitInterrupted = 130
)

func main() {
	testing.Init()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second time ends it at once
	os.Exit(run(ctx, os.Args[1:], stores.Kinds(), os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit code.
func run(ctx context.Context, args []string, kinds []stores.Kind, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	workload := flags.String("workload", "docs", "what the stores do: docs, ycsb-b, ycsb-c, ycsb-d, 30to1, stream, scan, fork or growth")
	rounds := flags.Int("rounds", 3, "turns of each store, of which figures are the medians")
	turn := flags.Duration("turn", 900*time.Millisecond, "how long a turn is, about")
	records := flags.Int("n", load.Records, "records, except with docs")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(stderr, "bench:", err)
		return code
	}
	if flags.NArg() > 0 {
		return fail(exitUsage, fmt.Errorf("what is %q? there are only flags: see -help", flags.Arg(0)))
	}
	if *rounds < 1 || *turn <= 0 || *records < 100 {
		return fail(exitUsage, errors.New("-rounds and -turn must be positive, and -n 100 at least"))
	}
	if err := flag.Set("test.benchtime", turn.String()); err != nil {
		return fail(exitUsage, err)
	}
	var symbols []stores.Record
	if *workload == "docs" {
		var err error
		if symbols, err = readSymbols(ctx, stderr); err != nil {
			return fail(exitUsage, err)
		}
	}
	loads := load.Loads(func() []stores.Record { return symbols }, *records)
	at := slices.IndexFunc(loads, func(l *load.Load) bool { return l.Workload == *workload })
	if at < 0 {
		return fail(exitUsage, fmt.Errorf("there is no workload %q: see -help", *workload))
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k stores.Kind) bool { return !loads[at].Able(k) })

	fmt.Fprintf(stdout, "%s %s/%s, %s, GOMAXPROCS %d; each store %d times for about %v, in turn with the others\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName, runtime.GOMAXPROCS(0), *rounds, *turn)
	lines, err := measure(ctx, loads[at], kinds, *rounds, stderr)
	if err != nil {
		return fail(exitFailed, err)
	}
	var infos []stores.Info
	for _, k := range kinds {
		infos = append(infos, k.Info)
	}
	for _, c := range lines.Cases(result.WorkloadOf(*workload), infos) {
		printCase(stdout, &c)
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stdout, "Interrupted: figures are of what was measured until then.")
		return exitInterrupted
	}
	return exitOK
}

// printCase prints a case for people, and what the figures mean and say.
func printCase(w io.Writer, c *result.Case) {
	fmt.Fprint(w, c.Text(), "\n", c.Promises(), "\n")
	for _, text := range result.Method() {
		fmt.Fprint(w, result.Wrapped(text))
	}
	most := 0.0
	for _, r := range c.Rows {
		most = max(most, r.Figures["cpus"].Median)
	}
	if could := float64(runtime.GOMAXPROCS(0)); most > 0 && most < 0.9*could {
		fmt.Fprint(w, result.Wrapped(fmt.Sprintf("Other programs may have been at work, or fewer goroutines than processors: at most %.1f of %.0f "+
			"processors were used. Threads that do not run do not contend, so this flatters the stores with locks.", most, could)))
	}
	for i, text := range c.Verdict() {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, result.Wrapped(text))
	}
}

// measure lets the stores take turns, and the first of them once more at the end of each
// round, until all have had theirs or ctx ends.
func measure(ctx context.Context, l *load.Load, kinds []stores.Kind, rounds int, w io.Writer) (*result.Lines, error) {
	lines := new(result.Lines)
	kinds = append(slices.Clone(kinds), kinds[0])
	bar := progress(rounds*len(kinds), w)
	defer func() { _ = bar.Clear() }()
	for round := range rounds {
		for i, k := range kinds {
			if ctx.Err() != nil {
				return lines, nil
			}
			id := k.ID
			if i == len(kinds)-1 {
				id = result.Again
			}
			bar.Describe(fmt.Sprintf("round %d of %d: %-22s", round+1, rounds, k.Name))
			bench, done := l.Bench(k)
			r := testing.Benchmark(bench)
			done()
			if r.N == 0 { // the benchmark has failed
				return nil, fmt.Errorf("%s broke its promise in %s: what was read is not whole", k.Name, l.Workload)
			}
			lines.Add(result.Name(l.Workload, l.Size, id), r)
			_ = bar.Add(1)
		}
	}
	return lines, nil
}

// progress returns a bar that people see on a terminal.
func progress(n int, w io.Writer) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	return progressbar.NewOptions(n, progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(terminal),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(50*time.Millisecond))
}

// readSymbols returns the documented symbols of the Go installation at hand.
func readSymbols(ctx context.Context, w io.Writer) ([]stores.Record, error) {
	root, err := corpus.Root()
	if err != nil {
		return nil, err
	}
	all, err := corpus.Load(ctx, root)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "read %d symbols of the Go installation in %s\n", len(all), root)
	return all, nil
}
