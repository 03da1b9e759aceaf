package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A mutation is one line of mutants.txt: a bug, and who must find it.
type mutation struct {
	line int    // in mutants.txt
	text string // the whole line

	file     string // relative to the root of the module
	old, new string // what is replaced there, and by what
	pkg      string // as the go command takes it: ./snapshot
	test     string
}

// parse reads lines of the form
//
//	file | old text | new text | package | TestName
//
// Empty lines, and those that begin with #, are left out. Space around a field
// is not part of it. In a text \| is |, \n a new line, \t a tab and \\ a
// backslash.
func parse(list string) ([]mutation, error) {
	var ms []mutation
	for i, text := range strings.Split(list, "\n") {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		m, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("mutants.txt:%d: %w", i+1, err)
		}
		m.line, m.text = i+1, text
		ms = append(ms, m)
	}
	return ms, nil
}

var (
	testName    = regexp.MustCompile(`^(Test|Fuzz|Example)\w*$`)
	packageName = regexp.MustCompile(`^(\./)?\w+(/\w+)*$`)
)

func parseLine(text string) (mutation, error) {
	fields, err := split(text)
	if err != nil {
		return mutation{}, err
	}
	if len(fields) != 5 {
		return mutation{}, fmt.Errorf("%d fields, want 5: file | old text | new text | package | TestName", len(fields))
	}
	m := mutation{file: fields[0], old: fields[1], new: fields[2], pkg: fields[3], test: fields[4]}
	switch {
	case m.file != path.Clean(m.file) || path.IsAbs(m.file) || strings.HasPrefix(m.file, "../") || path.Ext(m.file) != ".go":
		return m, fmt.Errorf("%q is no Go file of the module", m.file)
	case m.old == "":
		return m, fmt.Errorf("no text to replace")
	case m.old == m.new:
		return m, fmt.Errorf("%q is replaced by itself", m.old)
	case !packageName.MatchString(m.pkg):
		return m, fmt.Errorf("%q is no package of the module", m.pkg)
	case !testName.MatchString(m.test):
		return m, fmt.Errorf("%q is no name of a test", m.test)
	}
	m.pkg = "./" + strings.TrimPrefix(m.pkg, "./")
	return m, nil
}

// split returns the fields of a line, without their escapes.
func split(text string) ([]string, error) {
	var fields []string
	var b strings.Builder
	end := func() {
		fields = append(fields, b.String())
		b.Reset()
	}
	for rest := text; ; {
		switch {
		case rest == "" || rest == " |":
			end()
			if rest != "" {
				end()
			}
			for i, f := range fields {
				fields[i] = strings.TrimSpace(f)
			}
			return fields, nil
		case strings.HasPrefix(rest, " | "):
			end()
			rest = rest[2:] // the space may begin the next separator
		case rest[0] == '\\':
			const from, to = `|nt\`, "|\n\t\\"
			i := -1
			if len(rest) > 1 {
				i = strings.IndexByte(from, rest[1])
			}
			if i < 0 {
				return nil, fmt.Errorf(`%q: a backslash is written \\`, rest)
			}
			b.WriteByte(to[i])
			rest = rest[2:]
		default:
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
}

// apply returns source with the mutation made. The text to replace must be
// there exactly once.
func (m mutation) apply(source string) (string, error) {
	if n := strings.Count(source, m.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want once", m.file, m.old, n)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}
