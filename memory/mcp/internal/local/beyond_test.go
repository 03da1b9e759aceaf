package local_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

type hit struct {
	Kind, Key, Type, Text, Updated, Created, Expires string
	Space, Tags, Matched                             []string
	Metadata                                         map[string]any
	Score                                            float64
	Truncated                                        bool
	Revision                                         uint64
}

type hits struct {
	Hits []hit
	More string
}

func (h hits) keys() (list []string) {
	for _, h := range h.Hits {
		list = append(list, h.Key)
	}
	return list
}

type remembered struct {
	Key      string
	Revision uint64
	Replaced bool
}

type change struct {
	Revision                      uint64
	Time, Change, Kind, Key, Text string
	Space                         []string
}

func TestRecallFindsNotesAndEntities(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"key":"deploy","text":"We deploy on Tuesdays, never on Fridays","space":["work","ops"],"tags":["rule"],"metadata":{"team":"ops","level":2}}`)
	do(t, s, "remember", `{"key":"tea","text":"Green tea is preferred","space":["home"]}`)
	made := as[remembered](t, do(t, s, "remember", `{"text":"The office of Acme is in Bern"}`))
	require.True(t, strings.HasPrefix(made.Key, "note-"))

	h := as[hits](t, do(t, s, "recall", `{"query":"when do we deploy?"}`))
	require.Equal(t, "deploy", h.Hits[0].Key)
	require.Equal(t, []string{"work", "ops"}, h.Hits[0].Space)
	require.Equal(t, []string{"rule"}, h.Hits[0].Tags)
	require.Equal(t, map[string]any{"team": "ops", "level": 2.0}, h.Hits[0].Metadata)
	require.Contains(t, h.Hits[0].Matched, "deploy")
	require.Positive(t, h.Hits[0].Score)
	require.NotEmpty(t, h.Hits[0].Updated)

	require.ElementsMatch(t, []string{"Acme Corp", "Alice", made.Key}, as[hits](t, do(t, s, "recall", `{"query":"acme"}`)).keys())
	require.ElementsMatch(t, []string{"Acme Corp", "Alice"}, as[hits](t, do(t, s, "recall", `{"query":"acme","kind":"entity"}`)).keys())
	require.Equal(t, []string{made.Key}, as[hits](t, do(t, s, "recall", `{"query":"acme","kind":"note"}`)).keys())
	require.Equal(t, []string{"deploy"}, as[hits](t, do(t, s, "recall", `{"space":["work"]}`)).keys())
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"space":["work","op"]}`)).keys())
	for _, where := range []string{`"where":{"level":2}`, `"tags":["rule"]`, `"where":{"team":"ops"},"tags":["rule"]`} {
		require.Equal(t, []string{"deploy"}, as[hits](t, do(t, s, "recall", `{`+where+`}`)).keys(), where)
		require.Equal(t, []string{"deploy"}, as[hits](t, do(t, s, "recall", `{"query":"tuesdays tea",`+where+`}`)).keys(), where)
	}
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"where":{"level":3}}`)).keys())
	require.Equal(t, "Green tea is preferred", as[hits](t, do(t, s, "recall", `{"key":"tea","space":["home"]}`)).Hits[0].Text)
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"key":"tea"}`)).Hits)

	all := as[hits](t, do(t, s, "recall", `{"k":4}`))
	require.Equal(t, []string{made.Key, "tea", "deploy", "Acme Corp"}, all.keys(), "the latest first")
	require.Contains(t, all.More, "offset: 4")
	require.Equal(t, []string{"Bob", "Alice"}, as[hits](t, do(t, s, "recall", `{"offset":4}`)).keys())
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"query":"tea","since":"2100-01-01T00:00:00Z"}`)).Hits)
	require.NotEmpty(t, as[hits](t, do(t, s, "recall", `{"query":"tea","since":"2020-01-01T00:00:00Z"}`)).Hits)
	refused(t, s, store.Invalid, "recall", `{"since":"yesterday"}`)
	refused(t, s, store.Invalid, "recall", `{"k":0}`)
	refused(t, s, store.Invalid, "recall", `{"kind":"other"}`)
	refused(t, s, store.Invalid, "remember", `{"text":" "}`)
	refused(t, s, store.Invalid, "remember", `{"text":"x","ttl_seconds":0}`)
	refused(t, s, store.Invalid, "remember", `{"text":"x","ttl_seconds":99999999999999}`)
	refused(t, s, store.TooLarge, "remember", `{"text":"x","metadata":{"a":"`+strings.Repeat("a", 70<<10)+`"}}`)
	refused(t, s, store.TooLarge, "remember", `{"text":"x","space":["1","2","3","4","5","6","7","8","9","0","1","2","3","4","5","6","7"]}`)
}

func TestRecallByVectors(t *testing.T) {
	s := inMemory(t)
	for i := range 3 {
		do(t, s, "remember", fmt.Sprintf(`{"key":"v%d","text":"number %d","vector":[%d,1]}`, i, i, i*i))
	}
	require.Equal(t, []string{"v0", "v1"}, as[hits](t, do(t, s, "recall", `{"vector":[0,2],"k":2}`)).keys())
	both := as[hits](t, do(t, s, "recall", `{"vector":[16,4],"query":"2"}`))
	require.Equal(t, "v2", both.Hits[0].Key)
	require.Equal(t, []string{"2"}, both.Hits[0].Matched)
	refused(t, s, store.Invalid, "remember", `{"text":"x","vector":[1,2,3]}`)
	refused(t, s, store.Invalid, "remember", `{"text":"x","vector":[0,0]}`)
	refused(t, s, store.Invalid, "remember", `{"text":"x","vector":[1e300,0]}`)
	refused(t, s, store.Invalid, "recall", `{"vector":[1,2,3]}`)
}

func TestResultsAreCut(t *testing.T) {
	s := open(t, "", local.Options{MaxResult: 20_000})
	text := strings.Repeat("word ", 2000)
	for i := range 10 {
		do(t, s, "remember", fmt.Sprintf(`{"key":"%d","text":%q}`, i, text))
	}
	seen := make(map[string]bool)
	for offset := 0; ; {
		result := do(t, s, "recall", fmt.Sprintf(`{"query":"word","offset":%d}`, offset))
		require.Less(t, len(result), 25_000)
		h := as[hits](t, result)
		for _, hit := range h.Hits {
			require.True(t, hit.Truncated)
			seen[hit.Key] = true
		}
		if offset += len(h.Hits); h.More == "" {
			break
		}
		require.Contains(t, h.More, fmt.Sprint("offset: ", offset))
	}
	require.Len(t, seen, 10)
	require.Equal(t, text, as[hits](t, do(t, s, "recall", `{"key":"3"}`)).Hits[0].Text, "one is whole")
}

func TestNotesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t)
		do(t, s, "remember", `{"key":"k","text":"soon gone","ttl_seconds":1}`)
		require.NotEmpty(t, as[hits](t, do(t, s, "recall", `{"key":"k"}`)).Hits[0].Expires)
		time.Sleep(time.Second)
		require.Empty(t, as[hits](t, do(t, s, "recall", `{"query":"soon"}`)).Hits)
	})
}

func TestWhatHasExpiredLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "", local.Options{MaxBytes: 2000})
		note := `{"key":"k","text":"` + strings.Repeat("a", 1000) + `","ttl_seconds":1}`
		for range 2 {
			do(t, s, "remember", note) // in the place of what is not swept yet
			time.Sleep(time.Second)
		}
	})
}

func TestSinceIsAnyTime(t *testing.T) {
	s := filled(t)
	for since, n := range map[string]int{"0001-01-01T00:00:00Z": 3, "1500-01-01T00:00:00Z": 3, "2400-01-01T00:00:00Z": 0, "9999-12-31T00:00:00Z": 0} {
		require.Len(t, as[hits](t, do(t, s, "recall", `{"since":"`+since+`"}`)).Hits, n, since)
		require.Len(t, as[hits](t, do(t, s, "recall", `{"query":"Alice Bob Acme","since":"`+since+`"}`)).Hits, n, since)
	}
}

func TestHistoryAndChanges(t *testing.T) {
	type history struct {
		History []change
		More    string
	}
	type changes struct {
		Changes []change
		Cursor  string
		More    bool
	}
	s := inMemory(t)
	start := as[changes](t, do(t, s, "changes", `{}`)).Cursor
	first := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"one"}`))
	second := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"two"}`))
	require.False(t, first.Replaced)
	require.True(t, second.Replaced)
	do(t, s, "remember", `{"key":"k","text":"elsewhere","namespace":"other"}`)
	do(t, s, "create_entities", family)
	do(t, s, "create_relations", ties)
	do(t, s, "delete_entities", `{"entityNames":["Bob"]}`)

	h := as[history](t, do(t, s, "history", `{"key":"k"}`))
	require.Len(t, h.History, 2)
	require.Equal(t, []string{"two", "one"}, []string{h.History[0].Text, h.History[1].Text})
	require.Equal(t, second.Revision, h.History[0].Revision)
	require.Equal(t, "added", h.History[1].Change)
	page := as[history](t, do(t, s, "history", `{"key":"k","limit":1}`))
	require.Len(t, page.History, 1)
	require.Contains(t, page.More, fmt.Sprint("before: ", second.Revision))
	require.Equal(t, "one", as[history](t, do(t, s, "history", fmt.Sprintf(`{"key":"k","limit":1,"before":%d}`, second.Revision))).History[0].Text)
	h = as[history](t, do(t, s, "history", `{"entity":"Bob"}`))
	require.Equal(t, "deleted", h.History[0].Change)
	require.Equal(t, "Bob (person)\nworks at TechCo", h.History[0].Text)
	require.Empty(t, as[history](t, do(t, s, "history", `{"entity":"Nobody"}`)).History)
	refused(t, s, store.Invalid, "history", `{}`)

	var all []string
	cursor := start
	for range 100 {
		c := as[changes](t, do(t, s, "changes", fmt.Sprintf(`{"cursor":%q,"limit":2}`, cursor)))
		require.LessOrEqual(t, len(c.Changes), 2)
		for _, ch := range c.Changes {
			all = append(all, ch.Change+" "+ch.Kind+" "+ch.Key)
		}
		if cursor = c.Cursor; !c.More {
			break
		}
	}
	require.Equal(t, []string{
		"added note k", "changed note k",
		"added entity Acme Corp", "added entity Alice", "added entity Bob",
		"added relation Alice works_at Acme Corp", "added relation Bob knows Alice",
		"deleted entity Bob", "deleted relation Bob knows Alice",
	}, all)
	again := as[changes](t, do(t, s, "changes", fmt.Sprintf(`{"cursor":%q}`, cursor)))
	require.Empty(t, again.Changes)
	require.Equal(t, cursor, again.Cursor)
	latest := as[changes](t, do(t, s, "changes", `{"limit":1}`))
	require.Equal(t, "Bob knows Alice", latest.Changes[0].Key)
	for _, bad := range []string{"x", "x.1", cursor + "0", cursor + "+x", "+1"} {
		refused(t, s, store.Invalid, "changes", fmt.Sprintf(`{"cursor":%q}`, bad))
	}
}

func TestUndo(t *testing.T) {
	s := filled(t)
	before := do(t, s, "read_graph", ``)
	do(t, s, "delete_entities", `{"entityNames":["Alice"]}`)
	_, _, version, _ := s.Inspect()
	undone := as[remembered](t, do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, version)))
	require.Equal(t, before, do(t, s, "read_graph", ``), "with its relations, in order")
	do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, undone.Revision))
	require.Equal(t, []string{"Bob", "Acme Corp"}, as[graph](t, do(t, s, "read_graph", ``)).names(), "an undo is undone")

	first := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"one"}`))
	do(t, s, "remember", `{"key":"k","text":"two"}`)
	require.Contains(t, refused(t, s, store.Conflict, "undo", fmt.Sprintf(`{"revision":%d}`, first.Revision)), `note "k"`)
	refused(t, s, store.NotFound, "undo", `{"revision":1000}`)
	refused(t, s, store.Invalid, "undo", `{"revision":0}`)
	refused(t, s, store.NotFound, "undo", fmt.Sprintf(`{"revision":%d,"namespace":"other"}`, first.Revision))

	r := store.Request{ID: "undo once", Op: "undo", Args: json.RawMessage(fmt.Sprintf(`{"revision":%d}`, first.Revision+1))}
	done, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	again, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, done, again)
	require.Contains(t, refused(t, s, store.Conflict, "undo", fmt.Sprintf(`{"revision":%d}`, first.Revision+1)), "undone already")
	require.Equal(t, "one", as[hits](t, do(t, s, "recall", `{"key":"k"}`)).Hits[0].Text)
}

