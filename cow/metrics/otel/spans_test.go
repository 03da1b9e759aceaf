package otel_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/metrics/otel"
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

// search tells hooks of db of a search, as package memory does.
func search(ctx context.Context, db *cow.DB, s hook.Search) {
	cow.Hooked[hook.Searched](db)(func(h hook.Searched) { h.OnSearched(ctx, s) })
}

func tracing(t *testing.T) (*tracetest.InMemoryExporter, *sdk.TracerProvider) {
	spans := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return spans, p
}

// last returns the span that ended last, and its attributes but for what it waited.
func last(t *testing.T, spans *tracetest.InMemoryExporter) (tracetest.SpanStub, map[attribute.Key]any) {
	t.Helper()
	all := spans.GetSpans()
	require.NotEmpty(t, all)
	attrs := map[attribute.Key]any{}
	for _, kv := range all[len(all)-1].Attributes {
		require.NotContains(t, attrs, kv.Key)
		attrs[kv.Key] = kv.Value.AsInterface()
	}
	delete(attrs, "cow.update.wait")
	return all[len(all)-1], attrs
}

func TestSpansOfUpdates(t *testing.T) {
	spans, p := tracing(t)
	db, users := newDB()
	remove := db.AddHook(otel.Tracer(p, semconv.DBNamespace("users")))

	ctx, parent := p.Tracer("test").Start(t.Context(), "request")
	require.NoError(t, db.UpdateContext(ctx, func(tx *cow.Tx) error {
		users.Edit(tx).Set("a", 1)
		time.Sleep(time.Millisecond)
		return nil
	}))
	span, attrs := last(t, spans)
	require.Equal(t, "update", span.Name)
	require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
	require.Equal(t, parent.SpanContext().TraceID(), span.SpanContext.TraceID())
	require.Equal(t, trace.SpanKindInternal, span.SpanKind)
	require.GreaterOrEqual(t, span.EndTime.Sub(span.StartTime), time.Millisecond)
	require.Equal(t, sdk.Status{Code: codes.Unset}, span.Status)
	require.Empty(t, span.Events)
	require.Equal(t, "github.com/cowstore/cowstore/cow/metrics/otel", span.InstrumentationScope.Name)
	require.Equal(t, semconv.SchemaURL, span.InstrumentationScope.SchemaURL)
	require.Equal(t, map[attribute.Key]any{
		"db.system.name": "cowstore", "db.operation.name": "update", "db.namespace": "users",
		"cow.update.outcome": "published", "cow.update.version": int64(1), "cow.update.attempts": int64(1),
	}, attrs)

	_, err := users.Set("a", 2)
	require.NoError(t, err)
	span, _ = last(t, spans)
	require.False(t, span.Parent.IsValid(), "there is no context")

	require.NoError(t, db.Update(func(*cow.Tx) error { return nil }))
	_, attrs = last(t, spans)
	require.Equal(t, "unchanged", attrs["cow.update.outcome"])
	require.NotContains(t, attrs, attribute.Key("cow.update.version"))

	failed := errors.New("no room")
	require.ErrorIs(t, db.Update(func(*cow.Tx) error { return failed }), failed)
	span, attrs = last(t, spans)
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "no room"}, span.Status)
	require.Equal(t, "*errors.errorString", attrs["error.type"])
	require.Equal(t, "failed", attrs["cow.update.outcome"])
	require.Empty(t, span.Events)

	require.Panics(t, func() { _ = db.Update(func(*cow.Tx) error { panic("x") }) })
	span, _ = last(t, spans)
	require.Equal(t, sdk.Status{Code: codes.Error, Description: hook.ErrPanicked.Error()}, span.Status)

	n := len(spans.GetSpans())
	remove()
	_, err = users.Set("a", 3)
	require.NoError(t, err)
	require.Len(t, spans.GetSpans(), n)
}

