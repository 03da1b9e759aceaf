package agentfield_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/stretchr/testify/require"
)

func keysOf(results []VectorSearchResult) []string {
	keys := make([]string, len(results))
	for i, r := range results {
		keys[i] = r.Key
	}
	return keys
}

// compass returns a Backend with a vector to each side.
func compass(t *testing.T) *backend {
	b := newBackend(nil)
	for key, embedding := range map[string][]float64{"east": {10, 0}, "north": {0, 0.1}, "north east": {3, 3}, "west": {-1, 0}} {
		require.NoError(t, b.SetVector(t.Context(), session, "s", key, embedding, map[string]any{"key": key, "length": len(key)}))
	}
	return b
}

func TestSearchByCosine(t *testing.T) {
	b := compass(t)
	results, err := b.SearchVector(t.Context(), session, "s", []float64{2, 0}, SearchOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north east", "north", "west"}, keysOf(results))
	for i, score := range []float64{1, math.Sqrt2 / 2, 0, -1} {
		require.InDelta(t, score, results[i].Score, 1e-6)
		require.Equal(t, map[string]any{"key": results[i].Key, "length": len(results[i].Key)}, results[i].Metadata)
		require.Equal(t, session, results[i].Scope)
		require.Equal(t, "s", results[i].ScopeID)
	}
	results, err = b.SearchVector(t.Context(), session, "s", []float64{0, 1}, SearchOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"north", "north east", "east", "west"}, keysOf(results), "those of equal scores by key")
}

func TestSearchThreshold(t *testing.T) {
	b := compass(t)
	for threshold, want := range map[float64]int{0: 4, 0.5: 2, 0.9: 1, 1: 1, 1.1: 0, -0.5: 3, -1: 4, math.Inf(1): 0} {
		results, err := b.SearchVector(t.Context(), session, "s", []float64{1, 0}, SearchOptions{Threshold: threshold})
		require.NoError(t, err)
		require.Len(t, results, want, threshold)
	}
}

func TestSearchLimit(t *testing.T) {
	b := newBackend(nil)
	for i := range 20 {
		require.NoError(t, b.SetVector(t.Context(), session, "s", fmt.Sprintf("%02d", i), []float64{1, float64(i)}, nil))
	}
	for limit, want := range map[int]int{0: 10, -1: 10, 1: 1, 15: 15, 20: 20, 100: 20, math.MaxInt: 20} {
		results, err := b.SearchVector(t.Context(), session, "s", []float64{1, 0}, SearchOptions{Limit: limit})
		require.NoError(t, err)
		require.Len(t, results, want, limit)
		require.Equal(t, "00", results[0].Key)
	}
}

