package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

func TestSmoke(t *testing.T) {
	m := memory.New(memory.Options{})
	notes := m.Space("user", "42", "notes")
	require.NoError(t, notes.Put("a", map[string]any{"text": "the quick brown fox", "n": 1}))
	require.NoError(t, notes.PutVector("a", []float32{1, 0}, map[string]any{"lang": "en"}))
	require.NoError(t, notes.PutItem("b", memory.Item{Value: "lazy dog", Vector: []float32{0, 1}, TTL: time.Hour}))
	v, ok := notes.Get("a")
	require.True(t, ok)
	require.Equal(t, "the quick brown fox", v.Path("text").String())
	hits, err := notes.Search([]float32{1, 0.1}, memory.SearchOptions{})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	require.Equal(t, "a", hits[0].Key)
	hits, err = notes.SearchText("dogs dog", memory.SearchOptions{})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, "b", hits[0].Key)
	hits, err = notes.SearchBoth([]float32{1, 0.1}, "fox", memory.SearchOptions{Filter: memory.Meta("lang").Eq("en")})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	t.Log(b.String())
	n := memory.New(memory.Options{MaxEntries: 1})
	_, err = n.Import(strings.NewReader(b.String()))
	require.ErrorIs(t, err, memory.ErrFull)
	n = memory.New(memory.Options{MaxEntries: 2})
	_, err = n.Import(strings.NewReader(b.String()))
	require.NoError(t, err)
	require.NoError(t, n.Space("x").Put("c", 1))
	require.Equal(t, 2, n.Load().Len())
	var spaces [][]string
	for p := range n.Load().Spaces(memory.SpacesOptions{}) {
		spaces = append(spaces, p)
	}
	require.Equal(t, [][]string{{"user", "42", "notes"}, {"x"}}, spaces)
	f := m.Fork(m.Load())
	base := m.Load()
	require.NoError(t, f.Space("user", "42", "notes").PutVector("c", []float32{3, 4}, nil))
	_, err = m.Merge(base, f.Load(), nil)
	require.NoError(t, err)
	vec, ok := notes.Vector("c")
	require.True(t, ok)
	require.Equal(t, []float32{3, 4}, vec)
	m.Retain(cow.Retention{Versions: 10})
	require.Zero(t, testing.AllocsPerRun(100, func() { notes.Get("a") }))
	require.Equal(t, 3, m.Space("user").ClearAll())
	require.Zero(t, m.Load().Len())
}

func BenchmarkGet(b *testing.B) {
	m := memory.New(memory.Options{})
	s := m.Space("user", "42", "notes")
	for _, k := range []string{"a", "b", "c"} {
		_ = s.Put(k, map[string]any{"a": 1, "b": 2})
	}
	for b.Loop() {
		v, _ := s.Get("b")
		_ = v.Key("a").Int()
	}
}
