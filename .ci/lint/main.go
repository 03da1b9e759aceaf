// Command lint is a tool for go vet -vettool: the analyzers of go vet, those of staticcheck
// that are on by default, and one that asks for Examples. Run by go vet, they share the
// builds of the tests, and what they find out about dependencies stays in the build cache.
// Of what is not this project's, only what the analyzers of go vet find out, and what is
// deprecated.
//
// A comment //lint:ignore CHECK reason, or //lint:file-ignore, works as in staticcheck.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/facts/deprecated"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	all := append(slices.Clone(vet.Suite), examples)
	for _, group := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers, {unused.Analyzer}} {
		for _, a := range group {
			if a.Doc == nil || !a.Doc.NonDefault {
				all = append(all, ignoring(a.Analyzer))
			}
		}
	}
	if factsOnly(os.Args[len(os.Args)-1]) {
		all = append(slices.Clone(vet.Suite), deprecated.Analyzer)
	}
	unitchecker.Main(all...)
}

// factsOnly reports whether the configuration that go vet wrote to the named file is that
// of a package of others, which is looked at for the sake of those that import it.
func factsOnly(name string) bool {
	var unit struct {
		VetxOnly   bool
		ImportPath string
	}
	text, err := os.ReadFile(name)
	return err == nil && json.Unmarshal(text, &unit) == nil && unit.VetxOnly &&
		!strings.HasPrefix(unit.ImportPath, "github.com/cowstore/")
}

// ignoring returns the analyzer a without what comments ask to be ignored, and with
// the results of the one that returns them instead of reporting.
func ignoring(a *analysis.Analyzer) *analysis.Analyzer {
	b, run := *a, a.Run
	b.Run = func(pass *analysis.Pass) (any, error) {
		p, ignored := *pass, ignores(pass, a.Name)
		p.Report = func(d analysis.Diagnostic) {
			if !ignored(pass.Fset.Position(d.Pos)) {
				d.Message += " (" + a.Name + ")"
				pass.Report(d)
			}
		}
		result, err := run(&p)
		if found, ok := result.(unused.Result); ok {
			for _, o := range found.Unused {
				if !ignored(o.Position) {
					pass.Report(analysis.Diagnostic{Pos: posOf(pass, o.Position), Message: fmt.Sprintf("%s %s is unused (U1000)", o.Kind, o.Name)})
				}
			}
		}
		return result, err
	}
	return &b
}

// ignores returns which places of a package comments exempt from a check: the line of the
// comment and of what follows it, or a whole file.
func ignores(pass *analysis.Pass, check string) func(token.Position) bool {
	type line struct {
		file string
		n    int // 0: all of it
	}
	exempt := map[line]bool{}
	for _, d := range lint.ParseDirectives(pass.Files, pass.Fset) {
		if len(d.Arguments) < 2 || !slices.ContainsFunc(strings.Split(d.Arguments[0], ","), func(pattern string) bool {
			ok, _ := path.Match(pattern, check)
			return ok
		}) {
			continue
		}
		at := pass.Fset.Position(d.Directive.Pos())
		switch d.Command {
		case "ignore":
			exempt[line{at.Filename, at.Line}] = true
			exempt[line{at.Filename, pass.Fset.Position(d.Node.Pos()).Line}] = true
		case "file-ignore":
			exempt[line{at.Filename, 0}] = true
		}
	}
	return func(p token.Position) bool {
		return exempt[line{p.Filename, p.Line}] || exempt[line{p.Filename, 0}]
	}
}

// posOf returns the place in the package's files that p says, or that of the package.
func posOf(pass *analysis.Pass, p token.Position) token.Pos {
	i := slices.IndexFunc(pass.Files, func(f *ast.File) bool { return pass.Fset.File(f.Pos()).Name() == p.Filename })
	if i < 0 {
		return pass.Files[0].Pos()
	}
	return pass.Fset.File(pass.Files[i].Pos()).Pos(p.Offset)
}
