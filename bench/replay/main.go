// Command replay asks memories your own queries about your own records: cowstore's, maps
// behind a lock, JSON, and bleve. It tells lookups a second, searches a second, and
// recall@5: which part of what is relevant is among the first five found. With -sets it
// tells how well public test collections are searched instead.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"testing"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

func main() {
	recordsFile := flag.String("records", "", "a file of JSON Lines as memory exports them; none: a small example")
	queriesFile := flag.String("queries", "", `the queries: {"space":[…],"key":"…"} or {"space":[…],"text":"…","relevant":["key",…]}`)
	rounds := flag.Int("rounds", 3, "turns of each memory, of a second or so, of which figures are the medians")
	sets := flag.String("sets", "", "a folder with test collections, see recall.Sets: how well they are searched, and the verses of this module")
	flag.Parse()
	testing.Init()
	log.SetFlags(0)
	if flag.NArg() > 0 || *rounds < 1 || (*recordsFile == "") != (*queriesFile == "") {
		log.Fatal("replay: give -records and -queries or neither, positive -rounds, and nothing else")
	}
	if *sets != "" {
		if flag.NFlag() > 1 {
			log.Fatal("replay: -sets stands alone")
		}
		all, err := recall.Sets(*sets)
		if err == nil {
			err = rank(append(all, verses()...), os.Stdout)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*recordsFile, *queriesFile, *rounds, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run lets the memories take turns, and prints a table of them.
func run(recordsFile, queriesFile string, rounds int, w io.Writer) error {
	all, queries, err := recall.Example()
	if recordsFile+queriesFile != "" {
		all, queries, err = recall.Read(recordsFile, queriesFile)
	}
	if err != nil {
		return err
	}
	l, lines := memories.Replay(all, queries), new(result.Lines)
	kinds := slices.DeleteFunc(memories.Kinds(), func(k memories.Kind) bool { return !l.Able(k) })
	for i := range rounds * len(kinds) {
		k := kinds[i%len(kinds)]
		r := l.Run(k)
		if r.N == 0 {
			return fmt.Errorf("%s lost a record", k.Name)
		}
		lines.Add(result.Name(l.Workload, l.Size, k.ID), r)
	}
	for _, c := range lines.Cases(result.WorkloadOf(l.Workload), stores.Infos(kinds)) {
		fmt.Fprintf(w, "%d records, %d queries\n\n%s", all.Len(), len(queries), c.Text())
	}
	return nil
}
