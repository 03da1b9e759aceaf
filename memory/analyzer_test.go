package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

func TestWordsAreThoseOfTheAnalyzer(t *testing.T) {
	french, err := text.Language("fr")
	require.NoError(t, err)
	for _, c := range []struct {
		analyzer     *text.Analyzer
		stored, find string
		found        bool
	}{
		{nil, "Two horses", "horse", true},
		{nil, "Caroline's tea", "caroline", true},
		{text.Plain(), "Two horses", "horse", false},
		{text.Plain(), "Two horses", "HORSES", true},
		{french, "les chevaux mangeaient", "manger", true},
		{nil, "les chevaux mangeaient", "manger", false},
	} {
		s := memory.New(memory.Options{Analyzer: c.analyzer}).Space("s")
		_, err := s.Put("k", c.stored)
		require.NoError(t, err)
		hits, err := s.Search(memory.Query{Text: c.find})
		require.NoError(t, err)
		require.Equal(t, c.found, len(hits) == 1, "%v: %q by %q", c.analyzer, c.stored, c.find)
	}
}
