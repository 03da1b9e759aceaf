package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"

	"github.com/cowstore/cowstore/memory/mcp"
)

// The handler may be one of several of an application. Programs that watch it need no token.
func ExampleServer_Handler() {
	s, err := mcp.Open("", mcp.Options{Token: "secret"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	mux := http.NewServeMux()
	mux.Handle("/memory/", http.StripPrefix("/memory", s.Handler()))

	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/mcp"} {
		r := httptest.NewRequest(http.MethodGet, "/memory"+path, nil)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(path, w.Code, http.StatusText(w.Code))
	}
	// Output:
	// /healthz 200 OK
	// /readyz 200 OK
	// /metrics 401 Unauthorized
	// /mcp 401 Unauthorized
}

// A client starts the server as a command, and writes messages, one a line. At the end of its
// input the command is done. Here a pipe stands for the client.
func ExampleServer_ServeStdio() {
	s, err := mcp.Open("", mcp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	input, client, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	os.Stdin = input
	fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	client.Close()

	fmt.Println(s.ServeStdio(context.Background()))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// <nil>
}

// A command of its own serves clients of this machine until somebody presses Ctrl-C.
func ExampleServer_ListenAndServe() {
	s, err := mcp.Open("memory.cow", mcp.Options{Namespace: "house"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	err = s.ListenAndServe(ctx, "127.0.0.1:8123")
	if !errors.Is(err, context.Cause(ctx)) {
		log.Print(err) // the address is in use, say
	}
}
