package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// compare reads the corpus, runs the stores and prints the report. It returns
// the exit code.
func compare(ctx context.Context, o options, stdout, stderr io.Writer) int {
	p := newProgress(stderr)
	defer p.clear()
	root, err := goroot()
	if err != nil {
		return p.fail(err, exitUsage)
	}
	start := time.Now()
	symbols, err := loadCorpus(ctx, root, func(done, total int) {
		p.live("reading the Go source in %s: %d of %d directories", root, done, total)
	})
	switch {
	case ctx.Err() != nil:
		return p.fail(errors.New("interrupted while reading the Go source"), exitInterrupted)
	case err != nil:
		return p.fail(err, exitUsage)
	}
	p.line("read %s symbols in %.1fs", thousands(len(symbols)), time.Since(start).Seconds())
	return compareWith(ctx, o, symbols, p, stdout)
}

// compareWith is compare with the corpus at hand.
func compareWith(ctx context.Context, o options, symbols []stores.Record, p *progress, stdout io.Writer) int {
	if o.n == 0 {
		o.n = len(symbols)
	}
	r := report{host: thisHost(), settings: o.settings, symbols: len(symbols), clock: clockCost()}
	load := newWorkload(o.settings, resize(symbols, o.n, o.seed))
	r.contenders = load.run(ctx, func(c *contender, turn, turns int) {
		p.step(turn, turns)
		left := time.Duration(turns-turn) * o.duration / rounds
		p.live("round %d of %d: %s, %.0fs to go", turn*rounds/turns+1, rounds, c.title(), left.Seconds())
	})
	r.interrupted = ctx.Err() != nil
	p.clear()
	write := r.text
	if o.asJSON {
		write = r.json
	}
	err := write(stdout)
	switch {
	case err != nil:
		return p.fail(err, exitFailed)
	case r.broken():
		return p.fail(errors.New("a store that promises isolation handed out torn records"), exitFailed)
	case r.interrupted:
		return exitInterrupted
	}
	return exitOK
}
