package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// compare measures what o says, prints it as it comes, and writes the report. It
// returns the exit code.
func compare(ctx context.Context, o options, args []string, p *progress, stdout io.Writer) int {
	if err := writable(o.out); err != nil {
		return p.fail(err, exitUsage)
	}
	// What is wrong with files shall not come out after everything else.
	var earlier *result.Report
	if o.update {
		var err error
		if earlier, err = read(filepath.Join(o.out, reportFile), result.Read); err != nil {
			return p.fail(fmt.Errorf("-update: %w", err), exitUsage)
		}
	}
	if o.records != "" {
		if _, _, err := (env{settings: &o.settings}).files(); err != nil {
			return p.fail(err, exitUsage)
		}
	}
	r := &result.Report{
		Host: thisHost(), Command: strings.Join(append([]string{"go run ."}, args...), " "),
		Seed: o.seed, Rounds: o.rounds, RoundNS: int64(o.turn()), ClockNS: int64(clockCost()),
	}
	if len(o.workloads) > 0 { // of the bars the peers are others
		r.Stores = summarised(o.kinds)
	}
	tables := stdout
	if o.asJSON {
		tables = io.Discard
	}
	fmt.Fprintln(tables, heading(r))
	e := env{Context: ctx, settings: &o.settings, progress: p}
	m := matrix{env: e, plan: newPlan(&o.settings), done: func(w *result.Workload, c *result.Case) {
		p.clear()
		var b strings.Builder
		caseTable(&b, w, c, r.Stores)
		_, _ = io.WriteString(tables, b.String())
	}}
	var err error
	r.Workloads, err = m.run()
	failed := err != nil && ctx.Err() == nil
	if o.bars && !failed && ctx.Err() == nil {
		r.Bars = measureBars(ctx, tables, p, o.only)
	}
	r.Interrupted = failed || ctx.Err() != nil
	p.clear()
	if failed && len(r.Workloads) == 0 {
		return p.fail(err, exitUsage)
	}
	code := finish(r, earlier, &o, p, stdout)
	if failed {
		return p.fail(err, exitUsage)
	}
	return code
}

// finish writes all that is written at the end, into an earlier report if that is
// not nil, and returns the exit code.
func finish(r, earlier *result.Report, o *options, p *progress, stdout io.Writer) int {
	var err error
	if o.out != "" {
		written := r
		if earlier != nil {
			earlier.Update(r)
			written = earlier
		}
		if err = writeReport(written, o.out); err == nil {
			p.line("wrote report.html, report.json and charts to %s", o.out)
		}
	}
	if printed := printEnd(r, o.asJSON, stdout); err == nil {
		err = printed
	}
	broke, missed := broken(r), 0
	for _, b := range r.Bars {
		if !b.Pass {
			missed++
		}
	}
	switch {
	case err != nil:
		return p.fail(err, exitFailed)
	case broke != "":
		return p.fail(errors.New(broke), exitFailed)
	case r.Interrupted:
		return exitInterrupted
	case missed > 0:
		return p.fail(fmt.Errorf("%d of %d bars missed", missed, len(r.Bars)), exitFailed)
	}
	return exitOK
}

// printEnd prints what comes after the tables, or all of r as JSON.
func printEnd(r *result.Report, asJSON bool, stdout io.Writer) error {
	if !asJSON {
		_, err := io.WriteString(stdout, legend(r))
		return err
	}
	var line, lines bytes.Buffer
	if err := r.Write(&line); err != nil {
		return err
	}
	if err := json.Indent(&lines, line.Bytes(), "", "\t"); err != nil {
		return err
	}
	_, err := lines.WriteTo(stdout)
	return err
}

// symbols returns the documented symbols of the Go installation at hand.
func (e env) symbols() ([]stores.Record, error) {
	root, err := corpus.Root()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	all, err := corpus.Load(e, root, func(done, total int) {
		e.progress.live("reading the Go source in %s: %d of %d directories", root, done, total)
	})
	if err == nil {
		e.progress.line("read %s symbols in %.1fs", result.Thousands(len(all)), time.Since(start).Seconds())
	}
	return all, err
}

// files returns the records and queries of the files that the command line names,
// or of the example.
func (e env) files() ([]records.Record, []records.Query, error) {
	if e.records == "" {
		return records.Example()
	}
	all, err := read(e.settings.records, records.Load)
	if err != nil {
		return nil, nil, err
	}
	queries, err := read(e.settings.queries, func(r io.Reader) ([]records.Query, error) { return records.Queries(r, all) })
	return all, queries, err
}

// read opens a file and parses it.
func read[T any](name string, parse func(io.Reader) (T, error)) (all T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return all, err
	}
	defer f.Close()
	all, err = parse(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return all, err
}
