// Command demo writes, searches, forks and lags all the time, and shows what happens on pages of
// package inspect.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	memoryinspect "github.com/cowstore/cowstore/memory/inspect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// A job is a row of the demo's own table.
type job struct {
	Kind  string
	State string
	Tries int
	Tags  []string
}

// A demo is a DB with a table of jobs, and the memory of an agent.
type demo struct {
	db      cow.DB
	jobs    *cow.Table[string, job]
	byState *cow.Index[string, job, string]
	notes   *memory.Memory
}

// run shows a DB until ctx ends.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	addr := flags.String("http", "localhost:8080", "the address that serves the pages")
	rows := flags.Int("rows", 10_000, "how many jobs there are to begin with")
	versions := flags.Int("versions", 1000, "how many versions are retained")
	pause := flags.Duration("pause", 100*time.Millisecond, "how long a writer waits between two updates")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	d, err := newDemo(*rows, *versions)
	if err != nil {
		return err
	}
	d.db.AddHook(hook.Log(slog.New(slog.NewTextHandler(os.Stderr, nil)), time.Second))

	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: d.pages(), ReadHeaderTimeout: 10 * time.Second}
	fmt.Printf("http://%s/\n", l.Addr())
	go d.write(ctx, *pause)
	go d.lag(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// pages returns the pages about the DB, with those about the memory in it.
func (d *demo) pages() http.Handler {
	return inspect.Handler(&d.db, inspect.Options{Title: "demo", Value: show, Slow: time.Millisecond, Parts: []inspect.Part{
		memoryinspect.Part(d.notes, memoryinspect.Options{Value: memoryinspect.JSON}),
	}})
}

// show shows the values of the jobs alone: what a memory stores is its own, and has pages of its own.
func show(_ string, value any) any {
	if j, ok := value.(job); ok {
		return j
	}
	return fmt.Sprintf("%T", value)
}

func newDemo(rows, versions int) (*demo, error) {
	d := new(demo)
	d.jobs = cow.NewTable[string](&d.db, "jobs", cow.Options[job]{})
	d.notes = memory.On(&d.db, memory.Options{})
	var err error
	if d.byState, err = cow.NewIndex(d.jobs, "state", func(r cow.Row[string, job]) string { return r.Shared().State }, cow.IndexOptions[string]{}); err != nil {
		return nil, err
	}
	if err := d.db.Update(func(tx *cow.Tx) error {
		e := d.jobs.Edit(tx)
		for i := range rows {
			e.Set(fmt.Sprintf("job-%07d", i), job{Kind: kinds[i%len(kinds)], State: "ready"})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	d.db.Retain(cow.Retention{Versions: versions})
	for range versions {
		if err := d.step(rows); err != nil {
			return nil, err
		}
	}
	return d, d.db.Pin("first", d.db.Load().Version())
}

var (
	kinds  = []string{"mail", "invoice", "report", "backup"}
	states = []string{"ready", "running", "done", "failed"}
	words  = strings.Fields("the agent found a note about an order that a customer made in spring and asked for tea")
)

// step makes one update: of a job and, at times, of a note.
func (d *demo) step(rows int) error {
	return d.db.Update(func(tx *cow.Tx) error {
		if err := d.jobs.Edit(tx).Upsert(fmt.Sprintf("job-%07d", rand.IntN(max(1, rows))), func(j *job, _ bool) error {
			j.State, j.Tries = states[rand.IntN(len(states))], j.Tries+1
			if j.Kind == "" {
				j.Kind = kinds[0]
			}
			if j.State == "failed" {
				j.Tags = append(j.Tags, fmt.Sprint("try ", j.Tries))
			}
			return nil
		}); err != nil {
			return err
		}
		if rand.IntN(4) > 0 {
			return nil
		}
		return d.notes.BatchIn(tx, func(b *memory.Batch) error {
			n := rand.IntN(500)
			note := make([]string, 8)
			for i := range note {
				note[i] = words[rand.IntN(len(words))]
			}
			return b.Space("agents", fmt.Sprint("agent-", n%7)).Put(fmt.Sprint("note-", n), strings.Join(note, " "))
		})
	})
}

// write updates, searches and forks, until ctx ends.
func (d *demo) write(ctx context.Context, pause time.Duration) {
	rows := d.jobs.Len()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if err := d.step(rows); err != nil {
			slog.Error("a step of the demo", "err", err)
		}
		if n%10 == 0 {
			if _, err := d.notes.Space("agents").Search(memory.Query{Text: words[n/10%len(words)], Below: true}); err != nil {
				slog.Error("a search of the demo", "err", err)
			}
		}
		if n%50 == 0 { // a fork tries something, and most of it comes back
			base := d.db.Load()
			fork := d.db.Fork(base)
			if _, err := d.jobs.Of(fork).Set(fmt.Sprint("what-if-", n), job{Kind: "report", State: "done"}); err != nil {
				slog.Error("a fork of the demo", "err", err)
			}
			if _, err := d.db.Merge(base, fork.Load()); err != nil {
				slog.Error("a merge of the demo", "err", err)
			}
		}
	}
}

// lag follows the DB, more slowly than it changes, until ctx ends.
func (d *demo) lag(ctx context.Context) {
	for ctx.Err() == nil {
		for _, err := range d.db.Changes(ctx, d.db.Load().Version()) {
			if err != nil {
				break // it was too slow: it begins again
			}
			time.Sleep(time.Second)
		}
	}
}
