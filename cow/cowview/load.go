package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

const viewPath = "github.com/cowstore/cowstore/snapshot/view"

// A loaded is the package that types are looked up in, without the file that is to be
// written.
type loaded struct {
	fset  *token.FileSet
	pkg   *types.Package
	files []*ast.File
	errs  []packages.Error
}

// load loads the package in dir. The file output, which may be missing, broken or
// older than the types, counts as empty, and that something in it is missed
// elsewhere is no error.
func load(dir, output string, tests bool) (*loaded, error) {
	name, err := packageName(dir, output)
	if err != nil {
		return nil, err
	}
	empty := []byte("package " + name + "\n")
	cfg := &packages.Config{
		Mode:  packages.LoadSyntax,
		Dir:   dir,
		Tests: tests,
		ParseFile: func(fset *token.FileSet, path string, text []byte) (*ast.File, error) {
			if path == output {
				text = empty
			}
			return parser.ParseFile(fset, path, text, parser.AllErrors|parser.ParseComments)
		},
	}
	if _, err := os.Stat(output); err == nil {
		// The go command is told by a flag. With packages.Config.Overlay all that the
		// package imports would be loaded from source.
		temp, err := os.MkdirTemp("", "cowview-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(temp)
		instead, list := filepath.Join(temp, "empty.go"), filepath.Join(temp, "overlay.json")
		text, err := json.Marshal(map[string]any{"Replace": map[string]string{output: instead}})
		if err := cmp.Or(err, os.WriteFile(instead, empty, 0o600), os.WriteFile(list, text, 0o600)); err != nil {
			return nil, err
		}
		cfg.BuildFlags = []string{"-overlay=" + list}
	}
	pkgs, err := packages.Load(cfg, ".")
	if err != nil {
		return nil, err
	}
	pkg := choose(pkgs, name, output)
	if pkg == nil {
		return nil, fmt.Errorf("%s: no package %s", dir, name)
	}
	for _, e := range pkg.Errors {
		// The compiler fails too, and says so after a #, for want of the file.
		if e.Kind != packages.TypeError && !strings.HasPrefix(e.Msg, "# ") {
			return nil, e
		}
	}
	if pkg.Types == nil {
		return nil, fmt.Errorf("%s: no types", dir)
	}
	return &loaded{pkg.Fset, pkg.Types, pkg.Syntax, pkg.Errors}, nil
}

// choose returns the package that output belongs to: of two variants, that with tests.
func choose(pkgs []*packages.Package, name, output string) *packages.Package {
	var best *packages.Package
	for _, p := range pkgs {
		if p.Name != name || strings.HasSuffix(p.PkgPath, ".test") {
			continue
		}
		if best == nil || len(p.GoFiles) > len(best.GoFiles) {
			best = p
		}
	}
	return best
}

// packageName returns the name of the package in dir by its files other than output,
// and for a test file that of the package it tests.
func packageName(dir, output string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	name, err := "", errors.New(dir+": no Go files")
	for _, path := range files {
		if path == output {
			continue
		}
		f, perr := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
		if perr != nil {
			err = perr
			continue
		}
		if !strings.HasSuffix(path, "_test.go") && f.Name.Name != "documentation" && !isIgnored(path) {
			return f.Name.Name, nil
		}
		if name == "" {
			name = strings.TrimSuffix(f.Name.Name, "_test")
		}
	}
	if name != "" {
		return name, nil
	}
	return "", err
}

// isIgnored reports whether a file is no part of any package.
func isIgnored(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.Contains("\n"+string(text), "\n//go:build ignore")
}

// position returns file:line of an object, the file without its directory.
func (l *loaded) position(o types.Object) string {
	p := l.fset.Position(o.Pos())
	if !p.IsValid() {
		return o.Pkg().Path()
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// errorAt returns what is wrong in the line of o.
func (l *loaded) errorAt(o types.Object) string {
	p := l.fset.Position(o.Pos())
	for _, e := range l.errs {
		if strings.HasPrefix(e.Pos, fmt.Sprintf("%s:%d:", p.Filename, p.Line)) {
			return e.Msg
		}
	}
	return "the package has errors"
}

// typeNamed returns the defined struct type of that name.
func (l *loaded) typeNamed(name string) (*types.Named, error) {
	o := l.pkg.Scope().Lookup(name)
	if o == nil {
		return nil, fmt.Errorf("package %s has no type %s", l.pkg.Name(), name)
	}
	t, ok := o.(*types.TypeName)
	if !ok {
		return nil, fmt.Errorf("%s: %s is not a type", l.position(o), name)
	}
	n, ok := t.Type().(*types.Named)
	if !ok || t.IsAlias() {
		return nil, fmt.Errorf("%s: %s is an alias; name the type that it stands for", l.position(o), name)
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil, fmt.Errorf("%s: %s is not a struct type", l.position(o), name)
	}
	return n, nil
}
