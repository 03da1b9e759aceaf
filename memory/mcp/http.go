package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
)

// NamespaceHeader is the header by which a client over HTTP says whose memory it uses.
const NamespaceHeader = "Cowmemory-Namespace"

const (
	maxBody        = 2*tool.MaxArgs + 1<<20 // of a request, and of a line: so that too long arguments are an error of the tool
	readFor        = time.Minute            // to read the body of a request
	sessionFor     = 30 * time.Minute       // without a request
	maxHeaderBytes = 64 << 10
)

// maxSessions is how many clients may have a session; tests allow fewer.
var maxSessions = 10_000

// Handler returns what serves clients over streamable HTTP, at any path. It wants the
// token, if there is one, refuses requests that a browser makes for another site, those with
// a header Cowmemory-… that it does not know, and more of one address than Options.Rate says.
// TLS is for whoever serves it.
func (s *Server) Handler() http.Handler {
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
	}, &mcp.StreamableHTTPOptions{SessionTimeout: sessionFor, MaxRequestBodyBytes: maxBody})
	limits := newLimits(s.o.Rate)
	want := sha256.Sum256([]byte(s.o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !limits.allow(r.RemoteAddr):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		case !sameOrigin(r):
			http.Error(w, "this is not for other sites", http.StatusForbidden)
		case s.o.Token != "" && !bears(r, want):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
		case unknownHeader(r) != "":
			http.Error(w, fmt.Sprintf("there is no header %.100q: there is %s", unknownHeader(r), NamespaceHeader), http.StatusBadRequest)
		default:
			if r.Method == http.MethodPost {
				r.Body = newTimely(w, r.Body)
			}
			h.ServeHTTP(w, r)
		}
	})
}

// ListenAndServe serves clients over HTTP at an address, until ctx ends. Without a token it
// must be one of this machine alone, as 127.0.0.1:8123.
func (s *Server) ListenAndServe(ctx context.Context, address string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); s.o.Token == "" && (!ok || !at.IP.IsLoopback()) {
		_ = l.Close()
		return fmt.Errorf("serve over HTTP: %s can be reached from other machines: set a token", address)
	}
	s.o.Log.Info("serving over HTTP", "address", l.Addr().String())
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams end, too
	}
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	return context.Cause(ctx)
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

// sameOrigin reports whether a request is of no browser, or of a page of this very server.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// bears reports whether a request bears the token with that hash.
func bears(r *http.Request, want [sha256.Size]byte) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	has := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(has[:], want[:]) == 1 && strings.EqualFold(kind, "Bearer")
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
