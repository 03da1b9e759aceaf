package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long something may take that must happen.
const patience = time.Minute

// write puts a file in the place of another, with another time, as an editor does
// that a person works with.
func write(t *testing.T, file, text string) {
	t.Helper()
	at := time.Now()
	if old, err := os.Stat(file); err == nil {
		at = old.ModTime().Add(time.Minute)
	}
	next := file + ".next"
	require.NoError(t, os.WriteFile(next, []byte(text), 0o600))
	require.NoError(t, os.Chtimes(next, at, at))
	require.NoError(t, os.Rename(next, file))
}

func start(t *testing.T) (s *Service, url, file string) {
	file = filepath.Join(t.TempDir(), "flags.json")
	write(t, file, `{"a":{"on":true,"users":["ada"]},"b":{"on":true,"percent":100}}`)
	s = NewService()
	require.NoError(t, s.Reload(file))
	server := httptest.NewServer(s.ServeMux())
	t.Cleanup(server.Close)
	return s, server.URL, file
}

func do(t *testing.T, method, url, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestEnabled(t *testing.T) {
	s, _, _ := start(t)
	require.True(t, s.Enabled("a", "ada"))
	require.False(t, s.Enabled("a", "bob"))
	require.True(t, s.Enabled("b", "bob"))
	require.False(t, s.Enabled("none", "bob"))
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Enabled("a", "ada") }))
}

func TestReloadOfTheSameFlagsChangesNothing(t *testing.T) {
	s, _, file := start(t)
	before := s.flags.Load()
	require.NoError(t, s.Reload(file))
	require.Same(t, before, s.flags.Load())

	for _, bad := range []string{"", `{"a":`, "null", `["a"]`, "{} {}", "{}}", `{"a":{"onn":true}}`, `{"a":{"on":"yes"}}`} {
		write(t, file, bad)
		require.ErrorContains(t, s.Reload(file), file)
		require.Same(t, before, s.flags.Load())
	}
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, s.Reload(file), fs.ErrNotExist)
	require.Same(t, before, s.flags.Load())
}

func TestReloadWakesOnlyWhoFollowsWhatChanged(t *testing.T) {
	s, _, file := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	calls := map[string]*atomic.Int32{"a": {}, "b": {}}
	var followers sync.WaitGroup
	for name, n := range calls {
		followers.Go(func() {
			require.ErrorIs(t, s.Follow(ctx, name, func(Flag, bool) { n.Add(1) }), context.Canceled)
		})
	}
	require.Eventually(t, func() bool { return s.flags.DB().Stats().Waiting == 2 }, patience, time.Millisecond)

	rev := s.flags.Load().Revision("a")
	followers.Go(func() { s.ReloadEvery(ctx, time.Millisecond, file) })
	write(t, file, `{"a":{"on":true,"users":["ada"]},"b":{"on":false}}`)
	require.Eventually(t, func() bool { return calls["b"].Load() == 2 }, patience, time.Millisecond)
	require.False(t, s.Enabled("b", "bob"))
	cancel()
	followers.Wait()
	require.EqualValues(t, 1, calls["a"].Load())
	require.Equal(t, rev, s.flags.Load().Revision("a"))
}

func TestHTTP(t *testing.T) {
	_, url, _ := start(t)
	body, err := io.ReadAll(do(t, "GET", url+"/flags", "").Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":{"on":true,"users":["ada"]},"b":{"on":true,"percent":100}}`, string(body))

	require.Equal(t, 404, do(t, "GET", url+"/flags/none", "").StatusCode)
	tag := do(t, "GET", url+"/flags/a", "").Header.Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, 428, do(t, "PUT", url+"/flags/a", `{}`).StatusCode)
	require.Equal(t, 400, do(t, "PUT", url+"/flags/a", `{`, "If-Match", tag).StatusCode)

	var won atomic.Int32 // of many who saw the same revision, one wins
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			req, _ := http.NewRequest("PUT", url+"/flags/a", strings.NewReader(`{"on":false}`))
			req.Header.Set("If-Match", tag)
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
				if res.StatusCode == 204 {
					won.Add(1)
				}
			}
		})
	}
	clients.Wait()
	require.EqualValues(t, 1, won.Load())

	res := do(t, "PUT", url+"/flags/c", `{"on":true}`, "If-None-Match", "*")
	require.Equal(t, 204, res.StatusCode)
	require.Equal(t, 412, do(t, "PUT", url+"/flags/c", `{}`, "If-None-Match", "*").StatusCode)
	require.Equal(t, 204, do(t, "PUT", url+"/flags/c", `{}`, "If-Match", res.Header.Get("ETag")).StatusCode)

	_, other, _ := start(t) // as after a restart: no ETag of another process matches
	require.Equal(t, 412, do(t, "PUT", other+"/flags/a", `{}`, "If-Match", tag).StatusCode)
}

// next reads one event and skips comments.
func next(t *testing.T, r *bufio.Reader) map[string]string {
	t.Helper()
	event := map[string]string{}
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		if line == "\n" && len(event) > 0 {
			return event
		}
		if name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name != "" { // "" begins a comment
			event[name] = value
		}
	}
}

func TestEvents(t *testing.T) {
	s, url, _ := start(t)
	first := bufio.NewReader(do(t, "GET", url+"/events", "").Body)
	e := next(t, first)
	require.Equal(t, "flags", e["event"])
	require.JSONEq(t, `{"a":{"on":true,"users":["ada"]},"b":{"on":true,"percent":100}}`, e["data"])
	seen := e["id"]

	_, err := s.flags.Delete("b")
	require.NoError(t, err)
	e = next(t, first)
	require.Equal(t, "change", e["event"])
	require.JSONEq(t, `[{"key":"b","kind":"removed","old":{"on":true,"percent":100}}]`, e["data"])

	resumed := bufio.NewReader(do(t, "GET", url+"/events", "", "Last-Event-ID", seen).Body)
	require.Equal(t, e, next(t, resumed))

	for range 1200 { // more than is kept
		_, err := s.flags.Set("a", Flag{})
		require.NoError(t, err)
	}
	for _, id := range []string{seen, "nonsense", NewService().flags.DB().Cursor(1)} {
		e = next(t, bufio.NewReader(do(t, "GET", url+"/events", "", "Last-Event-ID", id).Body))
		require.Equal(t, "flags", e["event"])
		require.True(t, json.Valid([]byte(e["data"])))
	}
}
