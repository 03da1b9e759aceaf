package agentfield_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/memory"
	"github.com/stretchr/testify/require"
)

// holds checks that the key "k" of a scope has that value and a vector, or neither.
func holds(t *testing.T, b *backend, scope MemoryScope, id string, want any) {
	t.Helper()
	v, found, err := b.Get(t.Context(), scope, id, "k")
	require.NoError(t, err)
	require.Equal(t, want, v)
	require.Equal(t, want != nil, found)
	_, metadata, found, err := b.GetVector(t.Context(), scope, id, "k")
	require.NoError(t, err)
	require.Equal(t, want, metadata["v"])
	require.Equal(t, want != nil, found)
}

func fill(t *testing.T, b *backend, scope MemoryScope, id string, v any) {
	t.Helper()
	require.NoError(t, b.Set(t.Context(), scope, id, "k", v))
	require.NoError(t, b.SetVector(t.Context(), scope, id, "k", []float64{1}, map[string]any{"v": v}))
}

func TestScopesDoNotCollide(t *testing.T) {
	b := newBackend(nil)
	pairs := [][2]string{{"a:b", "c"}, {"a", "b:c"}, {"a", ""}, {"", "a"}, {"", ""}, {"a\x00", "b"}, {"a", "\x00b"}, {"a", "values"}, {"values", "a"}, {"a/b", "c"}, {"a", "b/c"}}
	for i, p := range pairs {
		fill(t, b, MemoryScope(p[0]), p[1], i)
	}
	for i, p := range pairs {
		holds(t, b, MemoryScope(p[0]), p[1], i)
		keys, err := b.List(t.Context(), MemoryScope(p[0]), p[1])
		require.NoError(t, err)
		require.Equal(t, []string{"k"}, keys)
	}
	for i, p := range pairs {
		b.ClearScope(MemoryScope(p[0]), p[1])
		for j, p := range pairs {
			if j > i {
				holds(t, b, MemoryScope(p[0]), p[1], j)
			} else {
				holds(t, b, MemoryScope(p[0]), p[1], nil)
			}
		}
	}
}

func TestClear(t *testing.T) {
	b := newBackend(nil)
	require.NoError(t, errOf(b.Memory().Space("mine").Put("k", "kept")))
	fill(t, b, session, "s", 1)
	fill(t, b, user, "u", 2)
	before := b.Memory().Load()
	b.ClearScope(session, "s")
	holds(t, b, session, "s", nil)
	holds(t, b, user, "u", 2)
	require.Equal(t, before.Version()+1, b.Memory().Load().Version(), "one commit")
	fill(t, b, session, "s", 3)
	before = b.Memory().Load()
	b.Clear()
	holds(t, b, session, "s", nil)
	holds(t, b, user, "u", nil)
	require.Equal(t, before.Version()+1, b.Memory().Load().Version(), "one commit")
	v, _ := b.Memory().Space("mine").Get("k")
	require.Equal(t, "kept", v.Any())
	b.Clear()
	b.ClearScope(session, "unknown")
}

func TestTheMemoryIsThere(t *testing.T) {
	m := memory.New(memory.Options{})
	b := newBackend(m)
	require.Same(t, m, b.Memory())
	require.NotNil(t, newBackend(nil).Memory())
	fill(t, b, session, "s", "old")
	snapshot := m.Load()
	fork := newBackend(m.Fork(snapshot))
	fill(t, b, session, "s", "new")

	v, _ := snapshot.Space("agentfield", "session", "s", "values").Get("k")
	require.Equal(t, "old", v.Any())
	e, ok := snapshot.Space("agentfield", "session", "s", "vectors").Entry("k")
	require.True(t, ok)
	require.Equal(t, map[string]any{"v": "old"}, e.Metadata.Any())
	holds(t, fork, session, "s", "old")
	holds(t, newBackend(m), session, "s", "new")
}

