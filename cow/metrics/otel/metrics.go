package otel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// Options say what [Meter] measures. The zero Options are right for most.
type Options struct {
	// Tables counts the rows that were changed, by table, here and elsewhere. After each update
	// that takes time proportional to its changes, in the goroutine of the update.
	Tables bool
}

// Metrics measure DBs. They are made by [Meter] and must not be copied. They are safe for
// concurrent use.
//
// All have the attribute db.namespace: the name that [Metrics.Add] was given for the DB. Hooks
// measure these, from the moment the DB is added:
//
//	db.client.operation.duration  histogram, s         by db.operation.name, error.type
//	cow.update.duration           histogram, s         by cow.update.part: wait, run, sink
//	cow.running_updates           up-down, {update}    updates and transactions that have begun and not ended
//	cow.updates                   counter, {update}    by cow.update.outcome
//	cow.changed_rows              counter, {row}       by db.collection.name, if Options says so
//	cow.applied_commits           counter, {commit}    commits that came from elsewhere
//	cow.compacted_feeds           counter, {feed}      feeds that ended because they were too slow
//	cow.swept_rows                counter, {row}       expired rows that Sweep deleted
//	cow.erased_keys               counter, {key}       keys that Erase took out of the past
//	cow.evicted_entries           counter, {entry}     entries of a memory that had to go
//	cow.search.hits               counter, {hit}       what searches returned, by cow.search.kind
//
// The operations are update, transaction and search; a search also has cow.search.kind. The
// outcomes are published, unchanged, aborted and failed. An update waits for others in the part wait,
// its function runs in run, and it waits for the file or the cluster in sink. The part sink is measured
// only where there is one, and run only if the function ran.
//
// The histograms advise buckets from a microsecond, which an update in memory takes, to 17 seconds.
// Those of the conventions begin at a millisecond. A view of the SDK sets others.
//
// These are read for each collection:
//
//	cow.versions              counter, {version}      the current version
//	cow.rows                  gauge, {row}            rows of all tables
//	cow.retained_versions     gauge, {version}        past versions that are retained
//	cow.pins                  gauge, {version}        versions that are kept by name
//	cow.held_rows             gauge, {row}            old rows that retained versions and pins keep
//	cow.held                  gauge, By               about how many bytes these rows take
//	cow.waiting_calls         gauge, {call}           calls that wait for a version
//	cow.feeds                 gauge, {feed}           iterations over Changes
//	cow.feed_lag              gauge, {version}        versions that the slowest is behind
//	cow.sink_state            gauge, 1                1 for the state, by cow.sink.state
//	cow.held_snapshots        gauge, {version}        old versions that readers hold, 16 at most
//	cow.held_snapshot         gauge, s                for how long the oldest has held memory back
//	cow.open_transaction      gauge, s                age of the transaction that is open
//	cow.dropped_transactions  counter, {transaction}  transactions that nobody ended
//
// The held snapshots are 0 where [cow.DB.TrackSnapshots] is off. The states of a sink are those of
// [hook.State], and none for a DB without a sink.
//
// Each collection calls [cow.DB.Stats] of each DB. That takes time proportional to the rows that
// each pin and each held snapshot holds, and to the commits that were retained since: with large
// ones, collect less often.
type Metrics struct {
	operations, parts                          metric.Float64Histogram
	running                                    metric.Int64UpDownCounter
	updates, tables, hits                      metric.Int64Counter
	applied, compacted, swept, erased, evicted metric.Int64Counter

	observed []metric.Int64Observable // as in figures
	state    metric.Int64ObservableGauge
	open     metric.Float64ObservableGauge
	oldest   metric.Float64ObservableGauge

	mu     sync.Mutex
	stores map[string]*store
}

var boundaries = func() (b []float64) {
	for bound := 1e-6; len(b) < 13; bound *= 4 {
		b = append(b, bound)
	}
	return b
}()

// A figure is a metric that is read for each collection.
type figure struct {
	name, unit, help string
	counts           bool
	of               func(now *cow.Snapshot, s *cow.Stats) int64
}

