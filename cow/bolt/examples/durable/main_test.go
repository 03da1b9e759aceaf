package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShowFindsWhatIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l, err := open(path)
	require.NoError(t, err)
	for i := range 100 {
		_, err := l.transfer("a", i%3, i%5, i)
		require.NoError(t, err)
	}
	require.NoError(t, l.db.Close())
	require.NoError(t, show(path, map[string]int{"a": 100}, 1, 100))
	require.ErrorContains(t, show(path, map[string]int{"a": 101}, 1, 101), "the file has 100")
}
