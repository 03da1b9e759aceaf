// Package corpus reads the records of the main job: the documented symbols of the Go
// installation at hand.
package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cowstore/cowstore/bench/stores"
)

// ErrNoSource is what Load returns where there is no source of Go to read.
var ErrNoSource = errors.New("found no source of the Go standard library")

// Load returns a record of each documented symbol of the Go installation at hand, those of
// the go command's own packages included, ordered by package; or of the named packages and
// those below them, in that order.
//
// The packages are read as built for linux/amd64 wherever it is read, so that one
// Go version is one corpus.
func Load(packages ...string) ([]stores.Record, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	return load(strings.TrimSpace(string(root)), packages...)
}

func load(root string, packages ...string) (records []stores.Record, err error) {
	target := build.Default
	target.GOROOT, target.GOPATH = root, ""
	target.GOOS, target.GOARCH, target.CgoEnabled = "linux", "amd64", true

	var found []*symbols
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	src := filepath.Join(root, "src")
	walk := func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || dir == src {
			return err
		}
		if name := d.Name(); name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
			return filepath.SkipDir
		}
		p := &symbols{fset: token.NewFileSet(), path: filepath.ToSlash(dir[len(src)+1:])}
		found = append(found, p)
		g.Go(func() error { return p.read(&target, dir) })
		return nil
	}
	if packages == nil {
		packages = []string{"."}
	}
	for _, name := range packages {
		if failed := filepath.WalkDir(filepath.Join(src, name), walk); failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", ErrNoSource, failed))
		}
	}
	err = errors.Join(err, g.Wait())
	for _, p := range found {
		records = append(records, p.records...)
	}
	return records, err
}

// symbols gathers the documented, exported symbols of one package.
type symbols struct {
	fset    *token.FileSet
	path    string
	records []stores.Record
	err     error
}

// read reads the package in dir, if there is one to import.
func (p *symbols) read(target *build.Context, dir string) error {
	pkg, err := target.ImportDir(dir, 0)
	if none := new(build.NoGoError); errors.As(err, &none) || err == nil && pkg.IsCommand() {
		return nil
	}
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range slices.Concat(pkg.GoFiles, pkg.CgoFiles) {
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(p.fset, files, p.path)
	if err != nil {
		return err
	}
	p.values("const", d.Consts)
	p.values("var", d.Vars)
	p.funcs("func", "", d.Funcs)
	for _, t := range d.Types {
		p.symbol("type", t.Name, t.Doc, t.Decl)
		p.members(t)
		p.values("const", t.Consts)
		p.values("var", t.Vars)
		p.funcs("func", "", t.Funcs)
		p.funcs("method", t.Name+".", t.Methods)
	}
	return p.err
}

func (p *symbols) funcs(kind, prefix string, fs []*doc.Func) {
	for _, f := range fs {
		p.symbol(kind, prefix+f.Name, f.Doc, f.Decl)
	}
}

// values adds each name of the groups. A name without a comment of its own
// has that of its group.
func (p *symbols) values(kind string, groups []*doc.Value) {
	for _, g := range groups {
		for _, spec := range g.Decl.Specs {
			v := spec.(*ast.ValueSpec)
			for _, name := range exported(v.Names) {
				decl := declaration(g.Decl.Tok, &ast.ValueSpec{Names: v.Names, Type: v.Type, Values: v.Values})
				p.symbol(kind, name.Name, cmp.Or(v.Doc.Text(), v.Comment.Text(), g.Doc), decl)
			}
		}
	}
}

// members adds the fields of a struct type and the methods of an interface type.
func (p *symbols) members(t *doc.Type) {
	kind, list := "field", new(ast.FieldList)
	switch u := t.Decl.Specs[0].(*ast.TypeSpec).Type.(type) {
	case *ast.StructType:
		list = u.Fields
	case *ast.InterfaceType:
		kind, list = "method", u.Methods
	}
	for _, f := range list.List {
		for _, name := range exported(f.Names) {
			var decl ast.Decl
			if kind == "method" {
				decl = &ast.FuncDecl{Name: name, Type: f.Type.(*ast.FuncType)}
			} else {
				decl = declaration(token.VAR, &ast.ValueSpec{Names: []*ast.Ident{name}, Type: f.Type})
			}
			p.symbol(kind, t.Name+"."+name.Name, cmp.Or(f.Doc.Text(), f.Comment.Text()), decl)
		}
	}
}

func exported(names []*ast.Ident) []*ast.Ident {
	return slices.DeleteFunc(slices.Clone(names), func(name *ast.Ident) bool { return !name.IsExported() })
}

// declaration is a declaration of its own of values.
func declaration(tok token.Token, spec *ast.ValueSpec) *ast.GenDecl {
	return &ast.GenDecl{Tok: tok, TokPos: spec.Pos(), Specs: []ast.Spec{spec}}
}

// symbol adds a record, unless there is no comment.
func (p *symbols) symbol(kind, name, text string, decl ast.Decl) {
	if strings.TrimSpace(text) == "" {
		return
	}
	pos := p.fset.Position(decl.Pos())
	switch d := decl.(type) {
	case *ast.FuncDecl:
		d.Doc, d.Body = nil, nil
	case *ast.GenDecl:
		d.Doc = nil
	}
	var signature strings.Builder
	if err := format.Node(&signature, p.fset, decl); err != nil {
		p.err = errors.Join(p.err, fmt.Errorf("%s.%s: %w", p.path, name, err))
	}
	tags := []string{"", kind, path.Base(p.path)}
	if slices.Contains(strings.Split(p.path, "/"), "internal") {
		tags = append(tags, "internal")
	}
	if strings.Contains(text, "Deprecated:") {
		tags = append(tags, "deprecated")
	}
	r := stores.Record{
		Package:   p.path,
		Name:      name,
		Kind:      kind,
		Signature: signature.String(),
		Doc:       text,
		Tags:      tags,
		Meta: map[string]string{
			"file": path.Join(p.path, filepath.Base(pos.Filename)),
			"line": strconv.Itoa(pos.Line),
		},
	}
	p.records = append(p.records, r.Reindexed(0))
}
