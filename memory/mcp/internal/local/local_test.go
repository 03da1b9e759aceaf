package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

func open(t testing.TB, path string, o local.Options) *local.Store {
	t.Helper()
	s, err := local.Open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func inMemory(t testing.TB) *local.Store { return open(t, "", local.Options{}) }

var ids int

// do does a request with a new id, and returns its result.
func do(t testing.TB, s store.Store, op, args string) string {
	t.Helper()
	ids++
	result, err := s.Do(t.Context(), store.Request{ID: fmt.Sprintf("%032d", ids), Op: op, Args: json.RawMessage(args)})
	require.NoError(t, err)
	return string(result)
}

// as decodes a result.
func as[T any](t testing.TB, result string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(result), &v))
	return v
}

// refused does a request that must be refused with that code, and change nothing.
func refused(t testing.TB, s store.Store, code store.Code, op, args string) string {
	t.Helper()
	before := state(t, s)
	_, err := s.Do(t.Context(), store.Request{ID: "refused", Op: op, Args: json.RawMessage(args)})
	var e *store.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	require.Equal(t, before, state(t, s))
	return e.Message
}

// state is all that there is, and the version.
func state(t testing.TB, s store.Store) string {
	t.Helper()
	var b strings.Builder
	l := s.(*local.Store)
	require.NoError(t, l.ExportAll(&b))
	_, _, version, _ := l.Inspect()
	return fmt.Sprint(version, b.String())
}

const family = `{"entities":[
	{"name":"Alice","entityType":"person","observations":["works at Acme Corp","likes TypeScript"]},
	{"name":"Bob","entityType":"person","observations":["works at TechCo"]},
	{"name":"Acme Corp","entityType":"company","observations":["tech company"]}]}`

const ties = `{"relations":[
	{"from":"Alice","to":"Acme Corp","relationType":"works_at"},
	{"from":"Bob","to":"Alice","relationType":"knows"}]}`

func filled(t testing.TB) *local.Store {
	s := inMemory(t)
	do(t, s, "create_entities", family)
	do(t, s, "create_relations", ties)
	return s
}

type graph struct {
	Entities []struct {
		Name         string
		EntityType   string
		Observations []string
	}
	Relations []struct{ From, To, RelationType string }
}

func (g graph) names() (list []string) {
	for _, e := range g.Entities {
		list = append(list, e.Name)
	}
	return list
}

func (g graph) ties() (list []string) {
	for _, r := range g.Relations {
		list = append(list, r.From+" "+r.RelationType+" "+r.To)
	}
	return list
}

func TestCreateIgnoresWhatIsThere(t *testing.T) {
	s := inMemory(t)
	require.Equal(t, `{"entities":[{"name":"A","entityType":"x","observations":["1","1"]},{"name":"B","entityType":"y","observations":[]}]}`,
		do(t, s, "create_entities", `{"entities":[{"name":"A","entityType":"x","observations":["1","1"]},{"name":"A","entityType":"z","observations":[]},{"name":"B","entityType":"y","observations":[]}]}`))
	require.Equal(t, `{"entities":[]}`, do(t, s, "create_entities", `{"entities":[{"name":"A","entityType":"other","observations":["2"]}]}`))
	require.Equal(t, `{"entities":[]}`, do(t, s, "create_entities", `{"entities":[]}`))
	g := as[graph](t, do(t, s, "read_graph", ``))
	require.Equal(t, []string{"A", "B"}, g.names())
	require.Equal(t, "x", g.Entities[0].EntityType)

	rel := `{"relations":[{"from":"A","to":"B","relationType":"r"},{"from":"A","to":"B","relationType":"s"},{"from":"A","to":"B","relationType":"r"},{"from":"nobody","to":"A","relationType":"r"}]}`
	require.Equal(t, `{"relations":[{"from":"A","to":"B","relationType":"r"},{"from":"A","to":"B","relationType":"s"},{"from":"nobody","to":"A","relationType":"r"}]}`,
		do(t, s, "create_relations", rel))
	require.Equal(t, `{"relations":[]}`, do(t, s, "create_relations", rel))
}

func TestAddObservationsAllOrNothing(t *testing.T) {
	s := filled(t)
	require.Equal(t, `{"results":[{"entityName":"Alice","addedObservations":["new"]},{"entityName":"Alice","addedObservations":[]}]}`,
		do(t, s, "add_observations", `{"observations":[{"entityName":"Alice","contents":["new","likes TypeScript","new"]},{"entityName":"Alice","contents":["new"]}]}`))
	require.Equal(t, "Entity with name Nobody not found",
		refused(t, s, store.NotFound, "add_observations", `{"observations":[{"entityName":"Bob","contents":["x"]},{"entityName":"Nobody","contents":["y"]}]}`))
}

