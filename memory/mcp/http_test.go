package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

// with adds headers to all requests.
type with http.Header

func (h with) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h {
		r.Header[k] = v
	}
	return http.DefaultTransport.RoundTrip(r)
}

func client(headers ...string) *http.Client {
	h := make(http.Header)
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Client{Transport: with(h)}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// post posts a body, and returns the status.
func post(t *testing.T, c *http.Client, url, host, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if host != "" {
		r.Host = host
	}
	resp, err := c.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func TestHTTPWantsTheToken(t *testing.T) {
	s := open(t, "", mcp.Options{Token: "secret"})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	for _, header := range []string{"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret"} {
		require.Equal(t, http.StatusUnauthorized, post(t, client("Authorization", header), web.URL, "", initialize), header)
	}
	require.Equal(t, http.StatusOK, post(t, client("Authorization", "bearer secret"), web.URL, "", initialize))
	c := join(t, &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: client("Authorization", "Bearer secret")}, nil)
	call(t, c, "read_graph", `{}`)
	require.NoError(t, c.Close())
}

func TestHTTPIsNotForOtherSites(t *testing.T) {
	s := open(t, "", mcp.Options{})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:1", "file://"} {
		require.Equal(t, http.StatusForbidden, post(t, client("Origin", origin), web.URL, "", initialize), origin)
	}
	require.Equal(t, http.StatusForbidden, post(t, client(), web.URL, "evil.example", initialize), "a name that was bound anew")
	require.Equal(t, http.StatusForbidden, post(t, client("Origin", "http://evil.example"), web.URL, "evil.example", initialize))
	require.Equal(t, http.StatusOK, post(t, client("Origin", web.URL), web.URL, "", initialize))
}

func TestHTTPHasLimits(t *testing.T) {
	web := httptest.NewServer(open(t, "", mcp.Options{}).Handler())
	t.Cleanup(web.Close)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(t, client(), web.URL, "", `{"x":"`+strings.Repeat("x", 10<<20)+`"}`))
	require.Equal(t, http.StatusBadRequest, post(t, client(), web.URL, "", "nonsense"))

	slow := httptest.NewServer(open(t, "", mcp.Options{Rate: 1e-6}).Handler()) // one, and the next days later
	t.Cleanup(slow.Close)
	require.Equal(t, http.StatusOK, post(t, client(), slow.URL, "", initialize))
	require.Equal(t, http.StatusTooManyRequests, post(t, client(), slow.URL, "", initialize))
}

// A misspelled header would mean another namespace.
func TestHTTPKnowsItsHeaders(t *testing.T) {
	web := httptest.NewServer(open(t, "", mcp.Options{}).Handler())
	t.Cleanup(web.Close)
	for _, header := range []string{"Cowmemory-Namespaces", "cowmemory-name-space", "Cowmemory-", "Cowmemory-Token"} {
		require.Equal(t, http.StatusBadRequest, post(t, client(header, "ada"), web.URL, "", initialize), header)
	}
	for _, header := range []string{"cowmemory-namespace", "COWMEMORY-NAMESPACE", "X-Cowmemory-Other"} {
		require.Equal(t, http.StatusOK, post(t, client(header, "ada"), web.URL, "", initialize), header)
	}
}

func TestHTTPClientsHaveNamespaces(t *testing.T) {
	s := open(t, "", mcp.Options{Namespace: "house"})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	join := func(headers ...string) *sdk.ClientSession {
		c := join(t, &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: client(headers...)}, nil)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ada, house := join(mcp.NamespaceHeader, "ada"), join()
	call(t, ada, "create_entities", `{"entities":[{"name":"A","entityType":"x","observations":[]}]}`)
	text, _ := call(t, house, "read_graph", `{}`)
	require.NotContains(t, text, `"A"`)
	r, err := house.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://namespaces/ada/knowledge-graph"})
	require.NoError(t, err)
	require.Contains(t, r.Contents[0].Text, `"A"`)
	call(t, house, "remember", `{"text":"hello","key":"k"}`)
	text, _ = call(t, ada, "recall", `{"key":"k","namespace":"house"}`)
	require.Contains(t, text, "hello")

	bad := join(mcp.NamespaceHeader, strings.Repeat("x", 300))
	result, err := bad.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_graph"})
	require.NoError(t, err)
	require.True(t, result.IsError)
}

func TestServingIsForThisMachineWithoutAToken(t *testing.T) {
	s := open(t, "", mcp.Options{})
	for _, address := range []string{":0", "0.0.0.0:0"} {
		require.ErrorContains(t, s.ListenAndServe(t.Context(), address), "set a token")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorContains(t, s.ListenAndServe(t.Context(), l.Addr().String()), "in use")
	address := l.Addr().String()
	require.NoError(t, l.Close())

	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.ListenAndServe(ctx, address) }()
	require.Eventually(t, func() bool {
		resp, err := http.Post("http://"+address, "application/json", bytes.NewReader(nil))
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	}, waitFor, tick)
	c := join(t, &sdk.StreamableClientTransport{Endpoint: "http://" + address}, nil)
	call(t, c, "read_graph", `{}`)
	why := errors.New("why")
	cancel(why)
	require.ErrorIs(t, <-done, why)
	_ = c.Close()
}
