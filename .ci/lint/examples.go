package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// examples reports exported functions and methods of a package that no Example of its external
// test package calls, but for methods that are there for others to call: for package fmt and the
// like, for snapshot, hook and Prometheus. Packages of bench, and those whose names end in test,
// are not looked at.
var examples = &analysis.Analyzer{Name: "examples", Doc: "every exported verb is called in an Example", Run: missing}

var called = []string{
	"As", "Error", "Format", "GoString", "Is", "LogValue", "MarshalJSON", "MarshalText", "String", "UnmarshalJSON", "UnmarshalText", "Unwrap",
	"Clone", "Collect", "Describe", "OnSearched", "OnUpdateEnd", "OnUpdateStart",
}

func missing(pass *analysis.Pass) (any, error) {
	path, external := strings.CutSuffix(pass.Pkg.Path(), "_test")
	i := slices.IndexFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == path })
	if !external || i < 0 || strings.Contains(path, "/internal/") || strings.Contains(path, "/bench/") || strings.HasSuffix(path, "test") {
		return nil, nil
	}
	verbs := map[*types.Func]string{}
	add := func(f *types.Func, name string) {
		if f.Exported() && !strings.HasSuffix(pass.Fset.Position(f.Pos()).Filename, "_test.go") {
			verbs[f] = name
		}
	}
	scope := pass.Pkg.Imports()[i].Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.Func:
			add(o, name)
		case *types.TypeName:
			if t, ok := o.Type().(*types.Named); ok && o.Exported() && !o.IsAlias() && !types.IsInterface(t) {
				for f := range t.Methods() {
					if !slices.Contains(called, f.Name()) {
						add(f, name+"."+f.Name())
					}
				}
			}
		}
	}
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") {
				ast.Inspect(f, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						if verb, ok := pass.TypesInfo.Uses[id].(*types.Func); ok {
							delete(verbs, verb.Origin())
						}
					}
					return true
				})
			}
		}
	}
	var left []string
	for _, name := range verbs {
		left = append(left, name)
	}
	if slices.Sort(left); len(left) > 0 {
		pass.Reportf(pass.Files[0].Package, "no Example calls %s", strings.Join(left, ", "))
	}
	return nil, nil
}
