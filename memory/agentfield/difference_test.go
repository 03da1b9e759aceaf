package agentfield_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/agentfield"
	"github.com/cowstore/cowstore/memory/value"
)

// A value that contains itself is the SDK's error too, for those who ask for it.
func TestTheErrorForCyclesCanBeThatOfTheSDK(t *testing.T) {
	ctx := t.Context()
	cycle := map[string]any{}
	cycle["list"] = []any{cycle}
	b := newBackend(nil)
	for _, err := range []error{
		b.Set(ctx, session, "s", "k", cycle),
		b.SetVector(ctx, session, "s", "k", []float64{1}, cycle),
	} {
		require.ErrorIs(t, err, errCyclicMemoryValue)
		require.ErrorIs(t, err, value.ErrCycle)
		var of *memory.KeyError
		require.ErrorAs(t, err, &of)
		require.Equal(t, "k", of.Key)
	}
	require.NotErrorIs(t, b.Set(ctx, session, "s", "k", math.NaN()), errCyclicMemoryValue)
	_, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{Filters: cycle})
	require.ErrorIs(t, err, errCyclicMemoryValue)
	require.ErrorIs(t, err, value.ErrCycle)
	plain := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](agentfield.Options{})
	err = plain.Set(ctx, session, "s", "k", cycle)
	require.ErrorIs(t, err, value.ErrCycle)
	require.False(t, errors.Is(err, errCyclicMemoryValue))
}

// Values and metadata come back in their shape.
func TestShapesComeBack(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	shared := &profile{Name: "shared", inner: map[string][]byte{"k": []byte("v")}}
	in := map[string]any{"a": shared, "b": []any{shared}, "type": reflect.TypeFor[profile](), "zone": time.Local}
	require.NoError(t, b.Set(ctx, session, "s", "k", in))
	v, _, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, in))
	_, metadata, _, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{})
	require.NoError(t, err)
	for _, m := range []map[string]any{v.(map[string]any), metadata, results[0].Metadata} {
		require.Equal(t, in, m)
		require.Same(t, m["a"], m["b"].([]any)[0])
		require.NotSame(t, shared, m["a"])
		require.True(t, m["type"] == in["type"])
		require.Same(t, time.Local, m["zone"])
	}
}

// The differences from the SDK's backend in the package comment that no other test
// shows.
func TestNilStaysNil(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	in := map[string]any{"map": map[string]any(nil), "list": []any(nil), "floats": []float64(nil), "empty": []any{}}
	require.NoError(t, b.Set(ctx, session, "s", "k", in))
	v, _, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, in, v)
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, nil))
	_, metadata, found, err := b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.True(t, found)
	require.Nil(t, metadata)
	require.NoError(t, b.SetVector(ctx, session, "s", "k", []float64{1}, map[string]any{}))
	_, metadata, _, err = b.GetVector(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, map[string]any{}, metadata)
}
