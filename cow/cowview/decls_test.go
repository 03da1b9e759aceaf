package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/cowview/internal/decls"
)

var (
	declTypes = flag.Int("decls", 300, "how many types are made up")
	declSeed  = flag.Uint64("declseed", 1, "which ones")
)

const declPackages = 6

// Views are generated for types that nobody thought of, and are checked by a program.
func TestMadeUpTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles hundreds of types")
	}
	dir := t.TempDir()
	module(t, dir)
	var imports, calls strings.Builder
	for i := range declPackages {
		name := fmt.Sprintf("p%d", i)
		sub := filepath.Join(dir, name)
		p := decls.Make(name, *declSeed*1000+uint64(i), *declTypes/declPackages)
		putFile(t, filepath.Join(sub, "types.go"), p.Types)
		putFile(t, filepath.Join(sub, "hooks.go"), p.Hooks)
		require.NoError(t, run([]string{"-type", strings.Join(p.Names, ",")}, sub, io.Discard), "%s", p.Types)
		fmt.Fprintf(&imports, "\t%q\n", declModule+"/"+name)
		fmt.Fprintf(&calls, "\tcheck(%s.Shapes())\n", name)
	}
	putFile(t, filepath.Join(dir, "main.go"), strings.NewReplacer("IMPORTS", imports.String(), "CALLS", calls.String()).Replace(declMain))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// declModule is in the path of this module, so that it may import internal packages.
const declModule = "github.com/cowstore/cowstore/cow/cowview/madeup"

// module makes a module in dir that needs this one.
func module(t *testing.T, dir string) {
	t.Helper()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	sum, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	own, _, _ := strings.Cut(string(mod), "\ntool ")
	own = strings.Replace(own, "module github.com/cowstore/cowstore/cow/cowview", "module "+declModule, 1)
	own += "\nrequire github.com/cowstore/cowstore/cow/cowview v0.0.0-00010101000000-000000000000\n" +
		"\nreplace github.com/cowstore/cowstore => " + filepath.Join(here, "..", "..") + "\n" +
		"\nreplace github.com/cowstore/cowstore/cow/cowview => " + here + "\n"
	putFile(t, filepath.Join(dir, "go.mod"), own)
	putFile(t, filepath.Join(dir, "go.sum"), string(sum))
}

// declMain is the program.
const declMain = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
	"github.com/cowstore/cowstore/cow/cowview/internal/sound"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
IMPORTS)

var types, wrong int

func main() {
CALLS	fmt.Println(types, "types,", wrong, "wrong")
	if wrong > 0 {
		os.Exit(1)
	}
}

func check(shapes []shape.Shape) {
	for _, s := range shapes {
		types++
		for seed := range uint64(6) {
			p := s.Example(seed)
			v := s.Of(p)
			var more []any
			for _, x := range s.Hidden(v) {
				more = append(more, x)
			}
			_, texts := sound.Leaks(v, p, more...)
			texts = append(texts, sound.Missing(v, p, nil, s.Hidden(v))...)
			c := reflect.New(s.Type)
			c.Elem().Set(reflect.ValueOf(v).MethodByName("Clone").Call(nil)[0])
			f, err := snapshottest.Compare(p, c)
			if err != nil {
				texts = append(texts, "its clone: "+err.Error())
			}
			if !f.Cycle { // for which package json needs very long
				want, err := json.Marshal(p.Elem().Interface())
				got, gotErr := json.Marshal(v)
				if (err == nil) != (gotErr == nil) || string(want) != string(got) {
					texts = append(texts, fmt.Sprintf("JSON is %s, %v; that of the value %s, %v", got, gotErr, want, err))
				}
			}
			if len(texts) > 0 {
				wrong++
				fmt.Println(s.Type, "seed", seed, texts[0])
				break
			}
		}
	}
}
`