func TestSearchFilters(t *testing.T) {
	b := newBackend(nil)
	for key, metadata := range map[string]map[string]any{
		"none": nil, "empty": {}, "a": {"kind": "note", "n": 1, "user.name": "Ada"}, "b": {"kind": "note", "n": 2.0, "tags": []string{"x"}},
		"c": {"kind": "fact", "n": 1, "nothing": nil, "user": map[string]any{"name": "Ada"}},
	} {
		require.NoError(t, b.SetVector(t.Context(), session, "s", key, []float64{1}, metadata))
	}
	for _, c := range []struct {
		filters map[string]any
		want    []string
	}{
		{nil, []string{"a", "b", "c", "empty", "none"}},
		{map[string]any{}, []string{"a", "b", "c", "empty", "none"}},
		{map[string]any{"kind": "note"}, []string{"a", "b"}},
		{map[string]any{"kind": "note", "n": 1}, []string{"a"}},
		{map[string]any{"n": 1.0}, []string{"a", "c"}},
		{map[string]any{"n": "1"}, []string{}},
		{map[string]any{"tags": []any{"x"}}, []string{"b"}},
		{map[string]any{"user.name": "Ada"}, []string{"a"}},
		{map[string]any{"user": map[string]any{"name": "Ada"}}, []string{"c"}},
		{map[string]any{"nothing": nil}, []string{"c"}},
		{map[string]any{"missing": nil}, []string{}},
		{map[string]any{"": "note"}, []string{}},
	} {
		results, err := b.SearchVector(t.Context(), session, "s", []float64{1}, SearchOptions{Filters: c.filters})
		require.NoError(t, err)
		require.Equal(t, c.want, keysOf(results), c.filters)
	}
	results, err := b.SearchVector(t.Context(), session, "s", []float64{1}, SearchOptions{Filters: map[string]any{"kind": "note"}, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, keysOf(results), "the filter comes before the limit")
}

func TestSearchInAnotherScope(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	for scope, id := range map[MemoryScope]string{session: "s", user: "s", global: "global"} {
		require.NoError(t, b.SetVector(ctx, scope, id, "in "+string(scope), []float64{1}, nil))
	}
	for _, c := range []struct {
		scope MemoryScope
		want  VectorSearchResult
	}{
		{"", VectorSearchResult{Key: "in session", Score: 1, Scope: session, ScopeID: "s"}},
		{session, VectorSearchResult{Key: "in session", Score: 1, Scope: session, ScopeID: "s"}},
		{user, VectorSearchResult{Key: "in user", Score: 1, Scope: user, ScopeID: "s"}},
		{global, VectorSearchResult{Key: "in global", Score: 1, Scope: global, ScopeID: "global"}},
	} {
		results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{Scope: c.scope})
		require.NoError(t, err)
		require.Equal(t, []VectorSearchResult{c.want}, results)
	}
	require.NoError(t, b.SetVector(ctx, global, "own", "k", []float64{1}, nil))
	results, err := b.SearchVector(ctx, global, "own", []float64{1}, SearchOptions{Scope: global})
	require.NoError(t, err)
	require.Equal(t, "own", results[0].ScopeID, "what is said already is not replaced")
}

func TestSearchOfNothing(t *testing.T) {
	b := compass(t)
	results, err := b.SearchVector(t.Context(), session, "unknown", []float64{1, 2, 3}, SearchOptions{})
	require.NoError(t, err)
	require.NotNil(t, results)
	require.Empty(t, results)
	results, err = b.SearchVector(t.Context(), session, "s", []float64{1, 0}, SearchOptions{Filters: map[string]any{"key": "nowhere"}})
	require.NoError(t, err)
	require.NotNil(t, results)
	require.Empty(t, results)
	require.NoError(t, b.DeleteVector(t.Context(), session, "s", "east"))
	results, err = b.SearchVector(t.Context(), session, "s", []float64{1, 0}, SearchOptions{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"north east"}, keysOf(results))
}

func TestSearchesThatMakeNoSense(t *testing.T) {
	b := compass(t)
	cycle := map[string]any{}
	cycle["self"] = cycle
	for _, c := range []struct {
		embedding []float64
		opts      SearchOptions
		err       error
	}{
		{nil, SearchOptions{}, vector.ErrEmpty}, {[]float64{}, SearchOptions{}, vector.ErrEmpty},
		{[]float64{math.NaN(), 0}, SearchOptions{}, vector.ErrNotFinite}, {[]float64{math.Inf(1), 0}, SearchOptions{}, vector.ErrNotFinite},
		{[]float64{1e300, 0}, SearchOptions{}, vector.ErrNotFinite}, {[]float64{1}, SearchOptions{}, memory.ErrDimension},
		{[]float64{0, 0}, SearchOptions{}, vector.ErrZero}, {[]float64{1, 0}, SearchOptions{Threshold: math.NaN()}, memory.ErrQuery},
		{[]float64{1, 0}, SearchOptions{Filters: cycle}, value.ErrCycle},
		{[]float64{1, 0}, SearchOptions{Filters: map[string]any{"key": math.NaN()}}, value.ErrUnsupported},
	} {
		results, err := b.SearchVector(t.Context(), session, "s", c.embedding, c.opts)
		require.ErrorIs(t, err, c.err)
		require.Nil(t, results)
	}
}
