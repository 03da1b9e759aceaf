package main

import (
	"encoding/json"
	"io"
	"time"
)

// A report is all there is to say about a run.
type report struct {
	host        host
	settings    settings
	symbols     int
	clock       time.Duration
	contenders  []*contender
	interrupted bool
}

// title returns the name of c in the report.
func (c *contender) title() string {
	if c.again {
		return c.Name + " again"
	}
	return c.Name
}

// median returns the median over the rounds of what of picks.
func (c *contender) median(of func(r round) float64) float64 {
	if len(c.rounds) == 0 {
		return 0
	}
	samples := make([]float64, len(c.rounds))
	for i, r := range c.rounds {
		samples[i] = of(r)
	}
	return median(samples)
}

// The figures of a contender, as median takes them.
func lookupsPerSecond(r round) float64 { return r.perSecond }
func lookupShare(r round) float64      { return r.share }
func cpus(r round) float64             { return r.cpus }
func commitsPerSecond(r round) float64 { return r.commits }
func p50(r round) float64              { return r.p50 }
func p99(r round) float64              { return r.p99 }
func p999(r round) float64             { return r.p999 }
func commitP99(r round) float64        { return r.commitP99 }
func bytesPerLookup(r round) float64   { return r.bytes }

// lookups returns how many records c handed out, and how many of them were torn.
func (c *contender) lookups() (all, torn int) {
	for _, r := range c.rounds {
		all += r.lookups
		torn += r.torn
	}
	return all, torn
}

// broken reports whether a store that promises isolation handed out a torn
// record.
func (r *report) broken() bool {
	for _, c := range r.contenders {
		if _, torn := c.lookups(); torn > 0 && c.Isolated {
			return true
		}
	}
	return false
}

// noise returns by which part the two runs of one store differ, if there are
// two.
func (r *report) noise() (part float64, ok bool) {
	for _, again := range r.contenders {
		for _, first := range r.contenders {
			if !again.again || first.again || first.ID != again.ID {
				continue
			}
			a, b := first.median(lookupsPerSecond), again.median(lookupsPerSecond)
			if a == 0 || b == 0 {
				return 0, false
			}
			return max(a, b)/min(a, b) - 1, true
		}
	}
	return 0, false
}

// A jsonReport is a report as JSON. Times are in nanoseconds.
type jsonReport struct {
	Host        host        `json:"host"`
	Duration    int64       `json:"duration_ns"` // of each store
	Rounds      int         `json:"rounds"`
	Readers     int         `json:"readers"`
	Writes      int         `json:"writes_per_second"` // 0: unlimited
	Records     int         `json:"records"`
	Symbols     int         `json:"symbols"`
	Seed        uint64      `json:"seed"`
	Skew        float64     `json:"zipf_s"`
	TimedEvery  int         `json:"timed_every"` // lookups to one in the latencies
	Clock       int64       `json:"clock_ns"`    // contained in each latency
	Noise       *float64    `json:"noise,omitempty"`
	Interrupted bool        `json:"interrupted"`
	Stores      []jsonStore `json:"stores"`
}

// A jsonStore is a contender as JSON: medians over the rounds it had.
type jsonStore struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Isolated   bool    `json:"isolated"`
	Snapshots  bool    `json:"snapshots"`
	Rounds     int     `json:"rounds"`
	Lookups    int     `json:"lookups"` // all of them checked
	Torn       int     `json:"torn"`
	PerSecond  float64 `json:"lookups_per_second"`
	Share      float64 `json:"lookup_share"` // of the readers' time; the rest goes into checks
	CPUs       float64 `json:"cpus"`         // that the process had, on average
	P50        float64 `json:"p50_ns"`
	P99        float64 `json:"p99_ns"`
	P999       float64 `json:"p999_ns"`
	Commits    float64 `json:"commits_per_second"`
	CommitP99  float64 `json:"commit_p99_ns"` // from when it was due
	LookupSize float64 `json:"bytes_per_lookup"`
}

func (r *report) json(w io.Writer) error {
	j := jsonReport{
		Host:        r.host,
		Duration:    int64(r.settings.duration),
		Rounds:      rounds,
		Readers:     r.settings.readers,
		Writes:      r.settings.rate,
		Records:     r.settings.n,
		Symbols:     r.symbols,
		Seed:        r.settings.seed,
		Skew:        skew,
		TimedEvery:  every,
		Clock:       int64(r.clock),
		Interrupted: r.interrupted,
	}
	if noise, ok := r.noise(); ok {
		j.Noise = &noise
	}
	for _, c := range r.contenders {
		all, torn := c.lookups()
		j.Stores = append(j.Stores, jsonStore{
			ID:         c.ID,
			Name:       c.title(),
			Isolated:   c.Isolated,
			Snapshots:  c.Snapshots,
			Rounds:     len(c.rounds),
			Lookups:    all,
			Torn:       torn,
			PerSecond:  c.median(lookupsPerSecond),
			Share:      c.median(lookupShare),
			CPUs:       c.median(cpus),
			P50:        c.median(p50),
			P99:        c.median(p99),
			P999:       c.median(p999),
			Commits:    c.median(commitsPerSecond),
			CommitP99:  c.median(commitP99),
			LookupSize: c.median(bytesPerLookup),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}
