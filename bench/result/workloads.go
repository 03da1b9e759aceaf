package result

// A Workload is what stores are compared in, and what its table has.
type Workload struct {
	ID, Name string
	Memories bool // they are of agents
	Columns  []Column
}

// A Column is a figure of each store: what is reported in a unit.
type Column struct {
	Unit string // of the benchmark
	Name string
	Kind string // "/s", "ns", "B", "%", "x"
	More bool   // more is better
}

// The columns that several workloads have.
var (
	perSecond = Column{"op/s", "op/s", "/s", true}
	lookups   = Column{"op/s", "lookups/s", "/s", true}
	turns     = Column{"op/s", "turns/s", "/s", true}
	p50       = Column{"p50-ns", "p50", "ns", false}
	p99       = Column{"p99-ns", "p99", "ns", false}
	p999      = Column{"p99.9-ns", "p99.9", "ns", false}
	sets      = Column{"set/s", "sets/s", "/s", true}
	set99     = Column{"set-p99-ns", "set p99", "ns", false}
	get       = Column{"B/get", "B/get", "B", false}
	gc        = Column{"gc-%", "GC", "%", false}
	entry     = Column{"B/entry", "B/entry", "B", false}
)

// Workloads are all there are, in the order of reports. The first column is what a
// workload is about.
var Workloads = []Workload{
	{ID: "docs", Name: "A coding agent's memory", Columns: []Column{lookups, p50, p99, p999, sets, get, gc, entry}},
	{ID: "ycsb-b", Name: "YCSB B", Columns: []Column{perSecond, p50, p99, p999, set99, get, gc, entry}},
	{ID: "ycsb-c", Name: "YCSB C", Columns: []Column{perSecond, p50, p99, p999, get, gc, entry}},
	{ID: "ycsb-d", Name: "YCSB D", Columns: []Column{perSecond, p50, p99, p999, set99, get, gc, entry}},
	{ID: "30to1", Name: "Thirty lookups to a write, by goroutines", Columns: []Column{perSecond, p50, p99, p999, set99, gc, entry}},
	{ID: "stream", Name: "Lookups beside a stream of writes", Columns: []Column{p99, p50, p999,
		{"times-quiet", "vs quiet", "x", false}, sets, set99, gc, entry}},
	{ID: "scan", Name: "Whole iterations during writes", Columns: []Column{{"entries/s", "entries/s", "/s", true},
		{"torn-%", "torn", "%", false}, sets, {"set-p99-ns", "update p99", "ns", false}, gc, entry}},
	{ID: "fork", Name: "Forks", Columns: []Column{{"branch-ns", "branch", "ns", false}, {"B/branch", "B/branch", "B", false}, gc, entry}},
	{ID: "growth", Name: "Growth, by keys", Columns: []Column{perSecond, {"set-ns", "set", "ns", false}, entry}},
	{ID: "agent-turn", Name: "Turns of agents, by users", Memories: true, Columns: []Column{turns, p50, p99, p999, gc, entry}},
	{ID: "preload", Name: "Preloading a session", Memories: true, Columns: []Column{{"op/s", "spaces/s", "/s", true}, p50, p99, p999, gc, entry}},
	{ID: "records", Name: "Records and queries", Memories: true, Columns: []Column{lookups, p50, p99,
		{"search/s", "searches/s", "/s", true}, {"recall-%", "recall@5", "%", true}, entry}},
}

// WorkloadOf returns the workload with that ID, nil if there is none.
func WorkloadOf(id string) *Workload {
	for i := range Workloads {
		if Workloads[i].ID == id {
			return &Workloads[i]
		}
	}
	return nil
}
