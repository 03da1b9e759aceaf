package cow_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// The recipe: a table as server-sent events, for EventSource and the like.

// An eventStream serves a table as a stream of events. The first is "snapshot",
// with all rows, then each commit is a "commit", in order, and the id of both is a
// cursor. A client that comes back with the id of its last event, in the header
// Last-Event-ID, gets what came after that, each commit once; or a snapshot again,
// if these commits are no longer retained or the id is not of this table.
//
// A client that is too slow for the retention of its DB gets a snapshot too.
// Call Retain, with as much as a client may miss while it is away. No writer ever
// waits for a client, and a stream has no goroutine but that of its request.
//
// Server.Shutdown waits for streams: let them end by Server.BaseContext. Keys and
// values must have JSON; a stream ends at what has none.
type eventStream[K comparable, V any] struct {
	store     *cow.Table[K, V]
	heartbeat time.Duration // a comment this often, so that nobody between takes the connection for dead
	patience  time.Duration // with a client that does not read
}

func (s *eventStream[K, V]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // for nginx
	cursor := r.Header.Get("Last-Event-ID")
	for {
		err := s.commits(w, r, &cursor) // a new client has "", which is no cursor
		switch {
		case errors.Is(err, errHeartbeat):
			err = s.send(w, ": still here\n\n")
		case errors.Is(err, cow.ErrCompacted), errors.Is(err, cow.ErrLineage),
			errors.Is(err, cow.ErrCursor), errors.Is(err, cow.ErrUnpublished):
			err = s.snapshot(w, &cursor)
		}
		if err != nil {
			return // the client is gone, or comes back by itself
		}
	}
}

var errHeartbeat = errors.New("time for a heartbeat")

// commits sends what comes after cursor, which it moves, until it is time for a
// heartbeat or something is the matter. It always returns an error.
func (s *eventStream[K, V]) commits(w http.ResponseWriter, r *http.Request, cursor *string) error {
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.heartbeat, errHeartbeat)
	defer cancel()
	for commit, err := range s.store.DB().Resume(ctx, *cursor) {
		if err != nil {
			return err
		}
		changes := []cow.Change[K, V]{}
		for c := range s.store.Rows(commit) {
			changes = append(changes, c)
		}
		if err := s.event(w, "commit", commit.Cursor(), changes); err != nil {
			return err
		}
		*cursor = commit.Cursor()
	}
	return io.EOF // Resume ends with an error: this is never reached
}

func (s *eventStream[K, V]) snapshot(w http.ResponseWriter, cursor *string) error {
	m := s.store.Load()
	*cursor = s.store.DB().Cursor(m.Version())
	return s.event(w, "snapshot", *cursor, m)
}

// event sends one event. Neither a cursor nor JSON has a line break in it.
func (s *eventStream[K, V]) event(w http.ResponseWriter, name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.send(w, fmt.Sprintf("event: %s\nid: %s\ndata: %s\n\n", name, id, text))
}

func (s *eventStream[K, V]) send(w http.ResponseWriter, text string) error {
	c := http.NewResponseController(w)
	if err := c.SetWriteDeadline(time.Now().Add(s.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return c.Flush()
}

// The tests.

// A mirror is a client that keeps a copy of the table by its events.
type mirror struct {
	t       *testing.T
	url     string
	last    string // id of the last event
	version uint64 // of that
	rows    map[string]int

	snapshots, commits, beats int
}

// follow connects, and takes events until done says so after one of them.
func (c *mirror) follow(done func() bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	require.NoError(c.t, err)
	if c.last != "" {
		r.Header.Set("Last-Event-ID", c.last)
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	defer response.Body.Close()
	require.Equal(c.t, "text/event-stream", response.Header.Get("Content-Type"))
	c.read(response.Body, done)
}

// read takes events until done says so after one of them, or there are no more.
func (c *mirror) read(stream io.Reader, done func() bool) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	var event, id, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "" && event != "":
			c.take(event, id, data)
			event = ""
		case lines.Text() == "":
			c.beats++
		case field == "event":
			event = value
		case field == "id":
			id = value
		case field == "data":
			data = value
		}
		if lines.Text() == "" && done() {
			return
		}
	}
	if err := lines.Err(); err != nil {
		c.t.Log("the stream was cut: ", err) // the next one goes on from there
	}
}

func (c *mirror) take(event, id, data string) {
	_, digits, _ := strings.Cut(id, ".")
	version, err := strconv.ParseUint(digits, 10, 64)
	require.NoError(c.t, err)
	c.last = id
	switch event {
	case "snapshot":
		c.snapshots++
		c.rows = map[string]int{}
		require.NoError(c.t, json.Unmarshal([]byte(data), &c.rows))
	case "commit":
		c.commits++
		require.Equal(c.t, c.version+1, version, "a commit was lost, or came twice")
		var changes []struct {
			Key  string
			Kind snapshot.Kind
			New  int
		}
		require.NoError(c.t, json.Unmarshal([]byte(data), &changes))
		for _, change := range changes {
			if change.Kind == cow.Removed {
				delete(c.rows, change.Key)
			} else {
				c.rows[change.Key] = change.New
			}
		}
	default:
		require.Fail(c.t, "event "+event)
	}
	c.version = version
}

