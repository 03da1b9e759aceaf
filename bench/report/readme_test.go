package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
)

// readmes are the files that have figures.
var readmes = []string{"../../README.md", "../README.md"}

// The figures are those of the committed lines, of a commit that is named and was not
// changed.
func TestReadmesHaveTheFiguresOfTheLines(t *testing.T) {
	files, err := filepath.Glob("../results/*.txt")
	require.NoError(t, err)
	l, err := result.Read(files...)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{40}( and [0-9a-f]{40})*$`, l.Host["commit"])
	f := &figures{l, promises.Judge(promises.All(), l)}
	for _, file := range readmes {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := f.filled(string(text))
		require.NoError(t, err, file)
		require.Equal(t, want, string(text), "go run ./report -readme ../README.md,README.md results/*.txt puts them into %s", file)
	}
}

// Every group of promises, and so every promise, is in one README, once.
func TestReadmesHaveEveryPromise(t *testing.T) {
	count := map[string]int{}
	for _, file := range readmes {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`<!-- figures: promises (.*) -->`).FindAllStringSubmatch(string(text), -1) {
			for group := range strings.FieldsSeq(m[1]) {
				count[group]++
			}
		}
	}
	for _, p := range promises.All() {
		require.Equal(t, 1, count[p.Group], p.Group)
	}
}

// What a README links to or shows is there.
func TestReadmesLinkToWhatIsThere(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	for _, file := range append(readmes, "../../memory/README.md") {
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
