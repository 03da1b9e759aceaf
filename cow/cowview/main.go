package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], ".", os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(os.Stderr, "cowview: "+strings.TrimSuffix(line, "\n"))
		}
		os.Exit(1)
	}
}

// run is the command with arguments args in the folder dir.
func run(args []string, dir string, stderr io.Writer) error {
	flags := flag.NewFlagSet("cowview", flag.ContinueOnError)
	flags.SetOutput(stderr)
	names := flags.String("type", "", "the struct types, with commas between them")
	output := flags.String("output", "", "the file to write; cow_view.go, with -tests cow_view_test.go")
	check := flags.Bool("check", false, "write nothing, and fail if the file is not what would be written")
	tests := flags.Bool("tests", false, "look into test files too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *names == "":
		return errors.New("no types: say -type Profile,Team")
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: types go into -type, with commas between them", flags.Arg(0))
	case *output == "" && *tests:
		*output = "cow_view_test.go"
	case *output == "":
		*output = "cow_view.go"
	}
	path := *output
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	text, notes, err := generate(path, strings.Split(*names, ","), *tests)
	if err != nil {
		return err
	}
	if *check {
		return compare(path, text)
	}
	for _, n := range notes {
		fmt.Fprintln(stderr, "cowview: "+n)
	}
	return write(path, text)
}

// generate returns the text of the file at path, and what the user should know of it.
func generate(path string, names []string, tests bool) ([]byte, []string, error) {
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	l, err := load(filepath.Dir(path), path, tests || strings.HasSuffix(path, "_test.go"))
	if err != nil {
		return nil, nil, err
	}
	m, notes, err := analyze(l, names)
	if err != nil {
		return nil, nil, err
	}
	text, err := render(m)
	return text, notes, err
}

// compare returns an error if the file at path has another text.
func compare(path string, text []byte) error {
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s does not exist: run go generate", filepath.Base(path))
	case err != nil:
		return err
	case !bytes.Equal(old, text):
		return fmt.Errorf("%s is not what cowview generates now, from %s on: run go generate",
			filepath.Base(path), firstChange(old, text))
	}
	return nil
}

// firstChange names the first line that differs.
func firstChange(a, b []byte) string {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	i := 0
	for i < len(as) && i < len(bs) && bytes.Equal(as[i], bs[i]) {
		i++
	}
	return fmt.Sprintf("line %d", i+1)
}

// write replaces the file at path, unless it was written by hand or has that text.
func write(path string, text []byte) error {
	old, err := os.ReadFile(path)
	if err == nil {
		if bytes.Equal(old, text) {
			return nil
		}
		if len(bytes.TrimSpace(old)) > 0 && !bytes.Contains(old, []byte(header)) {
			return fmt.Errorf("%s was not written by cowview: remove it, or say another -output", filepath.Base(path))
		}
	}
	return os.WriteFile(path, text, 0o644)
}
