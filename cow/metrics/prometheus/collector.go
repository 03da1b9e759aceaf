// Package prometheus exports the figures of DBs to Prometheus: how long updates take and how they
// end, what the past and the pins hold, how far feeds lag, and the state of what makes a DB
// durable.
//
// All metrics begin with cow_ and have the label store: the name that [Collector.Add] was given for
// the DB.
//
// These are read when Prometheus asks for them:
//
//	cow_versions_total              counter  the current version
//	cow_rows                        gauge    rows of all tables
//	cow_retained_versions           gauge    past versions that are retained
//	cow_pins                        gauge    versions that are kept by name
//	cow_held_rows                   gauge    old rows that retained versions and pins keep
//	cow_held_bytes                  gauge    about how many bytes these rows and the records of them take
//	cow_waiting_calls               gauge    calls that wait for a version
//	cow_feeds                       gauge    iterations over Changes
//	cow_feed_lag_versions           gauge    versions that the slowest of them is behind
//	cow_sink_state                  gauge    1 for the state that the sink is in, by state: see below
//	cow_held_snapshots              gauge    old versions that readers hold, 16 at most
//	cow_held_snapshot_seconds       gauge    for how long the oldest of them has held memory back
//	cow_open_transaction_seconds    gauge    age of the transaction that is open
//	cow_dropped_transactions_total  counter  transactions that nobody ended
//
// These are counted by hooks, from the moment the DB is added:
//
//	cow_running_updates             gauge      updates and transactions that have begun and not ended
//	cow_updates_total               counter    by outcome: published, unchanged, aborted, failed
//	cow_update_duration_seconds     histogram  by part: wait, run, sink
//	cow_changed_rows_total          counter    by table, if Options says so
//	cow_applied_commits_total       counter    commits that came from elsewhere
//	cow_compacted_feeds_total       counter    feeds that ended because they were too slow
//	cow_swept_rows_total            counter    expired rows that Sweep deleted
//	cow_erased_keys_total           counter    keys that Erase took out of the past
//	cow_evicted_entries_total       counter    entries of a memory that had to go
//	cow_search_duration_seconds     histogram  searches of a memory, by kind
//	cow_search_hits_total           counter    what these returned, by kind
//
// An update waits for others in the part wait, its function runs in run, and it waits for the file or
// the cluster in sink. The part sink is observed only where there is one, and run only if the function
// ran. The held snapshots are 0 where [cow.DB.TrackSnapshots] is off. The states are those of
// [hook.State], and none for a DB without a sink.
package prometheus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// Options are those of a [Collector]. The zero Options are right for most.
type Options struct {
	// Tables counts the rows that were changed, by table, here and elsewhere. After each update
	// that takes time proportional to its changes, in the goroutine of the update.
	Tables bool
}

// A Collector exports the figures of DBs. It is a [client.Collector], to be registered once, before
// or after DBs are added.
//
// A Collector is made by [New] and must not be copied. It is safe for concurrent use.
//
// Each time Prometheus asks, the Collector calls [cow.DB.Stats] of each DB. That takes time
// proportional to the rows that each pin and each held snapshot holds, and to the commits that were
// retained since: with large ones, ask less often.
type Collector struct {
	all []client.Collector // what hooks count

	running                                    *client.GaugeVec
	updates, tables, hits                      *client.CounterVec
	applied, compacted, swept, erased, evicted *client.CounterVec
	durations, searches                        *client.HistogramVec

	mu     sync.RWMutex
	stores map[string]*store
}

var _ client.Collector = (*Collector)(nil)

// buckets go from a microsecond, which an update in memory takes, to 17 seconds.
var buckets = client.ExponentialBuckets(1e-6, 4, 13)

// New returns a Collector of no DBs. To have labels of your own on all metrics, register it with
// [client.WrapRegistererWith].
func New(o Options) *Collector {
	c := &Collector{stores: map[string]*store{}}
	counter := func(name, help string, labels ...string) *client.CounterVec {
		v := client.NewCounterVec(client.CounterOpts{Name: name, Help: help}, append([]string{"store"}, labels...))
		c.all = append(c.all, v)
		return v
	}
	histogram := func(name, help string, labels ...string) *client.HistogramVec {
		v := client.NewHistogramVec(client.HistogramOpts{Name: name, Help: help, Buckets: buckets}, append([]string{"store"}, labels...))
		c.all = append(c.all, v)
		return v
	}
	c.running = client.NewGaugeVec(client.GaugeOpts{Name: "cow_running_updates", Help: "Updates and transactions that have begun and not ended: they wait, run, or are with the sink."}, []string{"store"})
	c.all = append(c.all, c.running)
	c.updates = counter("cow_updates_total", "Updates and transactions that have ended, by outcome.", "outcome")
	c.durations = histogram("cow_update_duration_seconds", "How long updates waited, ran, and were with the sink, by part.", "part")
	c.applied = counter("cow_applied_commits_total", "Commits that came from elsewhere.")
	c.compacted = counter("cow_compacted_feeds_total", "Feeds that ended because their next commit was no longer retained.")
	c.swept = counter("cow_swept_rows_total", "Expired rows that were swept.")
	c.erased = counter("cow_erased_keys_total", "Keys that were erased from the past.")
	c.evicted = counter("cow_evicted_entries_total", "Entries of a memory that were evicted.")
	c.searches = histogram("cow_search_duration_seconds", "How long searches of a memory took, by kind.", "kind")
	c.hits = counter("cow_search_hits_total", "Hits that searches of a memory returned, by kind.", "kind")
	if o.Tables {
		c.tables = counter("cow_changed_rows_total", "Rows that were added, changed or removed, by table.", "table")
	}
	return c
}

