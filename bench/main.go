// Command bench answers whether to replace a map behind a mutex: it measures cowstore and
// what people use instead of it, side by side on this machine, in the memory of a coding
// agent under load. The same load, and all others, are ordinary benchmarks of this
// package: go test -bench.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
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

func main() {
	testing.Init()
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	rounds := flags.Int("rounds", 3, "turns of each store, of which figures are the medians")
	turn := flags.Duration("turn", 900*time.Millisecond, "how long a turn is, about")
	_ = flags.Parse(os.Args[1:])
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "bench: what is %q? there are only flags\n", flags.Arg(0))
		os.Exit(2)
	}
	if err := run(func() ([]stores.Record, error) { return corpus.Load() }, stores.Kinds(), *rounds, *turn, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the main job, with what read returns, in stores. It fails if one gives out what
// is not whole.
func run(read func() ([]stores.Record, error), kinds []stores.Kind, rounds int, turn time.Duration, stdout, stderr io.Writer) error {
	if rounds < 1 || turn <= 0 {
		return errors.New("-rounds and -turn must be positive")
	}
	if err := flag.Set("test.benchtime", turn.String()); err != nil {
		return err
	}
	symbols, err := read()
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "read %d symbols of the Go installation\n", len(symbols))
	fmt.Fprintf(stdout, "%s %s/%s, %s, GOMAXPROCS %d; each store %d times for about %v, in turn with the others\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName, runtime.GOMAXPROCS(0), rounds, turn)
	l := load.Docs(func() []stores.Record { return symbols })
	lines, err := measure(l, kinds, rounds, stderr)
	if err != nil {
		return err
	}
	for _, c := range lines.Cases(result.WorkloadOf(l.Workload), stores.Infos(kinds)) {
		printCase(stdout, &c)
	}
	return nil
}

// printCase prints a case for people, and what the figures mean and say.
func printCase(w io.Writer, c *result.Case) {
	method, most := result.Method(), 0.0
	for _, r := range c.Rows {
		most = max(most, r.Figures["cpus"].Median)
	}
	if could := float64(runtime.GOMAXPROCS(0)); most > 0 && most < 0.9*could {
		method = append(method, fmt.Sprintf("Other programs may have been at work, or fewer goroutines than processors: at most %.1f of %.0f "+
			"processors were used. Threads that do not run do not contend, so this flatters the stores with locks.", most, could))
	}
	fmt.Fprint(w, c.Text(), "\n", c.Promises(), "\n", result.Wrapped(method...))
	if verdict := c.Verdict(); verdict != nil {
		fmt.Fprint(w, "\n", verdict[0], "\n", result.Wrapped(verdict[1:]...))
	}
}

// measure lets the stores take turns, and the first of them once more at the end of each
// round.
func measure(l *load.Load[stores.Store], kinds []stores.Kind, rounds int, w io.Writer) (*result.Lines, error) {
	lines := new(result.Lines)
	kinds = append(slices.Clone(kinds), kinds[0])
	f, ok := w.(*os.File)
	bar := progressbar.NewOptions(rounds*len(kinds), progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))), progressbar.OptionClearOnFinish())
	defer func() { _ = bar.Clear() }()
	for round := range rounds {
		for i, k := range kinds {
			id := k.ID
			if i == len(kinds)-1 {
				id = result.Again
			}
			bar.Describe(fmt.Sprintf("round %d of %d: %-22s", round+1, rounds, k.Name))
			r := l.Run(k)
			if r.N == 0 { // the benchmark has failed
				return nil, fmt.Errorf("%s broke its promise in %s: what was read is not whole", k.Name, l.Workload)
			}
			lines.Add(result.Name(l.Workload, l.Size, id), r)
			_ = bar.Add(1)
		}
	}
	return lines, nil
}
