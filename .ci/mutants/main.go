// Command mutants puts known bugs back, one at a time, and demands that a test fails of each.
// A bug that survives is a promise that no test keeps. Run it in the root of the repository:
//
//	go run ./.ci/mutants [-n] [-run regexp] [-p jobs] [-timeout duration]
//
// mutants.txt lists the bugs and says how to add one. The go command gets each changed file
// as an overlay, so the working tree stays as it is.
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed mutants.txt
var list string

func main() {
	dry := flag.Bool("n", false, "only check that each mutant fits the source")
	only := flag.String("run", "", "only mutants whose file, test or change matches this `regexp`")
	jobs := flag.Int("p", 2, "mutants tested at a time")
	timeout := flag.Duration("timeout", 7*time.Minute, "how long one test may run: longer than tests wait for what does not come")
	flag.Parse()
	mutants, err := parse(list, *only)
	if err == nil && !*dry {
		err = testAll(mutants, *jobs, *timeout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	said := "caught by its test"
	if *dry {
		said = "in a place that the source has once"
	}
	fmt.Printf("%d mutants, each %s\n", len(mutants), said)
}

// A mutant is a line of the list: a bug, and the test that must find it.
type mutant struct {
	line      string
	file      string
	mutated   []byte // what is in file with the bug
	pkg, test string
}

// parse returns the mutants of the list that match only. All that is wrong with them is one
// error.
func parse(list, only string) (mutants []mutant, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	file := ""
	for i, line := range strings.Split(list, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
		case line == text:
			file = text
		case match.MatchString(file + ": " + text):
			m := mutant{line: fmt.Sprintf("mutants.txt:%d: %s: %s", i+1, file, text), file: file, pkg: path.Dir(file)}
			where, change, _ := strings.Cut(text, ": ")
			old, new, _ := strings.Cut(change, "=>")
			m.test = where
			if pkg, test, named := strings.Cut(where, " "); named {
				m.pkg, m.test = pkg, test
			}
			mutated, wrong := mutate(file, old, strings.TrimSpace(new))
			if wrong == nil && !exists(m.pkg, m.test) {
				wrong = errors.New("there is no such test")
			}
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s\n\t%w", m.line, wrong))
			}
			m.mutated = mutated
			mutants = append(mutants, m)
		}
	}
	return mutants, err
}

// mutate returns what is in file with new in the one place that has the tokens of old.
func mutate(file, old, new string) (mutated []byte, err error) {
	src, err := os.ReadFile(file)
	have, want := tokens(src), tokens([]byte(old))
	var places [][]piece
	for i := range len(have) - len(want) + 1 {
		if at := have[i : i+len(want)]; slices.EqualFunc(at, want, func(a, b piece) bool { return a.text == b.text }) {
			places = append(places, at)
		}
	}
	if err != nil || len(places) != 1 {
		return nil, cmp.Or(err, fmt.Errorf("it fits %d places, not one", len(places)))
	}
	return slices.Concat(src[:places[0][0].from], []byte(new), src[places[0][len(want)-1].to:]), nil
}

// A piece is a token, and where it is.
type piece struct {
	text     string
	from, to int
}

// tokens returns the tokens of Go source without its semicolons, since most of them are the
// ends of lines: layout makes no difference.
func tokens(src []byte) (all []piece) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
		if tok != token.SEMICOLON {
			text, from := cmp.Or(text, tok.String()), file.Offset(pos)
			all = append(all, piece{text, from, from + len(text)})
		}
	}
	return all
}

// exists reports whether a package has the test.
func exists(pkg, test string) bool {
	files, _ := filepath.Glob(pkg + "/*_test.go")
	return slices.ContainsFunc(files, func(name string) bool {
		text, _ := os.ReadFile(name)
		return bytes.Contains(text, []byte("\nfunc "+test+"("))
	})
}

// testAll prints what becomes of each mutant. It returns an error unless all are caught.
func testAll(mutants []mutant, jobs int, timeout time.Duration) error {
	tests := map[string][]string{}
	for _, m := range mutants {
		tests[m.pkg] = append(tests[m.pkg], m.test)
	}
	for pkg, names := range tests {
		if out, err := goTest(pkg, names, "", timeout*time.Duration(len(names))); err != nil {
			return fmt.Errorf("%s fails without a mutant: %w\n%s", pkg, err, out)
		}
	}
	verdicts, slots := make([]string, len(mutants)), make(chan bool, jobs)
	var all sync.WaitGroup
	for i, m := range mutants {
		slots <- true
		all.Go(func() {
			start := time.Now()
			verdicts[i] = m.verdict(timeout)
			fmt.Printf("%-16s %3.0fs %s\n", verdicts[i], time.Since(start).Seconds(), m.line)
			<-slots
		})
	}
	all.Wait()
	if missed := slices.DeleteFunc(verdicts, func(v string) bool { return v == "caught" }); len(missed) > 0 {
		return fmt.Errorf("%d of %d mutants are not caught", len(missed), len(mutants))
	}
	return nil
}

// verdict tests one mutant.
func (m mutant) verdict(timeout time.Duration) string {
	temp, err := os.MkdirTemp("", "mutant-")
	defer os.RemoveAll(temp)
	full, _ := filepath.Abs(m.file)
	mutated, overlay := filepath.Join(temp, "mutated.go"), filepath.Join(temp, "overlay.json")
	text, _ := json.Marshal(map[string]any{"Replace": map[string]string{full: mutated}})
	if err := cmp.Or(err, os.WriteFile(mutated, m.mutated, 0o666), os.WriteFile(overlay, text, 0o666)); err != nil {
		return err.Error()
	}
	out, err := goTest(m.pkg, []string{m.test}, overlay, timeout)
	switch {
	case err == nil:
		return "NOT CAUGHT"
	case bytes.Contains(out, []byte("[build failed]")):
		return "does not compile"
	case bytes.Contains(out, []byte("panic: test timed out")):
		return "timed out"
	}
	return "caught"
}

// goTest runs tests from the folder of their package, which may be in a nested module.
func goTest(pkg string, tests []string, overlay string, timeout time.Duration) (output []byte, err error) {
	c := exec.Command("go", "test", "-vet=off", "-count=1", "-timeout", timeout.String(), "-overlay", overlay, "-run", "^("+strings.Join(tests, "|")+")$")
	c.Dir = pkg
	return c.CombinedOutput()
}
