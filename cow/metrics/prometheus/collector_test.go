package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/metrics/prometheus"
)

// number is the codec of the tables of a DB that has a sink.
type number struct{}

func (number) Append(b []byte, v int) ([]byte, error) { return fmt.Append(b, v), nil }

func (number) Decode(b []byte) (v int, err error) {
	_, err = fmt.Sscan(string(b), &v)
	return v, err
}

func newDB() (*cow.DB, *cow.Table[string, int]) {
	db := new(cow.DB)
	return db, cow.NewTable[string](db, "users", cow.Options[int]{Codec: number{}})
}

// requireHas compares the metrics of some names, without their help and types.
func requireHas(t *testing.T, c client.Collector, lines string, names ...string) {
	t.Helper()
	var got []string
	text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, names...)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, line)
		}
	}
	require.Equal(t, strings.TrimLeft(lines, "\n"), strings.Join(got, ""))
}

// search tells hooks of db of a search, as package memory does.
func search(db *cow.DB, s hook.Search) {
	if tell := cow.Hooked[hook.Searched](db); tell != nil {
		tell(func(h hook.Searched) { h.OnSearched(context.Background(), s) })
	}
}

func TestNamesAreThoseOfPrometheus(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{Tables: true})
	defer c.Add("users", db)()
	_, err := users.Set("a", 1)
	require.NoError(t, err)
	search(db, hook.Search{Kind: "text"})
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, client.NewPedanticRegistry().Register(c))
}

func TestUpdatesByOutcome(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{Tables: true})
	defer c.Add("users", db)()

	_, err := users.Set("a", 1)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(*cow.Tx) error { return nil }))
	failed := errors.New("failed")
	require.ErrorIs(t, db.Update(func(*cow.Tx) error { return failed }), failed)
	require.Panics(t, func() { _ = db.Update(func(*cow.Tx) error { panic("x") }) })
	db.Begin().Abort()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, db.UpdateContext(gone, func(*cow.Tx) error { return nil }))
	require.Panics(t, func() {
		_ = db.Update(func(tx *cow.Tx) error {
			users.Edit(tx).Set("b", 2)
			users.Edit(tx).Set("c", 3)
			tx.Defer(func() { panic("x") })
			return nil
		})
	})

	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP cow_updates_total Updates and transactions that have ended, by outcome.
# TYPE cow_updates_total counter
cow_updates_total{outcome="aborted",store="users"} 1
cow_updates_total{outcome="failed",store="users"} 3
cow_updates_total{outcome="published",store="users"} 2
cow_updates_total{outcome="unchanged",store="users"} 1
# HELP cow_versions_total Versions that were published: the number of the current one.
# TYPE cow_versions_total counter
cow_versions_total{store="users"} 2
# HELP cow_rows Rows of all tables.
# TYPE cow_rows gauge
cow_rows{store="users"} 3
`), "cow_updates_total", "cow_versions_total", "cow_rows"))
	requireHas(t, c, `
cow_changed_rows_total{store="users",table="users"} 3
`, "cow_changed_rows_total")
	require.Equal(t, map[string]uint64{"wait": 7, "run": 6}, observed(t, c, "cow_update_duration_seconds", "part"))
}

// observed returns how often a histogram was observed, by a label.
func observed(t *testing.T, c client.Collector, name, label string) map[string]uint64 {
	t.Helper()
	r := client.NewPedanticRegistry()
	require.NoError(t, r.Register(c))
	families, err := r.Gather()
	require.NoError(t, err)
	n := map[string]uint64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == label {
					n[l.GetValue()] = m.Histogram.GetSampleCount()
				}
			}
		}
	}
	return n
}

func TestDurationsAreSeconds(t *testing.T) {
	db, _ := newDB()
	c := prometheus.New(prometheus.Options{})
	defer c.Add("users", db)()
	search(db, hook.Search{Kind: "text", Hits: 3, Duration: 2 * time.Second})
	search(db, hook.Search{Kind: "vector", Hits: 1, Duration: time.Microsecond / 2})
	search(db, hook.Search{Kind: "text", Hits: 4, Duration: time.Minute})
	requireHas(t, c, `
