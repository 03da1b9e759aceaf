package otel_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/metrics/otel"
)

func meter(t *testing.T, o otel.Options) (*sdk.ManualReader, *otel.Metrics) {
	r := sdk.NewManualReader()
	m, err := otel.Meter(sdk.NewMeterProvider(sdk.WithReader(r)), o)
	require.NoError(t, err)
	return r, m
}

// collect returns all metrics, each as lines such as name{key=value}: 1, where a histogram has its
// count.
func collect(t *testing.T, r sdk.Reader) (lines []string, by map[string]metricdata.Metrics) {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.Collect(context.Background(), &all))
	by = map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			by[m.Name] = m
			line := func(attrs attribute.Set, v any) {
				lines = append(lines, fmt.Sprintf("%s{%s} %v", m.Name, attrs.Encoded(attribute.DefaultEncoder()), v))
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Count)
				}
			default:
				require.Fail(t, "another kind", "%T", data)
			}
		}
	}
	slices.Sort(lines)
	return lines, by
}

// requireHas compares the lines of some metrics.
func requireHas(t *testing.T, r sdk.Reader, want string, names ...string) {
	t.Helper()
	lines, _ := collect(t, r)
	lines = slices.DeleteFunc(lines, func(line string) bool {
		name, _, _ := strings.Cut(line, "{")
		return !slices.Contains(names, name)
	})
	require.Equal(t, strings.TrimSpace(want), strings.Join(lines, "\n"))
}

func TestUpdatesByOutcome(t *testing.T) {
	r, m := meter(t, otel.Options{Tables: true})
	db, users := newDB()
	defer m.Add("users", db)()

	_, err := users.Set("a", 1)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(*cow.Tx) error { return nil }))
	require.Error(t, db.Update(func(*cow.Tx) error { return errors.New("failed") }))
	require.Panics(t, func() { _ = db.Update(func(*cow.Tx) error { panic("x") }) })
	db.Begin().Abort()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, db.UpdateContext(gone, func(*cow.Tx) error { return nil }))
	tx := db.Begin()
	users.Edit(tx).Set("b", 2)
	users.Edit(tx).Set("c", 3)
	require.NoError(t, tx.Commit())

	requireHas(t, r, `
cow.changed_rows{db.collection.name=users,db.namespace=users} 3
cow.rows{db.namespace=users} 3
cow.update.duration{cow.update.part=run,db.namespace=users} 6
cow.update.duration{cow.update.part=wait,db.namespace=users} 7
cow.updates{cow.update.outcome=aborted,db.namespace=users} 1
cow.updates{cow.update.outcome=failed,db.namespace=users} 3
cow.updates{cow.update.outcome=published,db.namespace=users} 2
cow.updates{cow.update.outcome=unchanged,db.namespace=users} 1
cow.versions{db.namespace=users} 2
db.client.operation.duration{db.namespace=users,db.operation.name=transaction,db.system.name=cowstore} 2
db.client.operation.duration{db.namespace=users,db.operation.name=update,db.system.name=cowstore,error.type=*errors.errorString} 3
db.client.operation.duration{db.namespace=users,db.operation.name=update,db.system.name=cowstore} 2
`, "cow.changed_rows", "cow.rows", "cow.update.duration", "cow.updates", "cow.versions", "db.client.operation.duration")
}