func TestDeletesIgnoreWhatIsMissing(t *testing.T) {
	s := filled(t)
	require.Equal(t, `{"success":true,"message":"Entities deleted successfully"}`, do(t, s, "delete_entities", `{"entityNames":["Nobody"]}`))
	require.Equal(t, `{"success":true,"message":"Observations deleted successfully"}`,
		do(t, s, "delete_observations", `{"deletions":[{"entityName":"Nobody","observations":["x"]},{"entityName":"Alice","observations":["likes TypeScript","other"]}]}`))
	require.Equal(t, `{"success":true,"message":"Relations deleted successfully"}`,
		do(t, s, "delete_relations", `{"relations":[{"from":"Bob","to":"Alice","relationType":"hates"}]}`))
	g := as[graph](t, do(t, s, "read_graph", `{}`))
	require.Equal(t, []string{"Alice", "Bob", "Acme Corp"}, g.names())
	require.Equal(t, []string{"works at Acme Corp"}, g.Entities[0].Observations)
	require.Len(t, g.Relations, 2)
	do(t, s, "delete_entities", `{"entityNames":["Bob\u0000Alice"]}`) // the start of a relation's key
	require.Len(t, as[graph](t, do(t, s, "read_graph", `{}`)).Relations, 2)
	do(t, s, "delete_relations", `{"relations":[{"from":"Bob","to":"Alice","relationType":"knows"}]}`)
	require.Equal(t, []string{"Alice works_at Acme Corp"}, as[graph](t, do(t, s, "read_graph", `{}`)).ties())
}

func TestAnEntityGoesWithItsRelations(t *testing.T) {
	s := filled(t)
	do(t, s, "create_relations", `{"relations":[{"from":"Alice","to":"Alice","relationType":"is"},{"from":"Bob","to":"Acme Corp","relationType":"visits"},{"from":"Alic","to":"Bob","relationType":"r"}]}`)
	do(t, s, "delete_entities", `{"entityNames":["Alice"]}`)
	g := as[graph](t, do(t, s, "read_graph", `{}`))
	require.Equal(t, []string{"Bob", "Acme Corp"}, g.names())
	require.Equal(t, []string{"Bob visits Acme Corp", "Alic r Bob"}, g.ties())
}

func TestSearchFindsAllThatHasTheText(t *testing.T) {
	s := filled(t)
	for query, want := range map[string][]string{
		"Alice": {"Alice"}, "person": {"Alice", "Bob"}, "TypeScript": {"Alice"}, "ALICE": {"Alice"}, "nonexistent": nil,
		"ype": {"Alice"}, "": {"Alice", "Bob", "Acme Corp"}, "at Acme": {"Alice"},
	} {
		g := as[graph](t, do(t, s, "search_nodes", fmt.Sprintf(`{"query":%q}`, query)))
		require.Subset(t, g.names(), want, query)
		if query != "at Acme" {
			require.Len(t, g.names(), len(want), query)
		}
	}
	g := as[graph](t, do(t, s, "search_nodes", `{"query":"acme"}`))
	require.Equal(t, []string{"Acme Corp", "Alice"}, g.names(), "a name goes before an observation")
	require.Equal(t, []string{"Alice works_at Acme Corp", "Bob knows Alice"}, g.ties())
	g = as[graph](t, do(t, s, "search_nodes", `{"query":"who likes a company"}`))
	require.NotEmpty(t, g.names(), "words that are not there as they stand")
	require.Equal(t, `{"entities":[],"relations":[]}`, do(t, s, "search_nodes", `{"query":"zebra"}`))
}

func TestSearchIsLikeLowerCase(t *testing.T) {
	s := inMemory(t)
	do(t, s, "create_entities", `{"entities":[{"name":"ΟΔΥΣΣΕΥΣ","entityType":"İstanbul","observations":["Straße","end\u0000of","ÄÖ"]}]}`)
	for _, query := range []string{"οδυσσευς", "ὀΔΥΣ"[len("ὀ"):], "İST", "i\u0307stan", "STRASSE"[:4], "äö", `d\u0000o`} {
		require.Len(t, as[graph](t, do(t, s, "search_nodes", `{"query":"`+query+`"}`)).Entities, 1, query)
	}
	require.Empty(t, as[graph](t, do(t, s, "search_nodes", `{"query":"aße\u0000"}`)).Entities)
	do(t, s, "delete_observations", `{"deletions":[{"entityName":"ΟΔΥΣΣΕΥΣ","observations":["ÄÖ"]}]}`)
	require.Empty(t, as[graph](t, do(t, s, "search_nodes", `{"query":"äö"}`)).Entities)
}

