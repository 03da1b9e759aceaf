package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// The graph is a resource, that of the client's own namespace, and that of any.
const (
	ownGraph   = "memory://knowledge-graph"
	anyGraph   = "memory://namespaces/{namespace}/knowledge-graph"
	graphStart = "memory://namespaces/"
	graphEnd   = "/knowledge-graph"
	jsonType   = "application/json"
)

func graphOf(namespace string) string { return graphStart + url.PathEscape(namespace) + graphEnd }

func (s *Server) addResources(server *mcp.Server, own string) {
	server.AddResource(&mcp.Resource{
		Name: "knowledge-graph", Title: "Knowledge Graph", URI: ownGraph, MIMEType: jsonType,
		Description: "The full knowledge graph with all entities and relations",
	}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return s.readGraph(ctx, own, r.Params.URI)
	})
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "knowledge-graph-of", Title: "Knowledge Graph of a namespace", URITemplate: anyGraph, MIMEType: jsonType,
		Description: "The full knowledge graph of one namespace",
	}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		namespace, ok := namespaceIn(r.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return s.readGraph(ctx, namespace, r.Params.URI)
	})
}

// namespaceIn returns the namespace whose graph has that URI.
func namespaceIn(uri string) (string, bool) {
	escaped, ok := strings.CutPrefix(uri, graphStart)
	escaped, end := strings.CutSuffix(escaped, graphEnd)
	namespace, err := url.PathUnescape(escaped)
	return namespace, ok && end && err == nil
}

// subscribe lets clients subscribe to what there may be alone: what they have subscribed to
// is kept.
func subscribe(_ context.Context, r *mcp.SubscribeRequest) error {
	const longest = 1 << 10 // a namespace, escaped
	if _, ok := namespaceIn(r.Params.URI); !ok && r.Params.URI != ownGraph || len(r.Params.URI) > longest {
		return mcp.ResourceNotFoundError(fmt.Sprintf("%.100s", r.Params.URI))
	}
	return nil
}

func (s *Server) readGraph(ctx context.Context, namespace, uri string) (*mcp.ReadResourceResult, error) {
	graph, err := s.store.Do(ctx, store.Request{Namespace: namespace, Op: "read_graph"})
	if err != nil {
		return nil, fmt.Errorf("read the graph: %w", err)
	}
	text, err := show("read_graph", graph)
	if err != nil {
		return nil, fmt.Errorf("read the graph: %w", err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: text}}}, nil
}

// cursor returns the cursor of now.
func (s *Server) cursor(ctx context.Context) (string, error) {
	result, err := s.store.Do(ctx, store.Request{Op: "changes", Args: json.RawMessage(`{"limit":1}`)})
	var now struct{ Cursor string }
	if err == nil {
		err = json.Unmarshal(result, &now)
	}
	if err != nil {
		return "", fmt.Errorf("follow the changes: %w", err)
	}
	return now.Cursor, nil
}

// follow tells clients that have subscribed what has changed since a cursor, until ctx ends.
func (s *Server) follow(ctx context.Context, cursor string) {
	const pause = time.Second
	for ctx.Err() == nil {
		for event, err := range s.store.Changes(ctx, cursor) {
			if errors.Is(err, store.ErrCursor) {
				var now string
				if now, err = s.cursor(ctx); err == nil {
					cursor = now
					s.tellAll(ctx) // something may have changed up to that
					break
				}
			}
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
					s.o.Log.Error("subscriptions are interrupted", "error", err)
				}
				break
			}
			cursor = event.Cursor
			for _, namespace := range event.Namespaces {
				s.tell(ctx, namespace)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// tell tells the subscribers of a namespace that it has changed.
func (s *Server) tell(ctx context.Context, namespace string) {
	for own, server := range s.all() {
		if own == namespace {
			s.send(ctx, server, ownGraph)
		}
		s.send(ctx, server, graphOf(namespace))
	}
}

// tellAll tells all subscribers of their own graphs.
func (s *Server) tellAll(ctx context.Context) {
	for namespace := range s.all() {
		s.tell(ctx, namespace)
	}
}

func (s *Server) send(ctx context.Context, server *mcp.Server, uri string) {
	if err := server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil && ctx.Err() == nil {
		s.o.Log.Warn("a client was not told of a change", "resource", uri, "error", err)
	}
}

// all returns what serves clients now.
func (s *Server) all() map[string]*mcp.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.servers)
}
