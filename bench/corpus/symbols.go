package corpus

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/bench/stores"
)

// packageRecords returns the records of the package in dir, relative to src;
// none if there is no package to import.
func packageRecords(target *build.Context, src, dir string) ([]stores.Record, error) {
	pkg, err := target.ImportDir(filepath.Join(src, dir), 0)
	if none := new(build.NoGoError); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if pkg.IsCommand() {
		return nil, nil
	}
	p := symbols{fset: token.NewFileSet(), path: filepath.ToSlash(dir)}
	var files []*ast.File
	for _, name := range slices.Concat(pkg.GoFiles, pkg.CgoFiles) {
		f, err := parser.ParseFile(p.fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(p.fset, files, p.path)
	if err != nil {
		return nil, err
	}
	p.add(d)
	return p.records, p.err
}

// symbols gathers the documented, exported symbols of one package.
type symbols struct {
	fset    *token.FileSet
	path    string
	records []stores.Record
	err     error
}

func (p *symbols) add(d *doc.Package) {
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
			text := v.Doc.Text()
			if text == "" {
				text = v.Comment.Text()
			}
			if text == "" {
				text = g.Doc
			}
			// As a declaration of its own, less the comments.
			decl := &ast.GenDecl{Tok: g.Decl.Tok, TokPos: v.Pos(), Specs: []ast.Spec{
				&ast.ValueSpec{Names: v.Names, Type: v.Type, Values: v.Values},
			}}
			for _, name := range v.Names {
				if name.IsExported() {
					p.symbol(kind, name.Name, text, decl)
				}
			}
		}
	}
}

// members adds the fields of a struct type and the methods of an interface type.
func (p *symbols) members(t *doc.Type) {
	for _, spec := range t.Decl.Specs {
		s := spec.(*ast.TypeSpec)
		if s.Name.Name != t.Name {
			continue
		}
		switch u := s.Type.(type) {
		case *ast.StructType:
			eachMember(u.Fields, func(f *ast.Field, name *ast.Ident, text string) {
				p.symbol("field", t.Name+"."+name.Name, text, &ast.GenDecl{Tok: token.VAR, TokPos: f.Pos(), Specs: []ast.Spec{
					&ast.ValueSpec{Names: []*ast.Ident{name}, Type: f.Type},
				}})
			})
		case *ast.InterfaceType:
			eachMember(u.Methods, func(f *ast.Field, name *ast.Ident, text string) {
				p.symbol("method", t.Name+"."+name.Name, text, &ast.FuncDecl{Name: name, Type: f.Type.(*ast.FuncType)})
			})
		}
	}
}

// eachMember calls add with each exported name of a list, and its comment.
func eachMember(list *ast.FieldList, add func(f *ast.Field, name *ast.Ident, text string)) {
	for _, f := range list.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, name := range f.Names {
			if name.IsExported() {
				add(f, name, text)
			}
		}
	}
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
