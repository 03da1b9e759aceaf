package mcp_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

// Whether a client has the tool is up to the server that it talks to, be that the one that has the
// file or one that has joined it. Without it a call is one of a tool that there is not.
func TestEraseIsOffUnlessTurnedOn(t *testing.T) {
	for _, owner := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "m.cow")
		first := connect(t, open(t, path, mcp.Options{Erase: owner}), nil)
		second := connect(t, open(t, path, mcp.Options{Erase: !owner}), nil)
		with, without := first, second
		if !owner {
			with, without = second, first
		}
		list, err := with.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 17)
		tools := make(map[string]*sdk.Tool)
		for _, tool := range list.Tools {
			tools[tool.Name] = tool
		}
		require.True(t, *tools["erase"].Annotations.DestructiveHint)
		require.Equal(t, false, tools["erase"].InputSchema.(map[string]any)["additionalProperties"])
		require.Contains(t, with.InitializeResult().Instructions, "erase")

		list, err = without.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 16)
		require.NotContains(t, without.InitializeResult().Instructions, "erase")
		refused := func(tool string) string {
			_, err := without.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(`{"key":"k"}`)})
			require.ErrorContains(t, err, tool)
			return err.Error()
		}
		call(t, without, "remember", `{"key":"k","text":"a secret"}`)
		require.Len(t, refused("erasf"), len(refused("erase")), "as any other that there is not")
		text, _ := call(t, with, "recall", `{"key":"k"}`)
		require.Contains(t, text, "a secret")

		text, structured := call(t, with, "erase", `{"key":"k"}`)
		require.JSONEq(t, structured, text)
		var r struct {
			Erased   bool
			Revision uint64
			Message  string
		}
		require.NoError(t, json.Unmarshal([]byte(structured), &r))
		require.True(t, r.Erased)
		require.Contains(t, r.Message, "`cowmemory compact`")
		text, _ = call(t, without, "history", `{"key":"k"}`)
		require.NotContains(t, text, "secret")
		require.Contains(t, text, `"change":"erased"`)
		text, _ = call(t, with, "erase", `{"key":"typo"}`)
		require.Contains(t, text, `"erased":false`)
	}
}
