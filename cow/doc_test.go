package cow_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The way of a commit leads through files that are there.
func TestTheWayOfACommitNamesFiles(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	files := regexp.MustCompile(`[\w/]+\.go`).FindAllString(string(text), -1)
	require.Greater(t, len(files), 8)
	for _, file := range files {
		_, err := os.Stat(file)
		require.NoError(t, err, "doc.go names it")
	}
}