cow_search_hits_total{kind="text",store="users"} 7
cow_search_hits_total{kind="vector",store="users"} 1
`, "cow_search_hits_total")
	text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, "cow_search_duration_seconds")
	require.NoError(t, err)
	for _, line := range []string{
		`cow_search_duration_seconds_bucket{kind="text",store="users",le="1.048576"} 0`,
		`cow_search_duration_seconds_bucket{kind="text",store="users",le="4.194304"} 1`,
		`cow_search_duration_seconds_sum{kind="text",store="users"} 62`,
		`cow_search_duration_seconds_bucket{kind="vector",store="users",le="1e-06"} 1`,
	} {
		require.Contains(t, string(text), line)
	}
}

func TestThePastAndWhoWaits(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{})
	defer c.Add("users", db)()
	db.Retain(cow.Retention{Versions: 2})
	for i := range 6 {
		_, err := users.Set("a", i)
		require.NoError(t, err)
	}
	require.NoError(t, db.Pin("before", 5))
	for _, err := range db.Changes(t.Context(), 4) { // at version 5, so done with 4
		require.NoError(t, err)
		requireHas(t, c, `
cow_feed_lag_versions{store="users"} 2
cow_feeds{store="users"} 1
cow_pins{store="users"} 1
cow_retained_versions{store="users"} 2
cow_waiting_calls{store="users"} 0
`, "cow_feed_lag_versions", "cow_feeds", "cow_pins", "cow_retained_versions", "cow_waiting_calls")
		break
	}
	s := db.Stats()
	require.Positive(t, s.HeldBytes)
	requireHas(t, c, fmt.Sprintf(`
cow_held_bytes{store="users"} %d
cow_held_rows{store="users"} %d
`, s.HeldBytes, s.HeldRows), "cow_held_bytes", "cow_held_rows")

	for _, err := range db.Changes(t.Context(), 1) { // which begins too far in the past
		require.ErrorIs(t, err, cow.ErrCompacted)
	}
	_, err := db.Erase(t.Context(), func(tx *cow.Tx) error { users.Erase(tx, "a"); return nil })
	require.NoError(t, err)
	requireHas(t, c, `
cow_compacted_feeds_total{store="users"} 1
cow_erased_keys_total{store="users"} 1
cow_feed_lag_versions{store="users"} 0
`, "cow_compacted_feeds_total", "cow_erased_keys_total", "cow_feed_lag_versions")
}

func TestRowsThatExpire(t *testing.T) {
	var db cow.DB
	rows := cow.NewTable[string](&db, "rows", cow.Options[time.Time]{Expires: func(v time.Time) time.Time { return v }})
	c := prometheus.New(prometheus.Options{})
	defer c.Add("rows", &db)()
	_, err := rows.Set("a", time.Now().Add(-time.Second))
	require.NoError(t, err)
	_, err = db.Sweep(t.Context())
	require.NoError(t, err)
	cow.Hooked[hook.Evicted](&db)(func(h hook.Evicted) { h.OnEvicted(t.Context(), hook.Removal{Rows: 5}) })
	requireHas(t, c, `
