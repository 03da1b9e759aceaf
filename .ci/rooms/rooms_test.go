// Package rooms tests that .github/ARCHITECTURE.md is true: that packages lean on each other
// as its table and its picture say, and that what it and the other pages link to exists.
package rooms

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	top    = "../.."
	module = "github.com/cowstore/cowstore/"
	page   = ".github/ARCHITECTURE.md"
)

// A house has what the packages of the repository import, by their paths in it: of each
// other, as such paths, and, of those of the root module, of other modules. Files for all
// systems count, and tests do not.
type house map[string]map[string]bool

// look reads the imports of all packages.
func look(t *testing.T) house {
	h := house{}
	var nested []string
	require.NoError(t, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.Name() == "go.mod" && rel != "go.mod":
			nested = append(nested, path.Dir(rel)+"/")
		case strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go"):
			return h.add(path.Dir(rel), name)
		}
		return nil
	}))
	for room, imports := range h {
		maps.DeleteFunc(imports, func(is string, _ bool) bool { // nested modules have their go.mod
			return isForeign(is) && slices.ContainsFunc(nested, func(m string) bool { return strings.HasPrefix(room+"/", m) })
		})
	}
	return h
}

func (h house) add(room, name string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) && strings.Contains(c.Text, "ignore") {
				return nil
			}
		}
	}
	if h[room] == nil {
		h[room] = map[string]bool{}
	}
	for _, spec := range f.Imports {
		is, _ := strconv.Unquote(spec.Path.Value)
		inner, ours := strings.CutPrefix(is, module)
		if ours || isForeign(is) {
			h[room][inner] = true
		}
	}
	return nil
}

// isForeign reports whether a path is of another module than the standard library's and ours.
func isForeign(is string) bool {
	host, _, _ := strings.Cut(is, "/")
	return strings.Contains(host, ".")
}

// fits reports whether a pattern is of a room: the room itself, or p/... for p and all below.
func fits(pattern, room string) bool {
	above, all := strings.CutSuffix(pattern, "/...")
	return room == above || all && strings.HasPrefix(room, above+"/")
}

// A row is a line of the table: rooms, and what they may lean on.
type row struct{ rooms, on []string }

var code = regexp.MustCompile("`([^`]+)`")

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join(top, name))
	require.NoError(t, err)
	return string(text)
}

// tableOf returns the rows of the table that begins with "| package |".
func tableOf(t *testing.T) (rows []row) {
	_, text, ok := strings.Cut(read(t, page), "\n| package |")
	require.True(t, ok, "%s has no table that begins with | package |", page)
	named := func(cell string) (all []string) {
		for _, m := range code.FindAllStringSubmatch(cell, -1) {
			all = append(all, m[1])
		}
		return all
	}
	for _, line := range strings.Split(text, "\n")[2:] {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		rows = append(rows, row{named(cells[1]), named(cells[2])})
	}
	return rows
}

func TestPackagesLeanOnWhatTheTableSays(t *testing.T) {
	h, rows := look(t), tableOf(t)
	inTable := func(patterns []string, is string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, is) })
	}
	var wrong []string
	for _, room := range slices.Sorted(maps.Keys(h)) {
		mine := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !inTable(r.rooms, room) })
		if len(mine) != 1 {
			wrong = append(wrong, room+" is in "+strconv.Itoa(len(mine))+" rows of the table, not one")
			continue
		}
		for _, is := range slices.Sorted(maps.Keys(h[room])) {
			if !inTable(mine[0].on, is) {
				wrong = append(wrong, room+" imports "+is+", and the table does not allow it")
			}
		}
	}
	for _, r := range rows {
		for _, p := range r.rooms {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(h)), func(room string) bool { return fits(p, room) }) {
				wrong = append(wrong, "the table has "+p+", which is no package")
			}
		}
		for _, p := range r.on {
			used := false
			for room, imports := range h {
				for is := range imports {
					used = used || inTable(r.rooms, room) && fits(p, is)
				}
			}
			if !used {
				wrong = append(wrong, "the table lets "+strings.Join(r.rooms, ", ")+" import "+p+", and none does")
			}
		}
	}
	for _, w := range wrong {
		t.Error(page + ": " + w)
	}
}

var (
	box   = regexp.MustCompile(`(\w+)\["([^"]+)"\]`)
	arrow = regexp.MustCompile(`(?m)^\s*([\w& ]+?) --> ([\w& ]+)$`)
)

// The picture has an arrow for each import between its rooms. A package belongs to the room that
// is closest above it. Those that lean on nothing, and examples, are left out unless they have a box.
func TestPackagesLeanOnWhatThePictureShows(t *testing.T) {
	_, text, ok := strings.Cut(read(t, page), "```mermaid\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "```")
	names, shown := map[string]string{}, map[string]bool{}
	for _, m := range box.FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[2]
	}
	for _, m := range arrow.FindAllStringSubmatch(text, -1) {
		for _, from := range strings.Split(m[1], " & ") {
			for _, to := range strings.Split(m[2], " & ") {
				require.Contains(t, names, from)
				require.Contains(t, names, to)
				shown[names[from]+" --> "+names[to]] = true
			}
		}
	}
	h := look(t)
	boxOf := func(room string) (is string) {
		for _, b := range names {
			if fits(b+"/...", room) && len(b) > len(is) {
				is = b
			}
		}
		if is != room && (len(h[room]) == 0 || strings.Contains(room, "/examples/")) {
			return ""
		}
		return is
	}
	real := map[string]bool{}
	for room, imports := range h {
		for is := range imports {
			if from, to := boxOf(room), boxOf(is); from != to && from != "" && to != "" {
				real[from+" --> "+to] = true
			}
		}
	}
	for _, edge := range slices.Sorted(maps.Keys(real)) {
		if !shown[edge] {
			t.Errorf("the picture of %s lacks %s", page, edge)
		}
	}
	for _, edge := range slices.Sorted(maps.Keys(shown)) {
		if !real[edge] {
			t.Errorf("the picture of %s has %s, which is no import", page, edge)
		}
	}
	require.NotEmpty(t, shown)
}

var inFile = regexp.MustCompile("((?:`[^`]+`(?:, | and )?)+) in \\[[^\\]]*\\]\\(([^)]+\\.go)\\)")

// Where a page says that `Update` is in a file, the file declares it.
func TestWhatIsSaidToBeInAFileIsThere(t *testing.T) {
	checked := 0
	for _, name := range pages(t) {
		for _, m := range inFile.FindAllStringSubmatch(read(t, name), -1) {
			source := read(t, path.Join(path.Dir(name), m[2]))
			for _, c := range code.FindAllStringSubmatch(m[1], -1) {
				receiver, method, ok := strings.Cut(c[1], ".")
				pattern := `(?m)^(func|type|var) ` + regexp.QuoteMeta(c[1]) + `\b`
				if ok {
					pattern = `(?m)^func \(\w* ?\*?` + regexp.QuoteMeta(receiver) + `(\[[^\]]*\])?\) ` + regexp.QuoteMeta(method) + `\b`
				}
				require.Regexp(t, pattern, source, "%s: %s is not in %s", name, c[1], m[2])
				checked++
			}
		}
	}
	require.NotZero(t, checked)
}
