// Command mutants puts known bugs back into the library, one at a time, in
// copies of it, and demands that a named test fails of each. What survives is
// a promise that no test keeps. Run it in any directory of the repository:
//
//	go run ./mutants [-run regexp] [-j jobs]
//
// mutants.txt says which bugs, and how to add one.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed mutants.txt
var list string

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a mutation survived or is broken
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("mutants", flag.ContinueOnError)
	fs.SetOutput(stderr)
	only := fs.String("run", "", "only mutations whose line matches this regular expression")
	jobs := fs.Int("j", 2, "mutations tested at a time")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	selected, err := regexp.Compile(*only)
	if err != nil || fs.NArg() > 0 || *jobs < 1 {
		fmt.Fprintln(stderr, "mutants: usage: mutants [-run regexp] [-j jobs]")
		return exitUsage
	}
	all, err := parse(list)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return exitUsage
	}
	var ms []mutation
	for _, m := range all {
		if selected.MatchString(m.text) {
			ms = append(ms, m)
		}
	}
	if len(ms) == 0 {
		fmt.Fprintln(stderr, "mutants: none match", *only)
		return exitUsage
	}
	survived, broken, err := testAll(ctx, stdout, ms, *jobs)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "mutants: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "mutants:", err)
		return exitFailed
	}
	fmt.Fprintf(stdout, "%d mutations: %d caught, %d survived, %d broken\n", len(ms), len(ms)-survived-broken, survived, broken)
	if survived+broken > 0 {
		return exitFailed
	}
	return exitOK
}