func TestSpansOfTransactions(t *testing.T) {
	spans, p := tracing(t)
	db, users := newDB()
	defer db.AddHook(otel.Tracer(p))()

	ctx, parent := p.Tracer("test").Start(t.Context(), "request")
	tx, err := db.BeginContext(ctx)
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		users.Edit(tx).Set("a", 1)
		ended <- tx.Commit()
	}()
	require.NoError(t, <-ended)
	span, attrs := last(t, spans)
	require.Equal(t, "transaction", span.Name)
	require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
	require.Equal(t, map[attribute.Key]any{
		"db.system.name": "cowstore", "db.operation.name": "transaction",
		"cow.update.outcome": "published", "cow.update.version": int64(1), "cow.update.attempts": int64(1),
	}, attrs)

	db.Begin().Abort()
	span, attrs = last(t, spans)
	require.Equal(t, codes.Unset, span.Status.Code, "it was meant")
	require.Equal(t, "aborted", attrs["cow.update.outcome"])
}

func TestSpansWithASink(t *testing.T) {
	spans, p := tracing(t)
	db, users := newDB()
	defer db.AddHook(otel.Tracer(p))()
	sink := cowtest.Attach(t, db, cowtest.SinkOptions{})
	done := make(chan error)
	go func() { _, err := users.Set("a", 1); done <- err }()
	_, err := sink.Await(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, sink.Rebase(), "it runs again")
	_, err = sink.Await(t.Context(), 1)
	require.NoError(t, err)
	time.Sleep(10 * time.Millisecond)
	sink.Ack(1)
	require.NoError(t, <-done)
	_, attrs := last(t, spans)
	require.Equal(t, int64(2), attrs["cow.update.attempts"])
	require.GreaterOrEqual(t, attrs["cow.update.sink"], 0.01)
}

func TestSpansOfSearches(t *testing.T) {
	spans, p := tracing(t)
	db, _ := newDB()
	defer db.AddHook(otel.Tracer(p))()
	ctx, parent := p.Tracer("test").Start(t.Context(), "request")
	search(ctx, db, hook.Search{Kind: "both", Hits: 3, Candidates: 50, Duration: 20 * time.Millisecond})
	span, attrs := last(t, spans)
	require.Equal(t, "search", span.Name)
	require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
	require.Equal(t, 20*time.Millisecond, span.EndTime.Sub(span.StartTime))
	require.WithinDuration(t, time.Now(), span.EndTime, time.Minute)
	require.Equal(t, map[attribute.Key]any{
		"db.system.name": "cowstore", "db.operation.name": "search",
		"cow.search.kind": "both", "cow.search.candidates": int64(50), "db.response.returned_rows": int64(3),
	}, attrs)

	search(t.Context(), db, hook.Search{Kind: "text", Err: errors.New("no such space")})
	span, _ = last(t, spans)
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "no such space"}, span.Status)
}

// Two tracers of one DB end their own spans each, the second below the first.
func TestTwoTracers(t *testing.T) {
	first, p := tracing(t)
	second, q := tracing(t)
	db, users := newDB()
	defer db.AddHook(otel.Tracer(p))()
	defer db.AddHook(otel.Tracer(q))()
	_, err := users.Set("a", 1)
	require.NoError(t, err)
	above, _ := last(t, first)
	below, _ := last(t, second)
	require.Equal(t, above.SpanContext.SpanID(), below.Parent.SpanID())
	require.Len(t, first.GetSpans(), 1)
	require.Len(t, second.GetSpans(), 1)
}

func TestSpansAreSampled(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(sdk.WithSyncer(spans), sdk.WithSampler(sdk.NeverSample()))
	db, users := newDB()
	defer db.AddHook(otel.Tracer(p))()
	_, err := users.Set("a", 1)
	require.NoError(t, err)
	search(t.Context(), db, hook.Search{Kind: "text"})
	require.Empty(t, spans.GetSpans())
}

func TestConcurrentSpans(t *testing.T) {
	spans, p := tracing(t)
	tracer := otel.Tracer(p)
	var all sync.WaitGroup
	for range 2 {
		db, users := newDB()
		defer db.AddHook(tracer)()
		for i := range 2 {
			all.Go(func() {
				for k := range 50 {
					_, err := users.Set(fmt.Sprint(i), k)
					require.NoError(t, err)
					search(t.Context(), db, hook.Search{Kind: "text", Duration: time.Duration(k)})
				}
			})
		}
	}
	all.Wait()
	require.Len(t, spans.GetSpans(), 2*2*50*2)
}

func TestTracerNeedsAProvider(t *testing.T) {
	require.PanicsWithValue(t,
		"cow/metrics/otel: Tracer with a nil TracerProvider: pass that of the SDK, or otel.GetTracerProvider()",
		func() { otel.Tracer(nil) })
}
