package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

func TestDocumentation(t *testing.T) {
	texts := []recall.Text{{"1", "Search returns hits that match words"}, {"2", "Search returns hits that match words"}, {"3", "searches returned hit matches word"}, {"4", "too short"}}
	c := recall.Documentation(texts, 10)
	require.Len(t, c.Texts, 3)
	require.Equal(t, c, recall.Documentation(texts, 10))
	require.Len(t, c.Held, 1, "of two")
	require.NotContains(t, c.Held[0].Text+" ", "search ", "another form of the word")
	require.NotContains(t, c.Held[0].Text+" ", "match ", "another form of the word")
}

// What is found stays as good as it is: parts of the queries that nothing was tuned
// with, found among the first ten, by words, by vectors and by both, which find more
// than either. The bars of package main have bleve beside it.
func TestSearchFinds(t *testing.T) {
	for language, want := range map[string][3]float64{
		"en": {0.7880, 0.7326, 0.7974}, "fr": {0.8612, 0.8171, 0.8659}, "de": {0.7817, 0.7949, 0.8119},
	} {
		if testing.Short() && language != "fr" {
			continue
		}
		c := recall.Verses(language)
		require.Greater(t, len(c.Texts), 2_000)
		analyzer, err := text.Language(language)
		require.NoError(t, err)
		embed := recall.Embedder(c.Texts)
		s := memory.New(memory.Options{Analyzer: analyzer}).Space("verses")
		for _, v := range c.Texts {
			_, err := s.PutItem(v.Key, memory.Item{Value: v.Text, Vector: embed(v.Text)})
			require.NoError(t, err)
		}
		found := func(query func(q string) memory.Query) float64 {
			return recall.Recall(c.Held, func(q string) (keys []string) {
				hits, err := s.Search(query(q))
				require.NoError(t, err)
				for _, h := range hits {
					keys = append(keys, h.Key)
				}
				return keys
			})
		}
		words := found(func(q string) memory.Query { return memory.Query{Text: q} })
		vectors := found(func(q string) memory.Query { return memory.Query{Vector: embed(q)} })
		both := found(func(q string) memory.Query { return memory.Query{Text: q, Vector: embed(q)} })
		require.InDeltaSlice(t, want[:], []float64{words, vectors, both}, 0.001, language)
		require.Greater(t, both, max(words, vectors), language)
	}
}
