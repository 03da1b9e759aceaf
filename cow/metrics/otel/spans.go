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

// Tracer returns a hook, for [cow.DB.AddHook], that makes a span of each update, each transaction
// of Begin, and each search of a memory. It may be added to any number of DBs, and is safe for
// concurrent use. Tracer panics if p is nil.
//
// A span is a child of the span in the context of the call. It is a root if there is none, as for
// updates without a context, such as Table.Set. It begins before the update or transaction waits
// for anything, and ends with it. The function of an update runs with the context of the call:
// spans that it makes are beside this one, and not below it.
//
// All spans have these attributes, and attrs, such as semconv.DBNamespace("users"):
//
//	db.system.name             cowstore
//	db.operation.name          update, transaction or search; the name of the span too
//	error.type                 only if it failed; its status is Error then
//
// Those of updates and transactions have these:
//
//	cow.update.outcome         published, unchanged, aborted or failed
//	cow.update.version         the version, if one was published
//	cow.update.attempts        how often the function ran
//	cow.update.wait            seconds that it waited for the writer's place
//	cow.update.sink            seconds until the sink acknowledged it, if there is a sink
//
// Those of searches have these:
//
//	cow.search.kind            text, vector or both
//	cow.search.candidates      texts and vectors of the spaces that it looked through
//	db.response.returned_rows  hits
//
// The status of a span has the text of the error, which may have keys and values in it. A
// transaction that was aborted has not failed. Spans have no events.
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

// OnUpdateStart implements [hook.UpdateStart].
func (s *Spans) OnUpdateStart(ctx context.Context, u hook.Update) context.Context {
	name := operation(u.Transaction)
	ctx, span := s.tracer.Start(ctx, name, s.starts[name]...)
	return context.WithValue(ctx, s, span) // other hooks may begin spans below it
}

// OnUpdateEnd implements [hook.UpdateEnd].
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

// OnSearched implements [hook.Searched].
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
