package clone

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the standard library of this release has to testdata/std.txt")

// stdFile says of each exported type of the standard library, and of the pointer to it,
// that stays itself, why; of each that its own method Clone clones, that it does; and of
// each exported variable that is an error, or a pointer that stays itself, what becomes of
// it. What holds nothing but numbers and strings needs no clone and is left out. A line
// that ends in a release is for that one alone.
const stdFile = "testdata/std.txt"

// stdReleases are those that the file is of.
var stdReleases = []string{"go1.26", "go1.27"}

// The whole standard library is looked at, by a program that this test generates: 4 s when
// it is compiled already.
func TestStandardLibrary(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("compiles and links all of the standard library")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the file is about linux")
	}
	release := regexp.MustCompile(`^go1\.\d+`).FindString(runtime.Version())
	got := runStd(t)
	require.Greater(t, len(got), 150)
	want := readStd(t)
	if *update {
		writeStd(t, want, got, release)
		return
	}
	here := map[string]string{}
	for name, line := range want {
		if line.release == "" || line.release == release {
			here[name] = line.text
		}
	}
	if slices.Contains(stdReleases, release) {
		require.Equal(t, text(here), text(got), "look at what is new, and then run this test with -update")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if here[name] != got[name] {
			t.Logf("new in %s: %s\t%s", release, name, got[name])
		}
	}
}

func text(lines map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, lines[name])
	}
	return b.String()
}

type stdLine struct{ text, release string }

func readStd(t *testing.T) map[string]stdLine {
	all, err := os.ReadFile(stdFile)
	if *update && os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	lines := map[string]stdLine{}
	for line := range strings.Lines(string(all)) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), "\t")
		require.True(t, ok, line)
		text, release, _ := strings.Cut(rest, "\t")
		require.NotContains(t, lines, name)
		lines[name] = stdLine{text, release}
	}
	return lines
}

// writeStd writes what this release has, and what was written about the others.
func writeStd(t *testing.T, old map[string]stdLine, got map[string]string, release string) {
	lines := map[string]stdLine{}
	for name, text := range got {
		lines[name] = stdLine{text, ""}
		if was, ok := old[name]; (!ok || was.release == release) && len(old) > 0 {
			lines[name] = stdLine{text, release}
		}
	}
	for name, was := range old {
		if _, ok := got[name]; ok || was.release == release {
			continue
		}
		if was.release == "" {
			was.release = stdReleases[0]
			if release == was.release {
				was.release = stdReleases[1]
			}
		}
		lines[name] = was
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(&b, strings.TrimRight(name+"\t"+lines[name].text+"\t"+lines[name].release, "\t"))
	}
	require.NoError(t, os.WriteFile(stdFile, []byte(b.String()), 0o666))
}

// runStd runs a program that tells of all types and variables.
func runStd(t *testing.T) map[string]string {
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	add := func(path, content string) {
		file := filepath.Join(dir, filepath.Base(path))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o666))
		overlay.Replace[filepath.Join(here, path)] = file
	}
	add("walk_export.go", stdExport)
	add("walk/main.go", stdProgram(t))
	all, err := json.Marshal(overlay)
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, all, 0o666))
	out := goCommand(t, "run", "-overlay", file, "./walk")
	lines := map[string]string{}
	for line := range strings.Lines(out) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		require.True(t, ok, line)
		if name == "counts" {
			t.Log(text)
			continue
		}
		lines[name] = text
	}
	return lines
}

func goCommand(t *testing.T, args ...string) string {
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}

