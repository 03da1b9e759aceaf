package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

// get gets an address, and follows no redirect.
func get(t *testing.T, url, host string, headers ...string) (code int, body string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if host != "" {
		r.Host = host
	}
	c := client(headers...)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(r)
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(b), resp.Header
}

// basic returns the header of a browser that was told a name and a password.
func basic(name, password string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth(name, password)
	return r.Header.Get("Authorization")
}

func serveHTTP(t *testing.T, s *mcp.Server) string {
	t.Helper()
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return web.URL
}

func TestPagesWantTheToken(t *testing.T) {
	at := serveHTTP(t, open(t, "", mcp.Options{Token: "secret"}))
	for _, path := range []string{"/metrics", "/inspect", "/inspect/", "/inspect/icon.svg", "/inspect/l/x/v/1"} {
		for _, header := range []string{"", "secret", "Bearer", "Bearer secre", "Bearer secrets", "Basic secret", "Basic c2VjcmV0", basic("secret", ""), basic("x", "secre"), basic("", "")} {
			code, body, headers := get(t, at+path, "", "Authorization", header)
			require.Equal(t, http.StatusUnauthorized, code, "%s %s", path, header)
			require.Equal(t, "a token is needed\n", body)
			require.Len(t, headers.Values("WWW-Authenticate"), 2)
			require.Contains(t, headers.Get("WWW-Authenticate"), "Basic realm=")
		}
		for _, header := range []string{"Bearer secret", "bearer secret", basic("", "secret"), basic("anybody", "secret")} {
			code, _, _ := get(t, at+path, "", "Authorization", header)
			require.NotEqual(t, http.StatusUnauthorized, code, "%s %s", path, header)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		code, body, _ := get(t, at+path, "")
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, "ok\n", body)
	}
	for _, path := range []string{"/", "/mcp", "/healthz/", "/metricsx", "/inspector"} {
		require.Equal(t, http.StatusUnauthorized, post(t, client("Authorization", basic("", "secret")), at+path, "", initialize), "a password is for pages")
		require.Equal(t, http.StatusOK, post(t, client("Authorization", "Bearer secret"), at+path, "", initialize))
	}
}

func TestPagesAreNotForOtherSites(t *testing.T) {
	at := serveHTTP(t, open(t, "", mcp.Options{}))
	for _, path := range []string{"/metrics", "/inspect/", "/healthz", "/readyz"} {
		for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:1", "file://"} {
			code, _, _ := get(t, at+path, "", "Origin", origin)
			require.Equal(t, http.StatusForbidden, code, "%s %s", path, origin)
		}
		for _, host := range []string{"evil.example", "evil.example:80", "localhost.evil.example", "192.0.2.1"} {
			code, _, _ := get(t, at+path, host)
			require.Equal(t, http.StatusForbidden, code, "%s %s", path, host)
		}
		for _, host := range []string{"", "localhost", "LOCALHOST:99", "[::1]:8123", "127.0.0.1"} {
			code, body, _ := get(t, at+path, host)
			require.Equal(t, http.StatusOK, code, "%s %s: %s", path, host, body)
		}
		require.Equal(t, http.StatusMethodNotAllowed, post(t, client(), at+path, "", "x"))
	}
	slow := serveHTTP(t, open(t, "", mcp.Options{Rate: 1e-6}))
	code, _, _ := get(t, slow+"/healthz", "")
	require.Equal(t, http.StatusOK, code)
	code, _, header := get(t, slow+"/metrics", "")
	require.Equal(t, http.StatusTooManyRequests, code)
	require.Equal(t, "1", header.Get("Retry-After"))
}

// figures returns the metrics that have one value, by their names.
func figures(t *testing.T, at string) map[string]float64 {
	t.Helper()
	code, body, header := get(t, at+"/metrics", "")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, header.Get("Content-Type"), "text/plain")
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	is := make(map[string]float64)
	for name, f := range families {
		if len(f.Metric) == 1 {
			is[name] = f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetCounter().GetValue() + f.Metric[0].GetUntyped().GetValue()
		}
	}
	return is
}

const noted = `{"key":"deploy-day","text":"S3CRET: never on Fridays"}`

