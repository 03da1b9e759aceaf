package records_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/records"
)

// someRecords are what the queries of the tests are for.
func someRecords(t testing.TB) []records.Record {
	return load(t,
		`{"space":["user","42"],"key":"name","value":{"text":"Ines"}}`,
		`{"space":["user","42"],"key":"trip","value":{"text":"a train to Lyon"}}`,
		`{"space":["user","42"],"key":"seat","value":{"text":"at the window"}}`,
		`{"space":["user 42"],"key":"other","value":1}`,
		`{"space":[],"key":"","vector":[1]}`,
		`{"space":["é"],"key":"漢 \"<&>\"","value":1}`,
	)
}

func TestQueriesAreReadInOrder(t *testing.T) {
	lines := `{"space":["user","42"],"key":"name"}

{"text": "train to Lyon", "relevant": ["trip", "seat"], "space": ["user", "42"]}` + "\r\n \t\n" +
		`{"space":[],"key":""}
{"space":["user 42"],"text":"?","relevant":["other","other"]}
{"space":["\u00e9"],"key":"漢 \"\u003c&>\""}`
	want := []records.Query{
		{Space: []string{"user", "42"}, Key: "name"},
		{Space: []string{"user", "42"}, Text: "train to Lyon", Relevant: []string{"trip", "seat"}},
		{Space: []string{}},
		{Space: []string{"user 42"}, Text: "?", Relevant: []string{"other", "other"}},
		{Space: []string{"é"}, Key: `漢 "<&>"`},
	}
	for _, end := range []string{"", "\n", "\n\n"} {
		got, err := records.Queries(strings.NewReader(lines+end), someRecords(t))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestNoQueries(t *testing.T) {
	for _, nothing := range []string{"", "\n", " \r\n\n\t"} {
		got, err := records.Queries(strings.NewReader(nothing), someRecords(t))
		require.ErrorIs(t, err, records.ErrNoQueries, "%q", nothing)
		require.Nil(t, got)
	}
}

// malformed are lines that are no queries, and what the error says of each.
var malformed = []struct{ line, says string }{
	{`{`, "unexpected end"},
	{`nonsense`, "invalid character"},
	{`{"space":["user","42"],"key":"name"} {}`, "after top-level value"},
	{`{"space":["user","42"],"key":"name",}`, "invalid character"},
	{`{"space":["user","42"] "key":"name"}`, "invalid character"},
	{"\u00a0" + `{"space":["user","42"],"key":"name"}`, "invalid character"},
	{"\ufeff" + `{"space":["user","42"],"key":"name"}`, "invalid character"},
	{strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "depth"},
	{"{\"space\":[\"user\",\"42\"],\"key\":\"\xff\"}", "not UTF-8"},
	{`[]`, "no object"},
	{`null`, "no object"},
	{`"name"`, "no object"},
	{`[{"space":["user","42"],"key":"name"}]`, "no object"},
	{`{}`, "no space"},
	{`{"key":"name"}`, "no space"},
	{`{"space":["user","42"]}`, "neither key nor text"},
	{`{"space":["user","42"],"relevant":["trip"]}`, "neither key nor text"},
	{`{"space":["user","42"],"key":"name","text":"train","relevant":["trip"]}`, "both key and text"},
	{`{"space":["user","42"],"key":"","text":"train","relevant":["trip"]}`, "both key and text"},
	{`{"space":["user","42"],"key":"name","relevant":["trip"]}`, "relevant without text"},
	{`{"space":["user","42"],"key":"name","relevant":[]}`, "relevant without text"},
	{`{"space":["user","42"],"text":"train"}`, "nothing is relevant"},
	{`{"space":["user","42"],"text":"train","relevant":[]}`, "nothing is relevant"},
	{`{"space":["user","42"],"text":"","relevant":["trip"]}`, "text is empty"},
	{`{"space":["user","42"],"text":" \n","relevant":["trip"]}`, "text is empty"},
	{`{"space":["user","42"],"key":"name","value":1}`, `unknown member "value"`},
	{`{"space":["user","42"],"key":"name","":1}`, `unknown member ""`},
	{`{"space":["user","42"],"Key":"name"}`, `unknown member "Key"`},
	{`{"space":["user","42"],"key":"name","key":"name"}`, `two members "key"`},
	{`{"space":["user","42"],"space":["user","42"],"key":"name"}`, `two members "space"`},
	{`{"space":"user","key":"name"}`, "space: no list of strings"},
	{`{"space":null,"key":"name"}`, "space: no list of strings"},
	{`{"space":["user",42],"key":"name"}`, "space: no list of strings"},
	{`{"space":["user",null],"key":"name"}`, "space: no list of strings"},
	{`{"space":{"user":"42"},"key":"name"}`, "space: no list of strings"},
	{`{"space":["user","42"],"key":1}`, "key: no string"},
	{`{"space":["user","42"],"key":null}`, "key: no string"},
	{`{"space":["user","42"],"key":["name"]}`, "key: no string"},
	{`{"space":["user","42"],"text":true,"relevant":["trip"]}`, "text: no string"},
	{`{"space":["user","42"],"text":null,"relevant":["trip"]}`, "text: no string"},
	{`{"space":["user","42"],"text":"train","relevant":"trip"}`, "relevant: no list of strings"},
	{`{"space":["user","42"],"text":"train","relevant":null}`, "relevant: no list of strings"},
	{`{"space":["user","42"],"text":"train","relevant":["trip",null]}`, "relevant: no list of strings"},
	{`{"space":["user","42"],"text":"train","relevant":[["trip"]]}`, "relevant: no list of strings"},
	{`{"space":["user"],"key":"name"}`, `no record is in space ["user"]`},
	{`{"space":["user 42"],"key":"name"}`, `no record of space ["user 42"] has key "name"`},
	{`{"space":["user","42"],"key":"Name"}`, `no record of space ["user" "42"] has key "Name"`},
	{`{"space":["user","42"],"key":""}`, `has key ""`},
	{`{"space":["a"],"text":"train","relevant":["trip"]}`, `no record is in space ["a"]`},
	{`{"space":["user","42"],"text":"train","relevant":["trip","other"]}`, `has key "other"`},
	{`{"space":["user","42"],"key":"` + strings.Repeat("x", 1<<20) + `"}`, "longer than 1048576 bytes"},
}

func TestMalformedQueriesAreRefused(t *testing.T) {
	const good = `{"space":["user","42"],"key":"name"}` + "\n"
	all := someRecords(t)
	for _, m := range malformed {
		for _, lines := range []string{good + "\n" + m.line, good + "\n" + m.line + "\n" + good} {
			got, err := records.Queries(strings.NewReader(lines), all)
			require.ErrorIs(t, err, records.ErrMalformed, "%.100s", m.line)
			require.ErrorContains(t, err, "line 3: malformed query: ")
			require.ErrorContains(t, err, m.says)
			require.Nil(t, got)
		}
	}
}

func TestLinesMayHaveAMebibyte(t *testing.T) {
	all := someRecords(t)
	for _, end := range []string{"", "\n", "\n\n"} {
		line := `{"space":["user","42"],"key":"name"}`
		line += strings.Repeat(" ", 1<<20-len(line))
		got, err := records.Queries(strings.NewReader(line+end), all)
		require.NoError(t, err)
		require.Len(t, got, 1)

		_, err = records.Queries(strings.NewReader(line+" "+end), all)
		require.ErrorIs(t, err, records.ErrMalformed)
		_, err = records.Queries(strings.NewReader("\n"+strings.Repeat(" ", 1<<20+1)+end), all)
		require.ErrorIs(t, err, records.ErrMalformed, "an empty one too")
		require.ErrorContains(t, err, "line 2:")
	}
}

// Queries never panics, and whatever it accepts obeys the rules.
func FuzzQueries(f *testing.F) {
	all := someRecords(f)
	for _, m := range malformed {
		if len(m.line) < 1<<10 {
			f.Add(m.line)
		}
	}
	f.Add(`{"space":["user","42"],"key":"name"}` + "\n\r\n" + `{"space":["user","42"],"text":"train","relevant":["trip","seat"]}`)
	f.Add(`{"space":[],"key":""}` + "\n" + `{"space":["\u00e9"],"key":"漢 \"\u003c&>\""}`)
	example, err := os.ReadFile("testdata/assistant.queries.jsonl")
	require.NoError(f, err)
	f.Add(string(example))

	known := map[string]bool{}
	for _, r := range all {
		known[fmt.Sprintf("%q %q", r.Space, r.Key)] = true
	}
	f.Fuzz(func(t *testing.T, lines string) {
		got, err := records.Queries(strings.NewReader(lines), all)
		if err != nil {
			require.Nil(t, got)
			return
		}
		full := slices.DeleteFunc(strings.Split(lines, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
		require.Len(t, got, len(full))
		require.NotEmpty(t, got)
		for _, q := range got {
			require.NotNil(t, q.Space)
			wanted := []string{q.Key}
			if q.Text != "" {
				require.Empty(t, q.Key)
				require.NotEmpty(t, q.Relevant)
				wanted = q.Relevant
			} else {
				require.Nil(t, q.Relevant)
			}
			for _, key := range wanted {
				require.True(t, known[fmt.Sprintf("%q %q", q.Space, key)], "%q %q", q.Space, key)
			}
		}
	})
}
