package memory_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/memory"
)

// A listener is a hook that takes down searches and evictions.
type listener struct {
	searches  []hook.Search
	contexts  []any
	evictions []hook.Removal
	does      func()
}

type asked struct{}

func (l *listener) OnSearched(ctx context.Context, s hook.Search) {
	l.searches, l.contexts = append(l.searches, s), append(l.contexts, ctx.Value(asked{}))
	if l.does != nil {
		l.does()
	}
}

func (l *listener) OnEvicted(_ context.Context, r hook.Removal) {
	l.evictions = append(l.evictions, r)
	if l.does != nil {
		l.does()
	}
}

func TestHooksAreToldOfSearches(t *testing.T) {
	embed := func(_ context.Context, texts []string) ([][]float32, error) { return [][]float32{{1, 0}}, nil }
	m := memory.New(memory.Options{Embed: embed})
	notes := m.Space("notes")
	_, err := notes.PutItem("a", memory.Item{Value: "the cat sat", Vector: []float32{1, 0}})
	require.NoError(t, err)
	_, err = notes.PutItem("b", memory.Item{Value: "the dog ran", Vector: []float32{0, 1}})
	require.NoError(t, err)
	l := new(listener)
	remove := m.DB().AddHook(l)

	_, err = notes.Search(memory.Query{Text: "cat"})
	require.NoError(t, err)
	_, err = notes.Load().Search(memory.Query{Vector: []float32{1, 0}, K: 1})
	require.NoError(t, err)
	_, err = m.Space().Search(memory.Query{Text: "dog", Vector: []float32{0, 1}, Below: true})
	require.NoError(t, err)
	_, err = notes.Search(memory.Query{})
	require.ErrorIs(t, err, memory.ErrQuery)
	_, err = notes.Recall(context.WithValue(t.Context(), asked{}, "request"), "cat", memory.Query{})
	require.NoError(t, err)
	want := []hook.Search{
		{Kind: "text", Hits: 1, Candidates: 2},
		{Kind: "vector", Hits: 1, Candidates: 2},
		{Kind: "both", Hits: 2, Candidates: 4},
		{Kind: "text", Err: err},
		{Kind: "both", Hits: 2, Candidates: 4},
	}
	require.Len(t, l.searches, len(want))
	for i, s := range l.searches {
		require.Positive(t, s.Duration)
		s.Duration = 0
		if i == 3 {
			require.ErrorIs(t, s.Err, memory.ErrQuery)
			continue
		}
		require.Equal(t, want[i], s)
	}
	require.Equal(t, []any{nil, nil, nil, nil, "request"}, l.contexts)

	l.does = func() { // which is not told, or it would never end
		_, err := notes.Search(memory.Query{Text: "cat"})
		require.NoError(t, err)
		_, err = notes.Put("c", "from a hook")
		require.NoError(t, err)
	}
	_, err = notes.Search(memory.Query{Text: "cat"})
	require.NoError(t, err)
	require.Len(t, l.searches, 6)
	remove()
	_, err = notes.Search(memory.Query{Text: "cat"})
	require.NoError(t, err)
	require.Len(t, l.searches, 6)
}

func TestHooksAreToldOfEvictions(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 3})
	l := new(listener)
	l.does = func() { // nothing is locked
		_, err := m.Space("evicted").Put("last", len(l.evictions))
		require.NoError(t, err)
	}
	m.DB().AddHook(l)
	s := m.Space("s")
	for _, key := range []string{"a", "b", "c"} {
		_, err := s.Put(key, 1)
		require.NoError(t, err)
	}
	require.Empty(t, l.evictions)
	_, err := s.Put("d", 1)
	require.NoError(t, err)
	require.Equal(t, []hook.Removal{{Rows: 1}}, l.evictions)
	require.Equal(t, 3, m.Load().Len())
}
