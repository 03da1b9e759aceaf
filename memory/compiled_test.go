package memory_test

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package that uses a Memory does not compile its tables: see tablesOf.
func TestTablesAreCompiledOnce(t *testing.T) {
	args := []string{"list", "-export", "-f", "{{.Export}}"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings { // with which the package has been built
			if s.Key == "-race" || s.Key == "-gcflags" {
				args = append(args, s.Key+"="+s.Value)
			}
		}
	}
	compiled := func(path string) (symbols string) {
		archive, err := exec.Command("go", append(args, path)...).Output()
		require.NoError(t, err)
		out, err := exec.Command("go", "tool", "nm", strings.TrimSpace(string(archive))).Output()
		require.NoError(t, err)
		return string(out)
	}
	const method = "cow.(*Table["
	require.Contains(t, compiled("./internal/derive"), method)
	for line := range strings.Lines(compiled("./examples/agent")) {
		if strings.Contains(line, method) && !strings.Contains(line, " U ") {
			require.Fail(t, "compiled once more", line)
		}
	}
}
