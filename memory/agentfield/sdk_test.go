package agentfield_test

import (
	"context"
	"errors"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/agentfield"
)

// These have the shape of the SDK's types, at its commit 5965a7f.
type (
	MemoryScope string

	SearchOptions struct {
		Limit     int            `json:"limit"`
		Threshold float64        `json:"threshold"`
		Filters   map[string]any `json:"filters"`
		Scope     MemoryScope    `json:"scope"`
	}

	VectorSearchResult struct {
		Key      string         `json:"key"`
		Score    float64        `json:"score"`
		Metadata map[string]any `json:"metadata"`
		Scope    MemoryScope    `json:"scope"`
		ScopeID  string         `json:"scope_id"`
	}

	MemoryBackend interface {
		Set(ctx context.Context, scope MemoryScope, scopeID, key string, value any) error
		Get(ctx context.Context, scope MemoryScope, scopeID, key string) (any, bool, error)
		Delete(ctx context.Context, scope MemoryScope, scopeID, key string) error
		List(ctx context.Context, scope MemoryScope, scopeID string) ([]string, error)
		SetVector(ctx context.Context, scope MemoryScope, scopeID, key string, embedding []float64, metadata map[string]any) error
		GetVector(ctx context.Context, scope MemoryScope, scopeID, key string) (embedding []float64, metadata map[string]any, found bool, err error)
		SearchVector(ctx context.Context, scope MemoryScope, scopeID string, embedding []float64, opts SearchOptions) ([]VectorSearchResult, error)
		DeleteVector(ctx context.Context, scope MemoryScope, scopeID, key string) error
	}

	// What the SDK's in-memory backend has beyond that.
	clearer interface {
		Clear()
		ClearScope(scope MemoryScope, scopeID string)
	}
)

const (
	session MemoryScope = "session"
	user    MemoryScope = "user"
	global  MemoryScope = "global"
)

var errCyclicMemoryValue = errors.New("memory values must not contain cycles")

type backend = agentfield.Backend[MemoryScope, SearchOptions, VectorSearchResult]

var (
	_ MemoryBackend = (*backend)(nil)
	_ clearer       = (*backend)(nil)
)

func newBackend(m *memory.Memory) *backend {
	return agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](agentfield.Options{Memory: m, Cyclic: errCyclicMemoryValue})
}
