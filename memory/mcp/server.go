package mcp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/prometheus"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/peer"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
)

// Version is the version that the server tells its clients.
const Version = "0.1.0"

// Options say how a memory is served. The zero value is right for most.
type Options struct {
	Namespace string        // of clients that do not name one
	Retain    cow.Retention // how much of the past is kept; zero: 10,000 versions, 30 days, 64 MiB
	MaxBytes  int64         // that the memory may take, about; 0: 1 GiB. Writes beyond are refused
	Log       *slog.Logger  // nil: none

	// Embed, if not nil, returns the vectors of texts, all of one dimension, for searches by
	// meaning. Writers do not wait for it.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)

	// Erase says whether clients of this Server have the tool erase, which undo does not take
	// back. That holds for this Server alone, also where another process has the file.
	Erase bool

	// Token is the bearer token of clients over HTTP. Without one they need none, and
	// ListenAndServe serves this machine alone.
	Token string

	// Values says whether the pages at /inspect/ show values. They always show keys, types and
	// sizes.
	Values bool

	// Rate is how many requests a second each address may make over HTTP; 0: 100. In bursts
	// it may make ten times as many.
	Rate float64
}

// A Server serves one memory to any number of clients. It is made by [Open], must not be
// copied, and is safe for concurrent use.
type Server struct {
	o     Options
	store store.Store

	collector *prometheus.Collector
	own       atomic.Pointer[own] // nil: another process has the file

	mu      sync.Mutex
	servers map[string]*mcp.Server // by namespace
	used    map[string]time.Time   // when a client has last asked for one of them

	end       context.CancelFunc
	following sync.WaitGroup
}

// Open opens the memory in the file at path, or makes one. If another process has the file,
// requests go to that process. When it ends, one of those that are left takes its place: what
// was acknowledged stays, and calls that were under way are retried, and never applied twice.
// Without a path the memory is in this process alone, and ends with it.
func Open(path string, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Server{o: o, collector: prometheus.New(prometheus.Options{}), servers: make(map[string]*mcp.Server), used: make(map[string]time.Time), end: end}
	var err error
	if s.store, err = s.openStore(path); err != nil {
		end()
		return nil, err
	}
	cursor, err := s.cursor(ctx) // now, so that who subscribes later misses nothing
	if err != nil {
		end()
		return nil, errors.Join(err, s.store.Close())
	}
	s.following.Go(func() { s.follow(ctx, cursor) })
	return s, nil
}

// openFor is how long Open waits for a process that has the file and does not answer.
const openFor = 30 * time.Second

// openStore opens what answers the requests: the file itself, or, where another process has
// it, that one, until it ends.
func (s *Server) openStore(path string) (store.Store, error) {
	o := s.o
	open := func() (store.Store, error) {
		st, err := local.Open(path, local.Options{Retain: o.Retain, MaxBytes: o.MaxBytes, Log: o.Log, Embed: o.Embed})
		if err != nil {
			return nil, err
		}
		s.owns(st)
		return st, nil
	}
	if path == "" {
		return open()
	}
	ctx, cancel := context.WithTimeout(context.Background(), openFor)
	defer cancel()
	return peer.Open(ctx, peer.Options{Path: path, Open: open, Log: o.Log})
}

// Close closes the memory; what was acknowledged is on disk. Later calls return an error.
func (s *Server) Close() error {
	s.end()
	s.following.Wait()
	return s.store.Close()
}

// ServeStdio serves one client over the standard input and output, until it ends the
// connection, or ctx ends. A line that is not a message is answered with an error of JSON-RPC,
// and so is one that is too long; the next is served.
func (s *Server) ServeStdio(ctx context.Context) error {
	return s.Serve(ctx, lineTransport(os.Stdin, os.Stdout, maxBody, s.o.Log))
}

// Serve serves one client over a transport of the SDK, until the client ends the connection, or
// ctx ends. The SDK's own transports over lines end at the first line that is not a message;
// [Server.ServeStdio] goes on.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	server, err := s.server(s.o.Namespace)
	if err != nil {
		return err
	}
	return server.Run(ctx, t)
}

// maxNamespaces is how many namespaces clients use at once. Tests have it smaller.
var maxNamespaces = 1000

const (
	unusedFor    = time.Minute // after which one without a client makes room for another
	instructions = "This is your memory: it outlives the conversation. Recall before you answer what you may have been told before. " +
		"Store facts about named things with create_entities, add_observations and create_relations, and anything else with remember. " +
		"Every write has a revision and can be undone."
	erases = " Only what erase does is for good: use it if the user says so."
)

// server returns what serves the clients of a namespace.
func (s *Server) server(namespace string) (*mcp.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if server, ok := s.servers[namespace]; ok {
		s.used[namespace] = time.Now()
		return server, nil
	}
	if len(s.servers) >= maxNamespaces {
		s.dropUnused()
	}
	if len(s.servers) >= maxNamespaces {
		return nil, fmt.Errorf("more than %d namespaces are in use", maxNamespaces)
	}
	told := instructions
	if s.o.Erase {
		told += erases
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "cowmemory", Title: "Memory", Version: Version}, &mcp.ServerOptions{
		Instructions:       told,
		Capabilities:       &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{Subscribe: true}},
		SubscribeHandler:   subscribe,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for _, t := range tool.All {
		if t.Name == tool.Erase && !s.o.Erase {
			continue
		}
		server.AddTool(&t.Tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.call(ctx, namespace, t, r.Params.Arguments), nil
		})
	}
	s.addResources(server, namespace)
	s.servers[namespace], s.used[namespace] = server, time.Now()
	return server, nil
}

// dropUnused drops what serves namespaces without clients. Not what was asked for just now: its
// client is still to come.
func (s *Server) dropUnused() {
	for namespace, server := range s.servers {
		sessions := 0
		for range server.Sessions() {
			sessions++
		}
		if sessions == 0 && time.Since(s.used[namespace]) > unusedFor {
			delete(s.servers, namespace)
			delete(s.used, namespace)
		}
	}
}

// newID returns the id of a request.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}
