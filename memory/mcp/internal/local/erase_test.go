package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

type erased struct {
	Erased    bool
	Relations int
	Revision  uint64
	Message   string
}

type changed struct {
	Revision                uint64
	Change, Kind, Key, Text string
}

func history(t *testing.T, s store.Store, args string) []changed {
	t.Helper()
	return as[struct{ History []changed }](t, do(t, s, "history", args)).History
}

// An entity goes with all relations that it has, or has had, from both sides; what it was related to
// stays, and so does the past of that.
func TestEraseAnEntity(t *testing.T) {
	s := filled(t)
	start := as[struct{ Cursor string }](t, do(t, s, "changes", `{}`)).Cursor
	do(t, s, "create_relations", `{"relations":[{"from":"Alice","to":"Alice","relationType":"is"},{"from":"Bob","to":"Acme Corp","relationType":"visits"}]}`)
	do(t, s, "delete_relations", `{"relations":[{"from":"Bob","to":"Alice","relationType":"knows"}]}`)
	do(t, s, "search_nodes", `{"query":"typescript"}`)
	do(t, s, "add_observations", `{"observations":[{"entityName":"Alice","contents":["in the past"]}]}`)
	do(t, s, "delete_observations", `{"deletions":[{"entityName":"Alice","observations":["in the past"]}]}`)
	bob := history(t, s, `{"entity":"Bob"}`)

	r := as[erased](t, do(t, s, "erase", `{"entity":"Alice"}`))
	_, _, version, _ := s.Inspect()
	require.Equal(t, version, r.Revision)
	require.NotContains(t, r.Message, "file")
	require.Equal(t, erased{true, 3, version, r.Message}, r)
	g := as[graph](t, do(t, s, "read_graph", ``))
	require.Equal(t, []string{"Bob", "Acme Corp"}, g.names())
	require.Equal(t, []string{"Bob visits Acme Corp"}, g.ties())
	for _, query := range []string{"typescript", "alice"} {
		require.Empty(t, as[graph](t, do(t, s, "search_nodes", `{"query":"`+query+`"}`)).names())
	}
	h := history(t, s, `{"entity":"Alice"}`)
	require.Equal(t, []changed{{version, "erased", "entity", "Alice", ""}}, h)
	require.Equal(t, bob, history(t, s, `{"entity":"Bob"}`))

	// Who follows is told what has gone, each relation once, and nothing that it said.
	var told []changed
	for _, c := range as[struct{ Changes []changed }](t, do(t, s, "changes", `{"cursor":"`+start+`"}`)).Changes {
		if strings.Contains(c.Key, "Alice") {
			told = append(told, c)
		}
	}
	require.ElementsMatch(t, []changed{
		{version, "erased", "entity", "Alice", ""}, {version, "erased", "relation", "Alice works_at Acme Corp", ""},
		{version, "erased", "relation", "Alice is Alice", ""}, {version, "erased", "relation", "Bob knows Alice", ""},
	}, told)

	_, err := s.Do(t.Context(), store.Request{ID: "again", Op: "erase", Args: json.RawMessage(`{"entity":"Alice"}`)})
	require.NoError(t, err)
	again := as[erased](t, do(t, s, "erase", `{"entity":"Alice"}`))
	require.False(t, again.Erased)
	require.Zero(t, again.Revision)
	_, _, now, _ := s.Inspect()
	require.Equal(t, version, now, "nothing changes where there is nothing")

	// Its name is free, and the new one has a past of its own.
	do(t, s, "create_entities", `{"entities":[{"name":"Alice","entityType":"other","observations":[]}]}`)
	require.Len(t, history(t, s, `{"entity":"Alice"}`), 2)
	do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, now+1))
}

