package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
)

// The figures in the README are those of the committed report, of a commit that is
// named and was not changed.
func TestReadmeHasTheFiguresOfTheReport(t *testing.T) {
	r, err := read(filepath.Join("results", "report.json"), result.Read)
	require.NoError(t, err)
	require.False(t, r.Interrupted)
	require.False(t, r.Host.Modified)
	require.Len(t, r.Host.Commit, 40)
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	want, err := r.Fill(string(text))
	require.NoError(t, err)
	require.Equal(t, want, string(text), "go run . -out results -readme ../README.md puts them in")
	for _, marker := range []string{"host", "workload docs", "bars reads"} {
		require.Contains(t, want, "<!-- figures: "+marker)
	}
	for _, picture := range []string{"ycsb-b-230-b-ops.png", "report.html"} {
		require.FileExists(t, filepath.Join("results", picture))
	}
}
