// Package store says what a memory server asks of what it keeps: requests that are
// answered once, however often they are sent, and what has changed since.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// A Request is one operation. Requests that write are all or nothing.
type Request struct {
	// ID names a request that writes, for ever: sent again, with the same ID, it is not
	// done again, and its first result is the answer. It is random, of 128 bits.
	ID string `json:"id,omitempty"`

	Namespace string          `json:"namespace"` // whose memory; "" is one of them
	Op        string          `json:"op"`        // the name of a tool
	Args      json.RawMessage `json:"args"`      // an object: the tool's arguments
}

// A Store answers requests. It is safe for concurrent use.
type Store interface {
	// Do answers one request: with the tool's result, as JSON, or an error. An error that
	// is for the client, since its arguments are wrong or do not fit what is stored, is an
	// *Error; then nothing has changed. Any other means that the store has failed, and the
	// outcome of a write is not known.
	Do(ctx context.Context, r Request) (json.RawMessage, error)

	// Changes yields an Event for each commit after the cursor, "" for from now on, and
	// then waits for the next, until ctx ends. If the cursor is too old, or of another
	// store, it yields ErrCursor.
	Changes(ctx context.Context, cursor string) iter.Seq2[Event, error]

	// Close ends the store; what was acknowledged is on disk. Requests after it return
	// ErrClosed.
	Close() error
}

// An Event says that one commit has changed something in some namespaces.
type Event struct {
	Cursor     string   `json:"cursor"`
	Namespaces []string `json:"namespaces"` // sorted, each once
}

// What a Store's errors wrap.
var (
	ErrClosed = errors.New("the memory is closed")
	ErrCursor = errors.New("the cursor is too old, or of another memory")
)

// A Code says what kind of error a client has made.
type Code string

// The codes.
const (
	Invalid  Code = "invalid"   // the arguments are wrong
	NotFound Code = "not_found" // what they name is not there
	Conflict Code = "conflict"  // it has changed since
	Gone     Code = "gone"      // the past that it needs is no longer kept
	TooLarge Code = "too_large" // more than a limit allows
)

// An Error is one for the client. Its Message says what is wrong and what to do.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}
