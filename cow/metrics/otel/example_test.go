package otel_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/otel"
)

// A span for each update, and the metrics of a DB.
func Example() {
	// In a program, its own exporter and reader.
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	meters := metric.NewMeterProvider(metric.WithReader(reader))

	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})

	untrace := db.AddHook(otel.Tracer(tracers, semconv.DBNamespace("users")))
	defer untrace()
	metrics, err := otel.Meter(meters, otel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	remove := metrics.Add("users", &db)
	defer remove()

	_, _ = users.Set("a", "Ada")

	show(spans, reader)
	// Output:
	// span update
	//   db.system.name=cowstore
	//   db.operation.name=update
	//   db.namespace=users
	//   cow.update.outcome=published
	//   cow.update.attempts=1
	//   cow.update.version=1
	// db.client.operation.duration count 1
	// cow.update.duration count 1
	// cow.running_updates 0
	// cow.updates 1
	// cow.versions 1
	// cow.dropped_transactions 0
}

// show prints the spans and some of the metrics, but for what differs from run to run.
func show(spans *tracetest.InMemoryExporter, reader metric.Reader) {
	for _, span := range spans.GetSpans() {
		fmt.Println("span", span.Name)
		for _, a := range span.Attributes {
			if a.Key != "cow.update.wait" {
				fmt.Printf("  %s=%s\n", a.Key, a.Value.String())
			}
		}
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			fmt.Println(m.Name, data.DataPoints[0].Value)
		case metricdata.Histogram[float64]:
			fmt.Println(m.Name, "count", data.DataPoints[0].Count)
		}
	}
}
