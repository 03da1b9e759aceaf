package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

func TestTheReferencesFileComesAndGoes(t *testing.T) {
	s := inMemory(t)
	f := `{"type":"entity","name":"A","entityType":"x","observations":["1 < 2"]}

{"type":"entity","name":"B","entityType":"y","observations":[],"more":1}
{"type":"relation","from":"A","to":"B","relationType":"r"}
{"type":"entity","name":"A","entityType":"again","observations":[]}
{"type":"relation","from":"A","to":"B","relationType":"r"}`
	n, err := s.Import(t.Context(), "", strings.NewReader(f), nil)
	require.NoError(t, err)
	require.Equal(t, local.Imported{Entities: 2, Relations: 1, Known: 2}, n)
	var b strings.Builder
	require.NoError(t, s.Export("", &b))
	require.Equal(t, `{"type":"entity","name":"A","entityType":"x","observations":["1 < 2"]}
{"type":"entity","name":"B","entityType":"y","observations":[]}
{"type":"relation","from":"A","to":"B","relationType":"r"}
`, b.String())
	before := state(t, s)
	n, err = s.Import(t.Context(), "", strings.NewReader(b.String()), nil)
	require.NoError(t, err)
	require.Equal(t, local.Imported{Known: 3}, n)
	require.Equal(t, before, state(t, s))
}

func TestAnImportWithAnErrorDoesNothing(t *testing.T) {
	s := filled(t)
	before := state(t, s)
	lines := 5000
	if testing.Short() {
		lines = 2001 // which are two batches
	}
	line := fmt.Sprintf("line %d", lines+1)
	good := strings.Repeat(`{"type":"entity","name":"N","entityType":"x","observations":[]}`+"\n", lines)
	for bad, want := range map[string]string{
		`{"type":"entity","name":"A"}`:                                          "name, entityType and observations",
		`{"type":"entity","name":7,"entityType":"x","observations":[]}`:         line,
		`{"type":"relation","from":"a","to":"b"}`:                               "from, to and relationType",
		`{"type":"entity","name":"a\u0000","entityType":"x","observations":[]}`: "control character",
		"{\"type\":\"entity\",\"name\":\"\xff\"}":                               "UTF-8",
		`[`:                                     line,
		`{"type":"other","name":"A"}`:           `the type of this is "other"`,
		`{"name":"A","entityType":"x"}`:         "this has no type",
		`{"more":1}`:                            "this has no type",
		`{"type":null}`:                         "this has no type",
		`7`:                                     "must be an object, and is a number",
		strings.Repeat("[", 100):                "levels",
		`"` + strings.Repeat("x", 30<<20) + `"`: "bytes",
	} {
		_, err := s.Import(t.Context(), "", strings.NewReader(good+bad), nil)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, line)
		require.Equal(t, before, state(t, s))
	}
}

func TestAnImportThatIsTooLargeDoesNothing(t *testing.T) {
	s := open(t, "", local.Options{MaxBytes: 100_000})
	before := state(t, s)
	_, err := s.Import(t.Context(), "", bytes.NewReader(file(3000)), nil)
	require.ErrorContains(t, err, "more than there is room for")
	require.Equal(t, before, state(t, s))
}

func TestAnImportIsInBatches(t *testing.T) {
	s := inMemory(t)
	var steps []int
	n, err := s.Import(t.Context(), "ns", bytes.NewReader(file(3000)), func(lines int) { steps = append(steps, lines) })
	require.NoError(t, err)
	require.Equal(t, local.Imported{Entities: 3000, Relations: 3000}, n)
	require.Equal(t, []int{2000, 4000, 6000}, steps)
	require.Empty(t, as[graph](t, do(t, s, "read_graph", ``)).Entities)
	list, used, version, _ := s.Inspect()
	require.Equal(t, []local.Summary{{Namespace: "ns", Entities: 3000, Relations: 3000}}, list)
	require.EqualValues(t, 3, version)
	require.Positive(t, used)
}