// serve serves a stream of the table until the test ends, and then requires that
// each request has ended.
func serve(t *testing.T, store *cow.Table[string, int]) (url string) {
	var streams sync.WaitGroup
	stream := &eventStream[string, int]{store: store, heartbeat: time.Millisecond, patience: time.Minute}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams.Add(1)
		defer streams.Done()
		stream.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		streams.Wait() // all clients are gone
		require.Zero(t, store.DB().Stats().Waiting)
		server.Close()
	})
	return server.URL
}

// A client that is cut off again and again, while somebody writes, ends up with
// what the table has, by each commit once and one snapshot.
func TestRecipeEventStreamResumes(t *testing.T) {
	noDeadlock(t)
	const writes = 1000
	store := cow.New[string](cow.Options[int]{})
	store.DB().Retain(cow.Retention{Versions: writes})
	store.Set("before", 1)
	url := serve(t, store)

	beats := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := range writes {
			if n%100 == 0 {
				<-beats // a heartbeat between commits
			}
			_ = store.Update(func(e *cow.Editor[string, int]) error {
				e.Set(strconv.Itoa(n%50), n)
				e.Delete(strconv.Itoa((n + 25) % 50))
				return nil
			})
		}
	})
	client := &mirror{t: t, url: url}
	r := rand.New(rand.NewPCG(1, 2))
	var connections int
	for ; client.version < writes+1; connections++ {
		left, seen := 1+r.IntN(60), client.beats
		client.follow(func() bool {
			if client.beats > seen {
				select {
				case beats <- struct{}{}:
				default:
				}
			}
			seen = client.beats
			left--
			return left == 0 || client.version == writes+1
		})
	}
	writer.Wait()
	require.Greater(t, connections, 10)
	require.Equal(t, 1, client.snapshots)
	require.Equal(t, maps.Collect(store.All()), client.rows)
}

// Where there is nothing to resume from, the client is told everything.
func TestRecipeEventStreamBeginsAnew(t *testing.T) {
	noDeadlock(t)
	store := cow.New[string](cow.Options[int]{})
	store.DB().Retain(cow.Retention{Versions: 3})
	url := serve(t, store)
	for n := range 10 {
		store.Set(strconv.Itoa(n), n)
	}
	for name, last := range map[string]string{
		"new":       "",
		"compacted": store.DB().Cursor(2),
		"lineage":   store.DB().Fork(store.DB().Load()).Cursor(9),
		"to come":   store.DB().Cursor(11),
		"no cursor": "2026-01-01",
	} {
		client := &mirror{t: t, url: url, last: last}
		client.follow(func() bool { return client.snapshots > 0 })
		require.Equal(t, 1, client.snapshots, name)
		require.Zero(t, client.commits, name)
		require.Equal(t, uint64(10), client.version, name)
		require.Equal(t, maps.Collect(store.All()), client.rows, name)
	}
	client := &mirror{t: t, url: url, last: store.DB().Cursor(8), version: 8, rows: maps.Collect(store.All())}
	client.follow(func() bool { return client.version == 10 })
	require.Zero(t, client.snapshots)
	require.Equal(t, 2, client.commits)
}

// Without Retain, history begins with the first stream: the snapshot and the
// commits fit together all the same.
func TestRecipeEventStreamWithoutRetain(t *testing.T) {
	noDeadlock(t)
	store := cow.New[string](cow.Options[int]{})
	store.Set("a", 1)
	client := &mirror{t: t, url: serve(t, store)}
	client.follow(func() bool {
		if client.version < 5 && client.version == store.Load().Version() { // not at each heartbeat
			store.Set("a", int(client.version)+1)
		}
		return client.version == 5
	})
	require.Equal(t, map[string]int{"a": 5}, client.rows)
}

// A stream without commits has a heartbeat in time, and ends, with all that it
// started, when the client is gone.
func TestRecipeEventStreamHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cow.New[string](cow.Options[int]{})
		stream := &eventStream[string, int]{store: store, heartbeat: 15 * time.Second, patience: time.Minute}
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		w := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			stream.ServeHTTP(w, r)
		}()
		time.Sleep(time.Minute + time.Second)
		store.Set("a", 1)
		synctest.Wait()
		leave()
		<-ended // and the bubble fails the test for any goroutine that is left

		client := &mirror{t: t}
		client.read(w.Body, func() bool { return false })
		require.Equal(t, []int{1, 4, 1}, []int{client.snapshots, client.beats, client.commits})
		require.Equal(t, map[string]int{"a": 1}, client.rows)
	})
}

// A client that takes nothing more and stays is given up, and holds up nobody.
func TestRecipeEventStreamGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cow.New[string](cow.Options[string]{})
		stream := &eventStream[string, string]{store: store, heartbeat: time.Hour, patience: time.Minute}
		ended := make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			stream.ServeHTTP(w, r)
		})}
		client, conn := net.Pipe() // which has no room: a write waits for its reader
		listener := make(pipes, 1)
		listener <- conn
		go func() { _ = server.Serve(listener) }()
		_, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: store\r\n\r\n")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		require.NoError(t, err)
		first, err := bufio.NewReader(response.Body).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "event: snapshot\n", first)

		time.Sleep(time.Hour / 2) // there is nothing to take
		for range 100 {
			store.Set("a", "b")
			synctest.Wait()
		}
		time.Sleep(stream.patience - 1)
		select {
		case <-ended:
			require.Fail(t, "given up too early")
		default:
		}
		time.Sleep(time.Nanosecond)
		<-ended
		require.NoError(t, server.Close())
	})
}

// Pipes are a listener for connections that are there.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }
