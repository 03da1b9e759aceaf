package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

const (
	waitFor = 30 * time.Second
	tick    = 5 * time.Millisecond
)

// The tests are a server themselves, for the transport that needs a process.
const childFile = "COWMEMORY_TEST_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		s, err := mcp.Open(path, mcp.Options{})
		if err == nil {
			if err = s.ServeStdio(context.Background()); err == nil {
				err = s.Close()
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t testing.TB, path string, o mcp.Options) *mcp.Server {
	t.Helper()
	s, err := mcp.Open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// connect returns a client of a server in this process.
func connect(t testing.TB, s *mcp.Server, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return connectAs(t, s, o, nil)
}

func connectAs(t testing.TB, s *mcp.Server, o *sdk.ClientOptions, as *sdk.ClientSessionOptions) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- s.Serve(ctx, far) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), near, as)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		<-done
	})
	return c
}

func join(t testing.TB, transport sdk.Transport, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	return c
}

// call calls a tool, and returns its text and its structured content.
func call(t testing.TB, c *sdk.ClientSession, tool, args string) (text, structured string) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	require.NoError(t, err)
	require.Len(t, r.Content, 1)
	text = r.Content[0].(*sdk.TextContent).Text
	require.False(t, r.IsError, text)
	b, err := json.Marshal(r.StructuredContent)
	require.NoError(t, err)
	return text, string(b)
}

// overAll runs a test with a client over each transport. Each begins with an empty memory.
func overAll(t *testing.T, f func(t *testing.T, c *sdk.ClientSession)) {
	t.Run("in memory", func(t *testing.T) { f(t, connect(t, open(t, "", mcp.Options{}), nil)) })
	t.Run("stdio", func(t *testing.T) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFile+"="+filepath.Join(t.TempDir(), "m.cow"))
		cmd.Stderr = os.Stderr
		c := join(t, &sdk.CommandTransport{Command: cmd}, nil)
		f(t, c)
		require.NoError(t, c.Close())
		require.True(t, cmd.ProcessState.Success(), "it ends when its input does")
	})
	t.Run("http", func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "m.cow"), mcp.Options{})
		web := httptest.NewServer(s.Handler())
		t.Cleanup(web.Close)
		c := join(t, &sdk.StreamableClientTransport{Endpoint: web.URL}, nil)
		f(t, c)
		require.NoError(t, c.Close())
	})
}

// What the reference server answers, letter by letter.
func TestTheReferencesAnswers(t *testing.T) {
	overAll(t, func(t *testing.T, c *sdk.ClientSession) {
		graph := `{
  "entities": [
    {
      "name": "Alice <1>",
      "entityType": "person",
      "observations": [
        "likes \"tea\" & more"
      ]
    },
    {
      "name": "Acme",
      "entityType": "company",
      "observations": []
    }
  ],
  "relations": [
    {
      "from": "Alice <1>",
      "to": "Acme",
      "relationType": "works_at"
    }
  ]
}`
		for _, step := range []struct{ tool, args, text, structured string }{
			{"read_graph", `{}`, "{\n  \"entities\": [],\n  \"relations\": []\n}", `{"entities":[],"relations":[]}`},
			{
				"create_entities", `{"entities":[{"name":"Alice <1>","entityType":"person","observations":["likes \"tea\" & more"],"type":"entity"},{"name":"Acme","entityType":"company","observations":[]}]}`,
				"[\n  {\n    \"name\": \"Alice <1>\",\n    \"entityType\": \"person\",\n    \"observations\": [\n      \"likes \\\"tea\\\" & more\"\n    ]\n  },\n  {\n    \"name\": \"Acme\",\n    \"entityType\": \"company\",\n    \"observations\": []\n  }\n]",
				`{"entities":[{"name":"Alice <1>","entityType":"person","observations":["likes \"tea\" & more"]},{"name":"Acme","entityType":"company","observations":[]}]}`,
			},
			{"create_entities", `{"entities":[]}`, `[]`, `{"entities":[]}`},
			{
				"create_relations", `{"relations":[{"from":"Alice <1>","to":"Acme","relationType":"works_at"}]}`,
				"[\n  {\n    \"from\": \"Alice <1>\",\n    \"to\": \"Acme\",\n    \"relationType\": \"works_at\"\n  }\n]",
				`{"relations":[{"from":"Alice <1>","to":"Acme","relationType":"works_at"}]}`,
			},
			{"read_graph", `{}`, graph, graph},
			{"open_nodes", `{"names":["Alice <1>","Acme"]}`, graph, graph},
			{"search_nodes", `{"query":"A"}`, graph, graph},
			{
				"add_observations", `{"observations":[{"entityName":"Acme","contents":["old"]}]}`,
				"[\n  {\n    \"entityName\": \"Acme\",\n    \"addedObservations\": [\n      \"old\"\n    ]\n  }\n]",
				`{"results":[{"entityName":"Acme","addedObservations":["old"]}]}`,
			},
			{"delete_observations", `{"deletions":[{"entityName":"Acme","observations":["old"]}]}`, "Observations deleted successfully", `{"success":true,"message":"Observations deleted successfully"}`},
			{"delete_relations", `{"relations":[{"from":"a","to":"b","relationType":"c"}]}`, "Relations deleted successfully", `{"success":true,"message":"Relations deleted successfully"}`},
			{"read_graph", `{}`, graph, graph},
			{"delete_entities", `{"entityNames":["Alice <1>","Acme"]}`, "Entities deleted successfully", `{"success":true,"message":"Entities deleted successfully"}`},
			{"read_graph", `{}`, "{\n  \"entities\": [],\n  \"relations\": []\n}", `{"entities":[],"relations":[]}`},
		} {
			text, structured := call(t, c, step.tool, step.args)
			require.Equal(t, step.text, text, step.tool)
			require.JSONEq(t, step.structured, structured, step.tool)
		}
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "add_observations", Arguments: json.RawMessage(`{"observations":[{"entityName":"Nobody","contents":[]}]}`)})
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.Equal(t, "Entity with name Nobody not found", r.Content[0].(*sdk.TextContent).Text)
	})
}

func TestToolsAreDescribed(t *testing.T) {
	c := connect(t, open(t, "", mcp.Options{}), nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 16)
	names := make(map[string]*sdk.Tool)
	for _, tool := range list.Tools {
		names[tool.Name] = tool
		require.NotEmpty(t, tool.Title)
		require.NotEmpty(t, tool.Description)
		require.NotNil(t, tool.OutputSchema)
		require.False(t, *tool.Annotations.OpenWorldHint)
		others, ok := tool.InputSchema.(map[string]any)["additionalProperties"]
		if slices.Contains([]string{"remember", "recall", "forget", "history", "changes", "undo", "fork"}, tool.Name) {
			require.Equal(t, false, others, tool.Name)
		} else {
			require.False(t, ok, "%s is as the reference has it", tool.Name)
		}
	}
	for name, required := range map[string][]any{
		"create_entities": {"entities"}, "create_relations": {"relations"}, "add_observations": {"observations"},
		"delete_entities": {"entityNames"}, "delete_observations": {"deletions"}, "delete_relations": {"relations"},
		"read_graph": nil, "search_nodes": {"query"}, "open_nodes": {"names"},
	} {
		schema := names[name].InputSchema.(map[string]any)
		require.Len(t, schema["properties"], len(required), name)
		if required != nil {
			require.Equal(t, required, schema["required"], name)
		}
	}
	require.NotContains(t, names, "erase")
	require.True(t, names["read_graph"].Annotations.ReadOnlyHint)
	require.True(t, *names["delete_entities"].Annotations.DestructiveHint)
	require.False(t, *names["create_entities"].Annotations.DestructiveHint)
}

func TestHostileCallsAreToolErrors(t *testing.T) {
	overAll(t, func(t *testing.T, c *sdk.ClientSession) {
		call(t, c, "create_entities", `{"entities":[{"name":"Alice","entityType":"person","observations":["tea"]}]}`)
		call(t, c, "remember", `{"key":"k","text":"hello"}`)
		graph := func() string { text, _ := call(t, c, "changes", `{}`); return text }
		before := graph()
		long := fmt.Sprintf("%05000d", 0)
		deep := ""
		for range 100 {
			deep = `{"a":[` + deep + `]}`
		}
		list, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		for _, tool := range list.Tools {
			bad := []string{`[]`, `"x"`, `7`, `{"entities":7,"relations":7,"observations":7,"entityNames":7,"deletions":7,"query":7,"names":7,"text":7,"key":7,"entity":7,"cursor":7,"revision":"x","action":7}`}
			for _, args := range append(bad, `{"query":`+deep+`,"entities":`+deep+`}`) {
				if tool.Name == "read_graph" && args[0] == '{' {
					continue // it takes none, and ignores them
				}
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args)})
				if err == nil {
					require.True(t, r.IsError, "%s %.50s", tool.Name, args)
				}
			}
		}
		for tool, args := range map[string]string{
			"remember":    `{"text":"x","key":"` + long + `"}`,
			"recall":      `{"query":"` + long + `"}`,
			"forget":      `{"key":"a\u0000b"}`,
			"history":     `{"key":"a","entity":"b"}`,
			"changes":     `{"cursor":"../../etc/passwd"}`,
			"undo":        `{"revision":18446744073709551615}`,
			"fork":        `{"action":"create","name":"\u0007"}`,
			"open_nodes":  `{"names":"/etc/passwd"}`,
			"no_such_one": `{}`,
		} {
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
			if tool != "no_such_one" {
				require.NoError(t, err)
			}
			if err == nil {
				require.True(t, r.IsError, tool)
			}
		}
		require.Equal(t, before, graph())
	})
}

