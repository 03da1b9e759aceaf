package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

type (
	adds    []metric.AddOption
	records []metric.RecordOption
)

// A store is a DB and the hook that measures what happens in it. The attributes of what every update
// has are made once, so that it allocates nothing for them.
type store struct {
	m    *Metrics
	name attribute.KeyValue
	db   *cow.DB

	is              metric.MeasurementOption // the name alone
	only            adds                     // the same
	outcomes        [len(outcomes)]adds
	operations      map[string]records
	wait, run, sink records
}

func newStore(m *Metrics, name string, db *cow.DB) *store {
	s := &store{m: m, name: semconv.DBNamespace(name), db: db, operations: map[string]records{}}
	s.is = with(s.name)
	s.only = adds{s.is}
	for i, name := range outcomes {
		s.outcomes[i] = adds{with(s.name, outcomeKey.String(name))}
	}
	for _, name := range []string{update, transaction} {
		s.operations[name] = records{with(s.name, system, semconv.DBOperationName(name))}
	}
	s.wait = records{with(s.name, partKey.String("wait"))}
	s.run = records{with(s.name, partKey.String("run"))}
	s.sink = records{with(s.name, partKey.String("sink"))}
	return s
}

// OnUpdateStart counts an update that OnUpdateEnd is told of later, also if s is removed meanwhile.
func (s *store) OnUpdateStart(ctx context.Context, _ hook.Update) context.Context {
	s.m.running.Add(ctx, 1, s.only...)
	return ctx
}

func (s *store) OnUpdateEnd(ctx context.Context, u hook.Update) {
	s.m.running.Add(ctx, -1, s.only...)
	name := operation(u.Transaction)
	attrs := s.operations[name]
	if err := failure(&u); err != nil {
		attrs = records{with(s.name, system, semconv.DBOperationName(name), semconv.ErrorType(err))}
	}
	s.m.operations.Record(ctx, (u.Wait + u.Run + u.Sink).Seconds(), attrs...)
	s.m.updates.Add(ctx, 1, s.outcomes[outcomeOf(&u)]...)
	s.m.parts.Record(ctx, u.Wait.Seconds(), s.wait...)
	if u.Attempts > 0 {
		s.m.parts.Record(ctx, u.Run.Seconds(), s.run...)
	}
	if u.Sink > 0 {
		s.m.parts.Record(ctx, u.Sink.Seconds(), s.sink...)
	}
	if u.Version > 0 {
		s.changed(ctx, u.Tables)
	}
}

// changed counts the rows that were changed, if they are counted.
func (s *store) changed(ctx context.Context, tables func() []hook.Table) {
	if s.m.tables == nil {
		return
	}
	for _, t := range tables() {
		s.m.tables.Add(ctx, int64(t.Rows), with(s.name, semconv.DBCollectionName(t.Name)))
	}
}

func (s *store) OnApplied(u hook.Update) {
	ctx := context.Background()
	s.m.applied.Add(ctx, 1, s.only...)
	s.changed(ctx, u.Tables)
}

func (s *store) OnCompacted(ctx context.Context, _ hook.Feed) { s.m.compacted.Add(ctx, 1, s.only...) }

func (s *store) OnSwept(ctx context.Context, r hook.Removal) {
	s.m.swept.Add(ctx, int64(r.Rows), s.only...)
}

func (s *store) OnEvicted(ctx context.Context, r hook.Removal) {
	s.m.evicted.Add(ctx, int64(r.Rows), s.only...)
}

// OnErased counts what is gone: an Erase that failed may have erased nothing.
func (s *store) OnErased(ctx context.Context, r hook.Removal) {
	if r.Err == nil {
		s.m.erased.Add(ctx, int64(r.Rows), s.only...)
	}
}

func (s *store) OnSearched(ctx context.Context, is hook.Search) {
	kind := kindKey.String(is.Kind)
	attrs := []attribute.KeyValue{system, semconv.DBOperationName(search), kind}
	if is.Err != nil {
		attrs = append(attrs, semconv.ErrorType(is.Err))
	}
	s.m.operations.Record(ctx, is.Duration.Seconds(), with(s.name, attrs...))
	s.m.hits.Add(ctx, int64(is.Hits), with(s.name, kind))
}
