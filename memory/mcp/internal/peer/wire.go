package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// What is sent is HTTP/1.1. Each request and answer says the version of what follows:
//
//	GET /join               a line, a hello, and then nothing until the owner has ended
//	POST /do       a frame  a result as it is, or an error by its status
//	GET /changes?cursor=    lines: a start, then events, beats in between, and an end
const (
	version       = "1"
	versionHeader = "Cowmemory-Protocol"

	statusClient  = http.StatusUnprocessableEntity // the body is a store.Error
	statusCursor  = http.StatusGone
	statusClosing = http.StatusServiceUnavailable // send it again, to the next owner
	statusFailed  = http.StatusInternalServerError
)

// A hello is what an owner says first.
type hello struct {
	PID int `json:"pid"`
}

// A frame is a store.Request. Its parts are bytes, so that what is no text, or no JSON,
// arrives as it is, and is refused where it would be without a socket.
type frame struct {
	ID        []byte `json:"id,omitempty"`
	Namespace []byte `json:"namespace,omitempty"`
	Op        []byte `json:"op,omitempty"`
	Args      []byte `json:"args,omitempty"`
}

// maxFrame is the size of the largest frame: base64 and the names.
const maxFrame = maxRequest/3*4 + 1024

func encode(r store.Request) ([]byte, error) {
	return json.Marshal(frame{[]byte(r.ID), []byte(r.Namespace), []byte(r.Op), r.Args})
}

func decode(b []byte) (store.Request, error) {
	var f frame
	err := json.Unmarshal(b, &f)
	return store.Request{ID: string(f.ID), Namespace: string(f.Namespace), Op: string(f.Op), Args: f.Args}, err
}

// A line is one of a feed. One with nothing in it is a sign of life.
type line struct {
	Start string       `json:"start,omitempty"` // the first: the cursor to go on from, if it is known
	Event *store.Event `json:"event,omitempty"`
	End   int          `json:"end,omitempty"` // the last: a status
	Text  string       `json:"text,omitempty"`
}

// A relayed error is one of the owner's store, with its text.
type relayed struct {
	text string
	is   error
}

func (e *relayed) Error() string { return e.text }
func (e *relayed) Unwrap() error { return e.is }

// status returns how an error of a store is told, and its text.
func status(err error, closing bool) (int, []byte) {
	var client *store.Error
	switch {
	case errors.As(err, &client):
		b, _ := json.Marshal(client) // two strings
		return statusClient, b
	case closing, errors.Is(err, store.ErrClosed):
		return statusClosing, []byte("the owner is closing")
	case errors.Is(err, store.ErrCursor):
		return statusCursor, []byte(err.Error())
	}
	return statusFailed, []byte(err.Error())
}

// errorOf returns the error that was told by a status and its text.
func errorOf(code int, text []byte) error {
	switch code {
	case statusClient:
		e := new(store.Error)
		if err := json.Unmarshal(text, e); err != nil {
			return fmt.Errorf("peer: what the owner of the file says is not an error: %w", err)
		}
		return e
	case statusCursor:
		return &relayed{string(text), store.ErrCursor}
	case statusClosing:
		return fmt.Errorf("%s: %w", text, errLost)
	}
	return fmt.Errorf("peer: the process that has the file says: %d %s", code, text)
}
