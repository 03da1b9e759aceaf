package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// The tests are the command, too.
const child = "TEST_CHILD_OF_COWMEMORY"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command runs the command in this process, and returns what it writes.
func command(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var out, stderr bytes.Buffer
	err := run(t.Context(), args, strings.NewReader(in), &out, &stderr)
	return out.String(), err
}

func must(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, err := command(t, in, args...)
	require.NoError(t, err)
	return out
}

// A process is a server, with a client.
type process struct {
	*sdk.ClientSession
	cmd *exec.Cmd
}

func start(t *testing.T, args ...string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stderr = os.Stderr
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return process{c, cmd}
}

func (p process) call(t *testing.T, tool string, args any) string {
	t.Helper()
	r, err := p.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	text := r.Content[0].(*sdk.TextContent).Text
	require.False(t, r.IsError, text)
	return text
}

func TestAFileComesGoesAndIsChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder", "m.cow")
	graph := `{"type":"entity","name":"A","entityType":"x","observations":["1"]}
{"type":"relation","from":"A","to":"B","relationType":"r"}
`
	require.Equal(t, "1 entities and 1 relations are new; 0 were there already\n", must(t, graph, "-file", path, "import", "-"))
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(graph), 0o600))
	require.Equal(t, "0 entities and 0 relations are new; 2 were there already\n", must(t, "", "-file", path, "import", file))
	require.Equal(t, graph, must(t, "", "-file", path, "export"))
	require.Empty(t, must(t, "", "-file", path, "-namespace", "other", "export"))
	require.Contains(t, must(t, "", "-file", path, "inspect"), `namespace "": 1 entities, 1 relations, 0 notes`)
	require.Contains(t, must(t, "", "-file", path, "check"), "nothing is damaged")
	require.Contains(t, must(t, "", "-file", path, "compact"), "bytes")
	all := must(t, "", "-file", path, "export", "-all")
	other := filepath.Join(t.TempDir(), "m.cow")
	must(t, all, "-file", other, "import", "-all", "-")
	require.Equal(t, graph, must(t, "", "-file", other, "export"))
	require.Contains(t, must(t, "", "version"), "cowmemory")
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Dir(path))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		info, err = os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	for want, args := range map[string][]string{
		"there is no command \"explode\"": {"explode"},
		"not defined":                     {"-explode"},
		"no such file":                    {"-file", path + ".none", "inspect"},
		"import one file":                 {"-file", path, "import"},
		"go together":                     {"-memory", "-file", path},
		"is for a server":                 {"-memory", "export"},
		"line 2: ":                        {"-file", path, "import", "-"},
		"set a token":                     {"-memory", "-http", ":0"},
		"the token":                       {"-memory", "-http", "127.0.0.1:0", "-token-file", path + ".token"},
		"flags go before it":              {"inspect", "-file", path},
		"without -embed-url":              {"-memory", "-embed-model", "m"},
		"there is no model":               {"-memory", "-embed-url", "http://localhost:1/v1"},
		"http to another machine would":   {"-memory", "-embed-url", "http://example.com/v1", "-embed-model", "m"},
		"send that to a file":             {"-file", path, "export", "out"},
	} {
		_, err := command(t, "\n{", args...)
		require.ErrorContains(t, err, want, args)
	}
}

func TestATokenIsNotEmpty(t *testing.T) {
	t.Setenv("COWMEMORY_TOKEN", " \n")
	_, err := command(t, "", "-memory", "-http", "127.0.0.1:0")
	require.ErrorContains(t, err, "COWMEMORY_TOKEN is set, and empty")
}

func TestTheFileIsInTheUsersFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	p := start(t)
	p.call(t, "remember", map[string]any{"text": "hello", "key": "k"})
	require.NoError(t, p.Close())
	require.Contains(t, must(t, "", "-file", filepath.Join(home, "cowmemory", "memory.cow"), "inspect"), "1 notes")
}