// Add exports the figures of db with name as the label store, until remove is called. After that no
// metric has the name. A name that is added again begins at zero. A DB may be added by several
// names. For a memory, add what its method DB returns. Updates that hooks of db make in their own
// goroutine are not counted.
//
// Add panics if c has the name already, if the name is not UTF-8, or if db is nil.
func (c *Collector) Add(name string, db *cow.DB) (remove func()) {
	switch {
	case db == nil:
		panic(fmt.Sprintf("cow/metrics/prometheus: Add of %q with a nil *cow.DB: pass a pointer to the DB", name))
	case !utf8.ValidString(name):
		panic(fmt.Sprintf("cow/metrics/prometheus: Add of %q, which is not UTF-8: labels must be", name))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stores[name] != nil {
		panic(fmt.Sprintf("cow/metrics/prometheus: Add of a second store %q: remove the first, or add this one by another name", name))
	}
	s := newStore(c, name, db)
	unhook := db.AddHook(s) // which may panic
	c.stores[name] = s
	return func() {
		unhook()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stores[name] != s {
			return
		}
		delete(c.stores, name)
		for _, is := range c.all {
			is.(interface{ DeletePartialMatch(client.Labels) int }).DeletePartialMatch(client.Labels{"store": name})
		}
	}
}

// A figure is a metric that is read when Prometheus asks for it.
type figure struct {
	desc *client.Desc
	kind client.ValueType
	of   func(now *cow.Snapshot, s *cow.Stats) float64
}

func gauge(name, help string, of func(now *cow.Snapshot, s *cow.Stats) float64) figure {
	return figure{client.NewDesc(name, help, []string{"store"}, nil), client.GaugeValue, of}
}

func counter(name, help string, of func(now *cow.Snapshot, s *cow.Stats) float64) figure {
	return figure{client.NewDesc(name, help, []string{"store"}, nil), client.CounterValue, of}
}

var figures = []figure{
	counter("cow_versions_total", "Versions that were published: the number of the current one.",
		func(now *cow.Snapshot, _ *cow.Stats) float64 { return float64(now.Version()) }),
	gauge("cow_rows", "Rows of all tables.",
		func(now *cow.Snapshot, _ *cow.Stats) float64 { return float64(now.Len()) }),
	gauge("cow_retained_versions", "Versions before the current one that are retained.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.Retained) }),
	gauge("cow_pins", "Versions that are kept by name.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.Pins) }),
	gauge("cow_held_rows", "Old rows that retained versions and pins keep alive.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.HeldRows) }),
	gauge("cow_held_bytes", "About how many bytes the old rows and the records of them take.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.HeldBytes) }),
	gauge("cow_waiting_calls", "Calls that wait for a version.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.Waiting) }),
	gauge("cow_feeds", "Iterations over the commits as they come.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(len(s.Feeds)) }),
	gauge("cow_feed_lag_versions", "Versions that the slowest feed is behind.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return lag(s.Feeds) }),
	gauge("cow_held_snapshots", "Old versions that readers hold, at most 16, where that is tracked.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(len(s.HeldSnapshots)) }),
	gauge("cow_held_snapshot_seconds", "For how long the oldest of them has held memory back, 0 for none.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return held(s.HeldSnapshots) }),
	gauge("cow_open_transaction_seconds", "Age of the transaction of Begin that is open, 0 for none.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return age(s.Begun) }),
	counter("cow_dropped_transactions_total", "Transactions that were dropped without Commit or Abort.",
		func(_ *cow.Snapshot, s *cow.Stats) float64 { return float64(s.Dropped) }),
}

var sinkState = client.NewDesc("cow_sink_state", "1 for the state that the sink is in, 0 for the others.", []string{"store", "state"}, nil)

// sinkStates are the states of a sink. No sink is a state too.
var sinkStates = []hook.State{"", hook.Connected, hook.Retrying, hook.Refused, hook.Failed, hook.Closed}

func lag(feeds []hook.Feed) float64 {
	var most uint64
	for _, f := range feeds {
		most = max(most, f.Latest-f.Version)
	}
	return float64(most)
}

func held(all []cow.HeldSnapshot) float64 {
	if len(all) == 0 {
		return 0
	}
	return age(all[0].Replaced)
}

func age(begun time.Time) float64 {
	if begun.IsZero() {
		return 0
	}
	return time.Since(begun).Seconds()
}

// Describe implements [client.Collector].
func (c *Collector) Describe(to chan<- *client.Desc) {
	for _, f := range figures {
		to <- f.desc
	}
	to <- sinkState
	for _, is := range c.all {
		is.Describe(to)
	}
}

// Collect implements [client.Collector].
func (c *Collector) Collect(to chan<- client.Metric) {
	c.mu.RLock()
	stores := slices.Collect(maps.Values(c.stores))
	c.mu.RUnlock()
	for _, s := range stores { // without the lock: Stats takes its time
		now, stats := s.db.Load(), s.db.Stats()
		for _, f := range figures {
			to <- client.MustNewConstMetric(f.desc, f.kind, f.of(now, &stats), s.name)
		}
		for _, state := range sinkStates {
			is := 0.0
			if state == stats.Sink.State {
				is = 1
			}
			to <- client.MustNewConstMetric(sinkState, client.GaugeValue, is, s.name, string(cmp.Or(state, "none")))
		}
	}
	for _, is := range c.all {
		is.Collect(to)
	}
}