// legacy is the newest protocol whose subscribe request is answered when the subscription
// has begun; with later ones a client's Subscribe returns before that.
var legacy = &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"}

func TestSubscribersAreTold(t *testing.T) {
	s := open(t, "", mcp.Options{})
	told := make(chan string, 100)
	c := connectAs(t, s, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		told <- r.Params.URI
	}}, legacy)
	const own, other = "memory://knowledge-graph", "memory://namespaces/a%2Fb/knowledge-graph"
	for _, uri := range []string{own, other} {
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	}
	next := func() string {
		select {
		case uri := <-told:
			return uri
		case <-time.After(waitFor):
			return ""
		}
	}
	writer := connect(t, s, nil)
	for _, step := range []struct{ tool, args, told string }{
		{"create_entities", `{"entities":[{"name":"A","entityType":"x","observations":[]}]}`, own},
		{"remember", `{"namespace":"a/b","text":"hello"}`, other},
		{"add_observations", `{"observations":[{"entityName":"A","contents":["a"]}]}`, own},
		{"remember", `{"namespace":"a/b","text":"again"}`, other}, // so that each was told once
	} {
		call(t, writer, step.tool, step.args)
		require.Equal(t, step.told, next(), step.tool)
	}
	for uri, want := range map[string]string{own: `"name": "A"`, other: `"entities": []`, "memory://namespaces//knowledge-graph": `"name": "A"`} {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err, uri)
		require.Equal(t, "application/json", r.Contents[0].MIMEType)
		require.Contains(t, r.Contents[0].Text, want)
	}
	require.NoError(t, c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: other}))
	call(t, writer, "remember", `{"namespace":"a/b","text":"bye"}`)
	call(t, writer, "delete_entities", `{"entityNames":["A"]}`)
	require.Equal(t, own, next(), "the other, which came before, is not told of any more")
	_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://other"})
	require.Error(t, err)
}

// With the newest protocol a subscription begins some time after Subscribe has returned.
func TestSubscribersOfTheNewestProtocolAreTold(t *testing.T) {
	s := open(t, "", mcp.Options{})
	told := make(chan string, 100)
	c := connect(t, s, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		told <- r.Params.URI
	}})
	require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://knowledge-graph"}))
	writer := connect(t, s, nil)
	for i := 0; ; i++ {
		require.Less(t, i, 300, "nobody was told")
		call(t, writer, "create_entities", fmt.Sprintf(`{"entities":[{"name":"%d","entityType":"x","observations":[]}]}`, i))
		select {
		case uri := <-told:
			require.Equal(t, "memory://knowledge-graph", uri)
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Twenty clients create at once, and nothing is lost or doubled.
func TestClientsTogetherLoseNothing(t *testing.T) {
	const clients = 20
	creates := 1000
	if testing.Short() {
		creates = 20
	}
	path := filepath.Join(t.TempDir(), "m.cow")
	s, err := mcp.Open(path, mcp.Options{Rate: 1e6})
	require.NoError(t, err)
	web := httptest.NewServer(s.Handler())
	var all sync.WaitGroup
	for n := range clients {
		var c *sdk.ClientSession
		if n%2 == 0 {
			c = connect(t, s, nil)
		} else {
			c = join(t, &sdk.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}, nil)
		}
		all.Go(func() {
			for i := range creates {
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_entities", Arguments: map[string]any{"entities": []any{
					map[string]any{"name": fmt.Sprintf("%d of %d", i, n), "entityType": "x", "observations": []string{}},
					map[string]any{"name": "shared", "entityType": fmt.Sprint(n), "observations": []string{}},
				}}})
				if err != nil || r.IsError {
					t.Errorf("create %d of %d: %v", i, n, err)
					return
				}
			}
			if n%2 == 1 {
				_ = c.Close()
			}
		})
	}
	all.Wait()
	web.Close()
	require.NoError(t, s.Close())

	_, structured := call(t, connect(t, open(t, path, mcp.Options{}), nil), "read_graph", `{}`)
	var g struct{ Entities []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(structured), &g))
	seen := make(map[string]bool)
	for _, e := range g.Entities {
		require.False(t, seen[e.Name])
		seen[e.Name] = true
	}
	require.Len(t, seen, clients*creates+1)
}
