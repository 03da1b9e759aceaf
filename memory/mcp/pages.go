package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// An own is what a Server has of the file while this process has it. What another process has is
// shown there.
type own struct {
	store *local.Store
	pages http.Handler
}

// owns makes this process the one that has the file.
func (s *Server) owns(st *local.Store) {
	s.collector.Add("memory", st.Memory().DB())
	s.own.Store(&own{st, local.Pages(st.Memory(), s.o.Values)})
}

// reads reports whether a request only reads, and refuses it otherwise.
func reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "this only reads", http.StatusMethodNotAllowed)
	return false
}

// health says that all is well, or why not.
func health(w http.ResponseWriter, r *http.Request, err error) {
	if !reads(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// readyFor is how long a memory may take to answer.
const readyFor = 2 * time.Second

// What readiness tells those who need no token, which is no more.
var (
	errSilent   = errors.New("the memory does not answer")
	errReadOnly = errors.New("the memory cannot be written")
)

// ready returns why calls would fail now, if they would.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyFor)
	defer cancel()
	if _, err := s.store.Do(ctx, store.Request{Op: "open_nodes", Args: json.RawMessage(`{"names":[]}`)}); err != nil {
		s.o.Log.Warn("the memory is not ready", "error", err)
		return errSilent
	}
	if own := s.own.Load(); own != nil {
		switch is := own.store.Memory().DB().Stats().Sink; is.State {
		case "", hook.Connected:
		default:
			s.o.Log.Warn("the memory is not ready", "state", is.State, "error", is.Err)
			return errReadOnly
		}
	}
	return nil
}

// inspect answers by a page about the memory.
func (s *Server) inspect(w http.ResponseWriter, r *http.Request) {
	own := s.own.Load()
	switch {
	case r.URL.Path == "/inspect":
		w.Header().Set("Location", "inspect/") // relative to the address that the browser knows
		w.WriteHeader(http.StatusSeeOther)
	case own == nil:
		http.Error(w, "another process has the file: its address has these pages, if it serves over HTTP", http.StatusServiceUnavailable)
	default:
		http.StripPrefix("/inspect", own.pages).ServeHTTP(w, r)
	}
}

// A usage collects how full the memory is, while this process has the file.
type usage struct{ *Server }

var (
	usedBytes  = client.NewDesc("cowmemory_bytes", "About how many bytes the memory takes.", nil, nil)
	limitBytes = client.NewDesc("cowmemory_limit_bytes", "How many bytes the memory may take; what would be more is refused.", nil, nil)
)

func (usage) Describe(ch chan<- *client.Desc) { ch <- usedBytes; ch <- limitBytes }

func (u usage) Collect(ch chan<- client.Metric) {
	own := u.own.Load()
	if own == nil {
		return
	}
	used, limit := own.store.Used()
	ch <- client.MustNewConstMetric(usedBytes, client.GaugeValue, float64(used))
	ch <- client.MustNewConstMetric(limitBytes, client.GaugeValue, float64(limit))
}

// metrics returns what answers by the figures of this process, with those of the memory while it
// has the file.
func (s *Server) metrics() http.Handler {
	all := client.NewRegistry()
	all.MustRegister(s.collector, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		client.NewGaugeFunc(client.GaugeOpts{Name: "cowmemory_has_file", Help: "1 if this process has the file, and 0 if another has it."}, func() float64 {
			if s.own.Load() == nil {
				return 0
			}
			return 1
		}), usage{s})
	h := promhttp.HandlerFor(all, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelError)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reads(w, r) {
			h.ServeHTTP(w, r)
		}
	})
}
