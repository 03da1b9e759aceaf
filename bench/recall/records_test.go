package recall_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/memory"
)

const record = `{"space":["a"],"key":"k","value":{"text":"Ines"}}` + "\n"

// read reads files with these lines.
func read(t *testing.T, recordLines, queryLines string) (memory.Snapshot, []recall.Query, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "records"), []byte(recordLines), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries"), []byte(queryLines), 0o600))
	return recall.Read(filepath.Join(dir, "records"), filepath.Join(dir, "queries"))
}

func TestRead(t *testing.T) {
	s, queries, err := read(t, "\n"+record+`{"space":[],"key":"","value":"in the root"}`,
		`{"space":["a"],"key":"k"}`+"\r\n\n"+`{"space":[],"key":""}`+"\n"+` {"text":"some text","space":["a"],"relevant":["k"]}`)
	require.NoError(t, err)
	require.Equal(t, 2, s.Len())
	v, _ := s.Space("a").Get("k")
	require.Equal(t, map[string]any{"text": "Ines"}, v.Any())
	require.Equal(t, []recall.Query{
		{Space: []string{"a"}, Key: "k"}, {Space: []string{}}, {Space: []string{"a"}, Text: "some text", Relevant: []string{"k"}},
	}, queries)
}

func TestErrorsNameFileAndLine(t *testing.T) {
	const query = `{"space":["a"],"key":"k"}` + "\n\n"
	_, _, err := read(t, record+"{", query)
	require.ErrorContains(t, err, "records: ")
	require.ErrorContains(t, err, "line 2:")
	for bad, want := range map[string]string{
		`{`: "EOF", `[]`: "array", `{"space":["b"],"key":"k"}`: "no record", `{"space":["a"],"key":"k","more":1}`: "more",
		`{"space":["a"],"key":"k","text":"t","relevant":["k"]}`: "or else", `{"space":["a"],"key":"k","relevant":["k"]}`: "or else",
		`{"space":["a"]}`: "or else", `{"space":["a"],"text":" ","relevant":["k"]}`: "or else", `{"key":"k"}`: "no space",
		`{"space":["a"],"key":"k"} {}`: "more than one", `{"space":["a"],"text":"t"}`: "or else", `{"space":["a"],"text":"t","relevant":["k","z"]}`: `"z"`,
	} {
		_, _, err := read(t, record, query+bad)
		require.ErrorContains(t, err, "queries: line 3: ", bad)
		require.ErrorContains(t, err, want, bad)
	}
	_, _, err = read(t, record, "\n")
	require.ErrorContains(t, err, "queries: no queries")
	_, _, err = recall.Read("none", "none")
	require.ErrorIs(t, err, os.ErrNotExist)
}