// The names, units and texts of the conventions are theirs, and durations are in seconds.
func TestConventions(t *testing.T) {
	r, m := meter(t, otel.Options{})
	db, _ := newDB()
	defer m.Add("users", db)()
	search(t.Context(), db, hook.Search{Kind: "text", Hits: 3, Duration: 2 * time.Second})
	search(t.Context(), db, hook.Search{Kind: "text", Hits: 4, Err: errors.New("failed")})
	_, by := collect(t, r)
	is := by[dbconv.ClientOperationDuration{}.Name()]
	require.Equal(t, dbconv.ClientOperationDuration{}.Unit(), is.Unit)
	require.Equal(t, dbconv.ClientOperationDuration{}.Description(), is.Description)
	h := is.Data.(metricdata.Histogram[float64])
	require.Len(t, h.DataPoints, 2)
	for _, p := range h.DataPoints {
		require.Len(t, p.Bounds, 13)
		require.InEpsilon(t, 1e-6, p.Bounds[0], 1e-9)
		require.InEpsilon(t, 16.777216, p.Bounds[12], 1e-9)
		if !p.Attributes.HasValue(semconv.ErrorTypeKey) {
			require.InEpsilon(t, 2, p.Sum, 1e-9)
		}
	}
	requireHas(t, r, `
cow.search.hits{cow.search.kind=text,db.namespace=users} 7
db.client.operation.duration{cow.search.kind=text,db.namespace=users,db.operation.name=search,db.system.name=cowstore,error.type=*errors.errorString} 1
db.client.operation.duration{cow.search.kind=text,db.namespace=users,db.operation.name=search,db.system.name=cowstore} 1
`, "cow.search.hits", "db.client.operation.duration")
	require.Equal(t, "By", by["cow.held"].Unit)
	require.Equal(t, "s", by["cow.open_transaction"].Unit)
	require.True(t, by["cow.versions"].Data.(metricdata.Sum[int64]).IsMonotonic)
}

func TestThePastAndWhatGoes(t *testing.T) {
	r, m := meter(t, otel.Options{})
	var db cow.DB
	rows := cow.NewTable[string](&db, "rows", cow.Options[time.Time]{Expires: func(v time.Time) time.Time { return v }})
	defer m.Add("rows", &db)()
	db.Retain(cow.Retention{Versions: 2})
	for i := range 6 {
		_, err := rows.Set("a", time.Now().Add(time.Duration(i+1)*time.Hour))
		require.NoError(t, err)
	}
	require.NoError(t, db.Pin("before", 5))
	for _, err := range db.Changes(t.Context(), 4) { // at version 5, so done with 4
		require.NoError(t, err)
		requireHas(t, r, `
cow.feed_lag{db.namespace=rows} 2
cow.feeds{db.namespace=rows} 1
cow.pins{db.namespace=rows} 1
cow.retained_versions{db.namespace=rows} 2
cow.waiting_calls{db.namespace=rows} 0
`, "cow.feed_lag", "cow.feeds", "cow.pins", "cow.retained_versions", "cow.waiting_calls")
		break
	}
	s := db.Stats()
	require.Positive(t, s.HeldBytes)
	requireHas(t, r, fmt.Sprintf(`
cow.held_rows{db.namespace=rows} %d
cow.held{db.namespace=rows} %d
`, s.HeldRows, s.HeldBytes), "cow.held", "cow.held_rows")

	for _, err := range db.Changes(t.Context(), 1) { // which begins too far in the past
		require.ErrorIs(t, err, cow.ErrCompacted)
	}
	_, err := db.Erase(t.Context(), func(tx *cow.Tx) error { rows.Erase(tx, "a"); return nil })
	require.NoError(t, err)
	_, err = rows.Set("b", time.Now().Add(-time.Second))
	require.NoError(t, err)
	_, err = db.Sweep(t.Context())
	require.NoError(t, err)
	cow.Hooked[hook.Evicted](&db)(func(h hook.Evicted) { h.OnEvicted(t.Context(), hook.Removal{Rows: 5}) })
	requireHas(t, r, `
cow.compacted_feeds{db.namespace=rows} 1
cow.erased_keys{db.namespace=rows} 1
cow.evicted_entries{db.namespace=rows} 5
cow.feed_lag{db.namespace=rows} 0
cow.swept_rows{db.namespace=rows} 1
`, "cow.compacted_feeds", "cow.erased_keys", "cow.evicted_entries", "cow.feed_lag", "cow.swept_rows")
}

// secondsOf returns the value of a gauge of the one store.
func secondsOf(t *testing.T, r *sdk.ManualReader, name string) float64 {
	t.Helper()
	_, by := collect(t, r)
	return by[name].Data.(metricdata.Gauge[float64]).DataPoints[0].Value
}

func TestHeldSnapshots(t *testing.T) {
	r, m := meter(t, otel.Options{})
	db, users := newDB()
	defer m.Add("users", db)()
	db.TrackSnapshots(true)
	requireHas(t, r, "cow.held_snapshots{db.namespace=users} 0", "cow.held_snapshots")
	before := db.Load()
	_, err := users.Set("ada", 36)
	require.NoError(t, err)
	time.Sleep(10 * time.Millisecond)
	require.Eventually(t, func() bool { runtime.GC(); return secondsOf(t, r, "cow.held_snapshot") >= 0.01 }, time.Minute, time.Millisecond)
	requireHas(t, r, "cow.held_snapshots{db.namespace=users} 1", "cow.held_snapshots")
	runtime.KeepAlive(before)
	require.Eventually(t, func() bool { runtime.GC(); return secondsOf(t, r, "cow.held_snapshot") == 0 }, time.Minute, time.Millisecond)
}

