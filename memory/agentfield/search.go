package agentfield

import (
	"context"
	"fmt"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// SearchVector returns the keys of a scope whose vectors are most like embedding, the
// best first, and by key where scores are equal. A score is the cosine of the angle
// between both in single precision, from -1 to 1. The search is exact. The results and
// their metadata are the caller's own; without any, the slice is empty and not nil.
//
// The fields of opts:
//
//   - Limit is the most results to return; 0 or less means 10, as in AgentField's
//     control plane.
//   - Threshold is the least score of a result; 0 means no limit.
//   - Filters are names of metadata and what it must equal, all of them, in the
//     sense of [filter.Field]: 1 equals 1.0. A name is one key, whatever characters
//     it has. Nil equals a nil that is there.
//   - Scope, if not empty, is searched in place of scope, as in AgentField's
//     control plane, under the same ID, but that of the scope "global", if it is
//     not scope, is "global", the one ID that the SDK has for it.
//
// Scope and ScopeID of a result say where it was found.
//
// The error wraps [vector.ErrEmpty] or [vector.ErrNotFinite] for embeddings that
// SetVector would not take, [memory.ErrDimension] if those in the scope have another
// number of elements, [vector.ErrZero] if all elements are 0, and [memory.ErrQuery] if
// Threshold is NaN. For a filter with a value that Set refuses, it is that of Set
// without a key.
func (b *Backend[S, O, R]) SearchVector(ctx context.Context, scope S, scopeID string, embedding []float64, opts O) ([]R, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := struct {
		Limit     int            `json:"limit"`
		Threshold float64        `json:"threshold"`
		Filters   map[string]any `json:"filters"`
		Scope     S              `json:"scope"`
	}(opts)
	if o.Scope != "" && o.Scope != scope {
		if scope = o.Scope; scope == global {
			scopeID = global
		}
	}
	filter, err := filterOf(o.Filters)
	if err != nil {
		return nil, b.ofCycle(err)
	}
	hits, err := b.space(scope, scopeID, vectors).Search(memory.Query{Vector: vector.Float32s(embedding), K: max(o.Limit, 0), MinScore: o.Threshold, Filter: filter})
	if err != nil {
		return nil, err
	}
	results := make([]R, len(hits))
	for i, h := range hits {
		results[i] = R(struct {
			Key      string         `json:"key"`
			Score    float64        `json:"score"`
			Metadata map[string]any `json:"metadata"`
			Scope    S              `json:"scope"`
			ScopeID  string         `json:"scope_id"`
		}{h.Key, h.Score, thaw(h.Metadata), scope, scopeID})
	}
	return results, nil
}

// global is the SDK's name of the scope that all share, and of its one ID.
const global = "global"

// filterOf returns a Filter that wants metadata that equals all of these.
func filterOf(equal map[string]any) (filter.Filter, error) {
	if len(equal) == 0 {
		return filter.Filter{}, nil
	}
	parts := make([]filter.Filter, 0, len(equal))
	for name, v := range equal {
		frozen, err := value.FreezeHandles(v)
		if err != nil {
			return filter.Filter{}, fmt.Errorf("agentfield: filter %q: %w", name, err)
		}
		parts = append(parts, filter.Meta(name).Eq(frozen))
	}
	return filter.And(parts...), nil
}
