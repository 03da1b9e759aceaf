package mcp

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Namespaces that have no clients any more make room for others.
func TestNamespacesMakeRoom(t *testing.T) {
	defer func(n int) { maxNamespaces = n }(maxNamespaces)
	maxNamespaces = 20
	synctest.Test(t, func(t *testing.T) {
		s, err := Open("", Options{})
		require.NoError(t, err)
		for i := range maxNamespaces {
			_, err := s.server(strconv.Itoa(i))
			require.NoError(t, err)
		}
		_, err = s.server("more")
		require.Error(t, err)
		time.Sleep(unusedFor)
		kept, err := s.server("7")
		require.NoError(t, err)
		time.Sleep(time.Second)
		_, err = s.server("more")
		require.NoError(t, err)
		same, err := s.server("7")
		require.NoError(t, err)
		require.Same(t, kept, same)
		require.Len(t, s.servers, 2)
		require.NoError(t, s.Close())
	})
}

func TestClientsSubscribeToGraphsAlone(t *testing.T) {
	for uri, ok := range map[string]bool{
		ownGraph: true, graphOf(""): true, graphOf(strings.Repeat("ö/", 85)): true,
		"": false, "memory://other": false, graphStart + "%zz" + graphEnd: false, graphOf(strings.Repeat("x", 2000)): false,
	} {
		err := subscribe(t.Context(), &mcp.SubscribeRequest{Params: &mcp.SubscribeParams{URI: uri}})
		require.Equal(t, ok, err == nil, uri)
	}
}

// A session that has begun goes on, however many there are.
func TestSessionsHaveALimit(t *testing.T) {
	defer func(n int) { maxSessions = n }(maxSessions)
	maxSessions = 4
	s, err := Open("", Options{})
	require.NoError(t, err)
	web := httptest.NewServer(s.Handler())
	connect := func() (*mcp.ClientSession, error) {
		return mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	}
	var all []*mcp.ClientSession
	for len(all) <= maxSessions {
		c, err := connect()
		if err != nil {
			break
		}
		all = append(all, c)
	}
	require.NotEmpty(t, all)
	require.LessOrEqual(t, len(all), maxSessions)
	for _, c := range all {
		require.NoError(t, c.Ping(t.Context(), nil))
		require.NoError(t, c.Close())
	}
	c, err := connect()
	require.NoError(t, err, "there is room again")
	require.NoError(t, c.Close())
	web.Close()
	require.NoError(t, s.Close())
}
