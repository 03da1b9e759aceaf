package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
)

// readmes are the files that people read, and whether they have figures.
var readmes = map[string]bool{"../README.md": true, "README.md": true, "../memory/README.md": false}

// The figures are those of the committed report, of a commit that is named and was
// not changed.
func TestReadmesHaveTheFiguresOfTheReport(t *testing.T) {
	r := committed(t)
	require.False(t, r.Interrupted)
	require.False(t, r.Host.Modified)
	require.Len(t, r.Host.Commit, 40)
	for file, figures := range readmes {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := filled(r, string(text))
		if !figures {
			require.ErrorIs(t, err, errNoMarkers, file)
			continue
		}
		require.NoError(t, err, file)
		require.Equal(t, want, string(text), "go run . -out results -readme ../README.md,README.md puts them into %s", file)
		require.Contains(t, want, "<!-- figures: host -->\nCommit "+r.Host.Commit[:7])
	}
}

// Every group of bars, and so every promise, is in one README, once.
func TestReadmesHaveEveryBar(t *testing.T) {
	var all string
	for file := range readmes {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all += string(text)
	}
	count := map[string]int{}
	for _, m := range regexp.MustCompile(`<!-- figures: bars (.*) -->`).FindAllStringSubmatch(all, -1) {
		for group := range strings.FieldsSeq(m[1]) {
			count[group]++
		}
	}
	for _, group := range groupNames() {
		require.Equal(t, 1, count[group], group)
	}
}

// What a README links to or shows is there.
func TestReadmesLinkToWhatIsThere(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	for file := range readmes {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := link.FindAllStringSubmatch(code.ReplaceAllString(string(text), "code"), -1)
		require.NotEmpty(t, found, file)
		for _, m := range found {
			to := m[1] + m[2]
			if strings.HasPrefix(to, "https://") {
				continue
			}
			to, _, _ = strings.Cut(to, "#")
			_, err := os.Stat(filepath.Join(filepath.Dir(file), to))
			require.NoError(t, err, "%s links to %s", file, to)
		}
	}
}

// The Go snippets of each README are code of tests, where their output is checked.
func TestReadmesHaveSnippetsOfTests(t *testing.T) {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for file, tests := range map[string][]string{
		"../README.md":        {"../cow/readme_test.go", "../cow/examples/views/main_test.go"},
		"../memory/README.md": {"../memory/readme_test.go"},
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var source []byte
		for _, name := range tests {
			more, err := os.ReadFile(name)
			require.NoError(t, err)
			source = append(source, more...)
		}
		parts := strings.Split(string(text), "```go\n")
		require.Greater(t, len(parts), 1, "%s has lost its snippets", file)
		for _, part := range parts[1:] {
			snippet, _, closed := strings.Cut(part, "```")
			require.True(t, closed, "a snippet of %s is not closed", file)
			require.Contains(t, flat(string(source)), flat(snippet), file)
		}
	}
}

// A marker may ask for a part of a table, between others that result fills.
func TestFilledHasExcerpts(t *testing.T) {
	r := committed(t)
	const end = "<!-- figures end -->"
	const some = "<!-- figures: workload docs of rwmutex-copy,cowstore with p50,heap -->\n"
	text := "<!-- figures: host -->\n" + end + " one " + some + "old\n" + end + " two " + some + end + " three <!-- figures: verdict -->\n" + end
	got, err := filled(r, text)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(got, "| A coding agent's memory | p50 | B/entry |\n|---|---:|---:|\n| RWMutex map, copies |"))
	require.Equal(t, 2, strings.Count(got, "| **cowstore Get** |"))
	require.NotContains(t, got, "old")
	require.NotContains(t, got, "sync.Map |")
	require.Regexp(t, `(?s)^<!-- figures: host -->\nCommit .* one .* two .* three .*In short`, got)
	again, err := filled(r, got)
	require.NoError(t, err)
	require.Equal(t, got, again)

	for _, wrong := range []string{
		"<!-- figures: workload none of cowstore with p50 -->\n" + end,
		"<!-- figures: workload docs of none with p50 -->\n" + end,
		"<!-- figures: workload docs of cowstore with none -->\n" + end,
		"<!-- figures: workload docs of cowstore with p50 -->\n",
		some + "<!-- figures: host -->\n" + end,
	} {
		_, err := filled(r, wrong)
		require.ErrorIs(t, err, result.ErrMarkers, wrong)
	}
	_, err = filled(r, "no figures here")
	require.ErrorIs(t, err, errNoMarkers)
}

// Of several files none is written if one cannot be.
func TestUpdateReadmesIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	const empty = "<!-- figures: host -->\n<!-- figures end -->\n"
	good, bad := filepath.Join(dir, "good.md"), filepath.Join(dir, "bad.md")
	require.NoError(t, os.WriteFile(good, []byte(empty), 0o666))
	require.NoError(t, os.WriteFile(bad, []byte("<!-- figures: nonsense -->\n<!-- figures end -->\n"), 0o666))
	err := updateReadmes(good+", "+bad, "results")
	require.ErrorIs(t, err, result.ErrMarkers)
	require.ErrorContains(t, err, bad)
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	require.Equal(t, empty, string(text))
	require.ErrorIs(t, updateReadmes(good+","+filepath.Join(dir, "none.md"), "results"), os.ErrNotExist)

	require.NoError(t, os.WriteFile(bad, []byte(empty), 0o666))
	require.NoError(t, updateReadmes(good+","+bad, "results"))
	for _, file := range []string{good, bad} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "Commit ")
	}
}

// committed returns the committed report.
func committed(t *testing.T) *result.Report {
	r, err := read(filepath.Join("results", reportFile), result.Read)
	require.NoError(t, err)
	return r
}
