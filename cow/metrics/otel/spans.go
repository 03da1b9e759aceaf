package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cowstore/cowstore/cow/hook"
)

// Spans is a hook that makes a span of each update, transaction and search. See [Tracer].
type Spans struct {
	tracer trace.Tracer
	starts map[string][]trace.SpanStartOption // by operation
}

// Tracer returns a hook, for cow.DB.AddHook, that makes a span of each update, transaction of Begin,
// and search of a memory. It may be added to any number of DBs, and is safe for concurrent use. It
// panics if p is nil.
//
// A span is a child of the span in the context of the call, and a root if there is none. An update
// without a context, such as Table.Set, has none. Its name is its db.operation.name: update,
// transaction or search. It also has db.system.name, cowstore, and attrs, such as
// semconv.DBNamespace("users").
//
// A span of an update or a transaction begins before that waits for anything, and ends when it has
// ended. It has cow.update.outcome, which is published, unchanged, aborted or failed;
// cow.update.version, if one was published; cow.update.attempts, the number of times that its
// function ran; cow.update.wait, the seconds for which it waited for its place among the writers;
// and cow.update.sink, the seconds until the sink acknowledged it, if there is a sink. The function
// of an update runs with the context of the call, so spans that it makes are beside this span and
// not below it.
//
// A span of a search has cow.search.kind, which is text, vector or both; cow.search.candidates; and
// db.response.returned_rows.
//
// A span that failed has the status Error, with the text of the error, which may have keys and values
// in it, and error.type. A transaction that was aborted has not failed. Spans have no events.
func Tracer(p trace.TracerProvider, attrs ...attribute.KeyValue) *Spans {
	if p == nil {
		panic("cow/metrics/otel: Tracer with a nil TracerProvider: pass that of the SDK, or otel.GetTracerProvider()")
	}
	s := &Spans{
		tracer: p.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		starts: map[string][]trace.SpanStartOption{},
	}
	for _, name := range []string{update, transaction, search} {
		all := append([]attribute.KeyValue{system, semconv.DBOperationName(name)}, attrs...)
		s.starts[name] = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(all...)}
	}
	return s
}

// OnUpdateStart is that of [hook.UpdateStart].
func (s *Spans) OnUpdateStart(ctx context.Context, u hook.Update) context.Context {
	name := operation(u.Transaction)
	ctx, span := s.tracer.Start(ctx, name, s.starts[name]...)
	return context.WithValue(ctx, s, span) // other hooks may begin spans below it
}

// OnUpdateEnd is that of [hook.UpdateEnd].
func (s *Spans) OnUpdateEnd(ctx context.Context, u hook.Update) {
	span, ok := ctx.Value(s).(trace.Span)
	if !ok {
		return
	}
	defer span.End()
	if !span.IsRecording() {
		return
	}
	attrs := make([]attribute.KeyValue, 0, 5)
	attrs = append(attrs, outcomeKey.String(outcomes[outcomeOf(&u)]), attemptsKey.Int(u.Attempts), waitKey.Float64(u.Wait.Seconds()))
	if u.Version > 0 {
		attrs = append(attrs, versionKey.Int64(int64(u.Version)))
	}
	if u.Sink > 0 {
		attrs = append(attrs, sinkKey.Float64(u.Sink.Seconds()))
	}
	span.SetAttributes(attrs...)
	fails(span, failure(&u))
}

// OnSearched is that of [hook.Searched].
func (s *Spans) OnSearched(ctx context.Context, is hook.Search) {
	now := time.Now()
	start := append(s.starts[search][:2:2], trace.WithTimestamp(now.Add(-is.Duration)))
	_, span := s.tracer.Start(ctx, search, start...)
	defer span.End(trace.WithTimestamp(now))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(kindKey.String(is.Kind), candidatesKey.Int(is.Candidates), semconv.DBResponseReturnedRows(is.Hits))
	fails(span, is.Err)
}

// fails sets the status of a span, if it ends with an error.
func fails(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(semconv.ErrorType(err))
		span.SetStatus(codes.Error, err.Error())
	}
}