// What is erased is one note: those of the same key elsewhere stay, with their pasts, and what
// requests for them were answered.
func TestEraseANote(t *testing.T) {
	for args, of := range map[string]string{
		`{"key":"k"}`:                     `{"key":"k"}`,
		`{"key":"k","space":["a"]}`:       `{"key":"k","space":["a"]}`,
		`{"key":"k","namespace":"other"}`: `{"key":"k","namespace":"other"}`,
	} {
		s := filled(t)
		type asked struct{ id, of string }
		answers := make(map[asked]string)
		where := []string{`{"key":"k"`, `{"key":"k","space":["a"]`, `{"key":"k","space":["a","b"]`, `{"key":"k","namespace":"other"`, `{"key":"K"`}
		remember := func(id, args string) (json.RawMessage, error) {
			return s.Do(t.Context(), store.Request{ID: id, Op: "remember", Args: json.RawMessage(args)})
		}
		for i, w := range where {
			for n := range 2 {
				r, err := remember(fmt.Sprint(i, n), w+fmt.Sprintf(`,"text":"text %d of %d"}`, n, i))
				require.NoError(t, err)
				answers[asked{fmt.Sprint(i, n), w}] = string(r)
			}
		}
		require.True(t, as[erased](t, do(t, s, "erase", args)).Erased)
		for r, was := range answers {
			is, err := remember(r.id, `{"text":"again"}`)
			if r.of+"}" == of {
				var e *store.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, store.Gone, e.Code, "it is not done again, and its answer has gone")
				require.Len(t, history(t, s, r.of+"}"), 1)
				continue
			}
			require.NoError(t, err, r.of)
			require.Equal(t, was, string(is))
			require.Len(t, history(t, s, r.of+"}"), 2)
		}
	}
}

// The answers that tell of something are gone, those to requests about others with it, and the
// requests stay done.
func TestEraseOfWhatWasAnswered(t *testing.T) {
	s := inMemory(t)
	const secret = "the vault opens with four seven one one"
	var requests []store.Request
	ask := func(tells bool, op, args string) json.RawMessage {
		r := store.Request{ID: fmt.Sprint(op, args), Op: op, Args: json.RawMessage(args)}
		if requests = append(requests, r); !tells {
			requests[len(requests)-1].Namespace = "kept"
		}
		result, err := s.Do(t.Context(), r)
		require.NoError(t, err)
		return result
	}
	ask(true, "remember", `{"key":"mine","text":"`+secret+`"}`)
	require.Contains(t, string(ask(true, "remember", `{"key":"other","text":"`+secret+`"}`)), "four seven", "it is similar")
	gone := as[forgotten](t, string(ask(false, "forget", `{"key":"mine"}`)))
	require.Contains(t, string(ask(true, "undo", fmt.Sprintf(`{"revision":%d}`, gone.Revision))), "four seven")
	ask(false, "remember", `{"key":"mine","space":["elsewhere"],"text":"mine too"}`)
	ask(false, "create_entities", `{"entities":[{"name":"mine","entityType":"x","observations":[]}]}`)

	require.True(t, as[erased](t, do(t, s, "erase", `{"key":"mine"}`)).Erased)
	before := state(t, s)
	for _, r := range requests {
		tells := r.Namespace == ""
		r.Namespace = ""
		result, err := s.Do(t.Context(), r)
		if tells {
			var e *store.Error
			require.ErrorAs(t, err, &e, string(r.Args))
			require.Equal(t, store.Gone, e.Code)
		} else {
			require.NoError(t, err, string(r.Args))
			require.NotContains(t, string(result), "four seven")
		}
	}
	require.Equal(t, before, state(t, s))

	requests = nil
	ask(true, "create_entities", `{"entities":[{"name":"Ann \"<é>\"","entityType":"x","observations":["`+secret+`"]},{"name":"Zoe","entityType":"x","observations":[]}]}`)
	ask(true, "add_observations", `{"observations":[{"entityName":"Ann \"<é>\"","contents":["more"]}]}`)
	ask(true, "create_relations", `{"relations":[{"from":"Zoe","to":"Ann \"<é>\"","relationType":"r"}]}`)
	ask(false, "create_relations", `{"relations":[{"from":"Zoe","to":"Ann","relationType":"r"}]}`)
	removed := as[forgotten](t, string(ask(false, "forget", `{"entity":"Ann \"<é>\""}`)))
	ask(true, "undo", fmt.Sprintf(`{"revision":%d}`, removed.Revision))
	require.Equal(t, 1, as[erased](t, do(t, s, "erase", `{"entity":"Ann \"<é>\""}`)).Relations)
	for _, r := range requests {
		tells := r.Namespace == ""
		r.Namespace = ""
		_, err := s.Do(t.Context(), r)
		require.Equal(t, tells, err != nil, string(r.Args))
	}
}

