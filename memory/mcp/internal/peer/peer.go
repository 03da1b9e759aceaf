package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// Options say what to open. Path and Open must be set.
type Options struct {
	// Path is the path of the file. Its folder is made if there is none.
	Path string

	// Open opens the file as its owner. Its error wraps bolt.ErrLocked while another
	// process has the file. It may be called any number of times. If what it returns
	// has a method Cursor() string, the cursor of now, Changes from now on loses
	// nothing even if the owner ends before the first event.
	Open func() (store.Store, error)

	// Drain is how long Close waits for requests that are under way; 0 is 5 s.
	Drain time.Duration

	// Log, if not nil, is told who owns the file.
	Log *slog.Logger

	beat time.Duration // between signs of life in a feed
}

// The errors of this package, to be tested with errors.Is.
var (
	// ErrVersion says that the process that has the file is of another release, and the
	// two do not understand each other.
	ErrVersion = errors.New("the process that has the file is of another release")

	// ErrForeign says that the socket, or its folder, is not this user's alone.
	ErrForeign = errors.New("the socket is not this user's alone")
)

const (
	maxRequest = 16 << 20  // bytes of a Request
	maxAnswer  = 256 << 20 // bytes of a result
	maxCursor  = 4 << 10
)

// A Peer is one of the processes that use a file: a store.Store. It is made by Open.
type Peer struct {
	o      Options
	log    *slog.Logger
	path   string // of the file, without symbolic links
	socket string

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{} // closed when run has returned
	err    error         // of closing the store; to be read after done

	mu      sync.Mutex
	now     state
	changed chan struct{} // closed when now changes
}

var _ store.Store = (*Peer)(nil)

// A state says where requests go.
type state struct {
	seat seat
	err  error // if seat is nil: why not, for requests to return
	wait error // if both are nil: what they wait for
}

// A seat is what a Peer is at a time, the owner or one that has joined it. Its errors
// wrap errLost where the same request must be sent again.
type seat interface {
	do(ctx context.Context, r store.Request) (json.RawMessage, error)

	// changes keeps in *last the cursor to go on from.
	changes(ctx context.Context, last *string) iter.Seq2[store.Event, error]
}

var errLost = errors.New("the connection is lost")

// Open opens the file, or joins the process that has it. It waits until one or the other
// has succeeded, or ctx ends; but it does not leave a call of Options.Open behind.
func Open(ctx context.Context, o Options) (*Peer, error) {
	p := &Peer{o: o, log: o.Log, done: make(chan struct{}), changed: make(chan struct{})}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.o.Drain == 0 {
		p.o.Drain = 5 * time.Second
	}
	if p.o.beat == 0 {
		p.o.beat = 5 * time.Second
	}
	err := os.MkdirAll(filepath.Dir(o.Path), 0o700)
	if err == nil {
		p.path, err = resolve(o.Path)
	}
	if err == nil {
		p.socket, err = socketOf(p.path)
	}
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	go p.run()
	if _, err := p.wait(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends the Peer, as the package says. Requests and feeds of its own return
// store.ErrClosed; the others' go on with another owner. It leaves no goroutine.
func (p *Peer) Close() error {
	p.cancel()
	<-p.done
	return p.err
}

// Do implements store.Store. A request of more than 16 MiB, or a result of more than 256,
// is refused.
func (p *Peer) Do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	if n := len(r.ID) + len(r.Namespace) + len(r.Op) + len(r.Args); n > maxRequest {
		return nil, store.Errorf(store.TooLarge, "the request has %d bytes; at most %d are allowed", n, maxRequest)
	}
	for again := (pause{}); ; {
		s, err := p.wait(ctx)
		if err != nil {
			return nil, err
		}
		result, err := s.do(ctx, r)
		if !errors.Is(err, errLost) {
			return result, err
		}
		if err := p.rest(ctx, s, &again, err); err != nil {
			return nil, err
		}
	}
}

// Changes implements store.Store. It ends with the cause of ctx when ctx ends. With the
// cursor "" it yields store.ErrCursor if the owner ends before the first event and its
// store has no method Cursor: events may have been missed.
func (p *Peer) Changes(ctx context.Context, cursor string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if len(cursor) > maxCursor {
			yield(store.Event{}, fmt.Errorf("peer: a cursor of %d bytes: %w", len(cursor), store.ErrCursor))
			return
		}
		last := cursor
		for again := (pause{}); ; {
			s, err := p.wait(ctx)
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			var lost error
			for e, err := range s.changes(ctx, &last) {
				if errors.Is(err, errLost) {
					lost = err
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
				again = pause{}
			}
			if lost == nil {
				return
			}
			if err := p.rest(ctx, s, &again, lost); err != nil {
				yield(store.Event{}, err)
				return
			}
		}
	}
}

func (p *Peer) set(s state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = s
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Peer) state() (state, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.changed
}

// wait returns where requests go, when there is such a place.
func (p *Peer) wait(ctx context.Context) (seat, error) {
	for {
		s, changed := p.state()
		switch {
		case p.ctx.Err() != nil:
			return nil, store.ErrClosed
		case s.seat != nil:
			return s.seat, nil
		case s.err != nil:
			return nil, s.err
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
		case <-ctx.Done():
			return nil, ended(ctx, s.wait)
		}
	}
}

// rest waits a little before a request is sent again, but no longer than s is where
// requests go.
func (p *Peer) rest(ctx context.Context, s seat, again *pause, lost error) error {
	is, changed := p.state()
	if is.seat != s {
		return nil
	}
	t := time.NewTimer(again.next())
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-p.ctx.Done():
	case <-ctx.Done():
		return ended(ctx, lost)
	}
	return nil
}

// ended says that ctx has ended, and while what.
func ended(ctx context.Context, why error) error {
	if why == nil {
		return fmt.Errorf("peer: no answer: %w", context.Cause(ctx))
	}
	return fmt.Errorf("peer: no answer: %w (%w)", context.Cause(ctx), why)
}
