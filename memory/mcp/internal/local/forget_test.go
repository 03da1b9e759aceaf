package local_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

type forgotten struct {
	Forgotten bool
	Relations int
	Revision  uint64
	Message   string
}

// shown is all that clients see of a store: what recall has of notes and entities, and the
// graph, in some namespaces.
func shown(t *testing.T, s *local.Store) (all string) {
	t.Helper()
	for _, ns := range []string{"", "other"} {
		all += do(t, s, "recall", fmt.Sprintf(`{"k":100,"namespace":%q}`, ns))
		g, err := s.Do(t.Context(), store.Request{Namespace: ns, Op: "read_graph"})
		require.NoError(t, err)
		all += string(g)
	}
	return regexp.MustCompile(`"revision":\d+`).ReplaceAllString(all, "") // those of undone writes are new
}

// ends returns when what is stored expires, to the nanosecond.
func ends(t *testing.T, s *local.Store) []string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, s.ExportAll(&all))
	return regexp.MustCompile(`"expires":"[^"]*"`).FindAllString(all.String(), -1)
}

// Forget removes one thing. It is a write, with a revision by which it is undone; the past of
// all else stays.
func TestForgetIsUndone(t *testing.T) {
	for args, want := range map[string]forgotten{
		`{"key":"k"}`:                                  {Forgotten: true},
		`{"key":"k","space":["a","b"]}`:                {Forgotten: true},
		`{"key":"k","namespace":"other"}`:              {Forgotten: true},
		`{"entity":"Alice"}`:                           {Forgotten: true, Relations: 3},
		`{"entity":"Bob"}`:                             {Forgotten: true, Relations: 1},
		`{"entity":"Carol"}`:                           {Forgotten: true},
		`{"entity":"only in relations"}`:               {Forgotten: true, Relations: 1},
		`{"entity":"Alice","namespace":"other"}`:       {Forgotten: true},
		`{"key":"vector"}`:                             {Forgotten: true},
		`{"key":"expires"}`:                            {Forgotten: true},
		`{"key":"expires","space":[],"fork":""}`:       {Forgotten: true},
		`{"key":"k","space":["a","b"],"namespace":""}`: {Forgotten: true},
	} {
		s := filled(t)
		do(t, s, "create_entities", `{"entities":[{"name":"Carol","entityType":"x","observations":[]}]}`)
		do(t, s, "create_relations", `{"relations":[{"from":"Alice","to":"Alice","relationType":"is"},{"from":"Acme Corp","to":"only in relations","relationType":"r"}]}`)
		_, err := s.Do(t.Context(), store.Request{Namespace: "other", Op: "create_entities", Args: json.RawMessage(family)})
		require.NoError(t, err)
		for _, where := range []string{``, `"space":["a"],`, `"space":["a","b"],`, `"namespace":"other",`} {
			do(t, s, "remember", `{`+where+`"key":"k","text":"one","tags":["t"],"metadata":{"m":1}}`)
			do(t, s, "remember", `{`+where+`"key":"k","text":"two"}`)
		}
		do(t, s, "remember", `{"key":"vector","text":"v","vector":[1,2],"space":[]}`)
		do(t, s, "remember", `{"key":"expires","text":"soon","ttl_seconds":100000}`)
		mine := as[remembered](t, do(t, s, "remember", `{"key":"mine","text":"written before","namespace":"other"}`))
		before, end := shown(t, s), ends(t, s)
		require.Len(t, end, 1)
		_, _, version, _ := s.Inspect()

		r := store.Request{ID: "forget", Op: "forget", Args: json.RawMessage(args)}
		done, err := s.Do(t.Context(), r)
		require.NoError(t, err)
		f := as[forgotten](t, string(done))
		require.NotEmpty(t, f.Message)
		require.Equal(t, version+1, f.Revision)
		f.Message, f.Revision = "", 0
		require.Equal(t, want, f, args)
		require.NotEqual(t, before, shown(t, s), args)
		again, err := s.Do(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, string(done), string(again), "sent again it has the same answer")
		require.Contains(t, do(t, s, "forget", args), `"forgotten":false`)

		var in struct{ Namespace string }
		require.NoError(t, json.Unmarshal([]byte(args), &in))
		undo := func(rev uint64, ns string) string {
			return do(t, s, "undo", fmt.Sprintf(`{"revision":%d,"namespace":%q}`, rev, ns))
		}
		undone := as[remembered](t, undo(version+1, in.Namespace))
		require.Equal(t, before, shown(t, s), args)
		require.Equal(t, end, ends(t, s), args)
		undo(undone.Revision, in.Namespace)
		require.Contains(t, do(t, s, "forget", args), `"forgotten":false`, "the undo was undone")
		undo(mine.Revision, "other") // and the past of others is there
	}
}