cow_evicted_entries_total{store="rows"} 5
cow_swept_rows_total{store="rows"} 1
`, "cow_evicted_entries_total", "cow_swept_rows_total")
}

// valueOf returns the value of a metric of the one store of c.
func valueOf(t *testing.T, c *prometheus.Collector, name string) (is float64) {
	t.Helper()
	text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, name)
	require.NoError(t, err)
	_, err = fmt.Sscanf(string(text[strings.LastIndexByte(strings.TrimSpace(string(text)), ' '):]), "%g", &is)
	require.NoError(t, err)
	return is
}

func TestHeldSnapshots(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{})
	defer c.Add("users", db)()
	db.TrackSnapshots(true)
	before := db.Load()
	_, err := users.Set("ada", 36)
	require.NoError(t, err)
	time.Sleep(10 * time.Millisecond)
	require.Eventually(t, func() bool { runtime.GC(); return valueOf(t, c, "cow_held_snapshots") == 1 }, time.Minute, time.Millisecond)
	require.GreaterOrEqual(t, valueOf(t, c, "cow_held_snapshot_seconds"), 0.01)
	runtime.KeepAlive(before)
	require.Eventually(t, func() bool { runtime.GC(); return valueOf(t, c, "cow_held_snapshots") == 0 }, time.Minute, time.Millisecond)
	require.Zero(t, valueOf(t, c, "cow_held_snapshot_seconds"))
}

func TestOpenTransactions(t *testing.T) {
	db, _ := newDB()
	c := prometheus.New(prometheus.Options{})
	defer c.Add("users", db)()
	age := func() float64 { return valueOf(t, c, "cow_open_transaction_seconds") }
	require.Zero(t, age())
	tx := db.Begin()
	time.Sleep(10 * time.Millisecond)
	require.GreaterOrEqual(t, age(), 0.01)
	tx.Abort()
	require.Zero(t, age())

	db.Begin() // and nobody ends it
	require.Eventually(t, func() bool { runtime.GC(); return db.Stats().Dropped == 1 }, time.Minute, time.Millisecond)
	requireHas(t, c, `
cow_dropped_transactions_total{store="users"} 1
`, "cow_dropped_transactions_total")
}

// Whoever waits for a writer that is stuck sees that it runs, where nothing else says so.
func TestRunningUpdates(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{})
	remove := c.Add("users", db)
	running := func() float64 { return valueOf(t, c, "cow_running_updates") }
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
	defer c.Add("users", db)()
	require.Zero(t, running(), "begins at zero, whatever ran when it was removed")
}

func TestSinks(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{Tables: true})
	defer c.Add("users", db)()
	require.Equal(t, map[string]uint64{"wait": 0, "run": 0}, observed(t, c, "cow_update_duration_seconds", "part"))
	sink := cowtest.Attach(t, db, cowtest.SinkOptions{})
	done := make(chan error, 1)
	go func() { _, err := users.Set("a", 1); done <- err }()
	_, err := sink.Await(t.Context(), 1)
	require.NoError(t, err)
	sink.Ack(1)
	require.NoError(t, <-done)
	require.Equal(t, map[string]uint64{"wait": 1, "run": 1, "sink": 1}, observed(t, c, "cow_update_duration_seconds", "part"))
	requireHas(t, c, `
cow_sink_state{state="closed",store="users"} 0
cow_sink_state{state="connected",store="users"} 1
cow_sink_state{state="failed",store="users"} 0
cow_sink_state{state="none",store="users"} 0
cow_sink_state{state="refused",store="users"} 0
cow_sink_state{state="retrying",store="users"} 0
`, "cow_sink_state")

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
		return testutil.CollectAndCompare(c, strings.NewReader(`
# HELP cow_applied_commits_total Commits that came from elsewhere.
# TYPE cow_applied_commits_total counter
cow_applied_commits_total{store="users"} 1
# HELP cow_changed_rows_total Rows that were added, changed or removed, by table.
# TYPE cow_changed_rows_total counter
cow_changed_rows_total{store="users",table="users"} 2
`), "cow_applied_commits_total", "cow_changed_rows_total") == nil
	}, time.Minute, time.Millisecond)
}

func TestAddAndRemove(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{Tables: true})
	require.Zero(t, testutil.CollectAndCount(c))
	remove := c.Add("users", db)
	require.PanicsWithValue(t,
		`cow/metrics/prometheus: Add of a second store "users": remove the first, or add this one by another name`,
		func() { c.Add("users", new(cow.DB)) })
	require.PanicsWithValue(t,
		`cow/metrics/prometheus: Add of "jobs" with a nil *cow.DB: pass a pointer to the DB`,
		func() { c.Add("jobs", nil) })
	require.PanicsWithValue(t,
		`cow/metrics/prometheus: Add of "\xff", which is not UTF-8: labels must be`,
		func() { c.Add("\xff", db) })
	copied := new(cow.DB)
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(db).Elem())
	require.Panics(t, func() { c.Add("copied", copied) })
	c.Add("copied", new(cow.DB))() // the name is free
	other := c.Add("others", new(cow.DB))

	_, err := users.Set("a", 1)
	require.NoError(t, err)
	requireHas(t, c, `
