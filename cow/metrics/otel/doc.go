// Package otel tells OpenTelemetry what happens in DBs: [Tracer] makes a span of each update and
// search, and [Meter] metrics.
//
// Names are those of the semantic conventions for databases, where these have one. All others begin
// with cow and a dot. The package requires the API of OpenTelemetry alone; the program brings the
// SDK.
package otel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/cowstore/cowstore/cow/hook"
)

// scope is the name of the instrumentation.
const scope = "github.com/cowstore/cowstore/cow/metrics/otel"

var system = semconv.DBSystemNameKey.String("cowstore")

// The names of what the conventions have no name for.
const (
	outcomeKey  = attribute.Key("cow.update.outcome")
	partKey     = attribute.Key("cow.update.part")
	versionKey  = attribute.Key("cow.update.version")
	attemptsKey = attribute.Key("cow.update.attempts")
	waitKey     = attribute.Key("cow.update.wait")
	sinkKey     = attribute.Key("cow.update.sink")

	kindKey       = attribute.Key("cow.search.kind")
	candidatesKey = attribute.Key("cow.search.candidates")

	stateKey = attribute.Key("cow.sink.state")
)

// The operations.
const (
	update      = "update"
	transaction = "transaction"
	search      = "search"
)

// operation returns the name of what has begun or ended.
func operation(isTransaction bool) string {
	if isTransaction {
		return transaction
	}
	return update
}

// An outcome is how an update ended.
type outcome int

const (
	published outcome = iota // whatever panicked later
	unchanged
	aborted
	failed
)

var outcomes = [...]string{"published", "unchanged", "aborted", "failed"}

func outcomeOf(u *hook.Update) outcome {
	switch {
	case u.Version > 0:
		return published
	case u.Err == nil:
		return unchanged
	case errors.Is(u.Err, hook.ErrAborted):
		return aborted
	}
	return failed
}

// failure returns the error of an update, nil for one that was meant.
func failure(u *hook.Update) error {
	if errors.Is(u.Err, hook.ErrAborted) {
		return nil
	}
	return u.Err
}
