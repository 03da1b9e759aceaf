package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A lineReader reads the messages of a client, one a line, for a transport of the SDK, whose
// connection ends at the first line that is no message. It lets such lines not through, but
// answers them.
type lineReader struct {
	io.Closer
	in   *bufio.Reader
	most int // bytes of a line
	out  io.Writer
	log  *slog.Logger
	next []byte // what Read has to return of the line
}

// lineTransport returns a transport over messages that are lines of at most so many bytes.
func lineTransport(in io.ReadCloser, out io.Writer, most int, log *slog.Logger) mcp.Transport {
	w := &lineWriter{out: out}
	r := &lineReader{in, bufio.NewReaderSize(in, 64<<10), most, w, log, nil}
	return answeringTransport{&mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}}
}

// An answeringTransport has connections whose input ends when all calls in it are answered.
// The SDK drops what it has not answered by the end of the input: of a client that writes its
// calls, closes its side and then reads, as a shell's pipe does, the last answers would be lost.
type answeringTransport struct{ mcp.Transport }

func (t answeringTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConn{Connection: c, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type answeringConn struct {
	mcp.Connection
	calls    atomic.Int64  // without an answer
	answered chan struct{} // has one element after each answer
	closed   chan struct{}
	closing  sync.Once
}

func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.calls.Add(1)
	}
	for errors.Is(err, io.EOF) && c.calls.Load() > 0 { // the SDK answers each call, once
		select {
		case <-c.answered:
		case <-c.closed:
			return m, err
		}
	}
	return m, err
}

func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.calls.Add(-1)
		select {
		case c.answered <- struct{}{}:
		default: // Read will look at calls anyway
		}
	}
	return err
}

func (c *answeringConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.next) == 0 {
		line, tooLong, err := r.line()
		if err != nil && len(line) == 0 && !tooLong {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case tooLong:
			err = r.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a line of more than %d bytes", r.most))
		case len(line) > 0:
			err = r.take(line)
		default:
			err = nil
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.next)
	r.next = r.next[n:]
	return n, nil
}

// line reads a line. Of one that is too long it keeps nothing.
func (r *lineReader) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > r.most; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// take lets a line through if it is a message, or the messages of a batch, which protocols
// after 2025-03-26 do not have, one after the other.
func (r *lineReader) take(line []byte) error {
	if !json.Valid(line) {
		return r.refuse(nil, jsonrpc.CodeParseError, "this line is not JSON: a message is one line, and a line one message")
	}
	if line[0] != '[' {
		return r.message(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return r.refuse(nil, jsonrpc.CodeInvalidRequest, "a batch without messages")
	}
	for _, text := range batch {
		if err := r.message(text); err != nil {
			return err
		}
	}
	return nil
}

func (r *lineReader) message(text []byte) error {
	if _, err := jsonrpc.DecodeMessage(text); err != nil || text[0] != '{' {
		return r.refuse(text, jsonrpc.CodeInvalidRequest, `this is not JSON-RPC 2.0: a request has "jsonrpc":"2.0", a "method" and, unless it is a notification, an "id"`)
	}
	r.next = append(append(r.next, text...), '\n')
	return nil
}

// refuse answers a message, if it is one that is to be answered: an answer never is, or both
// sides might go on for ever.
func (r *lineReader) refuse(text []byte, code int, message string) error {
	r.log.Warn("a line of the client is refused", "error", message)
	var m map[string]json.RawMessage
	_ = json.Unmarshal(text, &m)
	_, isResult := m["result"]
	_, isError := m["error"]
	if _, asks := m["method"]; !asks && (isResult || isError) {
		return nil
	}
	id := m["id"]
	if len(id) == 0 || id[0] != '"' && (id[0] < '0' || id[0] > '9') && id[0] != '-' {
		id = json.RawMessage("null")
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": jsonrpc.Error{Code: int64(code), Message: message}})
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(answer, '\n'))
	return err
}

// A lineWriter writes whole lines, of several goroutines. It stays open, as the standard output
// must.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(line)
}

func (w *lineWriter) Close() error { return nil }
