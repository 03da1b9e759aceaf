package agentfield

import (
	"github.com/cowstore/cowstore/memory"
)

// A Backend keeps values and vectors by scope, ID of the scope, and key. It
// satisfies the SDK's agent.MemoryBackend if S is agent.MemoryScope, O is
// agent.SearchOptions and R is agent.VectorSearchResult, and has the methods of
// the SDK's own in-memory backend.
//
// A Backend is made by [New]; methods of the zero Backend panic. All methods may
// be called from any number of goroutines at once. Each is one step: a write is
// one commit, which never waits for a reader, and a read is of one version.
//
// Any string may be a scope, an ID or a key, the empty one too. They are never joined:
// "a:b", "c" and "a", "b:c" are different. The value and the vector of a key have
// nothing to do with each other.
//
// If ctx, which must not be nil, is done before a method begins, the method does nothing
// and returns ctx's error. It does not look at ctx later.
type Backend[S ~string, O ~struct {
	Limit     int            `json:"limit"`
	Threshold float64        `json:"threshold"`
	Filters   map[string]any `json:"filters"`
	Scope     S              `json:"scope"`
}, R ~struct {
	Key      string         `json:"key"`
	Score    float64        `json:"score"`
	Metadata map[string]any `json:"metadata"`
	Scope    S              `json:"scope"`
	ScopeID  string         `json:"scope_id"`
}] struct {
	m      *memory.Memory
	cyclic error
}

// Options say how a Backend behaves. The zero value is right.
type Options struct {
	// Memory is where everything is kept; nil means a Memory of its own, without
	// limits, expiry and text index. Several Backends of one Memory share what they
	// keep. Its limits and its TTL hold for the Backend too: a write may fail with
	// memory.ErrFull.
	Memory *memory.Memory

	// Cyclic, if not nil, is wrapped by errors about a value that contains itself,
	// besides value.ErrCycle. Set agent.ErrCyclicMemoryValue for code that asks for
	// the SDK's own error.
	Cyclic error
}

// New returns a Backend with these Options.
func New[S ~string, O ~struct {
	Limit     int            `json:"limit"`
	Threshold float64        `json:"threshold"`
	Filters   map[string]any `json:"filters"`
	Scope     S              `json:"scope"`
}, R ~struct {
	Key      string         `json:"key"`
	Score    float64        `json:"score"`
	Metadata map[string]any `json:"metadata"`
	Scope    S              `json:"scope"`
	ScopeID  string         `json:"scope_id"`
}](o Options) *Backend[S, O, R] {
	if o.Memory == nil {
		o.Memory = memory.New(memory.Options{NoText: true})
	}
	return &Backend[S, O, R]{o.Memory, o.Cyclic}
}

// Everything is below one space, so that a Memory may have other things too.
const (
	root    = "agentfield"
	values  = "values"
	vectors = "vectors"
)

// Memory returns the Memory that everything is kept in, for snapshots, forks,
// expiry and limits. The values of a scope are the entries of its space
// "agentfield", scope, ID, "values", and the vectors those of "agentfield", scope,
// ID, "vectors", whose values are the exact embeddings. Only Backends must write to
// these spaces; they never touch others.
func (b *Backend[S, O, R]) Memory() *memory.Memory { return b.m }

// Clear removes all values and vectors of all scopes, in one commit. That needs no room,
// and cannot fail.
func (b *Backend[S, O, R]) Clear() { b.m.Space(root).ClearAll() }

// ClearScope removes all values and vectors of one scope, in one commit.
func (b *Backend[S, O, R]) ClearScope(scope S, scopeID string) {
	b.m.Space(root, string(scope), scopeID).ClearAll()
}

// space returns the space of the values or of the vectors of a scope.
func (b *Backend[S, O, R]) space(scope S, scopeID, of string) memory.Space {
	return b.m.Space(root, string(scope), scopeID, of)
}
