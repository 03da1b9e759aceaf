package main

import (
	"context"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// A workload is a row of the table of workloads.
type workload struct {
	id, name, what string
	axis           string // what the x of its cases is, if they are a curve
	columns        []result.Column
	able           func(k stores.Kind) bool
	cases          func(s *settings) []benchCase
}

// A benchCase is a workload with one choice of what can be chosen.
type benchCase struct {
	name string
	x    float64
	once bool                     // one round is enough, and all there is time for
	able func(stores.Kind) bool   // nil: all that the workload is for
	make func(env) (trial, error) // what all stores share, once for the case

	// takes guesses how long a turn of a store takes, once the case is made; nil: as
	// the settings say.
	takes func(stores.Kind) time.Duration
}

// turns returns how many each store has.
func (c *benchCase) turns(s *settings) int {
	if c.once {
		return 1
	}
	return s.rounds
}

// An env is what a case is made in.
type env struct {
	context.Context
	*settings
	progress *progress
}

// A trial makes a store, gives it the load for one turn, and says what was measured.
// It returns early when the context ends; what it returns then counts for nothing.
type trial func(ctx context.Context, k stores.Kind) sample

// release closes a store or memory that must be closed.
func release(s any) {
	if c, ok := s.(io.Closer); ok {
		_ = c.Close()
	}
}

// A sample is what was measured of a store in one turn.
type sample struct {
	figures figures
	checked int
	torn    int
	latency *hdrhistogram.Histogram // of what the workload is about; nil: not measured
}

// figures are by the ID of the column.
type figures map[string]float64

// The columns. A workload has those that mean something in it, and in front the
// one that it is about.
var (
	colOps     = result.Column{ID: "ops", Name: "ops/s", Unit: "/s", More: true}
	colP50     = result.Column{ID: "p50", Name: "p50", Unit: "ns"}
	colP99     = result.Column{ID: "p99", Name: "p99", Unit: "ns"}
	colP999    = result.Column{ID: "p999", Name: "p99.9", Unit: "ns"}
	colSet99   = result.Column{ID: "set99", Name: "set p99", Unit: "ns"}
	colCommits = result.Column{ID: "commits", Name: "sets/s", Unit: "/s", More: true}
	colGet     = result.Column{ID: "get", Name: "B/get", Unit: "B"}
	colGC      = result.Column{ID: "gc", Name: "GC", Unit: "%"}
	colHeap    = result.Column{ID: "heap", Name: "B/entry", Unit: "B"}
)

// quantiles adds the usual ones of h.
func (f figures) quantiles(h *hdrhistogram.Histogram) {
	if h.TotalCount() == 0 {
		return
	}
	f[colP50.ID] = float64(h.ValueAtQuantile(50))
	f[colP99.ID] = float64(h.ValueAtQuantile(99))
	f[colP999.ID] = float64(h.ValueAtQuantile(99.9))
}
