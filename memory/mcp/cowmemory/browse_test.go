package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browsed runs inspect with pages, and returns what gets them by a token.
func browsed(t *testing.T, args ...string) (get func(path, token string) (int, string)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var out, stderr bytes.Buffer
	go func() {
		done <- run(ctx, append([]string{"-http", address}, append(args, "inspect")...), strings.NewReader(""), &out, &stderr)
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.Contains(t, out.String(), "http://"+address+"/\n")
	})
	get = func(path, token string) (int, string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		require.NoError(t, err)
		if token != "" {
			r.SetBasicAuth("", token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, string(b)
	}
	require.Eventually(t, func() bool {
		select {
		case err := <-done:
			done <- err
			return true
		default:
		}
		code, _ := get("/icon.svg", "")
		return code != 0
	}, 10*time.Second, 10*time.Millisecond, "%s", stderr.String())
	return get
}

func TestAFileIsBrowsedAndOnlyRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.cow")
	must(t, `{"type":"entity","name":"Ada","entityType":"x","observations":["S3CRET"]}`+"\n", "-file", path, "import", "-")
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	get := browsed(t, "-file", path)
	code, body := get("/", "")
	require.Equal(t, 200, code)
	require.Contains(t, body, "memory.entries")
	for _, path := range []string{"/inspect", "/inspect/"} {
		code, body = get(path, "")
		require.Equal(t, 200, code)
		require.Contains(t, body, "memory.entries", "it leads to the pages")
	}
	require.Contains(t, body, "read-only")
	must(t, "", "-file", path, "check") // the file is free
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	get = browsed(t, "-file", path, "-token-file", token, "-values")
	code, _ = get("/", "")
	require.Equal(t, 401, code)
	code, _ = get("/", "secret")
	require.Equal(t, 200, code)

	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o644: runtime.GOOS != "windows"} {
		require.NoError(t, os.Chmod(token, mode))
		var log bytes.Buffer
		c := config{tokenFile: token, http: "127.0.0.1:0", log: slog.New(slog.NewTextHandler(&log, nil))}
		is, err := c.token()
		require.NoError(t, err)
		require.Equal(t, "secret", is)
		require.Equal(t, warned, strings.Contains(log.String(), "other users may read the token"))
	}

	owner := start(t, "-file", path)
	owner.call(t, "read_graph", map[string]any{})
	_, err = command(t, "", "-file", path, "-http", "127.0.0.1:0", "inspect")
	require.ErrorContains(t, err, "end the server")
	_, err = command(t, "", "-file", path+".none", "-http", "127.0.0.1:0", "inspect")
	require.ErrorContains(t, err, "no such file")
}
