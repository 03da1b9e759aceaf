package rooms

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// pages returns the names of all Markdown files.
func pages(t *testing.T) (names []string) {
	require.NoError(t, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			rel, _ := filepath.Rel(top, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	}))
	return names
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	snippet = regexp.MustCompile("(?ms)^```go$(.*?)^```$")
	span    = regexp.MustCompile("`[^`\n]*`")
	target  = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?) *#*$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(m[1], "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		unique := anchor
		for n := 1; all[unique]; n++ {
			unique = anchor + "-" + strconv.Itoa(n)
		}
		all[unique] = true
	}
	return all
}

func TestAnchors(t *testing.T) {
	text := "# A `B.C` of [d](e.md), and f\n\n```\n# no heading\n```\n## A_b\n## A_b\n"
	require.Equal(t, map[string]bool{"a-bc-of-d-and-f": true, "a_b": true, "a_b-1": true}, anchorsOf(text))
}

// Each link to a file or a heading of the repository leads somewhere.
func TestLinks(t *testing.T) {
	checked := 0
	for _, name := range pages(t) {
		text := read(t, name)
		for _, m := range target.FindAllStringSubmatch(span.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			to := m[1] + m[2]
			if strings.Contains(to, ":") { // another site
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(to, "#")
			there := name
			if file != "" {
				there = path.Join(path.Dir(name), file)
			}
			_, err := os.Stat(filepath.Join(top, there))
			if !strings.HasPrefix(there, "..") && err == nil && (anchor == "" || anchorsOf(read(t, there))[anchor]) {
				continue
			}
			t.Errorf("%s links to %s, and there is no such thing", name, to)
		}
	}
	require.NotZero(t, checked)
}

// The Go snippets of all pages are code of programs and tests, but for white space.
func TestSnippets(t *testing.T) {
	var code strings.Builder
	require.NoError(t, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			var source []byte
			source, err = os.ReadFile(name)
			code.WriteString(flat(string(source)))
		}
		return err
	}))
	checked := 0
	for _, name := range pages(t) {
		for _, m := range snippet.FindAllStringSubmatch(read(t, name), -1) {
			checked++
			if !strings.Contains(code.String(), flat(m[1])) {
				t.Errorf("no program has this snippet of %s:\n%s", name, m[1])
			}
		}
	}
	require.NotZero(t, checked)
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }
