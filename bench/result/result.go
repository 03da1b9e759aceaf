// Package result is what a run of the benchmarks found out, as it is written to
// report.json: types that the terminal, the page and the README are made from.
package result

import (
	"encoding/json"
	"io"
	"slices"
)

// A Report is all there is to say about a run.
type Report struct {
	Host        Host       `json:"host"`
	Command     string     `json:"command"` // that repeats it
	Seed        uint64     `json:"seed"`
	Rounds      int        `json:"rounds"`   // turns of each store in each case
	RoundNS     int64      `json:"round_ns"` // how long it is measured in each, in nanoseconds
	ClockNS     int64      `json:"clock_ns"` // contained in each single latency
	Interrupted bool       `json:"interrupted"`
	Stores      []Store    `json:"stores,omitempty"`
	Workloads   []Workload `json:"workloads,omitempty"`
	Bars        []Bar      `json:"bars,omitempty"`
}

// A Host is what a figure depends on besides the code.
type Host struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Commit     string `json:"commit,omitempty"` // of the module, if it is known
	Modified   bool   `json:"modified,omitempty"`
}

// A Store is one of those compared, and what it promises.
type Store struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Module    string `json:"module,omitempty"` // with its version; empty: this project, the standard library or a few lines here
	Ours      bool   `json:"ours"`
	Isolated  bool   `json:"isolated"`  // nothing a caller does to a value reaches the store
	Snapshots bool   `json:"snapshots"` // several keys as they were at one moment
	Atomic    bool   `json:"atomic"`    // an update of several keys is seen whole or not at all
	Ordered   bool   `json:"ordered"`   // iterates in the order of keys
	Lacks     string `json:"lacks,omitempty"`
}

// A Workload is what all stores were given.
type Workload struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	What    string   `json:"what"`           // a sentence or two
	Axis    string   `json:"axis,omitempty"` // what X of the cases is: "keys", "goroutines", "cores"; empty: the cases are no curve
	Columns []Column `json:"columns"`        // the first is what the workload is about
	Cases   []Case   `json:"cases"`
	Commit  string   `json:"commit,omitempty"` // and the processor, where they are not those of the report
	Unable  []string `json:"unable,omitempty"` // IDs of stores that cannot do it
}

// A Column is a figure that is measured of each store.
type Column struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Unit string `json:"unit"` // "/s", "ns", "B", "%", "x" or none
	More bool   `json:"more"` // more is better
}

// A Case is a workload with one choice of what can be chosen.
type Case struct {
	Name  string  `json:"name"` // "1 KB", "16 goroutines"; empty if there is only one
	X     float64 `json:"x,omitempty"`
	Noise float64 `json:"noise"` // by which part the first column of a store measured twice differs; 0: not known
	Rows  []Row   `json:"rows"`
}

// A Row is one store in one case.
type Row struct {
	Store   string            `json:"store"`
	Again   bool              `json:"again,omitempty"` // the same store once more, which is the noise
	Figures map[string]Figure `json:"figures"`         // by the ID of the column; what was not measured is not there
	Checked int               `json:"checked"`         // values read and compared with what was stored
	Torn    int               `json:"torn"`            // those that were not
	Latency []Quantile        `json:"latency,omitempty"`
}

// A Figure is the median of the rounds, and the least and the most of them.
type Figure struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// A Quantile is a point of a distribution of latencies.
type Quantile struct {
	Quantile float64 `json:"q"` // 0 to 1
	NS       int64   `json:"ns"`
}

// A Bar is one figure that the project promises: what was measured of itself
// and of a peer in the same run, and how far apart they may be.
type Bar struct {
	Group string  `json:"group"`
	Name  string  `json:"name"`
	At    string  `json:"at,omitempty"` // the size, where the same bar is measured at several
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"` // ours to peer; below 1 is better
	Bar   float64 `json:"bar"`   // the most it may be; 0: for information
	Pass  bool    `json:"pass"`

	Commit string `json:"commit,omitempty"` // and the processor, where they are not those of the report
}

// CommitText returns the commit, and says if the code was not that of it.
func (h Host) CommitText() string {
	if h.Modified {
		return h.Commit + " with changes"
	}
	return h.Commit
}

// Write writes r as JSON, on one line: most of it is points of curves.
func (r *Report) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Read returns the report that Write wrote.
func Read(from io.Reader) (*Report, error) {
	r := new(Report)
	dec := json.NewDecoder(from)
	dec.DisallowUnknownFields()
	return r, dec.Decode(r)
}

// Update puts the workloads and bars of newer in place of those of r that are the
// same, or beside them. What was measured of others stays.
func (r *Report) Update(newer *Report) {
	commit := newer.Host.CommitText()
	if newer.Host.CPU != r.Host.CPU {
		commit += " on " + newer.Host.CPU
	} else if commit == r.Host.CommitText() {
		commit = ""
	}
	for _, w := range newer.Workloads {
		w.Commit = commit
		if i := slices.IndexFunc(r.Workloads, func(old Workload) bool { return old.ID == w.ID }); i >= 0 {
			r.Workloads[i] = w
		} else {
			r.Workloads = append(r.Workloads, w)
		}
	}
	for _, s := range newer.Stores {
		if i := slices.IndexFunc(r.Stores, func(old Store) bool { return old.ID == s.ID }); i >= 0 {
			r.Stores[i] = s
		} else {
			r.Stores = append(r.Stores, s)
		}
	}
	groups := map[string]bool{}
	for i := range newer.Bars {
		newer.Bars[i].Commit = commit
		groups[newer.Bars[i].Group] = true
	}
	if len(newer.Bars) > 0 {
		r.Bars = append(slices.DeleteFunc(r.Bars, func(b Bar) bool { return groups[b.Group] }), newer.Bars...)
	}
	r.Interrupted = newer.Interrupted
}

// StoreOf returns the store with that ID.
func (r *Report) StoreOf(id string) (Store, bool) {
	for _, s := range r.Stores {
		if s.ID == id {
			return s, true
		}
	}
	return Store{}, false
}

// Measured reports whether r has figures of the store with that ID.
func (r *Report) Measured(id string) bool {
	for _, w := range r.Workloads {
		for _, c := range w.Cases {
			for _, row := range c.Rows {
				if row.Store == id {
					return true
				}
			}
		}
	}
	return false
}