func TestAllOfItComesAndGoes(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"text":"x","vector":[1,2],"tags":["t"],"namespace":"other","space":["a"]}`)
	var b, again strings.Builder
	require.NoError(t, s.ExportAll(&b))
	other := inMemory(t)
	_, err := other.ImportAll(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	require.NoError(t, other.ExportAll(&again))
	require.Equal(t, b.String(), again.String())
	require.Equal(t, do(t, s, "read_graph", ``), do(t, other, "read_graph", ``))
	do(t, other, "create_entities", `{"entities":[{"name":"later","entityType":"x","observations":[]}]}`)
	names := as[graph](t, do(t, other, "read_graph", ``)).names()
	require.Equal(t, "later", names[len(names)-1])
}

// The largest entity that there can be has a line of an export that an import takes.
func TestTheLargestEntityComesAndGoes(t *testing.T) {
	s := inMemory(t)
	do(t, s, "create_entities", `{"entities":[{"name":"a","entityType":"x","observations":[]}]}`)
	texts := 16 // all that may be
	if testing.Short() {
		texts = 2
	}
	for i := range texts {
		text, err := json.Marshal(fmt.Sprintf("%02d%s", i, strings.Repeat("\x01", 256<<10-2)))
		require.NoError(t, err)
		do(t, s, "add_observations", `{"observations":[{"entityName":"a","contents":[`+string(text)+`]}]}`)
	}
	for _, all := range []bool{false, true} {
		var first, again bytes.Buffer
		other := inMemory(t)
		if all {
			require.NoError(t, s.ExportAll(&first))
			_, err := other.ImportAll(t.Context(), bytes.NewReader(first.Bytes()))
			require.NoError(t, err)
			require.NoError(t, other.ExportAll(&again))
		} else {
			require.NoError(t, s.Export("", &first))
			_, err := other.Import(t.Context(), "", bytes.NewReader(first.Bytes()), nil)
			require.NoError(t, err)
			require.NoError(t, other.Export("", &again))
		}
		require.True(t, bytes.Equal(first.Bytes(), again.Bytes()))
	}
}

func TestOneProcessHasTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	open(t, path, local.Options{})
	_, err := local.Open(path, local.Options{})
	require.ErrorIs(t, err, bolt.ErrLocked)
}

// Whatever the arguments are, there is a result or an error for the client; and what is
// refused changes nothing.
func FuzzArguments(f *testing.F) {
	for i, op := range []string{"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations", "delete_relations",
		"search_nodes", "open_nodes", "remember", "recall", "forget", "history", "changes", "undo", "fork"} {
		for _, args := range []string{family, ties, `{"entityNames":["Alice"]}`, `{"query":"a","names":["Alice"],"text":"x","key":"k"}`, `{"revision":1,"action":"create","name":"f"}`,
			`{"observations":[{"entityName":"Alice","contents":["x"]}],"deletions":[{"entityName":"Alice","observations":["x"]}]}`} {
			f.Add(i, args, op)
		}
	}
	f.Fuzz(func(t *testing.T, i int, args, op string) {
		s := filled(t)
		before := state(t, s)
		_, err := s.Do(t.Context(), store.Request{ID: fmt.Sprint(i), Op: op, Args: json.RawMessage(args)})
		if err != nil {
			var e *store.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, before, state(t, s))
		}
	})
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"type":"entity","name":"A","entityType":"x","observations":["1"]}` + "\n" + `{"type":"relation","from":"A","to":"B","relationType":"r"}`))
	f.Add([]byte("\n\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := inMemory(t)
		n, err := s.Import(t.Context(), "", bytes.NewReader(text), nil)
		if err != nil {
			require.Zero(t, n)
			require.NotContains(t, state(t, s), "{")
			return
		}
		var b bytes.Buffer
		require.NoError(t, s.Export("", &b))
		again, err := inMemory(t).Import(t.Context(), "", &b, nil)
		require.NoError(t, err)
		require.Equal(t, local.Imported{Entities: n.Entities, Relations: n.Relations}, again)
	})
}
