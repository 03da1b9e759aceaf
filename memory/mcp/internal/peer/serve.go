package peer

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// handler returns what answers those who have joined.
func (o *owner) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /join", o.serveJoin)
	mux.HandleFunc("POST /do", o.serveDo)
	mux.HandleFunc("GET /changes", o.serveChanges)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		serving := o.serving
		if serving {
			o.handlers.Add(1)
		}
		o.mu.Unlock()
		if !serving {
			return
		}
		defer o.handlers.Done()
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(arrive))
		_ = c.SetWriteDeadline(time.Time{}) // until there is something to write
		w.Header().Set(versionHeader, version)
		if r.Header.Get(versionHeader) != version {
			answer(w, http.StatusHTTPVersionNotSupported, []byte("this is version "+version))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// answer sends all of an answer.
func answer(w http.ResponseWriter, status int, body []byte) {
	c := http.NewResponseController(w)
	// Some megabytes take their time where the reader is slow.
	_ = c.SetWriteDeadline(time.Now().Add(leave + time.Duration(len(body)>>20)*time.Second))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_ = c.Flush() // whoever waits for the requests under way waits for their answers
}

// serveJoin says hello, and no more until the file is free.
func (o *owner) serveJoin(w http.ResponseWriter, r *http.Request) {
	if b, err := json.Marshal(hello{PID: os.Getpid()}); err != nil || !send(w, append(b, '\n')) {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	select {
	case <-o.free.Done():
	case <-r.Context().Done():
	}
}

func (o *owner) serveDo(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 || r.ContentLength > maxFrame {
		answer(w, http.StatusRequestEntityTooLarge, []byte("the request is too large, or does not say how large it is"))
		return
	}
	if r.ContentLength > large {
		select {
		case o.large <- struct{}{}:
			defer func() { <-o.large }()
		case <-o.closing.Done():
		}
	}
	b := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, b); err != nil {
		answer(w, http.StatusBadRequest, []byte("the request has not arrived"))
		return
	}
	_, _ = r.Body.Read(make([]byte, 1)) // its end: from now on a broken connection is noticed
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	request, err := decode(b)
	if err != nil {
		answer(w, http.StatusBadRequest, []byte(err.Error()))
		return
	}
	ctx, end, ok := o.begin(r.Context())
	if !ok {
		answer(w, statusClosing, []byte("the owner is closing"))
		return
	}
	defer end() // when it is answered
	result, err := o.safely(func() (json.RawMessage, error) { return o.store.Do(ctx, request) })
	switch {
	case err != nil:
		code, text := status(err, ctx.Err() != nil)
		answer(w, code, text)
	case len(result) > maxAnswer:
		answer(w, statusFailed, []byte("the result is too large to be sent: ask for less"))
	default:
		answer(w, http.StatusOK, result)
	}
}

// send sends a part of an answer, and reports whether that can go on.
func send(w http.ResponseWriter, b []byte) bool {
	c := http.NewResponseController(w)
	if c.SetWriteDeadline(time.Now().Add(leave)) != nil {
		return false
	}
	if _, err := w.Write(b); err != nil {
		return false
	}
	return c.Flush() == nil
}

// serveChanges sends a feed, until whoever reads it, the store or the owner ends.
func (o *owner) serveChanges(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	ctx, cancel := both(r.Context(), o.closing)
	cursor := r.URL.Query().Get("cursor")
	if cursor == "" {
		cursor = o.cursor()
	}
	lines := make(chan line, 64)
	defer func() {
		cancel()
		for range lines { // until the goroutine has ended
		}
	}()
	go o.feed(ctx, cursor, lines)
	if !sendLine(w, line{Start: cursor}) {
		return
	}
	beat := time.NewTicker(o.beat)
	defer beat.Stop()
	for {
		select {
		case l, ok := <-lines:
			if !ok || !sendLine(w, l) || l.End != 0 {
				return
			}
		case <-beat.C:
			if !sendLine(w, line{}) {
				return
			}
		}
	}
}

// feed puts what a store's feed yields on a channel, and its end, and closes it.
func (o *owner) feed(ctx context.Context, cursor string, lines chan<- line) {
	defer close(lines)
	_, err := o.safely(func() (json.RawMessage, error) {
		for e, err := range o.store.Changes(ctx, cursor) {
			l := line{Event: &e}
			if err != nil {
				code, text := status(err, ctx.Err() != nil)
				l = line{End: code, Text: string(text)}
			}
			select {
			case lines <- l:
			case <-ctx.Done():
				return nil, store.ErrClosed
			}
			if err != nil {
				return nil, nil
			}
		}
		return nil, store.ErrClosed // a feed does not end without an error
	})
	if err != nil {
		code, text := status(err, ctx.Err() != nil)
		select {
		case lines <- line{End: code, Text: string(text)}:
		default: // whoever reads has gone, and its connection ends
		}
	}
}

func sendLine(w http.ResponseWriter, l line) bool {
	b, err := json.Marshal(l)
	return err == nil && send(w, append(b, '\n'))
}