func TestOpenTransactions(t *testing.T) {
	r, m := meter(t, otel.Options{})
	db, _ := newDB()
	defer m.Add("users", db)()
	age := func() float64 { return secondsOf(t, r, "cow.open_transaction") }
	require.Zero(t, age())
	tx := db.Begin()
	time.Sleep(10 * time.Millisecond)
	require.GreaterOrEqual(t, age(), 0.01)
	tx.Abort()
	require.Zero(t, age())

	db.Begin() // and nobody ends it
	require.Eventually(t, func() bool { runtime.GC(); return db.Stats().Dropped == 1 }, time.Minute, time.Millisecond)
	requireHas(t, r, "cow.dropped_transactions{db.namespace=users} 1", "cow.dropped_transactions")
}

// Whoever waits for a writer that is stuck sees that it runs, where nothing else says so.
func TestRunningUpdates(t *testing.T) {
	r, m := meter(t, otel.Options{})
	db, users := newDB()
	remove := m.Add("users", db)
	running := func() (n float64) {
		_, all := collect(t, r)
		sum, _ := all["cow.running_updates"].Data.(metricdata.Sum[int64])
		for _, p := range sum.DataPoints {
			n += float64(p.Value)
		}
		return n
	}
	require.Zero(t, running())
	var others sync.WaitGroup
	require.NoError(t, db.Update(func(*cow.Tx) error {
		require.Equal(t, 1.0, running())
		others.Go(func() { _, _ = users.Set("a", 1) })
		require.Eventually(t, func() bool { return running() == 2 }, time.Minute, time.Millisecond, "one runs, and one waits")
		return nil
	}))
	others.Wait()
	require.Zero(t, running())
	tx := db.Begin()
	require.Equal(t, 1.0, running())
	tx.Abort()
	require.Panics(t, func() { _ = db.Update(func(*cow.Tx) error { panic("x") }) })
	require.Zero(t, running())
	require.NoError(t, db.Update(func(*cow.Tx) error { remove(); return nil }))
	require.Zero(t, running(), "an update that was under way has ended")
}

func TestSinks(t *testing.T) {
	r, m := meter(t, otel.Options{Tables: true})
	db, users := newDB()
	defer m.Add("users", db)()
	sink := cowtest.Attach(t, db, cowtest.SinkOptions{})
	done := make(chan error, 1)
	go func() { _, err := users.Set("a", 1); done <- err }()
	_, err := sink.Await(t.Context(), 1)
	require.NoError(t, err)
	sink.Ack(1)
	require.NoError(t, <-done)
	requireHas(t, r, `
cow.sink_state{cow.sink.state=closed,db.namespace=users} 0
cow.sink_state{cow.sink.state=connected,db.namespace=users} 1
cow.sink_state{cow.sink.state=failed,db.namespace=users} 0
cow.sink_state{cow.sink.state=none,db.namespace=users} 0
cow.sink_state{cow.sink.state=refused,db.namespace=users} 0
cow.sink_state{cow.sink.state=retrying,db.namespace=users} 0
cow.update.duration{cow.update.part=run,db.namespace=users} 1
cow.update.duration{cow.update.part=sink,db.namespace=users} 1
cow.update.duration{cow.update.part=wait,db.namespace=users} 1
`, "cow.sink_state", "cow.update.duration")

	// Another replica writes.
	other, theirs := newDB()
	elsewhere := cowtest.Attach(t, other, cowtest.SinkOptions{Of: sink})
	go func() { _, err := theirs.Set("b", 2); done <- err }()
	_, err = elsewhere.Await(t.Context(), 1)
	require.NoError(t, err)
	commits := elsewhere.Ack(1)
	require.NoError(t, <-done)
	require.NoError(t, sink.Rebase(commits...))
	require.Eventually(t, func() bool {
		lines, _ := collect(t, r)
		return slices.Contains(lines, "cow.applied_commits{db.namespace=users} 1") &&
			slices.Contains(lines, "cow.changed_rows{db.collection.name=users,db.namespace=users} 2")
	}, time.Minute, time.Millisecond)
}