func TestMetricsAndPagesOfTheMemory(t *testing.T) {
	s := open(t, "", mcp.Options{})
	at := serveHTTP(t, s)
	c := connect(t, s, nil)
	call(t, c, "remember", noted)
	is := figures(t, at)
	require.Equal(t, 1.0, is["cowmemory_has_file"])
	require.Equal(t, 1.0, is["cow_versions_total"])
	require.Positive(t, is["cowmemory_bytes"])
	require.Equal(t, float64(1<<30), is["cowmemory_limit_bytes"])
	require.Positive(t, is["cow_rows"])
	require.Positive(t, is["go_goroutines"])

	code, _, header := get(t, at+"/inspect", "")
	require.Equal(t, http.StatusSeeOther, code)
	require.Equal(t, "inspect/", header.Get("Location"))
	code, body, header := get(t, at+"/inspect/", "", "Accept", "text/html")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, header.Get("Content-Type"), "text/html")
	require.Contains(t, body, "<h1>cowmemory</h1>")
	require.NotContains(t, body, "S3CRET")
	code, _, _ = get(t, at+"/inspect/x", "")
	require.Equal(t, http.StatusNotFound, code)

	// What is stored is shown only where that is wanted, and found there.
	shown := open(t, "", mcp.Options{Values: true})
	call(t, connect(t, shown, nil), "remember", noted)
	for at, values := range map[string]bool{at: false, serveHTTP(t, shown): true} {
		_, body, _ = get(t, at+"/inspect/", "", "Accept", "text/plain")
		first := regexp.MustCompile(`l/[A-Z2-7]+/v/1/memory`).FindString(body)
		require.NotEmpty(t, first, body)
		code, body, _ = get(t, at+"/inspect/"+first+"/space/~/notes", "")
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, body, "deploy-day")
		require.Equal(t, values, strings.Contains(body, "S3CRET"))
		code, body, _ = get(t, at+"/inspect/"+first+"?words=fridays", "")
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, values, strings.Contains(body, "deploy-day"))
	}
}

// While another process has the file, what it has is shown there; and here, once that has ended.
func TestWhatAnotherProcessHasIsShownThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	first := open(t, path, mcp.Options{})
	second := open(t, path, mcp.Options{})
	c := connect(t, second, nil)
	call(t, c, "remember", noted)
	one, two := serveHTTP(t, first), serveHTTP(t, second)
	require.Equal(t, 1.0, figures(t, one)["cowmemory_has_file"])
	is := figures(t, two)
	require.Equal(t, 0.0, is["cowmemory_has_file"])
	require.NotContains(t, is, "cow_versions_total")
	code, body, _ := get(t, two+"/inspect/", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, body, "another process has the file")
	code, _, _ = get(t, two+"/readyz", "")
	require.Equal(t, http.StatusOK, code, "it answers by the other")

	require.NoError(t, first.Close())
	call(t, c, "remember", noted) // by the one that is left
	is = figures(t, two)
	require.Equal(t, 1.0, is["cowmemory_has_file"])
	require.Equal(t, 2.0, is["cow_versions_total"])
	code, _, _ = get(t, two+"/inspect/", "")
	require.Equal(t, http.StatusOK, code)
	code, body, _ = get(t, one+"/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "the memory does not answer\n", body)
	code, _, _ = get(t, one+"/healthz", "")
	require.Equal(t, http.StatusOK, code)
}

// Once its file fails, the memory is not ready, and says why; the process is well, and reads go on.
func TestAMemoryWhoseFileHasFailedIsNotReady(t *testing.T) {
	for name, fault := range map[string]func(path string) error{
		"cut off": func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error {
			return os.WriteFile(path, make([]byte, 64<<10), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m.cow")
			s, err := mcp.Open(path, mcp.Options{})
			require.NoError(t, err)
			defer func() { _ = s.Close() }()
			at, c := serveHTTP(t, s), connect(t, s, nil)
			call(t, c, "remember", noted)
			code, _, _ := get(t, at+"/readyz", "")
			require.Equal(t, http.StatusOK, code)
			if err := fault(path); err != nil {
				t.Skip(err) // a file that is mapped
			}
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "remember", Arguments: map[string]any{"key": "k", "text": "x"}})
			require.NoError(t, err)
			require.True(t, r.IsError)
			for range 2 {
				code, body, _ := get(t, at+"/readyz", "")
				require.Equal(t, http.StatusServiceUnavailable, code)
				require.Equal(t, "the memory cannot be written\n", body)
				code, body, _ = get(t, at+"/healthz", "")
				require.Equal(t, http.StatusOK, code)
				require.Equal(t, "ok\n", body)
			}
			text, _ := call(t, c, "recall", `{"query":"Fridays"}`)
			require.Contains(t, text, "deploy-day")
			code, body, _ := get(t, at+"/metrics", "")
			require.Equal(t, http.StatusOK, code)
			require.Regexp(t, `cow_sink_state\{state="failed",store="[^"]*"\} 1`, body)
		})
	}
}