func TestOpenHasRelationsOfEitherEnd(t *testing.T) {
	s := filled(t)
	g := as[graph](t, do(t, s, "open_nodes", `{"names":["Acme Corp","Nobody","Alice","Alice"]}`))
	require.Equal(t, []string{"Alice", "Acme Corp"}, g.names())
	require.Equal(t, []string{"Alice works_at Acme Corp", "Bob knows Alice"}, g.ties())
	require.Equal(t, []string{"Bob knows Alice"}, as[graph](t, do(t, s, "open_nodes", `{"names":["Bob"]}`)).ties())
	require.Equal(t, `{"entities":[],"relations":[]}`, do(t, s, "open_nodes", `{"names":[]}`))
}

func TestNamespacesAreApart(t *testing.T) {
	s := filled(t)
	for _, ns := range []string{"a", "default", "entities", "../x", "a\x1f"[:1] + "b"} {
		r := store.Request{ID: "ns" + ns, Namespace: ns, Op: "create_entities", Args: json.RawMessage(`{"entities":[{"name":"Alice","entityType":"` + ns + `","observations":[]}]}`)}
		_, err := s.Do(t.Context(), r)
		require.NoError(t, err)
		result, err := s.Do(t.Context(), store.Request{Namespace: ns, Op: "read_graph"})
		require.NoError(t, err)
		require.Equal(t, `{"entities":[{"name":"Alice","entityType":"`+ns+`","observations":[]}],"relations":[]}`, string(result))
	}
	require.Len(t, as[graph](t, do(t, s, "read_graph", ``)).Entities, 3)
}

func TestARequestIsDoneOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	s, err := local.Open(path, local.Options{})
	require.NoError(t, err)
	r := store.Request{ID: "once", Op: "create_entities", Args: json.RawMessage(`{"entities":[{"name":"A","entityType":"x","observations":[]}]}`)}
	first, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	do(t, s, "delete_entities", `{"entityNames":["A"]}`)
	again, err := s.Do(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Empty(t, as[graph](t, do(t, s, "read_graph", ``)).Entities)
	before := state(t, s)
	require.NoError(t, s.Close())
	_, err = s.Do(t.Context(), r)
	require.ErrorIs(t, err, store.ErrClosed)

	s = open(t, path, local.Options{})
	require.Equal(t, before, state(t, s))
	again, err = s.Do(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, before, state(t, s))
}

func TestWhatCannotBe(t *testing.T) {
	s := filled(t)
	long, huge := strings.Repeat("x", 5000), strings.Repeat("y", 300<<10)
	deep := strings.Repeat(`[`, 100_000)
	for _, c := range []struct {
		code store.Code
		op   string
		args string
	}{
		{store.Invalid, "create_entities", `{"entities":[{"name":"a"}]}`},
		{store.Invalid, "create_entities", `{"entities":[{"name":null,"entityType":"x","observations":[]}]}`},
		{store.Invalid, "create_entities", `{"entities":[{"name":"ok","entityType":"x","observations":[null]}]}`},
		{store.Invalid, "create_entities", `{"entities":[{"name":"ok","entityType":"x","observations":[]},{"name":7,"entityType":"x","observations":[]}]}`},
		{store.Invalid, "create_entities", `{"entities":{}}`},
		{store.Invalid, "create_entities", `{}`},
		{store.Invalid, "create_entities", `[]`},
		{store.Invalid, "create_entities", `nonsense`},
		{store.Invalid, "create_entities", "{\"entities\":[{\"name\":\"\xff\",\"entityType\":\"x\",\"observations\":[]}]}"},
		{store.Invalid, "create_entities", `{"entities":[{"name":"a\u0000b","entityType":"x","observations":[]}]}`},
		{store.Invalid, "create_entities", `{"entities":[{"name":"a","entityType":"x\u001b[31m","observations":[]}]}`},
		{store.Invalid, "create_entities", deep},
		{store.TooLarge, "create_entities", `{"entities":[{"name":"fine","entityType":"x","observations":[]},{"name":"` + long + `","entityType":"x","observations":[]}]}`},
		{store.TooLarge, "create_entities", `{"entities":[{"name":"a","entityType":"x","observations":["` + huge + `"]}]}`},
		{store.Invalid, "create_entities", `{"entities":[],"x":"` + strings.Repeat("z", 5<<20) + `"}`},
		{store.TooLarge, "delete_entities", `{"entityNames":["Alice"` + strings.Repeat(`,"a"`, 10_000) + `]}`},
		{store.TooLarge, "create_entities", `{"entities":[{"name":"a","entityType":"x","observations":["b"` + strings.Repeat(`,"b"`, 10_000) + `]}]}`},
		{store.TooLarge, "add_observations", `{"observations":[{"entityName":"Alice","contents":["b"` + strings.Repeat(`,"b"`, 10_000) + `]}]}`},
		{store.TooLarge, "delete_observations", `{"deletions":[{"entityName":"Alice","observations":["b"` + strings.Repeat(`,"b"`, 10_000) + `]}]}`},
		{store.TooLarge, "recall", `{"tags":["b"` + strings.Repeat(`,"b"`, 64) + `]}`},
		{store.Invalid, "delete_entities", `{"entityNames":"Alice"}`},
		{store.Invalid, "delete_relations", `{"relations":[{"from":"Alice"}]}`},
		{store.Invalid, "delete_observations", `{"deletions":[{"entityName":"Alice","observations":"likes TypeScript"}]}`},
		{store.Invalid, "create_relations", `{"relations":[{"from":"a\u0000b","to":"c","relationType":"d"}]}`},
		{store.Invalid, "search_nodes", `{"query":["a"]}`},
		{store.Invalid, "open_nodes", `{"names":[{}]}`},
		{store.Invalid, "no_such_tool", `{}`},
		{store.Invalid, "create_entities", `{"entities":[],"ENTITIES":[{"name":"a"}]}`},
		{store.Invalid, "create_entities", `{"entities":[{"name":"a","entityType":"x","observations":[],"Observation\u017f":null}]}`},
		{store.Invalid, "recall", `{"Offset":-5}`},
		{store.Invalid, "recall", `{"query":"a","\u212a":1000000000}`},
		{store.Invalid, "history", `{"entity":"Alice","LIMIT":-9223372036854775808}`},
		{store.Invalid, "changes", `{"limiT":-1}`},
		{store.Invalid, "undo", `{"revision":1,"Revision":0}`},
		{store.Invalid, "fork", `{"action":"list","Action":"create","name":"f"}`},
	} {
		message := refused(t, s, c.code, c.op, c.args)
		require.Less(t, len(message), 700, c.op)
	}
	do(t, s, "create_entities", `{"entities":[{"name":"../../etc/passwd","entityType":"C:\\x","observations":["; rm -rf /"],"extra":{"a":1}}],"more":[]}`)
	require.Equal(t, []string{"../../etc/passwd"}, as[graph](t, do(t, s, "open_nodes", `{"names":["../../etc/passwd"]}`)).names())
}

