package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
)

// call calls a tool. Whatever comes of it is a result.
func (s *Server) call(ctx context.Context, namespace string, t *tool.Tool, args json.RawMessage) *mcp.CallToolResult {
	r := store.Request{Namespace: namespace, Op: t.Name, Args: args}
	if t.Writes() {
		r.ID = newID()
	}
	result, err := s.store.Do(ctx, r)
	if err == nil {
		var text string
		if text, err = show(t.Name, result); err == nil {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: result}
		}
	}
	var known *store.Error
	message := ""
	if errors.As(err, &known) {
		message = known.Message
	} else {
		s.o.Log.Error("a call has failed", "tool", t.Name, "error", err)
		message = "the memory has failed: " + err.Error()
		if t.Writes() {
			message += "; whether this was written is not known: look before you do it again"
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: message}}, IsError: true}
}

// shown is what the text of a result has of it, where that is not all: as the reference
// server has it.
var shown = map[string]string{
	"create_entities":     "entities",
	"create_relations":    "relations",
	"add_observations":    "results",
	"delete_entities":     "message",
	"delete_observations": "message",
	"delete_relations":    "message",
	"read_graph":          "",
	"search_nodes":        "",
	"open_nodes":          "",
}

// show returns the text of a result.
func show(name string, result json.RawMessage) (string, error) {
	field, ok := shown[name]
	if !ok {
		return string(result), nil // short, for the model
	}
	if field != "" {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(result, &fields); err != nil {
			return "", err
		}
		result = fields[field]
		var message string
		if json.Unmarshal(result, &message) == nil {
			return message, nil
		}
	}
	var b bytes.Buffer
	err := json.Indent(&b, result, "", "  ")
	return b.String(), err
}
