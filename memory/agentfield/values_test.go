package agentfield_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/stretchr/testify/require"
)

type level int

type profile struct {
	Name  string
	Tags  []string
	Next  *profile
	inner map[string][]byte
}

// nested returns the same value each time, with nothing in common.
func nested() map[string]any {
	return map[string]any{
		"nil": nil, "int": 1, "float": 1.0, "level": level(2), "duration": time.Minute, "time": time.Unix(1, 2).UTC(),
		"strings": []string{"a", "b"}, "bytes": []byte("raw"), "list": []any{1, map[string]any{"deep": []any{"x"}}},
		"typed": map[string][]int{"k": {1, 2}}, "by int": map[int]string{3: "c"}, "array": [2]bool{true, false},
		"nil list": []string(nil), "empty": []any{}, "empty map": map[string]any{},
		"profile": profile{"a", []string{"t"}, &profile{Name: "next"}, map[string][]byte{"k": []byte("v")}},
		"pointer": &profile{Name: "p", Tags: []string{"q"}},
	}
}

// spoil writes to much of what nested returns.
func spoil(m map[string]any) {
	m["strings"].([]string)[0] = "spoiled"
	m["bytes"].([]byte)[0] = '!'
	m["list"].([]any)[1].(map[string]any)["deep"].([]any)[0] = "spoiled"
	m["list"].([]any)[0] = -1
	m["typed"].(map[string][]int)["k"][1] = -1
	m["by int"].(map[int]string)[3] = "spoiled"
	m["profile"].(profile).Tags[0] = "spoiled"
	m["profile"].(profile).Next.Name = "spoiled"
	m["profile"].(profile).inner["k"][0] = '!'
	m["pointer"].(*profile).Tags = append(m["pointer"].(*profile).Tags[:0], "spoiled")
	m["pointer"].(*profile).Name = "spoiled"
	m["empty map"].(map[string]any)["new"] = "spoiled"
	delete(m, "int")
	m["new"] = "spoiled"
}

func TestSetAndGet(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	for range 2 {
		require.NoError(t, b.Set(ctx, session, "s", "k", "value"))
		v, found, err := b.Get(ctx, session, "s", "k")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, "value", v)
	}
	require.NoError(t, b.Set(ctx, session, "s", "k", 2))
	v, _, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, 2, v, "after it was replaced")
}

func TestAMissingKey(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "other", 1))
	for _, id := range []string{"s", "unknown"} {
		v, found, err := b.Get(ctx, session, id, "missing")
		require.NoError(t, err)
		require.False(t, found)
		require.Nil(t, v)
		require.NoError(t, b.Delete(ctx, session, id, "missing"))
	}
}

func TestNilIsAValue(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	for _, nothing := range []any{nil, memory.Value{}} {
		require.NoError(t, b.Set(ctx, session, "s", "k", nothing))
		v, found, err := b.Get(ctx, session, "s", "k")
		require.NoError(t, err)
		require.True(t, found)
		require.Nil(t, v)
		require.NoError(t, b.Delete(ctx, session, "s", "k"))
	}
}

func TestTypesComeBack(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "all", nested()))
	v, _, err := b.Get(ctx, session, "s", "all")
	require.NoError(t, err)
	require.Equal(t, nested(), v)
	for name, in := range nested() {
		require.NoError(t, b.Set(ctx, session, "s", name, in), name)
		v, found, err := b.Get(ctx, session, "s", name)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, in, v, name)
	}
	frozen, err := memory.Freeze([]string{"a"})
	require.NoError(t, err)
	require.NoError(t, b.Set(ctx, session, "s", "k", frozen))
	v, _, err = b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, v)
}

func TestCallersAndReadersModifyOnlyTheirOwn(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	in := nested()
	require.NoError(t, b.Set(ctx, session, "s", "k", in))
	require.Equal(t, nested(), in, "the backend modified the caller's value")
	spoil(in)
	held, _, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	for range 2 {
		v, _, err := b.Get(ctx, session, "s", "k")
		require.NoError(t, err)
		require.Equal(t, nested(), v)
		spoil(v.(map[string]any))
	}
	require.Equal(t, nested(), held, "one reader modified what another was given")
}

