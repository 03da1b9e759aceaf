package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of the README do what is told there, one after the other, but for those that
// serve, whose flags are looked at.
func TestTheReadmesCommands(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	home := t.TempDir()
	t.Chdir(home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	require.NoError(t, os.WriteFile("memory.jsonl", []byte(`{"type":"entity","name":"A","entityType":"x","observations":["1"]}`+"\n"), 0o600))
	var ran []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(readme, -1) {
		for line := range strings.Lines(string(block[1])) {
			line, _, _ = strings.Cut(line, " #")
			_, line, ok := strings.Cut(strings.TrimSpace(line), "cowmemory ")
			if !ok || strings.HasPrefix(line, "./cowmemory") || strings.HasPrefix(line, "\"") {
				continue
			}
			line, to, _ := strings.Cut(line, " > ")
			args := strings.Fields(strings.ReplaceAll(line, "~/.aim/", ""))
			var in, out, stderr bytes.Buffer
			ran = append(ran, args[0])
			switch args[0] {
			case "-http", "-embed-url", "-erase":
				name, _, err := (&config{err: &stderr}).parse(args)
				require.NoError(t, err, line)
				require.Contains(t, []string{"", "inspect"}, name, "it serves")
				continue
			}
			require.NoError(t, run(t.Context(), args, &in, &out, &stderr), "%s: %s", line, stderr.String())
			require.NotEmpty(t, out.String(), line)
			if to != "" {
				require.NoError(t, os.WriteFile(strings.TrimSpace(to), out.Bytes(), 0o600))
			}
		}
	}
	require.Equal(t, []string{"import", "-http", "-http", "-embed-url", "inspect", "check", "export", "export", "import", "compact", "-erase"}, ran)
	if runtime.GOOS != "windows" {
		require.FileExists(t, filepath.Join(home, "data", "cowmemory", "memory.cow"))
	}
}