// With -erase there is the tool, also in a process that has joined another. Check says that free
// pages have what was erased, until compact has run.
func TestEraseAndCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	owner, joined := start(t, "-file", path), start(t, "-file", path, "-erase")
	owner.call(t, "remember", map[string]any{"key": "k", "text": "marker7193"})
	_, err := owner.CallTool(t.Context(), &sdk.CallToolParams{Name: "erase", Arguments: map[string]any{"key": "k"}})
	require.Error(t, err)
	require.Contains(t, joined.call(t, "erase", map[string]any{"key": "k"}), `"erased":true`)
	require.NoError(t, joined.Close())
	require.NoError(t, owner.Close())
	require.Contains(t, must(t, "", "-file", path, "check"), "compact writes the file without it")
	must(t, "", "-file", path, "compact")
	require.NotContains(t, must(t, "", "-file", path, "check"), "erased")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(b), "marker7193")
}

// Who subscribes in one process is told what another has written, before and after the one
// that has the file is killed.
func TestSubscribersOfOtherProcessesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	owner, writer := start(t, "-file", path), start(t, "-file", path)
	told := make(chan string, 1000)
	cmd := exec.Command(os.Args[0], "-file", path)
	cmd.Env = append(os.Environ(), child+"=1")
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
	}).Connect(t.Context(), &sdk.CommandTransport{Command: cmd},
		// Later protocols do not wait until a subscription has begun.
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	const graph = "memory://knowledge-graph"
	require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: graph}))
	for n := range 4 {
		if n == 2 {
			require.NoError(t, owner.cmd.Process.Kill())
		}
		writer.call(t, "create_entities", map[string]any{"entities": []any{
			map[string]any{"name": fmt.Sprint(n), "entityType": "x", "observations": []string{}},
		}})
		select {
		case uri := <-told:
			require.Equal(t, graph, uri)
		case <-time.After(time.Minute):
			require.FailNow(t, "nobody was told")
		}
	}
}

// Clients of two processes create at once, while the one that has the file is killed and
// another comes: what was acknowledged is there, once.
func TestProcessesTogetherLoseNothing(t *testing.T) {
	clients, creates := 20, 1000
	if testing.Short() {
		clients, creates = 8, 40
	}
	path := filepath.Join(t.TempDir(), "m.cow")
	first, second := start(t, "-file", path), start(t, "-file", path)
	var mu sync.Mutex
	acknowledged := make(map[string]int)
	kill := rand.IntN(clients*creates/2) + 1
	var killed sync.Once
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			p := []process{first, second}[n%2]
			for i := range creates {
				name := fmt.Sprintf("%d of %d", i, n)
				r, err := p.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_entities", Arguments: map[string]any{"entities": []any{
					map[string]any{"name": name, "entityType": "x", "observations": []string{}},
				}}})
				if err != nil && n%2 == 0 {
					return // it was killed
				}
				if err != nil || r.IsError {
					t.Errorf("create %s: %v", name, err)
					return
				}
				b, _ := json.Marshal(r.StructuredContent)
				mu.Lock()
				acknowledged[name] = strings.Count(string(b), "name")
				enough := len(acknowledged) >= kill
				mu.Unlock()
				if enough {
					killed.Do(func() { _ = first.cmd.Process.Kill() })
				}
			}
		})
	}
	all.Wait()
	for name, made := range acknowledged {
		require.Equal(t, 1, made, "%s was done again, and was there already", name)
	}
	third := start(t, "-file", path)
	var g struct{ Entities []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(third.call(t, "read_graph", nil)), &g))
	there := make(map[string]bool)
	for _, e := range g.Entities {
		require.False(t, there[e.Name], "%s is there twice", e.Name)
		there[e.Name] = true
	}
	for name := range acknowledged {
		require.True(t, there[name], "%s is lost", name)
	}
	require.NoError(t, second.Close())
	third.call(t, "create_entities", map[string]any{"entities": []any{}})
	_, err := command(t, "", "-file", path, "check")
	require.ErrorContains(t, err, "end the server")
	require.NoError(t, third.Close())
	require.Contains(t, must(t, "", "-file", path, "check"), "nothing is damaged")
}