// Undo brings nothing back: of a write of several it undoes the rest, and says so where there is none.
func TestUndoBringsNothingErasedBack(t *testing.T) {
	s := filled(t)
	undo := func(rev uint64) (json.RawMessage, error) {
		return s.Do(t.Context(), store.Request{Op: "undo", Args: json.RawMessage(fmt.Sprintf(`{"revision":%d}`, rev))})
	}
	failed := func(err error, code store.Code) {
		t.Helper()
		var e *store.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, code, e.Code, e.Message)
	}
	do(t, s, "delete_entities", `{"entityNames":["Alice","Bob"]}`)
	_, _, both, _ := s.Inspect()
	do(t, s, "remember", `{"key":"k","text":"one"}`)
	changed := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"two"}`)).Revision
	alice := as[erased](t, do(t, s, "erase", `{"entity":"Alice"}`)).Revision
	note := as[erased](t, do(t, s, "erase", `{"key":"k"}`)).Revision
	for _, rev := range []uint64{alice, note} {
		_, err := undo(rev)
		failed(err, store.Gone)
	}
	_, err := undo(changed)
	failed(err, store.NotFound)
	_, err = undo(both)
	require.NoError(t, err)
	g := as[graph](t, do(t, s, "read_graph", ``))
	require.ElementsMatch(t, []string{"Bob", "Acme Corp"}, g.names(), "the rest of that write is undone")
	require.Empty(t, g.ties())
	_, err = undo(1) // that made all three
	require.NoError(t, err)
	require.Empty(t, as[graph](t, do(t, s, "read_graph", ``)).names())
}

// An undo of what superseded something lets that be current again, also when that has been erased.
func TestEraseOfWhatSuperseded(t *testing.T) {
	s := inMemory(t)
	do(t, s, "remember", `{"key":"old","text":"tea at noon"}`)
	rev := as[remembered](t, do(t, s, "remember", `{"key":"new","text":"tea at one","supersedes":"old"}`)).Revision
	do(t, s, "erase", `{"key":"new"}`)
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"query":"tea"}`)).Hits)
	do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, rev))
	require.Len(t, as[hits](t, do(t, s, "recall", `{"query":"tea"}`)).Hits, 1)
}

// A what-if of any namespace has it no more, nor a merge; whatever else was tried in it stays.
func TestEraseReachesForks(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"key":"k","text":"in the memory"}`)
	do(t, s, "fork", `{"action":"create","name":"f"}`)
	do(t, s, "fork", `{"action":"create","name":"f","namespace":"other"}`)
	do(t, s, "remember", `{"key":"k","text":"tried","fork":"f"}`)
	do(t, s, "remember", `{"key":"tried","text":"other","fork":"f"}`)
	do(t, s, "remember", `{"key":"only","text":"in the fork","fork":"f"}`)
	do(t, s, "forget", `{"entity":"Bob","fork":"f"}`)
	do(t, s, "forget", `{"entity":"Alice"}`) // which forks still have

	require.Zero(t, len(as[hits](t, do(t, s, "recall", `{"key":"only"}`)).Hits))
	r := as[erased](t, do(t, s, "erase", `{"key":"only"}`))
	require.True(t, r.Erased)
	require.Zero(t, r.Revision)
	require.Contains(t, r.Message, "the memory itself did not have it")
	require.True(t, as[erased](t, do(t, s, "erase", `{"key":"k"}`)).Erased)
	require.Equal(t, 2, as[erased](t, do(t, s, "erase", `{"entity":"Alice"}`)).Relations)
	for _, fork := range []string{`"fork":"f"`, `"fork":"f","namespace":"other"`} {
		for _, key := range []string{"only", "k"} {
			require.Empty(t, as[hits](t, do(t, s, "recall", `{"key":"`+key+`",`+fork+`}`)).Hits)
		}
		require.NotContains(t, do(t, s, "recall", `{"k":100,`+fork+`}`), "Alice")
	}
	require.Contains(t, do(t, s, "fork", `{"action":"list"}`), `"changed":2`)
	do(t, s, "fork", `{"action":"merge","name":"f"}`)
	require.Len(t, as[hits](t, do(t, s, "recall", `{"key":"tried"}`)).Hits, 1)
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"key":"k"}`)).Hits)
	require.Equal(t, []string{"Acme Corp"}, as[graph](t, do(t, s, "read_graph", ``)).names())
	refused(t, s, store.Invalid, "erase", `{"key":"tried","fork":"f"}`)
}