// What is not there cannot be forgotten: nothing changes, and the past stays.
func TestForgetOfWhatIsNotThere(t *testing.T) {
	s := filled(t)
	create := store.Request{ID: "create", Op: "create_entities", Args: json.RawMessage(`{"entities":[{"name":"Eve","entityType":"x","observations":[]}]}`)}
	made, err := s.Do(t.Context(), create)
	require.NoError(t, err)
	do(t, s, "remember", `{"key":"k","text":"right","namespace":"alice"}`)
	wrong := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"wrong","namespace":"alice"}`))
	before := state(t, s)
	for _, args := range []string{
		`{"key":"typo"}`, `{"key":""}`, `{"key":"k"}`, `{"key":"k","namespace":"bob"}`, `{"key":"k","namespace":"alice","space":["a"]}`,
		`{"key":"Alice"}`, `{"entity":"k","namespace":"alice"}`, `{"entity":"alice"}`, `{"entity":""}`, `{"entity":"Alice","namespace":"bob"}`,
	} {
		require.Contains(t, do(t, s, "forget", args), `"forgotten":false`, args)
		require.NotContains(t, do(t, s, "forget", args), `"revision"`, args)
	}
	refused(t, s, store.Invalid, "forget", `{}`)
	refused(t, s, store.Invalid, "forget", `{"key":"k","entity":"Alice"}`)
	require.Equal(t, before, state(t, s))
	again, err := s.Do(t.Context(), create)
	require.NoError(t, err)
	require.Equal(t, string(made), string(again), "results are kept")
	do(t, s, "undo", fmt.Sprintf(`{"revision":%d,"namespace":"alice"}`, wrong.Revision))
	require.Equal(t, "right", as[hits](t, do(t, s, "recall", `{"key":"k","namespace":"alice"}`)).Hits[0].Text)
}

// In a fork there is no revision to undo, only the fork to drop.
func TestForgetInAFork(t *testing.T) {
	s := filled(t)
	do(t, s, "fork", `{"action":"create","name":"f"}`)
	before := do(t, s, "read_graph", ``)
	f := as[forgotten](t, do(t, s, "forget", `{"entity":"Alice","fork":"f"}`))
	require.True(t, f.Forgotten)
	require.Zero(t, f.Revision)
	require.Contains(t, f.Message, "drop the fork")
	require.Equal(t, before, do(t, s, "read_graph", ``))
	do(t, s, "fork", `{"action":"merge","name":"f"}`)
	require.Equal(t, []string{"Bob", "Acme Corp"}, as[graph](t, do(t, s, "read_graph", ``)).names())
	_, _, version, _ := s.Inspect()
	do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, version))
	require.Equal(t, before, do(t, s, "read_graph", ``))
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
	require.NoError(t, s.Close()) // before the iteration has begun, or while it waits
	require.ErrorIs(t, <-ended, store.ErrClosed)
}

// The oldest receipts go when there are too many, or their results are too large.
func TestReceiptsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("needs thousands of requests, or large ones")
	}
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