func TestThePastThatIsGone(t *testing.T) {
	s := open(t, "", local.Options{Retain: cow.Retention{Versions: 2}})
	cursor := as[struct{ Cursor string }](t, do(t, s, "changes", `{}`)).Cursor
	first := as[remembered](t, do(t, s, "remember", `{"text":"x"}`))
	for range 10 {
		do(t, s, "remember", `{"text":"x"}`)
	}
	refused(t, s, store.Gone, "undo", fmt.Sprintf(`{"revision":%d}`, first.Revision))
	refused(t, s, store.Gone, "changes", fmt.Sprintf(`{"cursor":%q}`, cursor))
	for _, err := range s.Changes(t.Context(), cursor) {
		require.ErrorIs(t, err, store.ErrCursor)
	}
}

func TestForks(t *testing.T) {
	s := inMemory(t)
	do(t, s, "remember", `{"key":"a","text":"one"}`)
	do(t, s, "fork", `{"action":"create","name":"f"}`)
	refused(t, s, store.Conflict, "fork", `{"action":"create","name":"f"}`)
	do(t, s, "remember", `{"key":"a","text":"two","fork":"f"}`)
	do(t, s, "remember", `{"key":"b","text":"new","fork":"f","vector":[1,2]}`)
	do(t, s, "remember", `{"key":"c","text":"beside"}`)
	require.Equal(t, "one", as[hits](t, do(t, s, "recall", `{"key":"a"}`)).Hits[0].Text)
	require.Equal(t, "two", as[hits](t, do(t, s, "recall", `{"key":"a","fork":"f"}`)).Hits[0].Text)
	require.Equal(t, []string{"b"}, as[hits](t, do(t, s, "recall", `{"query":"new","fork":"f"}`)).keys())
	require.Contains(t, do(t, s, "fork", `{"action":"list"}`), `"changed":2`)
	refused(t, s, store.NotFound, "recall", `{"key":"a","fork":"f","namespace":"other"}`)

	merge := store.Request{ID: "merge", Op: "fork", Args: json.RawMessage(`{"action":"merge","name":"f"}`)}
	done, err := s.Do(t.Context(), merge)
	require.NoError(t, err)
	again, err := s.Do(t.Context(), merge)
	require.NoError(t, err)
	require.Equal(t, done, again)
	require.Equal(t, "two", as[hits](t, do(t, s, "recall", `{"key":"a"}`)).Hits[0].Text)
	require.Equal(t, []string{"b"}, as[hits](t, do(t, s, "recall", `{"vector":[1,2]}`)).keys())
	refused(t, s, store.NotFound, "recall", `{"key":"a","fork":"f"}`)

	do(t, s, "fork", `{"action":"create","name":"g"}`)
	do(t, s, "remember", `{"key":"a","text":"three","fork":"g"}`)
	do(t, s, "forget", `{"key":"b","fork":"g"}`)
	do(t, s, "remember", `{"key":"a","text":"four"}`)
	require.Contains(t, refused(t, s, store.Conflict, "fork", `{"action":"merge","name":"g"}`), `note "a"`)
	require.NotEmpty(t, as[hits](t, do(t, s, "recall", `{"key":"b"}`)).Hits, "all or nothing")
	do(t, s, "fork", `{"action":"drop","name":"g"}`)
	do(t, s, "fork", `{"action":"drop","name":"g"}`)
	require.Contains(t, do(t, s, "fork", `{"action":"list"}`), `"0 forks"`)
	for i := range 16 {
		do(t, s, "fork", fmt.Sprintf(`{"action":"create","name":"%d"}`, i))
	}
	refused(t, s, store.TooLarge, "fork", `{"action":"create","name":"one more"}`)
	refused(t, s, store.Invalid, "fork", `{"action":"create"}`)
	refused(t, s, store.Invalid, "fork", `{"action":"explode"}`)
}

// An argument that is not known is no smaller mistake for being left out of account: nothing is
// done, and the error says what there is.
func TestUnknownArgumentsDoNothing(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"key":"k","text":"x"}`)
	do(t, s, "fork", `{"action":"create","name":"f"}`)
	for op, args := range map[string]string{
		"remember": `{"key":"k","text":"secret","ttl":"1s"}`,
		"recall":   `{"query":"x","metadata":{"a":1}}`,
		"forget":   `{"key":"k","folder":["a"]}`,
		"history":  `{"key":"k","fork":"f"}`,
		"changes":  `{"since":"x"}`,
		"undo":     `{"revision":1,"version":1}`,
		"fork":     `{"action":"drop","name":"f","fork":"g"}`,
	} {
		message := refused(t, s, store.Invalid, op, args)
		require.Contains(t, message, op+": there is no argument ")
		require.Contains(t, message, `"namespace"`)
	}
	do(t, s, "remember", `{"key":"k","text":"draft","fork":"f"}`) // which is still there
}