func TestLimitsOfTheMemory(t *testing.T) {
	b := newBackend(memory.New(memory.Options{MaxBytes: 1 << 12}))
	require.ErrorIs(t, b.Set(t.Context(), session, "s", "k", make([]byte, 1<<13)), memory.ErrFull)
	for i := range 100 {
		require.NoError(t, b.Set(t.Context(), session, "s", fmt.Sprint(i), i))
	}
	keys, err := b.List(t.Context(), session, "s")
	require.NoError(t, err)
	require.Less(t, len(keys), 50)
	require.NotEmpty(t, keys)
}

func TestTheZeroBackendPanics(t *testing.T) {
	var b backend
	require.Panics(t, func() { _ = b.Set(t.Context(), session, "s", "k", 1) })
	require.Panics(t, func() { _, _, _ = b.Get(t.Context(), session, "s", "k") })
	require.Panics(t, b.Clear)
}

// Writers replace a value, and a vector with its metadata; what a reader finds
// belongs together, and nothing is lost.
func TestConcurrentUse(t *testing.T) {
	const writers, rounds = 4, 100
	ctx := context.Background()
	b := newBackend(nil)
	failed := make(chan error, 2*writers+1)
	var writing, all sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for i := range rounds {
				v := []int{w, i}
				err := b.Set(ctx, session, "s", "shared", map[string]any{"a": v, "b": v})
				v[0] = -1 // nobody sees it
				if err == nil {
					err = b.SetVector(ctx, session, "s", "shared", []float64{float64(w + 1), float64(i)}, map[string]any{"w": w + 1, "i": i})
				}
				if err == nil {
					err = b.Set(ctx, session, "s", fmt.Sprintf("%d/%d", w, i), i)
				}
				if err == nil {
					err = b.Set(ctx, user, fmt.Sprint(w), fmt.Sprint(i), i)
				}
				if i == rounds/2 {
					b.ClearScope(user, fmt.Sprint(w))
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := consistent(ctx, b); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	all.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	require.NoError(t, consistent(ctx, b))
	for w := range writers {
		for i := range rounds {
			v, found, err := b.Get(ctx, session, "s", fmt.Sprintf("%d/%d", w, i))
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, i, v)
		}
		keys, err := b.List(ctx, user, fmt.Sprint(w))
		require.NoError(t, err)
		require.Len(t, keys, rounds-rounds/2-1, "what was put after the scope was cleared")
	}
	keys, err := b.List(ctx, session, "s")
	require.NoError(t, err)
	require.Len(t, keys, writers*rounds+1)
	v, _, err := b.Get(ctx, session, "s", "shared")
	require.NoError(t, err)
	require.Equal(t, rounds-1, v.(map[string]any)["a"].([]int)[1], "each writer wrote its last round last")
}

// consistent returns an error if what is found at "shared" is not what one writer
// put, and modifies all it was given.
func consistent(ctx context.Context, b *backend) error {
	v, found, err := b.Get(ctx, session, "s", "shared")
	if err != nil {
		return err
	}
	if found {
		m := v.(map[string]any)
		a, b := m["a"].([]int), m["b"].([]int)
		if a[0] < 0 || a[0] != b[0] || a[1] != b[1] {
			return fmt.Errorf("torn value: %v", m)
		}
		a[0], b[0], m["a"] = -1, -2, nil
	}
	embedding, metadata, found, err := b.GetVector(ctx, session, "s", "shared")
	if err != nil {
		return err
	}
	if found {
		if embedding[0] != float64(metadata["w"].(int)) || embedding[1] != float64(metadata["i"].(int)) {
			return fmt.Errorf("torn vector: %v, %v", embedding, metadata)
		}
		embedding[0], metadata["w"] = -1, -1
	}
	results, err := b.SearchVector(ctx, session, "s", []float64{1, 1}, SearchOptions{})
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Metadata["w"].(int) < 1 {
			return fmt.Errorf("spoiled metadata: %v", r.Metadata)
		}
		r.Metadata["w"] = -1
	}
	return nil
}

// errOf returns the error of a write.
func errOf(_ uint64, err error) error { return err }