// stdExport is a file of this package that the program needs.
const stdExport = `package clone

import (
	"reflect"
	"slices"
	"strings"
)

// Walk says what becomes of values of t, in a word, and why they stay themselves.
func Walk(t reflect.Type) (what, why string) {
	switch pl := planOf(t); {
	case pl.why != "":
		return "kept", pl.why
	case t.Kind() == reflect.Interface:
		return "interface", ""
	case pl.class == classMethod || t.Kind() == reflect.Pointer && hasClone(t):
		return "method", "its own method Clone"
	case isValue(t):
		return "plain", ""
	case findStatic(t) != nil:
		return "refused", ""
	case pl.fix == nil:
		made := map[string]bool{}
		walkParts(t, made)
		var all []string
		for part := range made {
			all = append(all, part)
		}
		slices.Sort(all)
		if len(all) == 0 {
			all = []string{"numbers and strings"}
		}
		return "kept", "made of " + strings.Join(all, ", ")
	}
	return "cloned", ""
}

func walkParts(t reflect.Type, made map[string]bool) {
	switch {
	case isValue(t):
	case keptType(t) != "" && t.Kind() == reflect.Pointer:
		made["*" + nameOf(t.Elem())] = true
	case keptType(t) != "":
		made[nameOf(t)] = true
	case t.Kind() == reflect.Func:
		made["functions"] = true
	case t.Kind() == reflect.Chan:
		made["channels"] = true
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			walkParts(t.Field(i).Type, made)
		}
	case t.Kind() == reflect.Array && t.Len() > 0:
		walkParts(t.Elem(), made)
	}
}

// WalkValue says whether v, of a variable, stays itself, is cloned, or is refused; and of
// what type it is.
func WalkValue(v any) (what string) {
	defer func() {
		if recover() != nil {
			what = "refused"
		}
	}()
	if c := Of[any]()(v); !reflect.TypeOf(v).Comparable() || c != v {
		return "cloned"
	}
	return "stays itself"
}
`

// stdProgram returns the text of the program.
func stdProgram(t *testing.T) string {
	exports := map[string]string{}
	var paths []string
	for line := range strings.Lines(goCommand(t, "list", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "std")) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
		if !regexp.MustCompile(`(^|/)(internal|vendor)(/|$)`).MatchString(path) && path != "unsafe" && path != "runtime/cgo" { // no values
			paths = append(paths, path)
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var imports, body strings.Builder
	for i, path := range paths {
		pkg, err := imp.Import(path)
		require.NoError(t, err)
		used := false
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			switch o := o.(type) {
			case *types.TypeName:
				if iface, ok := o.Type().Underlying().(*types.Interface); ok && !iface.IsMethodSet() {
					continue // a constraint
				}
				for _, args := range typeArgs(o.Type()) {
					fmt.Fprintf(&body, "\ttyp[p%d.%s%s](%q)\n", i, name, args, path+"."+name+args)
					used = true
				}
			case *types.Var:
				fmt.Fprintf(&body, "\tvariable(%q, &p%d.%s)\n", path+"."+name, i, name)
				used = true
			}
		}
		if used {
			fmt.Fprintf(&imports, "\tp%d %q\n", i, path)
		}
	}
	return fmt.Sprintf(stdMain, imports.String(), body.String())
}

// typeArgs returns the type arguments to make types of t with: none, if t needs none.
func typeArgs(t types.Type) (all []string) {
	g, ok := t.(interface{ TypeParams() *types.TypeParamList }) // a defined type, or an alias
	if !ok || g.TypeParams().Len() == 0 {
		return []string{""}
	}
	for _, arg := range []string{"int", "*int", "any", "string"} {
		list := make([]string, g.TypeParams().Len())
		for i := range list {
			list[i] = arg
		}
		all = append(all, "["+strings.Join(list, ", ")+"]")
	}
	return all
}

const stdMain = `package main

import (
	"fmt"
	"reflect"
	"github.com/cowstore/cowstore/snapshot/clone"

%s)

var counts = map[string]int{}
var met = map[reflect.Type]bool{}

func typ[T any](name string) {
	t := reflect.TypeFor[T]()
	if met[t] {
		return // an alias
	}
	met[t] = true
	tell(t, name)
	if t.Kind() != reflect.Interface {
		tell(reflect.PointerTo(t), "*" + name)
	}
}

func tell(t reflect.Type, name string) {
	what, why := clone.Walk(t)
	counts[what]++
	if why != "" {
		fmt.Printf("%%s\t%%s\n", name, why)
	}
}

func variable[T any](name string, p *T) {
	v := any(*p)
	if v == nil {
		return
	}
	what := clone.WalkValue(v)
	_, isError := v.(error)
	if isError || what == "stays itself" && reflect.TypeOf(v).Kind() == reflect.Pointer {
		counts["variables that are errors, or stay"]++
		fmt.Printf("var %%s\t%%s: %%T\n", name, what, v)
	}
}

func main() {
%s	fmt.Printf("counts\t%%v\n", counts)
}
`