// testAll tests the mutations and prints a line about each.
func testAll(ctx context.Context, stdout io.Writer, ms []mutation, jobs int) (survived, broken int, err error) {
	root, err := findRoot()
	if err != nil {
		return 0, 0, err
	}
	files, err := moduleFiles(ctx, root)
	if err != nil {
		return 0, 0, err
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		// A child that was just killed may still be writing.
		for range 10 {
			if os.RemoveAll(temp) == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()

	jobs = min(jobs, len(ms))
	workers := make([]worker, jobs)
	for i := range workers {
		workers[i] = worker{filepath.Join(temp, fmt.Sprint("copy", i)), filepath.Join(temp, fmt.Sprint("bin", i))}
		if err := copyFiles(root, workers[i].dir, files); err != nil {
			return 0, 0, err
		}
	}
	if err := baseline(ctx, workers[0], ms); err != nil {
		return 0, 0, err
	}

	queue := make(chan mutation)
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			for m := range queue {
				start := time.Now()
				verdict, detail := w.test(ctx, m)
				if ctx.Err() != nil {
					continue
				}
				mu.Lock()
				switch verdict {
				case "SURVIVED":
					survived++
				case "broken":
					broken++
				}
				fmt.Fprintf(stdout, "%-8s %5.1fs  mutants.txt:%d  %s  %s  %q\n", verdict, time.Since(start).Seconds(), m.line, m.test, m.file, m.old)
				if detail != "" {
					fmt.Fprintln(stdout, "    "+strings.ReplaceAll(strings.TrimSpace(detail), "\n", "\n    "))
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range ms {
		queue <- m
	}
	close(queue)
	group.Wait()
	return survived, broken, nil
}

// baseline demands that all named tests pass while nothing is wrong: a test
// that fails anyway catches nothing.
func baseline(ctx context.Context, w worker, ms []mutation) error {
	tests := map[string][]string{}
	for _, m := range ms {
		tests[m.pkg] = append(tests[m.pkg], m.test)
	}
	for pkg, names := range tests {
		if out, err := w.build(ctx, pkg, ""); err != nil {
			return fmt.Errorf("%s does not build without a mutation: %w\n%s", pkg, err, out)
		}
		out, err := w.run(ctx, pkg, "-test.v", "-test.run=^("+strings.Join(names, "|")+")$")
		if err != nil {
			return fmt.Errorf("tests of %s fail without a mutation: %w\n%s", pkg, err, failures(out))
		}
		for _, name := range names {
			if !strings.Contains(out, "--- PASS: "+name+" (") {
				return fmt.Errorf("%s has no test %s, or skips it", pkg, name)
			}
		}
	}
	return nil
}

// A worker tests one mutation after the other in its own copy of the module.
type worker struct {
	dir    string
	binary string
}

// test returns what became of m: "caught", "SURVIVED" or "broken", and for
// the last of them why.
func (w worker) test(ctx context.Context, m mutation) (verdict, detail string) {
	path := filepath.Join(w.dir, filepath.FromSlash(m.file))
	source, err := os.ReadFile(path)
	if err != nil {
		return "broken", err.Error()
	}
	mutated, err := m.apply(string(source))
	if err != nil {
		return "broken", err.Error()
	}
	if err := os.WriteFile(path, []byte(mutated), 0o644); err != nil {
		return "broken", err.Error()
	}
	// For the next mutation, in this copy.
	defer os.WriteFile(path, source, 0o644)
	if out, err := w.build(ctx, m.pkg, m.test); err != nil {
		return "broken", "does not compile: " + out
	}
	out, err := w.run(ctx, m.pkg, "-test.run=^"+m.test+"$")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "caught", ""
	case err != nil:
		return "broken", err.Error()
	case strings.Contains(out, "no tests to run"):
		return "broken", "there is no such test"
	}
	return "SURVIVED", ""
}

// build compiles the tests of pkg, or just what one test needs: most of the time
// would go into tests that do not run. What fails to compile is no failing test, so
// this is a step of its own.
func (w worker) build(ctx context.Context, pkg, test string) (output string, err error) {
	dir, rel := moduleOf(w.dir, pkg)
	args := []string{"test", "-c", "-o", w.binary}
	if test != "" {
		if overlay, err := w.without(ctx, pkg, test); err != nil {
			return "", err
		} else if out, err := command(ctx, dir, "go", append(args, "-overlay="+overlay, rel)...); err == nil {
			return out, nil
		}
	}
	return command(ctx, dir, "go", append(args, rel)...)
}

var undefined = regexp.MustCompile(`undefined: (\w+)`)

// without writes an overlay for the go command in which the files of pkg are
// missing that have tests, but not what that test needs, and returns its name.
func (w worker) without(ctx context.Context, pkg, test string) (overlay string, err error) {
	files, err := filepath.Glob(filepath.Join(w.dir, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		return "", err
	}
	missing := make(map[string]string) // name to source
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		if strings.Contains(string(source), "\nfunc Test") && !strings.Contains(string(source), "\nfunc "+test+"(") {
			missing[f] = string(source)
		}
	}
	overlay = w.binary + ".json"
	dir, rel := moduleOf(w.dir, pkg)
	for more := true; more; {
		replace := make(map[string]string)
		for f := range missing {
			replace[f] = ""
		}
		text, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(overlay, text, 0o644); err != nil {
			return "", err
		}
		// To type-check takes a second.
		more = false
		out, err := command(ctx, dir, "go", "vet", "-unreachable", "-overlay="+overlay, rel)
		if err == nil {
			break
		}
		for _, name := range undefined.FindAllStringSubmatch(out, -1) {
			defines := regexp.MustCompile(`(?m)^(\t|func |type |var |const )` + name[1] + `\b`)
			for f, source := range missing {
				if defines.MatchString(source) {
					delete(missing, f)
					more = true
				}
			}
		}
	}
	return overlay, nil
}

// run runs the tests that build compiled.
func (w worker) run(ctx context.Context, pkg string, args ...string) (output string, err error) {
	args = append([]string{"-test.count=1", "-test.timeout=120s"}, args...)
	return command(ctx, filepath.Join(w.dir, filepath.FromSlash(pkg)), w.binary, args...)
}

func command(ctx context.Context, dir, name string, args ...string) (output string, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}

// failures returns the last lines of a test's output.
func failures(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
