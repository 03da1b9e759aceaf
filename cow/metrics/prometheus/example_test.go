package prometheus_test

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/prometheus"
)

// The figures of a DB are served with the metrics of the program.
func Example() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})

	collector := prometheus.New(prometheus.Options{})
	client.MustRegister(collector) // github.com/prometheus/client_golang/prometheus
	remove := collector.Add("users", &db)
	defer remove()
	http.Handle("/metrics", promhttp.Handler())

	_, _ = users.Set("a", "Ada")

	fmt.Print(get("/metrics",
		"cow_rows", "cow_updates_total", "cow_versions_total"))
	// Output:
	// cow_rows{store="users"} 1
	// cow_updates_total{outcome="aborted",store="users"} 0
	// cow_updates_total{outcome="failed",store="users"} 0
	// cow_updates_total{outcome="published",store="users"} 1
	// cow_updates_total{outcome="unchanged",store="users"} 0
	// cow_versions_total{store="users"} 1
}

// Gauges of a program's own, beside those of a Collector: when the last backup was made, and how
// many bytes of the file are free. With cow/bolt, backup is file.BackupFile, and space file.Space.
func Example_gauges() {
	made := client.NewGauge(client.GaugeOpts{
		Name: "jobs_backup_timestamp_seconds",
		Help: "When the last backup was made.",
	})
	failed := client.NewCounter(client.CounterOpts{
		Name: "jobs_backup_failures_total",
		Help: "Backups that failed.",
	})
	free := client.NewGaugeFunc(client.GaugeOpts{
		Name: "jobs_file_free_bytes",
		Help: "What Compact would give back.",
	}, func() float64 {
		_, free, err := space()
		if err != nil {
			return math.NaN()
		}
		return float64(free)
	})
	client.MustRegister(made, failed, free)
	made.Set(1.7e9) // at the start: when the newest file in backups was modified

	// Every hour, under a new name:
	if _, err := backup("backups/jobs-1.db"); err != nil {
		failed.Inc()
	} else {
		made.SetToCurrentTime()
	}

	fmt.Print(get("/metrics", "jobs_backup_failures_total", "jobs_file_free_bytes"))
	// Output:
	// jobs_backup_failures_total 0
	// jobs_file_free_bytes 4096
}

func backup(string) (uint64, error) { return 1, nil }

func space() (size, free uint64, err error) { return 1 << 20, 4096, nil }

// get returns the lines of some metrics that the program serves.
func get(path string, names ...string) string {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	http.DefaultServeMux.ServeHTTP(w, r)
	var lines strings.Builder
	for s := bufio.NewScanner(w.Body); s.Scan(); {
		for _, name := range names {
			rest, ok := strings.CutPrefix(s.Text(), name)
			if ok && strings.ContainsAny(rest[:1], " {") {
				fmt.Fprintln(&lines, s.Text())
			}
		}
	}
	return lines.String()
}
