// Command release says what has to change before the modules of this repository
// can be released together at a version, or, if nothing has to, what to push and
// in which order. It changes nothing. Run it in any directory of the repository:
//
//	go run bench/release/main.go v0.1.0
//
// It imports only the standard library and is run as a file, since on a release
// commit the module that it is in cannot be built before the root is published.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // something has to change, or could not be looked at
	exitUsage  = 2
)

func main() { os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr)) }

// semver matches the versions that a module can be tagged with, and their major.
var semver = regexp.MustCompile(`^v(0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`)

// run is main with its surroundings as arguments: dir is in the repository. It
// returns the exit code.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 || !semver.MatchString(args[0]) {
		fmt.Fprintln(stderr, "release: give one version, such as v0.1.0")
		return exitUsage
	}
	version := args[0]
	root, err := output(dir, "git", "rev-parse", "--show-toplevel")
	if err == nil {
		var wrong, steps []string
		if wrong, steps, err = check(root, version); err == nil && len(wrong) > 0 {
			fmt.Fprintf(stdout, "%s cannot be released. What has to change:\n", version)
			for _, text := range wrong {
				fmt.Fprintln(stdout, "  "+text)
			}
			return exitFailed
		}
		if err == nil {
			fmt.Fprintf(stdout, "Everything is in order. To release %s, in this order:\n", version)
			for _, text := range steps {
				fmt.Fprintln(stdout, "  "+text)
			}
			return exitOK
		}
	}
	fmt.Fprintln(stderr, "release:", err)
	return exitFailed
}

// A module is what go.mod says of one, as go mod edit -json prints it.
type module struct {
	Module  struct{ Path string }
	Require []required
	Replace []struct{ Old, New required }

	dir string // below the root, with slashes; "." is the root
}

type required struct{ Path, Version string }

// tag returns the name under which the go command looks for a version of m.
func (m *module) tag(version string) string { return path.Join(m.dir, version) }

// file returns the name of a file of m in the repository.
func (m *module) file(name string) string { return path.Join(m.dir, name) }

// check returns what is wrong with the modules below root for a version, and
// otherwise the steps that release them.
func check(root, version string) (wrong, steps []string, err error) {
	all, err := modules(root)
	if err != nil {
		return nil, nil, err
	}
	all, err = ordered(all)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range all {
		wrong = append(wrong, m.disagreements(all, version)...)
	}
	untidy, err := untidiness(root)
	if err != nil {
		return nil, nil, err
	}
	wrong = append(wrong, untidy...)
	tagged := map[string]bool{} // the paths of modules that have their tag
	for _, m := range all {
		tag := m.tag(version)
		at, err := output(root, "git", "for-each-ref", "--format=%(objectname:short)", "refs/tags/"+tag)
		if err != nil {
			return nil, nil, err
		}
		if at != "" {
			tagged[m.Module.Path] = true
			same, err := unchanged(root, m, all, tag)
			if err != nil {
				return nil, nil, err
			}
			if !same {
				wrong = append(wrong, fmt.Sprintf("tag %s: is there already, at %s, with other files: choose another version", tag, at))
			}
			continue
		}
		missing, err := m.unhashed(root, all, version)
		if err != nil {
			return nil, nil, err
		}
		for _, of := range missing {
			if tagged[of] {
				wrong = append(wrong, fmt.Sprintf("%s: has no hash of %s %s: go mod download %s, in %s, adds it", m.file("go.sum"), of, version, of, m.dir))
			}
		}
		if len(missing) > 0 {
			steps = append(steps, fmt.Sprintf("(cd %s && go mod download %s) && git commit -m 'release: hashes of %s' %s",
				m.dir, strings.Join(missing, " "), version, m.file("go.sum")))
		}
		steps = append(steps, fmt.Sprintf("git tag %s && git push origin %s", tag, tag))
	}
	if len(wrong) == 0 && len(steps) == 0 {
		wrong = append(wrong, "all tags of "+version+" are there already: choose another version")
	}
	return wrong, steps, nil
}