var figures = []figure{
	{"cow.versions", "{version}", "Versions that were published: the number of the current one.", true,
		func(now *cow.Snapshot, _ *cow.Stats) int64 { return int64(now.Version()) }},
	{"cow.rows", "{row}", "Rows of all tables.", false,
		func(now *cow.Snapshot, _ *cow.Stats) int64 { return int64(now.Len()) }},
	{"cow.retained_versions", "{version}", "Versions before the current one that are retained.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.Retained) }},
	{"cow.pins", "{version}", "Versions that are kept by name.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.Pins) }},
	{"cow.held_rows", "{row}", "Old rows that retained versions and pins keep alive.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.HeldRows) }},
	{"cow.held", "By", "About how many bytes the old rows and the records of them take.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.HeldBytes) }},
	{"cow.waiting_calls", "{call}", "Calls that wait for a version.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.Waiting) }},
	{"cow.feeds", "{feed}", "Iterations over the commits as they come.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(len(s.Feeds)) }},
	{"cow.feed_lag", "{version}", "Versions that the slowest feed is behind.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return lag(s.Feeds) }},
	{"cow.held_snapshots", "{version}", "Old versions that readers hold, at most 16, where that is tracked.", false,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(len(s.HeldSnapshots)) }},
	{"cow.dropped_transactions", "{transaction}", "Transactions that were dropped without Commit or Abort.", true,
		func(_ *cow.Snapshot, s *cow.Stats) int64 { return int64(s.Dropped) }},
}

// sinkStates are the states of a sink. No sink is a state too.
var sinkStates = []hook.State{"", hook.Connected, hook.Retrying, hook.Refused, hook.Failed, hook.Closed}

func lag(feeds []hook.Feed) int64 {
	var most uint64
	for _, f := range feeds {
		most = max(most, f.Latest-f.Version)
	}
	return int64(most)
}

func age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return time.Since(since).Seconds()
}

// Meter returns Metrics of no DBs. They last as long as the provider. An error wraps those of the
// provider, for metrics that it refuses. Meter panics if p is nil.
func Meter(p metric.MeterProvider, o Options) (*Metrics, error) {
	if p == nil {
		panic("cow/metrics/otel: Meter with a nil MeterProvider: pass that of the SDK, or otel.GetMeterProvider()")
	}
	meter := p.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	m := &Metrics{stores: map[string]*store{}}
	var errs []error
	counter := func(name, unit, help string) metric.Int64Counter {
		is, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(help))
		errs = append(errs, err)
		return is
	}
	histogram := func(name, help string) metric.Float64Histogram {
		is, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(help),
			metric.WithExplicitBucketBoundaries(boundaries...))
		errs = append(errs, err)
		return is
	}
	m.operations = histogram("db.client.operation.duration", "Duration of database client operations.")
	m.parts = histogram("cow.update.duration", "How long updates waited, ran, and were with the sink.")
	var err error
	m.running, err = meter.Int64UpDownCounter("cow.running_updates", metric.WithUnit("{update}"),
		metric.WithDescription("Updates and transactions that have begun and not ended: they wait, run, or are with the sink."))
	errs = append(errs, err)
	m.updates = counter("cow.updates", "{update}", "Updates and transactions that have ended.")
	m.applied = counter("cow.applied_commits", "{commit}", "Commits that came from elsewhere.")
	m.compacted = counter("cow.compacted_feeds", "{feed}", "Feeds that ended because their next commit was no longer retained.")
	m.swept = counter("cow.swept_rows", "{row}", "Expired rows that were swept.")
	m.erased = counter("cow.erased_keys", "{key}", "Keys that were erased from the past.")
	m.evicted = counter("cow.evicted_entries", "{entry}", "Entries of a memory that were evicted.")
	m.hits = counter("cow.search.hits", "{hit}", "Hits that searches of a memory returned.")
	if o.Tables {
		m.tables = counter("cow.changed_rows", "{row}", "Rows that were added, changed or removed.")
	}

	var all []metric.Observable
	for _, f := range figures {
		var is metric.Int64Observable
		var err error
		if f.counts {
			is, err = meter.Int64ObservableCounter(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.help))
		} else {
			is, err = meter.Int64ObservableGauge(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.help))
		}
		errs = append(errs, err)
		m.observed, all = append(m.observed, is), append(all, is)
	}
	seconds := func(name, help string) metric.Float64ObservableGauge {
		is, err := meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(help))
		errs, all = append(errs, err), append(all, is)
		return is
	}
	m.open = seconds("cow.open_transaction", "Age of the transaction of Begin that is open, 0 for none.")
	m.oldest = seconds("cow.held_snapshot", "For how long the oldest held snapshot has held memory back, 0 for none.")
	m.state, err = meter.Int64ObservableGauge("cow.sink_state", metric.WithUnit("1"),
		metric.WithDescription("1 for the state that the sink is in, 0 for the others."))
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cow/metrics/otel: %w", err)
	}
	if _, err := meter.RegisterCallback(m.observe, append(all, m.state)...); err != nil {
		return nil, fmt.Errorf("cow/metrics/otel: %w", err)
	}
	return m, nil
}

// Add measures db with name as db.namespace, until remove is called. What was measured by then
// stays with the SDK, and goes on where it was if the name is added again. A DB may be added by
// several names. For a memory, add what its method DB returns. Updates that hooks of db make in
// their own goroutine are not measured.
//
// Add panics if m has the name already, if the name is not UTF-8, or if db is nil.
func (m *Metrics) Add(name string, db *cow.DB) (remove func()) {
	switch {
	case db == nil:
		panic(fmt.Sprintf("cow/metrics/otel: Add of %q with a nil *cow.DB: pass a pointer to the DB", name))
	case !utf8.ValidString(name):
		panic(fmt.Sprintf("cow/metrics/otel: Add of %q, which is not UTF-8: attributes must be", name))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores[name] != nil {
		panic(fmt.Sprintf("cow/metrics/otel: Add of a second store %q: remove the first, or add this one by another name", name))
	}
	s := newStore(m, name, db)
	unhook := db.AddHook(s) // which may panic
	m.stores[name] = s
	return func() {
		unhook()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.stores[name] == s {
			delete(m.stores, name)
		}
	}
}

// observe reads all figures of all stores.
func (m *Metrics) observe(_ context.Context, to metric.Observer) error {
	m.mu.Lock()
	stores := slices.Collect(maps.Values(m.stores))
	m.mu.Unlock()
	for _, s := range stores { // without the lock: Stats takes its time
		now, stats := s.db.Load(), s.db.Stats()
		for i, f := range figures {
			to.ObserveInt64(m.observed[i], f.of(now, &stats), s.is)
		}
		var replaced time.Time
		if len(stats.HeldSnapshots) > 0 {
			replaced = stats.HeldSnapshots[0].Replaced
		}
		to.ObserveFloat64(m.open, age(stats.Begun), s.is)
		to.ObserveFloat64(m.oldest, age(replaced), s.is)
		for _, state := range sinkStates {
			is := int64(0)
			if state == stats.Sink.State {
				is = 1
			}
			to.ObserveInt64(m.state, is, with(s.name, stateKey.String(string(cmp.Or(state, "none")))))
		}
	}
	return nil
}

// with returns the attributes of a measurement.
func with(store attribute.KeyValue, attrs ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(attrs, store)...))
}
