package bolt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who may write a file, but not give it to its owner, cannot write it anew, and leaves it as
// it was.
func TestAnOwnerThatCannotBeKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of somebody else")
	}
	for what := range rewrites {
		dir, err := os.MkdirTemp("", "owner") // whose parents others may enter
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "db")
		closedFile(t, path)
		require.NoError(t, os.Chmod(dir, 0o777))
		require.NoError(t, os.Chown(path, 1234, 1234))
		require.NoError(t, os.Chmod(path, 0o666))
		was, err := os.Stat(path)
		require.NoError(t, err)
		bytes, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.Join(runChild(t, "rewrite "+path+" "+what, 0)[0], " ")
		require.Contains(t, lines, "cannot be kept", what)
		require.Contains(t, lines, "operation not permitted", what)
		is, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(was, is))
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, bytes, now, "it stays as it was")
		requireAlone(t, path)
	}
}
