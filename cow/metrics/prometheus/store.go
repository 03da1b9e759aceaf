package prometheus

import (
	"context"
	"errors"
	"strings"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// A store is a DB and the hook that counts what happens in it. What every update needs is looked up
// once.
type store struct {
	c    *Collector
	name string
	db   *cow.DB

	running                                    client.Gauge
	wait, run                                  client.Observer
	published, unchanged, aborted, failed      client.Counter
	applied, compacted, swept, erased, evicted client.Counter
}

func newStore(c *Collector, name string, db *cow.DB) *store {
	return &store{
		c: c, name: name, db: db,
		running:   c.running.WithLabelValues(name),
		wait:      c.durations.WithLabelValues(name, "wait"),
		run:       c.durations.WithLabelValues(name, "run"),
		published: c.updates.WithLabelValues(name, "published"),
		unchanged: c.updates.WithLabelValues(name, "unchanged"),
		aborted:   c.updates.WithLabelValues(name, "aborted"),
		failed:    c.updates.WithLabelValues(name, "failed"),
		applied:   c.applied.WithLabelValues(name),
		compacted: c.compacted.WithLabelValues(name),
		swept:     c.swept.WithLabelValues(name),
		erased:    c.erased.WithLabelValues(name),
		evicted:   c.evicted.WithLabelValues(name),
	}
}

// there calls f, which looks a metric up, and so may make it, unless s was removed.
func (s *store) there(f func()) {
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	if s.c.stores[s.name] == s {
		f()
	}
}

// OnUpdateStart counts an update that OnUpdateEnd is told of later, also if s is removed meanwhile.
func (s *store) OnUpdateStart(ctx context.Context, _ hook.Update) context.Context {
	s.running.Inc()
	return ctx
}

func (s *store) OnUpdateEnd(_ context.Context, u hook.Update) {
	s.running.Dec()
	switch {
	case u.Version > 0: // whatever panicked later
		s.published.Inc()
	case u.Err == nil:
		s.unchanged.Inc()
	case errors.Is(u.Err, hook.ErrAborted):
		s.aborted.Inc()
	default:
		s.failed.Inc()
	}
	s.wait.Observe(u.Wait.Seconds())
	if u.Attempts > 0 {
		s.run.Observe(u.Run.Seconds())
	}
	if u.Sink > 0 {
		s.there(func() { s.c.durations.WithLabelValues(s.name, "sink").Observe(u.Sink.Seconds()) })
	}
	if u.Version > 0 {
		s.changed(u.Tables)
	}
}

// changed counts the rows that were changed, if they are counted.
func (s *store) changed(tables func() []hook.Table) {
	if s.c.tables == nil {
		return
	}
	all := tables()
	s.there(func() {
		for _, t := range all {
			s.c.tables.WithLabelValues(s.name, strings.ToValidUTF8(t.Name, "\uFFFD")).Add(float64(t.Rows))
		}
	})
}

func (s *store) OnApplied(u hook.Update) {
	s.applied.Inc()
	s.changed(u.Tables)
}

func (s *store) OnCompacted(context.Context, hook.Feed)      { s.compacted.Inc() }
func (s *store) OnSwept(_ context.Context, r hook.Removal)   { s.swept.Add(float64(r.Rows)) }
func (s *store) OnEvicted(_ context.Context, r hook.Removal) { s.evicted.Add(float64(r.Rows)) }

// OnErased counts what is gone: an Erase that failed may have erased nothing.
func (s *store) OnErased(_ context.Context, r hook.Removal) {
	if r.Err == nil {
		s.erased.Add(float64(r.Rows))
	}
}

func (s *store) OnSearched(_ context.Context, is hook.Search) {
	s.there(func() {
		s.c.searches.WithLabelValues(s.name, is.Kind).Observe(is.Duration.Seconds())
		s.c.hits.WithLabelValues(s.name, is.Kind).Add(float64(is.Hits))
	})
}
