// Command report reads the lines that benchmarks printed. It says which promises they keep,
// and fails if one is missed; with flags it puts figures into READMEs, and draws charts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/peers"
	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings as arguments. It returns the exit code: 1 if a promise
// is missed or something cannot be read or written, 2 if the command line is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(stderr)
	readmes := flags.String("readme", "", "put figures into these files, separated by commas")
	charts := flags.String("charts", "", "draw charts into this folder")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: report [flags] lines.txt…")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() == 0:
		flags.Usage()
		return 2
	}
	missed, err := report(flags.Args(), *readmes, *charts, stdout)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "report:", err)
		return 1
	case missed > 0:
		fmt.Fprintf(stderr, "report: %d promises are missed\n", missed)
		return 1
	}
	return 0
}

func report(files []string, readmes, charts string, w io.Writer) (missed int, err error) {
	lines, err := result.Read(files...)
	if err != nil {
		return 0, err
	}
	r := &figures{lines, promises.Judge(promises.All(), lines)}
	if readmes != "" {
		if err := r.fillFiles(strings.Split(readmes, ",")); err != nil {
			return 0, err
		}
	}
	if charts != "" {
		if err := r.draw(charts); err != nil {
			return 0, err
		}
	}
	if readmes+charts != "" {
		return 0, nil // not asked for promises
	}
	for _, j := range r.judged {
		fmt.Fprintln(w, line(j))
		if j.Verdict == promises.Missed {
			missed++
		}
	}
	return missed, nil
}

// line writes a judgement for people.
func line(j promises.Judgement) string {
	if j.Verdict == promises.NotMeasured {
		return fmt.Sprintf("%-76s not measured", named(j))
	}
	limit, verdict := "", ""
	if j.Limited {
		limit, verdict = fmt.Sprintf("<= %.2f", j.Limit), string(j.Verdict)
	}
	return strings.TrimRight(fmt.Sprintf("%-76s %9s %9s %6.2fx (%.2f to %.2f) %8s %s", named(j),
		amount(j.OurFigure, j.Unit), amount(j.PeerFigure, j.Unit), j.Ratio, j.Low, j.High, limit, verdict), " ")
}

func named(j promises.Judgement) string {
	if j.At == "" {
		return j.Name
	}
	return j.Name + " at " + j.At
}

// amount writes a figure of a benchmark's unit, as ns/get or p99.9-ns.
func amount(x float64, unit string) string {
	kind, _, _ := strings.Cut(unit, "/")
	if _, of, ok := strings.Cut(unit, "-"); ok {
		kind = of
	}
	if kind != "ns" && kind != "B" && kind != "%" {
		kind = ""
	}
	return result.Amount(x, kind)
}

// infos returns what is known of the stores, or memories, of a workload.
func infos(w *result.Workload) []stores.Info {
	if w.Memories {
		return stores.Infos(memories.Kinds())
	}
	return stores.Infos(peers.All())
}
