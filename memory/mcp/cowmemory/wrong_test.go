package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// What is not of the form that import takes is an error that names the flags, and nothing is
// imported: not a line, and no file is made.
func TestAnImportOfTheWrongFormDoesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.cow")
	const graph = `{"type":"entity","name":"A","entityType":"x","observations":["1"]}
{"type":"relation","from":"A","to":"B","relationType":"r"}
`
	must(t, graph, "-file", path, "import", "-")
	all := must(t, "", "-file", path, "export", "-all")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var other strings.Builder
	foreign := memory.New(memory.Options{})
	_, err = foreign.Space("user", "42").Put("name", "Ada")
	require.NoError(t, err)
	require.NoError(t, foreign.Load().Export(&other))

	const both, without, with = "with -all one of", "import it without -all", "import it with -all"
	for name, c := range map[string]struct {
		content   string
		all, good string // of what is in the error; "": it is good
	}{
		"the graph":                    {graph, without, ""},
		"the graph after blank lines":  {"\n \r\n\t\n" + graph, without, ""},
		"the graph, members turned":    {`{"name":"A","observations":[],"entityType":"x","type":"entity"}`, without, ""},
		"a relation, members turned":   {`{"to":"A","from":"A","relationType":"x","type":"relation"}`, without, ""},
		"everything":                   {all, "", with},
		"everything after blank lines": {"\n\n" + all, "", with},
		"everything, members turned":   {`{"key":"k","value":{"text":"x"},"space":["","notes"]}`, "", with},
		"options":                      {`{"space":["","notes"],"options":{"ttl":"1h0m0s"}}`, "", with},
		"another memory":               {other.String(), "another program", with},
		"a long line of everything":    {`{"space":["","notes"],"key":"k","value":{"text":"` + strings.Repeat("x", 100_000) + `"}}`, "", with},
		"everything below the graph":   {graph + all, without, with},
		"the graph below everything":   {all + graph, both, with},
		"far below":                    {strings.Repeat(graph, 5000) + all, without, with},
		"empty":                        {"", both, both},
		"blank lines":                  {strings.Repeat("\n \t\r\n", 50_000), both, both},
		"a file of cowmemory":          {string(raw), "used by -file", "used by -file"},
		"zero bytes":                   {"\x00\x00", "not text", "not text"},
		"a zero byte in a line":        {graph[:20] + "\x00" + graph[20:], "not text", "not text"},
		"binary without zeros":         {"\x1f\x8b\x08\xff\xfe\n", both, both},
		"text":                         {"name,type\nA,x\n", both, both},
		"an array":                     {`[{"type":"entity","name":"A","entityType":"x","observations":[]}]`, both, both},
		"one object over many lines":   {"{\n\"entities\": [],\n\"relations\": []\n}\n", both, both},
		"other lines":                  {`{"a":1}` + "\n" + `{"type":"other"}`, both, both},
		"a number":                     {"7", both, both},
		"a cut line":                   {graph[:30], both, both},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lines.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o600))
			for _, args := range [][]string{{"import", "-all"}, {"import"}} {
				want := c.good
				if len(args) == 2 {
					want = c.all
				}
				for _, from := range []string{file, "-"} {
					if want == "" {
						must(t, c.content, append([]string{"-file", filepath.Join(t.TempDir(), "m.cow")}, append(args, from)...)...)
						continue
					}
					out, err := command(t, c.content, append([]string{"-file", path}, append(args, from)...)...)
					require.ErrorContains(t, err, want)
					require.ErrorContains(t, err, both)
					require.ErrorContains(t, err, "import "+from)
					require.Empty(t, out)
					require.Equal(t, all, must(t, "", "-file", path, "export", "-all"))
				}
			}
		})
	}
	folder := filepath.Join(dir, "none")
	for want, args := range map[string][]string{both: {dir}, "this is a directory": {"-all", dir}, "none.jsonl": {filepath.Join(dir, "none.jsonl")}} {
		_, err := command(t, "", append([]string{"-file", filepath.Join(folder, "m.cow"), "import"}, args...)...)
		require.ErrorContains(t, err, want)
	}
	_, err = command(t, all, "-file", filepath.Join(folder, "m.cow"), "import", "-")
	require.ErrorContains(t, err, with)
	require.NoDirExists(t, folder)
}

// What the command line or the environment has that is not known is an error with its name, and
// what there is.
func TestWhatIsNotKnownIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	for want, args := range map[string][]string{
		"-fil":                              {"-fil", path, "inspect"},
		"there is no command \"imports\"":   {"-file", path, "imports"},
		"import: ":                          {"-file", path, "import", "-al", "f"},
		"-all, and all others go before it": {"-file", path, "export", "-namespace", "n"},
		"-all goes before it":               {"-file", path, "import", "f", "-all"},
		"send that to a file":               {"-file", path, "export", "f"},
		"check takes no arguments":          {"-file", path, "check", "f"},
		"compact takes no arguments":        {"-file", path, "compact", "-all"},
		"version takes no arguments":        {"version", "-v"},
		"\"serve\": leave it out":           {"-memory", "serve", "stdio"},
		"\"\": leave it out":                {""},
		"cowmemory -h shows":                {"help"},
		"there is no command \"stdio\"":     {"-memory", "stdio"},
		"-token-file is of no use without -http: give both, or leave it out":       {"-memory", "-token-file", path},
		"-embed-model is of no use without -embed-url: give both, or leave it out": {"-memory", "-embed-model", "m"},
		"-http is of no use with check: leave it out":                              {"-http", "127.0.0.1:0", "check"},
		"-values is of no use without -http: give both, or leave it out":           {"-file", path, "-values", "inspect"},
		"-namespace is of no use with check: leave it out":                         {"-namespace", "n", "check"},
		"-most is of no use with compact: leave it out":                            {"-most", "7", "compact"},
		"-embed-url is of no use with export: leave it out":                        {"-embed-url", "http://localhost:1/v1", "export"},
		"-erase is of no use with compact: leave it out":                           {"-erase", "compact"},
		"-file is of no use with version: leave it out":                            {"-file", path, "version"},
		"export: -all is of all namespaces":                                        {"-file", path, "-namespace", "n", "export", "-all"},
		"import: -all is of all namespaces":                                        {"-file", path, "-namespace", "n", "import", "-all", "f"},
	} {
		_, err := command(t, "", args...)
		require.ErrorContains(t, err, want, args)
	}
	require.NoFileExists(t, path)
	for _, name := range []string{"COWMEMORY_FILE", "COWMEMORY_TOKENS", "COWMEMORY_", "cowmemory_tokens", "COWMEMORY_EMBED_KEY2"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "x")
			_, err := command(t, "", "version")
			require.ErrorContains(t, err, "there is no variable "+name+"; there are COWMEMORY_TOKEN and COWMEMORY_EMBED_KEY")
		})
	}
	t.Setenv("COWMEMORY_TOKEN", "x")
	t.Setenv("COWMEMORY_EMBED_KEY", "x")
	t.Setenv("NOT_OF_COWMEMORY_", "x")
	must(t, "", "version")
}
