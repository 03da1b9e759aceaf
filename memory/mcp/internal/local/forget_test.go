package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// What is forgotten is in no version, no result that is kept and, once the file was compacted,
// nowhere in it.
func TestForgetLeavesNoTrace(t *testing.T) {
	const secret = "Xylophonium"
	path := filepath.Join(t.TempDir(), "m.cow")
	s, err := local.Open(path, local.Options{})
	require.NoError(t, err)
	create := store.Request{ID: "create", Op: "create_entities", Args: json.RawMessage(`{"entities":[{"name":"` + secret + `","entityType":"person","observations":["knows ` + secret + `"]},{"name":"Bob","entityType":"person","observations":[]}]}`)}
	_, err = s.Do(t.Context(), create)
	require.NoError(t, err)
	do(t, s, "create_relations", `{"relations":[{"from":"Bob","to":"`+secret+`","relationType":"knows"}]}`)
	old := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"the word is `+secret+`"}`))
	do(t, s, "remember", `{"key":"k","text":"the word was changed"}`)
	do(t, s, "search_nodes", `{"query":"`+secret+`"}`)
	do(t, s, "fork", `{"action":"create","name":"what if"}`)

	result := do(t, s, "forget", `{"entity":"`+secret+`"}`)
	require.Contains(t, result, `"relations":1`)
	require.Contains(t, result, `\"what if\"`)
	do(t, s, "fork", `{"action":"drop","name":"what if"}`)
	r := store.Request{ID: "forget", Op: "forget", Args: json.RawMessage(`{"key":"k"}`)}
	for range 2 {
		result, err := s.Do(t.Context(), r)
		require.NoError(t, err)
		require.Contains(t, string(result), `"forgotten":true`, "sent again it has the same answer")
	}
	require.Contains(t, do(t, s, "forget", `{"key":"k"}`), `"forgotten":false`)
	refused(t, s, store.Gone, "undo", fmt.Sprintf(`{"revision":%d}`, old.Revision))
	var e *store.Error
	_, err = s.Do(t.Context(), create)
	require.ErrorAs(t, err, &e, "it is not done again")
	require.Equal(t, store.Gone, e.Code)
	require.NotContains(t, state(t, s), secret)
	require.Contains(t, state(t, s), "Bob")
	require.NoError(t, s.Close())

	require.NoError(t, bolt.Compact(path))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.False(t, bytes.Contains(raw, []byte(secret)))
	s = open(t, path, local.Options{})
	require.Equal(t, []string{"Bob"}, as[graph](t, do(t, s, "read_graph", ``)).names())
}

func TestChangesTellWhatNamespacesChanged(t *testing.T) {
	s := inMemory(t)
	var events []store.Event
	cursor := as[struct{ Cursor string }](t, do(t, s, "changes", `{}`)).Cursor
	do(t, s, "remember", `{"text":"x","namespace":"a"}`)
	do(t, s, "create_entities", family)
	do(t, s, "create_entities", family) // nothing new
	do(t, s, "remember", `{"text":"x","namespace":"b"}`)
	for e, err := range s.Changes(t.Context(), cursor) {
		require.NoError(t, err)
		if events = append(events, e); len(events) == 3 {
			break
		}
	}
	require.Equal(t, []string{"a"}, events[0].Namespaces)
	require.Equal(t, []string{""}, events[1].Namespaces)
	require.Equal(t, []string{"b"}, events[2].Namespaces)
	for e, err := range s.Changes(t.Context(), events[1].Cursor) {
		require.NoError(t, err)
		require.Equal(t, events[2], e)
		break
	}
	for _, err := range s.Changes(t.Context(), "nonsense") {
		require.ErrorIs(t, err, store.ErrCursor)
	}
	ended := make(chan error)
	go func() {
		for _, err := range s.Changes(t.Context(), "") {
			ended <- err
		}
	}()
	time.Sleep(tick)
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, store.ErrClosed)
}

// The oldest receipts go when there are too many, or their results are too large.
func TestReceiptsAreBounded(t *testing.T) {
	for _, c := range []struct{ requests, observations, size, known int }{
		{4096 + 10, 1, 1, 11},
		{14, 13, 250 << 10, 6},
	} {
		s := inMemory(t)
		create := func(i int) string {
			observations := make([]string, c.observations)
			for o := range observations {
				observations[o] = strings.Repeat("x", c.size)
			}
			args, err := json.Marshal(map[string]any{"entities": []any{map[string]any{"name": fmt.Sprint(i), "entityType": "x", "observations": observations}}})
			require.NoError(t, err)
			result, err := s.Do(t.Context(), store.Request{ID: fmt.Sprint("id", i), Op: "create_entities", Args: args})
			require.NoError(t, err)
			return string(result)
		}
		for i := range c.requests {
			create(i)
		}
		for _, i := range []int{c.known, c.requests - 1} {
			require.NotEqual(t, `{"entities":[]}`, create(i), "it is answered as before")
		}
		require.Equal(t, `{"entities":[]}`, create(0), "it is not known any more")
	}
}
