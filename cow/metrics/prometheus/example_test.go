package prometheus_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/prometheus"
)

func Example() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})

	collector := prometheus.New(prometheus.Options{})
	client.MustRegister(collector)
	remove := collector.Add("users", &db)
	defer remove()
	http.Handle("/metrics", promhttp.Handler())

	_, _ = users.Set("a", "Ada")

	fmt.Print(get("/metrics", "cow_rows", "cow_updates_total", "cow_versions_total"))
	// Output:
	// cow_rows{store="users"} 1
	// cow_updates_total{outcome="aborted",store="users"} 0
	// cow_updates_total{outcome="failed",store="users"} 0
	// cow_updates_total{outcome="published",store="users"} 1
	// cow_updates_total{outcome="unchanged",store="users"} 0
	// cow_versions_total{store="users"} 1
}

// get returns the lines of some metrics that the program serves.
func get(path string, names ...string) string {
	w := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var lines strings.Builder
	for s := bufio.NewScanner(w.Body); s.Scan(); {
		for _, name := range names {
			if strings.HasPrefix(s.Text(), name+"{") {
				fmt.Fprintln(&lines, s.Text())
			}
		}
	}
	return lines.String()
}