cow_changed_rows_total{store="users",table="users"} 1
cow_versions_total{store="others"} 0
cow_versions_total{store="users"} 1
`, "cow_versions_total", "cow_changed_rows_total")

	other()
	remove()
	require.Zero(t, testutil.CollectAndCount(c), "nothing has the name")
	again := c.Add("users", db)
	remove() // twice does nothing
	_, err = users.Set("a", 2)
	require.NoError(t, err)
	requireHas(t, c, `
cow_updates_total{outcome="aborted",store="users"} 0
cow_updates_total{outcome="failed",store="users"} 0
cow_updates_total{outcome="published",store="users"} 1
cow_updates_total{outcome="unchanged",store="users"} 0
`, "cow_updates_total")

	// An update that is under way when its store is removed makes no metric.
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("a", 3)
		again()
		return nil
	}))
	require.Zero(t, testutil.CollectAndCount(c))
}

// Stores come and go, and are asked for, while others write.
func TestConcurrentUse(t *testing.T) {
	db, users := newDB()
	c := prometheus.New(prometheus.Options{Tables: true})
	defer c.Add("users", db)()
	var all sync.WaitGroup
	const n = 100
	for i := range 2 {
		all.Go(func() {
			for k := range n {
				_, err := users.Set(fmt.Sprint(i), k)
				require.NoError(t, err)
			}
		})
		all.Go(func() {
			for range n / 5 {
				remove := c.Add(fmt.Sprint("other ", i), db)
				_ = testutil.CollectAndCount(c)
				remove()
			}
		})
	}
	all.Wait()
	requireHas(t, c, `
cow_changed_rows_total{store="users",table="users"} 200
cow_versions_total{store="users"} 200
`, "cow_changed_rows_total", "cow_versions_total")
	require.Equal(t, map[string]uint64{"wait": 2 * n, "run": 2 * n}, observed(t, c, "cow_update_duration_seconds", "part"))
}

// What a hook adds to each update: compare with and without.
func BenchmarkUpdate(b *testing.B) {
	for _, o := range []struct {
		name string
		add  func(db *cow.DB)
	}{
		{"none", func(*cow.DB) {}},
		{"counted", func(db *cow.DB) { prometheus.New(prometheus.Options{}).Add("users", db) }},
		{"tables", func(db *cow.DB) { prometheus.New(prometheus.Options{Tables: true}).Add("users", db) }},
	} {
		b.Run(o.name, func(b *testing.B) {
			db, users := newDB()
			o.add(db)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, _ = users.Set("a", i)
			}
		})
	}
}

// Each update is counted in its goroutine: that must cost it nothing but a little time.
func TestUpdatesAreCountedWithoutAllocating(t *testing.T) {
	db, _ := newDB()
	defer prometheus.New(prometheus.Options{}).Add("users", db)()
	cow.Hooked[hook.UpdateEnd](db)(func(h hook.UpdateEnd) {
		u := hook.Update{Version: 1, Attempts: 1, Wait: 1, Run: 1, Sink: 1}
		require.Zero(t, testing.AllocsPerRun(100, func() { h.OnUpdateEnd(h.(hook.UpdateStart).OnUpdateStart(t.Context(), u), u) }))
	})
}
