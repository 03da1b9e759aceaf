package mcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

// section returns a section of README.md.
func section(t *testing.T, title string) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(b), "\n## "+title+"\n")
	require.True(t, ok, title)
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

var (
	spans   = regexp.MustCompile("`([^`]+)`")
	calling = regexp.MustCompile(`^([a-z_]+) (\{.*\})$`)
	times   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// answered checks an answer against that of the README: times may be others, and … is anything.
func answered(t *testing.T, want, is string) {
	t.Helper()
	var pattern strings.Builder
	for i, part := range strings.Split(times.ReplaceAllString(want, "TIME"), "…") {
		if i > 0 {
			pattern.WriteString(".*")
		}
		pattern.WriteString(regexp.QuoteMeta(part))
	}
	require.Regexp(t, "^"+pattern.String()+"$", times.ReplaceAllString(is, "TIME"))
}

// The conversation of the README goes as it is told there: each span of code is a call of a
// tool, or what the last call gets, which may be in several spans.
func TestTheReadmesTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	calls, results := 0, 0
	var c *sdk.ClientSession
	for _, scene := range strings.Split(section(t, "How it goes"), "in another client:") {
		s, err := mcp.Open(path, mcp.Options{})
		require.NoError(t, err)
		c = connect(t, s, nil)
		got, told := "", ""
		check := func() {
			if told != "" {
				answered(t, told, got)
				results++
			}
			told = ""
		}
		for _, span := range spans.FindAllStringSubmatch(scene, -1) {
			if parts := calling.FindStringSubmatch(span[1]); parts != nil {
				check()
				got, _ = call(t, c, parts[1], parts[2])
				calls++
			} else {
				told += span[1]
			}
		}
		check()
		if calls == 6 {
			text, _ := call(t, c, "recall", `{"key":"deploy-day","space":["ops"]}`)
			require.Contains(t, text, "Deploys are on Tuesdays, never on Fridays", "it is as it was")
		}
		require.NoError(t, c.Close())
		require.NoError(t, s.Close())
	}
	require.Equal(t, []int{6, 4}, []int{calls, results}, "so many are told")
}

// The tables of the README have the tools that there are.
func TestTheReadmesTools(t *testing.T) {
	c := connect(t, open(t, "", mcp.Options{Erase: true}), nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var there, told []string
	for _, tool := range list.Tools {
		there = append(there, tool.Name)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section(t, "The tools"), -1) {
		for _, name := range spans.FindAllStringSubmatch(row[1], -1) {
			told = append(told, name[1])
		}
	}
	require.ElementsMatch(t, there, told)
}
