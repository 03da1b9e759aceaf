package peer

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

const (
	maxConns = 1024
	maxLarge = 8         // of the requests that are large, how many at once
	large    = 256 << 10 // bytes
	arrive   = 30 * time.Second
	leave    = 10 * time.Second // for what is sent to be taken
)

// An owner has the file, and serves its store to those who join.
type owner struct {
	store  store.Store
	socket string
	log    *slog.Logger
	drain  time.Duration
	beat   time.Duration
	server *http.Server
	serves sync.WaitGroup // listeners being served
	conns  atomic.Int32
	large  chan struct{}

	// The three steps of closing, each of which ends a context: no new requests, and no
	// feeds; no requests at all; the file is free.
	closing, drained, free          context.Context
	stopTaking, stopDoing, tellFree context.CancelFunc

	mu       sync.Mutex // guards what follows, so that nothing begins that close does not wait for
	taking   bool
	serving  bool
	requests sync.WaitGroup // under way, while taking
	handlers sync.WaitGroup // while serving

	listener net.Listener
	made     fs.FileInfo // the socket's file
	told     bool        // that there is none
}

func newOwner(p *Peer, s store.Store) *owner {
	o := &owner{
		store: s, socket: p.socket, log: p.log, drain: p.o.Drain, beat: p.o.beat,
		large: make(chan struct{}, maxLarge), taking: true, serving: true,
	}
	o.closing, o.stopTaking = context.WithCancel(context.Background())
	o.drained, o.stopDoing = context.WithCancel(context.Background())
	o.free, o.tellFree = context.WithCancel(context.Background())
	o.server = &http.Server{
		Handler:           o.handler(),
		ReadHeaderTimeout: arrive,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(o.log.Handler(), slog.LevelDebug),
		ConnState:         o.count,
	}
	return o
}

// count refuses connections where there are too many.
func (o *owner) count(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		if o.conns.Add(1) > maxConns {
			_ = c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		o.conns.Add(-1)
	}
}

// listen makes the socket, unless it is there. Without one the memory is this process's
// alone, until there can be one: that is better than none.
func (o *owner) listen() {
	if o.listener != nil {
		if is, err := os.Lstat(o.socket); err == nil && os.SameFile(is, o.made) {
			return
		}
		_ = o.listener.Close() // those who have joined stay
		o.listener = nil
	}
	l, err := listen(o.socket)
	if err == nil {
		o.made, err = os.Lstat(o.socket)
		if err != nil {
			_ = l.Close()
		}
	}
	if err != nil {
		if !o.told {
			o.log.Error("no other process can join this memory", "socket", o.socket, "error", err)
		}
		o.told = true
		return
	}
	o.listener, o.told = l, false
	o.serves.Go(func() { _ = o.server.Serve(l) }) // until l is closed
}

// close ends the owner. The order is that of the package's comment.
func (o *owner) close() error {
	o.mu.Lock()
	o.taking = false
	o.mu.Unlock()
	o.stopTaking()
	if o.listener != nil {
		_ = o.listener.Close()
		_ = os.Remove(o.socket) // before the lock is given up: it is still this owner's
	}
	o.serves.Wait() // the server knows of all connections
	t := time.AfterFunc(o.drain, o.stopDoing)
	idle := make(chan struct{})
	go func() {
		o.requests.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-o.drained.Done():
	}
	t.Stop()
	err := o.store.Close() // from here on the file is free
	o.stopDoing()
	o.tellFree()
	o.mu.Lock()
	o.serving = false
	o.mu.Unlock()
	_ = o.server.Close()
	o.handlers.Wait()
	<-idle // requests of this process's end too, since the store is closed
	return err
}

// begin takes a request, and returns its context and what ends it, unless the owner is
// closing.
func (o *owner) begin(ctx context.Context) (context.Context, func(), bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.taking {
		return nil, nil, false
	}
	o.requests.Add(1)
	ctx, cancel := both(ctx, o.drained)
	return ctx, func() { cancel(); o.requests.Done() }, true
}

// both returns a context that ends with a or b. It must be cancelled.
func both(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() { stop(); cancel(nil) }
}

// do is for this process's own requests.
func (o *owner) do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	under, end, ok := o.begin(ctx)
	if !ok {
		return nil, store.ErrClosed
	}
	defer end()
	result, err := o.safely(func() (json.RawMessage, error) { return o.store.Do(under, r) })
	var client *store.Error
	if err != nil && ctx.Err() == nil && under.Err() != nil && !errors.As(err, &client) {
		err = errors.Join(store.ErrClosed, err)
	}
	return result, err
}

func (o *owner) changes(ctx context.Context, last *string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		under, cancel := both(ctx, o.closing)
		defer cancel()
		for e, err := range o.store.Changes(under, *last) {
			if err != nil {
				switch {
				case ctx.Err() != nil:
					err = context.Cause(ctx)
				case under.Err() != nil:
					err = store.ErrClosed
				}
				yield(store.Event{}, err)
				return
			}
			if *last = e.Cursor; !yield(e, nil) {
				return
			}
		}
	}
}

// cursor returns the cursor of now, if the store can tell.
func (o *owner) cursor() string {
	if s, ok := o.store.(interface{ Cursor() string }); ok {
		return s.Cursor()
	}
	return ""
}

// safely calls f, and returns its panic as an error: a call of one client must not end the
// others, and a panic that is only told by a broken connection would be sent again.
func (o *owner) safely(f func() (json.RawMessage, error)) (result json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			o.log.Error("a request has panicked", "panic", r, "stack", string(debug.Stack()))
			result, err = nil, errors.New("the request has panicked")
		}
	}()
	return f()
}
