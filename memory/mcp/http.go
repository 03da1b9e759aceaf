package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
	"github.com/cowstore/cowstore/memory/mcp/internal/web"
)

// NamespaceHeader is the header in which a client over HTTP names the namespace that it uses.
const NamespaceHeader = "Cowmemory-Namespace"

const (
	maxBody    = 2*tool.MaxArgs + 1<<20 // of a request, and of a line: so that too long arguments are an error of the tool
	readFor    = time.Minute            // to read the body of a request
	sessionFor = 30 * time.Minute       // without a request
)

// maxSessions is how many clients may have a session; tests allow fewer.
var maxSessions = 10_000

// Handler returns the handler of clients over streamable HTTP. It serves them at any path but
// these:
//
//	/healthz   200: the process answers
//	/readyz    200 where the memory answers and can be written, and 503 otherwise
//	/metrics   figures for Prometheus
//	/inspect/  pages about the memory, for a browser; see package cow/inspect
//
// If there is a token, all paths but /healthz and /readyz need it. Browsers may send it to /metrics
// and /inspect/ as the password of HTTP Basic.
//
// It refuses requests that a browser makes for another site, requests at a loopback address for a
// host name that is not this machine's, requests with a header Cowmemory-… that it does not know,
// and more requests from one address than Rate of [Options] allows. It does no TLS.
//
// While another process has the file, /inspect/ answers 503, and /metrics has no figures of the DB:
// the address of that process has them. See [Open].
func (s *Server) Handler() http.Handler {
	gate := web.NewGate(s.o.Token, s.o.Rate)
	clients, pages, metrics := gate.Clients(s.clients()), gate.People(http.HandlerFunc(s.inspect)), gate.People(s.metrics())
	return gate.Near(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz":
			health(w, r, nil)
		case path == "/readyz":
			health(w, r, s.ready(r.Context()))
		case path == "/metrics":
			metrics.ServeHTTP(w, r)
		case path == "/inspect" || strings.HasPrefix(path, "/inspect/"):
			pages.ServeHTTP(w, r)
		default:
			clients.ServeHTTP(w, r)
		}
	}))
}

// clients returns what serves clients of the protocol.
func (s *Server) clients() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		server, err := s.server(s.namespaceOf(r))
		if err == nil && r.Header.Get("Mcp-Session-Id") == "" && s.sessions() >= maxSessions {
			err = fmt.Errorf("more than %d sessions", maxSessions)
		}
		if err != nil {
			s.o.Log.Warn("a client is refused", "error", err)
			return nil
		}
		return server
	}, &mcp.StreamableHTTPOptions{SessionTimeout: sessionFor, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true}) // the gate has that
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := unknownHeader(r); name != "" {
			http.Error(w, fmt.Sprintf("there is no header %.100q: there is %s", name, NamespaceHeader), http.StatusBadRequest)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = newTimely(w, r.Body)
		}
		h.ServeHTTP(w, r)
	})
}

// ListenAndServe serves [Server.Handler] at an address, until ctx ends. Without a token the address
// must be of this machine alone, as 127.0.0.1:8123.
func (s *Server) ListenAndServe(ctx context.Context, address string) error {
	return web.Serve(ctx, address, s.o.Token, s.Handler(), s.o.Log)
}

// sessions returns how many clients have a session.
func (s *Server) sessions() (n int) {
	for _, server := range s.all() {
		for range server.Sessions() {
			n++
		}
	}
	return n
}

// unknownHeader returns a header that looks like one of this server and is not, or "": a
// misspelled one would mean another namespace.
func unknownHeader(r *http.Request) string {
	for name := range r.Header {
		if strings.HasPrefix(name, "Cowmemory-") && name != NamespaceHeader {
			return name
		}
	}
	return ""
}

func (s *Server) namespaceOf(r *http.Request) string {
	if len(r.Header.Values(NamespaceHeader)) == 0 {
		return s.o.Namespace
	}
	return r.Header.Get(NamespaceHeader) // what cannot be one is refused by every tool
}

// A timely body must be read in time. After that the request may take as long as it wants:
// it may be a stream.
type timely struct {
	io.ReadCloser
	of *http.ResponseController
}

func newTimely(w http.ResponseWriter, body io.ReadCloser) timely {
	t := timely{body, http.NewResponseController(w)}
	_ = t.of.SetReadDeadline(time.Now().Add(readFor)) // where that is possible
	return t
}

func (t timely) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err != nil {
		_ = t.of.SetReadDeadline(time.Time{})
	}
	return n, err
}