func TestAFullMemoryRefuses(t *testing.T) {
	var log bytes.Buffer
	s := open(t, "", local.Options{MaxBytes: 20_000, Log: slog.New(slog.NewTextHandler(&log, nil))})
	text := strings.Repeat("a", 3000)
	i := 0
	for ; ; i++ {
		require.Less(t, i, 100)
		_, err := s.Do(t.Context(), store.Request{Op: "create_entities", Args: json.RawMessage(fmt.Sprintf(`{"entities":[{"name":"%d","entityType":"x","observations":[%q]}]}`, i, text))})
		if err != nil {
			var e *store.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, store.TooLarge, e.Code)
			break
		}
	}
	require.Len(t, as[graph](t, do(t, s, "read_graph", ``)).Entities, i, "nothing was evicted")
	refused(t, s, store.TooLarge, "create_entities", fmt.Sprintf(`{"entities":[{"name":"more","entityType":"x","observations":[%q]}]}`, text))
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN msg=\"the memory is full"), log.String())
	used, limit := s.Used()
	require.EqualValues(t, 20_000, limit)
	require.Greater(t, used, limit/2)
	do(t, s, "delete_entities", `{"entityNames":["0","1","2","3"]}`)
	do(t, s, "create_entities", `{"entities":[{"name":"more","entityType":"x","observations":[]}]}`)
	var small []string // arguments, but not rows
	for i := range 50 {
		small = append(small, fmt.Sprintf(`{"from":"a","to":"b","relationType":"%d"}`, i))
	}
	refused(t, s, store.TooLarge, "create_relations", `{"relations":[`+strings.Join(small, ",")+`]}`)
}

// What chooses among many says nothing of the one that has a key.
func TestAKeyAloneChooses(t *testing.T) {
	s := inMemory(t)
	do(t, s, "remember", `{"key":"k","text":"x","space":["a"],"tags":["t"]}`)
	for _, more := range []string{`"query":"x"`, `"vector":[1]`, `"kind":"entity"`, `"tags":["no"]`, `"where":{"a":1}`, `"since":"2020-01-01T00:00:00Z"`, `"offset":1`} {
		require.Contains(t, refused(t, s, store.Invalid, "recall", `{"key":"k","space":["a"],`+more+`}`), "the key names one note")
	}
	for _, more := range []string{`"query":""`, `"kind":"note"`, `"tags":[]`, `"k":5`} {
		require.Contains(t, string(do(t, s, "recall", `{"key":"k","space":["a"],`+more+`}`)), `"text":"x"`)
	}
}
