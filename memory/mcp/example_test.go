package mcp_test

import (
	"context"
	"fmt"
	"log"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/memory/mcp"
)

// A server and a client in one process, with a memory that ends with it.
func Example() {
	ctx := context.Background()
	s, err := mcp.Open("", mcp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	near, far := sdk.NewInMemoryTransports()
	go s.Serve(ctx, far)
	agent := sdk.NewClient(&sdk.Implementation{Name: "example"}, nil)
	client, err := agent.Connect(ctx, near, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	call := func(tool string, args map[string]any) {
		params := &sdk.CallToolParams{Name: tool, Arguments: args}
		r, err := client.CallTool(ctx, params)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Content[0].(*sdk.TextContent).Text)
	}
	call("remember", map[string]any{
		"key":  "deploy-day",
		"text": "Deploys are on Tuesdays",
	})
	call("remember", map[string]any{
		"key":  "deploy-day",
		"text": "Deploys are on Thursdays",
	})
	call("delete_entities", map[string]any{"entityNames": []string{"Nobody"}})
	// Output:
	// {"key":"deploy-day","revision":1,"replaced":false}
	// {"key":"deploy-day","revision":2,"replaced":true}
	// Entities deleted successfully
}