func TestChannelsAndFunctionsPassThrough(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	c := make(chan string, 1)
	get := func(v any) any {
		t.Helper()
		require.NoError(t, b.Set(ctx, session, "s", "k", v))
		v, found, err := b.Get(ctx, session, "s", "k")
		require.NoError(t, err)
		require.True(t, found)
		return v
	}
	require.Equal(t, c, get(c))
	get(c).(chan string) <- "sent"
	require.Equal(t, "sent", <-c)
	require.Equal(t, "called", get(func() string { return "called" }).(func() string)())
	require.Equal(t, map[string]any{"c": c, "list": []any{c, []chan string{c}}}, get(map[string]any{"c": c, "list": []any{c, []chan string{c}}}))
	type job struct {
		Done chan string
		Do   func() string
	}
	out := get([]job{{c, func() string { return "did" }}, {}}).([]job)
	require.Equal(t, c, out[0].Done)
	require.Equal(t, "did", out[0].Do())
	require.Equal(t, job{}, out[1])
}

func TestValuesThatCannotBeStored(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "k", "before"))
	version := b.Memory().Load().Version()
	cycle := map[string]any{}
	cycle["list"] = []any{cycle}
	type linked struct{ Next *linked }
	self := new(linked)
	self.Next = self
	for _, c := range []struct {
		value any
		err   error
	}{
		{cycle, value.ErrCycle}, {self, value.ErrCycle}, {math.NaN(), value.ErrUnsupported}, {[]any{math.Inf(1)}, value.ErrUnsupported},
		{map[float64]int{1: 1}, value.ErrUnsupported}, {&struct{ mu sync.Mutex }{}, value.ErrUnsupported},
	} {
		err := b.Set(ctx, session, "s", "k", c.value)
		require.ErrorIs(t, err, c.err)
		var of *memory.KeyError
		require.ErrorAs(t, err, &of)
		require.Equal(t, "k", of.Key)
	}
	v, _, err := b.Get(ctx, session, "s", "k")
	require.NoError(t, err)
	require.Equal(t, "before", v)
	require.Equal(t, version, b.Memory().Load().Version(), "nothing was published")
}

func TestDelete(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	require.NoError(t, b.Set(ctx, session, "s", "a", 1))
	require.NoError(t, b.Set(ctx, session, "s", "b", 2))
	require.NoError(t, b.Delete(ctx, session, "s", "a"))
	_, found, err := b.Get(ctx, session, "s", "a")
	require.NoError(t, err)
	require.False(t, found)
	keys, err := b.List(ctx, session, "s")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, keys)
}

func TestList(t *testing.T) {
	ctx := t.Context()
	b := newBackend(nil)
	keys, err := b.List(ctx, session, "unknown")
	require.NoError(t, err)
	require.Nil(t, keys)
	for _, k := range []string{"c", "a", "é", "b", "", "a\x00", "B"} {
		require.NoError(t, b.Set(ctx, session, "s", k, k))
	}
	require.NoError(t, b.SetVector(ctx, session, "s", "vector only", []float64{1}, nil))
	for range 2 {
		keys, err := b.List(ctx, session, "s")
		require.NoError(t, err)
		require.Equal(t, []string{"", "B", "a", "a\x00", "b", "c", "é"}, keys)
		keys[0] = "spoiled"
	}
	keys, err = b.List(ctx, session, "other")
	require.NoError(t, err)
	require.Nil(t, keys)
}

func TestADoneContext(t *testing.T) {
	b := newBackend(nil)
	require.NoError(t, b.Set(t.Context(), session, "s", "k", 1))
	require.NoError(t, b.SetVector(t.Context(), session, "s", "k", []float64{1}, map[string]any{"a": 1}))
	version := b.Memory().Load().Version()

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	for ctx, want := range map[context.Context]error{canceled: context.Canceled, late: context.DeadlineExceeded} {
		require.ErrorIs(t, b.Set(ctx, session, "s", "k", 2), want)
		v, found, err := b.Get(ctx, session, "s", "k")
		require.ErrorIs(t, err, want)
		require.False(t, found)
		require.Nil(t, v)
		require.ErrorIs(t, b.Delete(ctx, session, "s", "k"), want)
		keys, err := b.List(ctx, session, "s")
		require.ErrorIs(t, err, want)
		require.Nil(t, keys)
		require.ErrorIs(t, b.SetVector(ctx, session, "s", "k", []float64{2}, nil), want)
		embedding, metadata, found, err := b.GetVector(ctx, session, "s", "k")
		require.ErrorIs(t, err, want)
		require.False(t, found)
		require.Nil(t, embedding)
		require.Nil(t, metadata)
		results, err := b.SearchVector(ctx, session, "s", []float64{1}, SearchOptions{})
		require.ErrorIs(t, err, want)
		require.Nil(t, results)
		require.ErrorIs(t, b.DeleteVector(ctx, session, "s", "k"), want)
	}
	require.Equal(t, version, b.Memory().Load().Version(), "nothing was done")
}
