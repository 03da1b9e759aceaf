package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A lineClient writes lines, and reads what comes back.
type lineClient struct {
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
}

func newLineClient(t *testing.T, most int) *lineClient {
	s, err := Open("", Options{})
	require.NoError(t, err)
	in, client := io.Pipe()
	answers, out := io.Pipe()
	c := &lineClient{client, bufio.NewScanner(answers), make(chan error, 1)}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	go func() {
		err := s.Serve(ctx, lineTransport(in, out, most, slog.New(slog.DiscardHandler)))
		_ = out.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		stop()
		_ = client.Close()
		require.NoError(t, s.Close())
	})
	return c
}

func (c *lineClient) send(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(t, err)
}

type lineAnswer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (c *lineClient) answer(t *testing.T) (a lineAnswer) {
	t.Helper()
	require.True(t, c.out.Scan(), "the server has ended")
	require.NoError(t, json.Unmarshal(c.out.Bytes(), &a), c.out.Text())
	return a
}

func (c *lineClient) begin(t *testing.T, version string) {
	c.send(t, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	require.Equal(t, `"init"`, string(c.answer(t).ID))
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// A line that is no message is answered, and the next one is served.
func TestABadLineIsAnsweredAndTheNextServed(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	for _, version := range []string{"2025-03-26", "2025-06-18"} {
		c := newLineClient(t, 200_000)
		c.send(t, "hello") // before anything else
		require.Equal(t, -32700, c.answer(t).Error.Code)
		c.begin(t, version)
		for i, bad := range []struct {
			line string
			id   string // of the answer; "": there is none
			code int
		}{
			{"hello", "null", -32700},
			{"{", "null", -32700},
			{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, "null", -32700},
			{fmt.Sprintf(ping, 1) + fmt.Sprintf(ping, 2), "null", -32700},
			{"\x00\xff", "null", -32700},
			{strings.Repeat("[", 50_000), "null", -32700},
			{strings.Repeat("x", 300_000), "null", -32600},
			{"7", "null", -32600},
			{"null", "null", -32600},
			{`"text"`, "null", -32600},
			{"{}", "null", -32600},
			{`{"id":5,"method":"ping"}`, "5", -32600},
			{`{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"a"`, -32600},
			{`{"jsonrpc":"2.0","id":5}`, "", 0}, // an answer
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
			{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
			{`{"jsonrpc":"2.0","id":6,"method":7}`, "6", -32600},
			{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`, "", 0},
			{`{"result":7}`, "", 0},
			{"[]", "null", -32600},
			{"[7]", "null", -32600},
			{"", "", 0},
			{" \t\r", "", 0},
			{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}`, "", 0},
		} {
			c.send(t, bad.line)
			if bad.id != "" {
				a := c.answer(t)
				require.Equal(t, bad.id, string(a.ID), bad.line)
				require.Equal(t, bad.code, a.Error.Code, bad.line)
				require.NotEmpty(t, a.Error.Message)
			}
			c.send(t, fmt.Sprintf(ping, 100+i)+"\r")
			a := c.answer(t)
			require.Equal(t, fmt.Sprint(100+i), string(a.ID), bad.line)
			require.Nil(t, a.Error)
		}
		c.send(t, "["+fmt.Sprintf(ping, 1)+","+fmt.Sprintf(ping, 2)+",7]")
		ids := map[string]bool{}
		for range 3 {
			ids[string(c.answer(t).ID)] = true
		}
		require.Equal(t, map[string]bool{"1": true, "2": true, "null": true}, ids)

		// The last line needs no end, and all are answered before the server ends.
		for i := range 100 {
			c.send(t, fmt.Sprintf(ping, i))
		}
		_, err := io.WriteString(c.in, fmt.Sprintf(ping, 100))
		require.NoError(t, err)
		require.NoError(t, c.in.Close())
		answered := map[string]bool{}
		for range 101 {
			answered[string(c.answer(t).ID)] = true
		}
		require.Len(t, answered, 101)
		require.NoError(t, <-c.done)
	}
}
