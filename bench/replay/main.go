// Command replay asks memories your own queries about your own records: cowstore's, maps
// behind a lock, JSON, and bleve. It tells lookups a second, searches a second, and
// recall@5: which part of what is relevant is among the first five found.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

func main() {
	testing.Init()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit code: 1 if a memory
// fails, 2 if the command line or a file is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	recordsFile := flags.String("records", "", "a file of JSON Lines as memory exports them; none: a small example")
	queriesFile := flags.String("queries", "", `the queries: {"space":[…],"key":"…"} or {"space":[…],"text":"…","relevant":["key",…]}`)
	rounds := flags.Int("rounds", 3, "turns of each memory, of which figures are the medians")
	turn := flags.Duration("turn", time.Second, "how long a turn is, about")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(stderr, "replay:", err)
		return code
	}
	if flags.NArg() > 0 || *rounds < 1 || *turn <= 0 || (*recordsFile == "") != (*queriesFile == "") {
		return fail(2, errors.New("give -records and -queries or neither, positive -rounds and -turn, and nothing else"))
	}
	if err := flag.Set("test.benchtime", turn.String()); err != nil {
		return fail(2, err)
	}
	read := records.Example
	if *recordsFile != "" {
		read = func() ([]records.Record, []records.Query, error) { return records.Read(*recordsFile, *queriesFile) }
	}
	all, queries, err := read()
	if err != nil {
		return fail(2, err)
	}
	l, lines, infos := memories.Replay(all, queries), new(result.Lines), []stores.Info(nil)
	kinds := slices.DeleteFunc(memories.Kinds(), func(k memories.Kind) bool { return !l.Able(k) })
	for _, k := range kinds {
		infos = append(infos, k.Info)
	}
	for i := range *rounds * len(kinds) {
		k := kinds[i%len(kinds)]
		bench, done := l.Bench(k)
		r := testing.Benchmark(bench)
		done()
		if r.N == 0 {
			return fail(1, fmt.Errorf("%s lost a record", k.Name))
		}
		lines.Add(result.Name(l.Workload, l.Size, k.ID), r)
	}
	for _, c := range lines.Cases(result.WorkloadOf(l.Workload), infos) {
		fmt.Fprintf(stdout, "%d records, %d queries\n\n%s", len(all), len(queries), c.Text())
	}
	return 0
}
