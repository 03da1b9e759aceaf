package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A disk is a file in memory: what its stores have in common. One at a time may have it.
type disk struct {
	mu       sync.Mutex
	changed  chan struct{}
	locked   bool
	opens    int
	receipts map[string]string
	log      []string       // the keys that were written, in order
	times    map[string]int // how often each ID came
	from     int            // cursors before it are too old
	feeds    atomic.Int32
}

func newDisk() *disk {
	return &disk{changed: make(chan struct{}), receipts: map[string]string{}, times: map[string]int{}}
}

// A fake is a store on a disk.
type fake struct {
	*disk
	before, after func(ctx context.Context, r store.Request) error // of a write
	once          sync.Once
	closed        chan struct{}
}

func (d *disk) open() (*fake, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, fmt.Errorf("fake: %w", bolt.ErrLocked)
	}
	d.locked = true
	d.opens++
	return &fake{disk: d, closed: make(chan struct{})}, nil
}

func (f *fake) Do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	select {
	case <-f.closed:
		return nil, store.ErrClosed
	default:
	}
	switch r.Op {
	case "echo":
		return json.Marshal([]string{r.ID, r.Namespace, r.Op, string(r.Args)})
	case "wrong":
		return nil, fmt.Errorf("wrapped: %w", store.Errorf(store.Conflict, "it <has> changed"))
	case "failed":
		return nil, errors.New("the disk is full")
	case "cursor":
		return nil, fmt.Errorf("since when: %w", store.ErrCursor)
	case "panic":
		panic("in the store")
	case "large":
		n, _ := strconv.Atoi(string(r.Args))
		return make(json.RawMessage, n), nil
	case "wait":
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.closed:
			return nil, store.ErrClosed
		}
	}
	if f.before != nil {
		if err := f.before(ctx, r); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	f.times[r.ID]++
	result, ok := f.receipts[r.ID]
	if !ok {
		f.log = append(f.log, string(r.Args))
		result = strconv.Itoa(len(f.log))
		f.receipts[r.ID] = result
		close(f.changed)
		f.changed = make(chan struct{})
	}
	f.mu.Unlock()
	if f.after != nil {
		if err := f.after(ctx, r); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(result), nil
}

func (f *fake) Changes(ctx context.Context, cursor string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		f.feeds.Add(1)
		defer f.feeds.Add(-1)
		f.mu.Lock()
		at, from := len(f.log), f.from
		f.mu.Unlock()
		if cursor != "" {
			var err error
			if at, err = strconv.Atoi(cursor); err != nil || at < from {
				yield(store.Event{}, fmt.Errorf("cursor %.20q: %w", cursor, store.ErrCursor))
				return
			}
		}
		for {
			f.mu.Lock()
			log, changed := f.log, f.changed
			f.mu.Unlock()
			for ; at < len(log); at++ {
				if !yield(store.Event{Cursor: strconv.Itoa(at + 1), Namespaces: []string{log[at]}}, nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(store.Event{}, context.Cause(ctx))
				return
			case <-f.closed:
				yield(store.Event{}, store.ErrClosed)
				return
			}
		}
	}
}

func (f *fake) following() int { return int(f.feeds.Load()) }

func (f *fake) Close() error {
	f.once.Do(func() {
		close(f.closed)
		f.mu.Lock()
		f.locked = false
		f.mu.Unlock()
	})
	return nil
}

// A telling store can tell the cursor of now.
type telling struct{ *fake }

func (t telling) Cursor() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strconv.Itoa(len(t.log))
}

// A real store is one on a file: it counts how often each key was written, and its events
// name the keys.
type real struct {
	db       cow.DB
	counts   *cow.Table[string, int]
	receipts *cow.Table[string, int]
}

func openReal(path string) (*real, error) {
	s := new(real)
	o := cow.Options[int]{Codec: cow.Versioned[int]{}}
	s.counts = cow.NewTable[string](&s.db, "counts", o)
	s.receipts = cow.NewTable[string](&s.db, "receipts", o)
	s.db.Retain(cow.Retention{Versions: 1 << 20})
	_, err := bolt.Open(path, &s.db, bolt.Options{})
	return s, err
}

func (s *real) Do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	if r.Op == "cursor" {
		return json.Marshal(s.Cursor())
	}
	n := 0
	err := s.db.UpdateContext(ctx, func(tx *cow.Tx) error {
		receipts := s.receipts.Edit(tx)
		if was, ok := receipts.Get(r.ID); ok {
			n = was
			return nil
		}
		err := s.counts.Edit(tx).Upsert(string(r.Args), func(v *int, _ bool) error {
			*v++
			n = *v
			return nil
		})
		receipts.Set(r.ID, n)
		return err
	})
	return json.RawMessage(strconv.Itoa(n)), err
}

func (s *real) Changes(ctx context.Context, cursor string) iter.Seq2[store.Event, error] {
	if cursor == "" {
		cursor = s.Cursor()
	}
	return func(yield func(store.Event, error) bool) {
		for c, err := range s.db.Resume(ctx, cursor) {
			if err != nil {
				if errors.Is(err, cow.ErrCompacted) || errors.Is(err, cow.ErrLineage) || errors.Is(err, cow.ErrCursor) {
					err = fmt.Errorf("%w: %w", store.ErrCursor, err)
				}
				yield(store.Event{}, err)
				return
			}
			e := store.Event{Cursor: c.Cursor()}
			for change := range s.counts.Rows(c) {
				e.Namespaces = append(e.Namespaces, change.Key)
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *real) Cursor() string { return s.db.Cursor(s.db.Load().Version()) }
func (s *real) Close() error   { return s.db.Close() }

// place returns a path for a file, in a folder that is the user's own and whose name is
// short.
func place(t *testing.T) string {
	dir, err := os.MkdirTemp("", "p")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "m")
}

// peerOn opens a Peer on a disk, which has the store that wrap returns.
func peerOn(t *testing.T, path string, d *disk, wrap func(*fake) store.Store) *Peer {
	t.Helper()
	p, err := Open(soon(t), Options{
		Path: path, Drain: time.Second, beat: 20 * time.Millisecond,
		Open: func() (store.Store, error) {
			f, err := d.open()
			if err != nil {
				return nil, err
			}
			if wrap != nil {
				return wrap(f), nil
			}
			return f, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// soon returns a context for what must not take forever, even on a busy machine.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func (p *Peer) owns() bool {
	s, _ := p.state()
	_, ok := s.seat.(*owner)
	return ok
}

func write(id, key string) store.Request {
	return store.Request{ID: id, Op: "write", Args: json.RawMessage(key)}
}

// ask sends a request by hand.
func ask(t *testing.T, p *Peer, method, path, v, body string) *http.Response {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, p.socket)
	}}}
	req, err := http.NewRequestWithContext(soon(t), method, "http://memory"+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set(versionHeader, v)
	resp, err := c.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