// modules returns the modules below root: the root, then the others by directory.
// Directories that the go command passes over are passed over, and internal ones, whose
// modules nobody can require.
func modules(root string) (all []*module, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && name != root &&
			(strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || base == "internal") {
			return fs.SkipDir
		}
		if d.IsDir() || d.Name() != "go.mod" {
			return nil
		}
		text, err := output(filepath.Dir(name), "go", "mod", "edit", "-json")
		if err != nil {
			return err
		}
		m := new(module)
		if err := json.Unmarshal([]byte(text), m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		m.dir = filepath.ToSlash(dir)
		all = append(all, m)
		return err
	})
	i := slices.IndexFunc(all, func(m *module) bool { return m.dir == "." })
	if err == nil && i < 0 {
		err = fmt.Errorf("%s has no go.mod", root)
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(all[i:i+1], all[:i], all[i+1:]), nil
}

// ordered returns the modules in the order in which they can be published: each
// after those that it requires.
func ordered(all []*module) (sorted []*module, err error) {
	for len(sorted) < len(all) {
		i := slices.IndexFunc(all, func(m *module) bool {
			return !slices.Contains(sorted, m) && !slices.ContainsFunc(m.siblings(all), func(of required) bool {
				return !slices.ContainsFunc(sorted, func(m *module) bool { return m.Module.Path == of.Path })
			})
		})
		if i < 0 {
			return nil, errors.New("the modules require one another in a circle")
		}
		sorted = append(sorted, all[i])
	}
	return sorted, nil
}

// siblings returns what m requires of the other modules of the repository.
func (m *module) siblings(all []*module) (of []required) {
	for _, r := range m.Require {
		if slices.ContainsFunc(all, func(o *module) bool { return o.Module.Path == r.Path }) {
			of = append(of, r)
		}
	}
	return of
}

// disagreements returns what has to change in the go.mod of m.
func (m *module) disagreements(all []*module, version string) (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, m.file("go.mod")+": "+fmt.Sprintf(format, args...))
	}
	base := regexp.MustCompile(`/v[0-9]+$`).ReplaceAllString(all[0].Module.Path, "")
	want := path.Join(base, m.dir)
	if major := semver.FindStringSubmatch(version)[1]; major != "0" && major != "1" {
		want += "/v" + major
	}
	if m.Module.Path != want {
		say("call the module %s, not %s", want, m.Module.Path)
	}
	for _, r := range m.siblings(all) {
		if r.Version != version {
			say("require %s %s, not %s", r.Path, version, r.Version)
		}
	}
	for _, r := range m.Replace {
		to := strings.TrimSpace(r.New.Path + " " + r.New.Version)
		say("drop the replace of %s by %s", r.Old.Path, to)
	}
	return wrong
}

// unhashed returns the paths of the modules of the repository that m requires and
// whose hashes its go.sum has not.
func (m *module) unhashed(root string, all []*module, version string) (missing []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file("go.sum"))))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sums := "\n" + string(text)
	for _, r := range m.siblings(all) {
		line := "\n" + r.Path + " " + version
		if !strings.Contains(sums, line+" h1:") || !strings.Contains(sums, line+"/go.mod h1:") {
			missing = append(missing, r.Path)
		}
	}
	return missing, nil
}

// untidiness returns what is not committed, and what is not formatted.
func untidiness(root string) (wrong []string, err error) {
	changes, err := output(root, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(changes) {
		wrong = append(wrong, "commit or remove: "+strings.TrimSpace(line))
	}
	files, err := output(root, "gofmt", "-l", ".")
	for file := range strings.Lines(files) {
		wrong = append(wrong, "gofmt -w "+filepath.ToSlash(strings.TrimSpace(file)))
	}
	return wrong, err
}

// unchanged reports whether the files of m are what they are at a tag.
func unchanged(root string, m *module, all []*module, tag string) (bool, error) {
	args := []string{"diff", "--name-only", "refs/tags/" + tag, "HEAD", "--", m.dir}
	for _, o := range all {
		if o != m && (m.dir == "." || strings.HasPrefix(o.dir, m.dir+"/")) {
			args = append(args, ":(exclude)"+o.dir)
		}
	}
	changes, err := output(root, "git", args...)
	return changes == "", err
}

// output returns what a command prints in a directory, without the last line's end.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimRight(stdout.String(), "\n"), nil
}
