package agentfield_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/stretchr/testify/require"
)

func TestVectorsComeBackExactly(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	in := []float64{0.1, -1.0 / 3, math.Pi, 1e-300, math.Copysign(0, -1), 1 << 60}
	require.NoError(t, b.SetVector(ctx, session, "s", "k", in, nested()))
	out, metadata, found, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, in, out)
	require.True(t, math.Signbit(out[4]))
	require.Equal(t, nested(), metadata)

	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{6, 5, 4, 3, 2, 1}, map[string]any{"new": true}))
	out, metadata, _, err = b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, []float64{6, 5, 4, 3, 2, 1}, out)
	require.Equal(t, map[string]any{"new": true}, metadata)
}

func TestAMissingVector(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "k", "value only"))
	for _, key := range []string{"k", "missing"} {
		embedding, metadata, found, err := b.GetVector(ctx, session, "s", key)
		require.NoError(t, err)
		require.False(t, found)
		require.Nil(t, embedding)
		require.Nil(t, metadata)
		require.NoError(t, b.DeleteVector(ctx, session, "s", key))
	}
}

func TestMetadataOfNothing(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	for _, in := range []map[string]any{nil, {}} {
		require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, in))
		_, metadata, _, err := b.GetVector(ctx, session, "s", "k")
		require.NoError(t, err)
		require.Equal(t, in, metadata, "nil stays nil, and empty stays empty")
		results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{})
		require.NoError(t, err)
		require.Equal(t, in, results[0].Metadata)
	}
}

func TestMetadataWithHandles(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	c := make(chan int)
	in := map[string]any{"c": c, "list": []any{c}, "tag": "x"}
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, in))
	_, metadata, _, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, in, metadata)
	for _, filters := range []map[string]any{{"c": c}, {"tag": "x"}, {"list": []any{c}}} {
		results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{Filters: filters})
		require.NoError(t, err)
		require.Len(t, results, 1)
	}
	results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{Filters: map[string]any{"c": make(chan int)}})
	require.NoError(t, err)
	require.Empty(t, results)
}

func TestCallersAndReadersModifyOnlyTheirOwnVectors(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	embedding, metadata := []float64{3, 4}, nested()
	require.NoError(t, b.SetVector(ctx, session, "s", "k", embedding, metadata))
	require.Equal(t, []float64{3, 4}, embedding)
	require.Equal(t, nested(), metadata, "the backend modified the caller's metadata")
	embedding[0] = -1
	spoil(metadata)
	query, filters := []float64{3, 4}, map[string]any{"strings": []string{"a", "b"}}
	for range 2 {
		embedding, metadata, found, err := b.GetVector(ctx, session, "s", "k")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, []float64{3, 4}, embedding)
		require.Equal(t, nested(), metadata)
		embedding[1] = -1
		spoil(metadata)
		results, err := b.SearchVector(ctx, session, "s", query, SearchOptions{Filters: filters})
		require.NoError(t, err)
		require.Equal(t, []VectorSearchResult{{"k", 1, nested(), session, "s"}}, results)
		spoil(results[0].Metadata)
		results[0].Key = "spoiled"
	}
	require.Equal(t, []float64{3, 4}, query)
	require.Equal(t, map[string]any{"strings": []string{"a", "b"}}, filters)
}

func TestVectorsThatCannotBeStored(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1, 2}, map[string]any{"a": 1}))
	version := b.Memory().Load().Version()
	cycle := map[string]any{}
	cycle["self"] = cycle
	for _, c := range []struct {
		embedding []float64
		metadata  map[string]any
		err       error
	}{
		{nil, nil, vector.ErrEmpty}, {[]float64{}, nil, vector.ErrEmpty}, {[]float64{1, math.NaN()}, nil, vector.ErrNotFinite},
		{[]float64{math.Inf(-1), 1}, nil, vector.ErrNotFinite}, {[]float64{1, 1e300}, nil, vector.ErrNotFinite},
		{[]float64{1}, nil, memory.ErrDimension}, {[]float64{1, 2, 3}, nil, memory.ErrDimension},
		{[]float64{1, 2}, cycle, value.ErrCycle}, {[]float64{1, 2}, map[string]any{"a": math.NaN()}, value.ErrUnsupported},
	} {
		for _, key := range []string{"k", "new"} {
			err := b.SetVector(ctx, session, "s", key, c.embedding, c.metadata)
			require.ErrorIs(t, err, c.err)
			var of *memory.KeyError
			require.ErrorAs(t, err, &of)
			require.Equal(t, key, of.Key)
		}
	}
	embedding, metadata, _, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2}, embedding)
	require.Equal(t, map[string]any{"a": 1}, metadata)
	require.Equal(t, version, b.Memory().Load().Version(), "nothing was published")

	require.NoError(t, b.SetVector(ctx, session, "other", "k", []float64{1, 2, 3}, nil), "another scope has its own dimension")
	require.NoError(t, b.DeleteVector(ctx, session, "s", "k"))
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1, 2, 3}, nil), "the last vector makes room for another dimension")
}

func TestValuesAndVectorsAreIndependent(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "k", "value"))
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, map[string]any{"a": 1}))
	require.NoError(t, b.Set(ctx, session, "s", "k", "new"))
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{2}, nil))
	v, found, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "new", v)

	require.NoError(t, b.Delete(ctx, session, "s", "k"))
	embedding, _, found, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found, "deleting the value leaves the vector")
	require.Equal(t, []float64{2}, embedding)

	require.NoError(t, b.Set(ctx, session, "s", "k", "again"))
	require.NoError(t, b.DeleteVector(ctx, session, "s", "k"))
	_, _, found, err = b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.False(t, found)
	v, found, err = b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found, "deleting the vector leaves the value")
	require.Equal(t, "again", v)
}

func TestVectorsAfterExportAndImport(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{0.1, -1.0 / 3}, map[string]any{"a": "x"}))
	var file bytes.Buffer
	require.NoError(t, b.Memory().Load().Export(&file))
	m := memory.New(memory.Options{})
	_, err := m.Import(t.Context(), &file)
	require.NoError(t, err)
	embedding, metadata, found, err := newBackend(m).GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, []float64{0.1, -1.0 / 3}, embedding)
	require.Equal(t, map[string]any{"a": "x"}, metadata)
}

func TestAVectorThatNoBackendStored(t *testing.T) {
	b := newBackend(nil)
	s := b.Memory().Space("agentfield", "session", "s", "vectors")
	require.NoError(t, errOf(s.PutVector("bare", []float32{1}, nil)))
	require.NoError(t, errOf(s.PutItem("other", memory.Item{Value: []byte("short"), Vector: []float32{1}})))
	require.NoError(t, errOf(s.Put("value", "text")))
	for _, key := range []string{"bare", "other", "value"} {
		_, _, found, err := b.GetVector(t.Context(), session, "s", key)
		require.Error(t, err, key)
		require.False(t, found)
	}
}
