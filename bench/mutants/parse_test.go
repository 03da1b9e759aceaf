package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := parse(strings.Join([]string{
		"# a comment",
		"",
		"  # another | one | with | bars | in it",
		"a/b.go | if x { | if false { | ./a | TestX",
		"\ta.go | x || y |  | a/c | ExampleX_y ",
		`a.go | x \| y | a\\b\n\tc | ./a | FuzzX`,
		"a.go | {a|b} | {b | ./a | TestX",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []mutation{
		{line: 4, file: "a/b.go", old: "if x {", new: "if false {", pkg: "./a", test: "TestX"},
		{line: 5, file: "a.go", old: "x || y", new: "", pkg: "./a/c", test: "ExampleX_y"},
		{line: 6, file: "a.go", old: "x | y", new: "a\\b\n\tc", pkg: "./a", test: "FuzzX"},
		{line: 7, file: "a.go", old: "{a|b}", new: "{b", pkg: "./a", test: "TestX"},
	}
	for i := range got {
		got[i].text = ""
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"a.go | x | y | ./a":               "4 fields",
		"a.go | x | y | ./a | TestX | z":   "6 fields",
		"a.go | x | y | ./a |":             `"" is no name`,
		"a.go |  | y | ./a | TestX":        "no text",
		"a.go | x | x | ./a | TestX":       "by itself",
		"a.txt | x | y | ./a | TestX":      "no Go file",
		"/a.go | x | y | ./a | TestX":      "no Go file",
		"../a.go | x | y | ./a | TestX":    "no Go file",
		"a.go | x | y | ./a/... | TestX":   "no package",
		"a.go | x | y | ../a | TestX":      "no package",
		"a.go | x | y | ./a | TestX|TestY": "no name of a test",
		"a.go | x | y | ./a | Test.*":      "no name of a test",
		`a.go | \x | y | ./a | TestX`:      "backslash",
		`a.go | x | y | ./a | TestX\`:      "backslash",
	} {
		_, err := parse("# a comment\n" + line)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "mutants.txt:2: ") {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
}

func TestApply(t *testing.T) {
	m := mutation{file: "a.go", old: "b", new: "x"}
	if got, err := m.apply("abc"); got != "axc" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, source := range []string{"ac", "abcb"} {
		if got, err := m.apply(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
}

func TestModuleOf(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	for pkg, want := range map[string][2]string{
		"./cow":                        {".", "./cow"},
		"./cow/cowview":                {"cow/cowview", "./"},
		"./cow/cowview/internal/sound": {"cow/cowview", "./internal/sound"},
		"./cow/internal/ordered":       {".", "./cow/internal/ordered"},
	} {
		dir, rel := moduleOf(root, pkg)
		if got, _ := filepath.Rel(root, dir); got != want[0] || rel != want[1] {
			t.Errorf("%s: got %q, %q", pkg, got, rel)
		}
	}
}

// The list in use can be read, names no bug twice, and fits the source as it
// is. Whether the tests catch the bugs takes longer to say.
func TestTheList(t *testing.T) {
	ms, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range ms {
		if before := seen[m.text]; before > 0 {
			t.Errorf("line %d is line %d", m.line, before)
		}
		seen[m.text] = m.line
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
		if err == nil {
			_, err = m.apply(string(source))
		}
		if err != nil {
			t.Errorf("line %d: %v", m.line, err)
		}
	}
}