// What is not there, nor was, cannot be erased: nothing changes.
func TestEraseOfWhatIsNotThere(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"key":"k","text":"right","namespace":"alice"}`)
	before := state(t, s)
	for _, args := range []string{
		`{"key":"typo"}`, `{"key":""}`, `{"key":"k"}`, `{"key":"k","namespace":"bob"}`, `{"key":"k","namespace":"alice","space":["a"]}`,
		`{"key":"Alice"}`, `{"entity":"k","namespace":"alice"}`, `{"entity":"alice"}`, `{"entity":""}`, `{"entity":"Alice","namespace":"bob"}`,
	} {
		r := as[erased](t, do(t, s, "erase", args))
		require.Equal(t, erased{Message: r.Message}, r, args)
		require.Contains(t, r.Message, "nothing of that name")
	}
	require.Equal(t, before, state(t, s))
	for _, args := range []string{`{}`, `{"key":"k","entity":"Alice"}`, `{"key":"a\u0000b"}`, `{"entity":"\u0007"}`, `{"name":"Alice"}`, `{"key":7}`, `[]`} {
		refused(t, s, store.Invalid, "erase", args)
	}
	refused(t, s, store.TooLarge, "erase", `{"key":"`+strings.Repeat("x", 5000)+`"}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Do(ctx, store.Request{Op: "erase", Args: json.RawMessage(`{"entity":"Alice"}`)})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, state(t, s))
}

// A request to erase that is sent again is answered as before, and room is free again.
func TestEraseIsDoneOnce(t *testing.T) {
	s := inMemory(t)
	_, empty, _, _ := s.Inspect()
	do(t, s, "create_entities", family)
	do(t, s, "create_relations", ties)
	r := store.Request{ID: "erase", Op: "erase", Args: json.RawMessage(`{"entity":"Alice"}`)}
	done, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	do(t, s, "create_entities", `{"entities":[{"name":"Alice","entityType":"new","observations":[]}]}`)
	again, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, string(done), string(again))
	require.Len(t, as[graph](t, do(t, s, "read_graph", ``)).names(), 3)
	for _, name := range []string{"Alice", "Bob", "Acme Corp"} {
		require.True(t, as[erased](t, do(t, s, "erase", `{"entity":"`+name+`"}`)).Erased)
	}
	_, used, _, _ := s.Inspect()
	require.Equal(t, empty, used)
}

// What is erased stays so when the file is opened again, and is not in its bytes once it is
// compacted; nor in the log.
func TestErasedIsNotInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	var log bytes.Buffer
	o := local.Options{Retain: longAgo, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	s, err := local.Open(path, o)
	require.NoError(t, err)
	const marker = "marker5417 of what is erased"
	do(t, s, "remember", `{"key":"k","text":"`+marker+`","vector":[1,2],"tags":["`+marker+`"]}`)
	do(t, s, "remember", `{"key":"k","text":"now it says something else"}`)
	do(t, s, "remember", `{"key":"other","text":"stays"}`)
	do(t, s, "create_entities", `{"entities":[{"name":"E","entityType":"x","observations":["`+marker+`"]}]}`)
	r := as[erased](t, do(t, s, "erase", `{"key":"k"}`))
	require.Contains(t, r.Message, "cowmemory compact")
	do(t, s, "erase", `{"entity":"E"}`)
	require.NoError(t, s.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.True(t, info.Erased)
	require.NoError(t, bolt.Compact(path))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(b), "marker5417")
	require.Contains(t, string(b), "stays")
	require.NotContains(t, log.String(), "marker5417")
	s = open(t, path, o)
	require.Len(t, history(t, s, `{"key":"k"}`), 1)
	require.Len(t, history(t, s, `{"key":"other"}`), 1)
	require.False(t, as[erased](t, do(t, s, "erase", `{"key":"k"}`)).Erased)
}