func TestAddAndRemove(t *testing.T) {
	r, m := meter(t, otel.Options{})
	db, users := newDB()
	remove := m.Add("users", db)
	require.PanicsWithValue(t,
		`cow/metrics/otel: Add of a second store "users": remove the first, or add this one by another name`,
		func() { m.Add("users", new(cow.DB)) })
	require.PanicsWithValue(t,
		`cow/metrics/otel: Add of "jobs" with a nil *cow.DB: pass a pointer to the DB`,
		func() { m.Add("jobs", nil) })
	require.PanicsWithValue(t,
		"cow/metrics/otel: Meter with a nil MeterProvider: pass that of the SDK, or otel.GetMeterProvider()",
		func() { _, _ = otel.Meter(nil, otel.Options{}) })
	require.PanicsWithValue(t,
		`cow/metrics/otel: Add of "\xff", which is not UTF-8: attributes must be`,
		func() { m.Add("\xff", db) })
	copied := new(cow.DB)
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(db).Elem())
	require.Panics(t, func() { m.Add("copied", copied) })
	m.Add("copied", new(cow.DB))() // the name is free
	defer m.Add("others", new(cow.DB))()

	_, err := users.Set("a", 1)
	require.NoError(t, err)
	requireHas(t, r, "cow.versions{db.namespace=others} 0\ncow.versions{db.namespace=users} 1", "cow.versions")
	remove()
	_, err = users.Set("a", 2)
	require.NoError(t, err)
	requireHas(t, r, `
cow.updates{cow.update.outcome=published,db.namespace=users} 1
cow.versions{db.namespace=others} 0
`, "cow.updates", "cow.versions")
	defer m.Add("users", db)()
	remove() // twice does nothing
	requireHas(t, r, "cow.versions{db.namespace=others} 0\ncow.versions{db.namespace=users} 2", "cow.versions")
}

// Stores come and go, and are collected, while others write.
func TestConcurrentUse(t *testing.T) {
	r, m := meter(t, otel.Options{Tables: true})
	db, users := newDB()
	defer m.Add("users", db)()
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			for k := range 100 {
				_, err := users.Set(fmt.Sprint(i), k)
				require.NoError(t, err)
			}
		})
		all.Go(func() {
			for range 20 {
				remove := m.Add(fmt.Sprint("other ", i), db)
				var all metricdata.ResourceMetrics
				require.NoError(t, r.Collect(context.Background(), &all))
				remove()
			}
		})
	}
	all.Wait()
	lines, _ := collect(t, r)
	require.Contains(t, lines, "cow.changed_rows{db.collection.name=users,db.namespace=users} 200")
	require.Contains(t, lines, "cow.update.duration{cow.update.part=run,db.namespace=users} 200")
}

// What hooks add to each update: compare with and without.
func BenchmarkUpdate(b *testing.B) {
	meters := sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))
	m, err := otel.Meter(meters, otel.Options{})
	require.NoError(b, err)
	for _, o := range []struct {
		name string
		add  func(db *cow.DB) (remove func())
	}{
		{"none", func(*cow.DB) func() { return func() {} }},
		{"measured", func(db *cow.DB) func() { return m.Add("users", db) }},
	} {
		b.Run(o.name, func(b *testing.B) {
			db, users := newDB()
			defer o.add(db)()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, _ = users.Set("a", i)
			}
		})
	}
}

// Each update is measured in its goroutine: that must cost it nothing but a little time.
func TestUpdatesAreMeasuredWithoutAllocating(t *testing.T) {
	_, m := meter(t, otel.Options{})
	db, _ := newDB()
	defer m.Add("users", db)()
	cow.Hooked[hook.UpdateEnd](db)(func(h hook.UpdateEnd) {
		u := hook.Update{Version: 1, Attempts: 1, Wait: 1, Run: 1, Sink: 1}
		require.Zero(t, testing.AllocsPerRun(100, func() { h.OnUpdateEnd(h.(hook.UpdateStart).OnUpdateStart(t.Context(), u), u) }))
	})
}
