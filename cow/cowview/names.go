package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// variables are those of generated code, but for numbers behind them.
var variables = []string{"v", "p", "c", "i", "k", "e", "m", "r", "w"}

// predeclared are the identifiers that generated code uses.
var predeclared = []string{"any", "string", "error", "bool", "byte", "len", "make", "append", "nil"}

// hidden returns the object of the package that generated code would mistake for
// another, or that it would hide, or nil.
func hidden(scope *types.Scope) types.Object {
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		_, isType := o.(*types.TypeName)
		if slices.Contains(predeclared, name) ||
			isType && slices.Contains(variables, strings.TrimRight(name, "0123456789")) {
			return o
		}
	}
	return nil
}

// An importer writes types, and remembers the imports that they need.
type importer struct {
	pkg   *types.Package
	names map[string]string // path → name
	used  map[string]bool   // names
	real  map[string]string // path → the package's own name
}

func newImporter(pkg *types.Package, params []string) *importer {
	im := &importer{pkg: pkg, names: map[string]string{}, used: map[string]bool{}, real: map[string]string{}}
	for _, name := range slices.Concat(variables, predeclared, params, pkg.Scope().Names()) {
		im.used[name] = true
	}
	return im
}

// of returns the name by which the package of that path is imported.
func (im *importer) of(path, name string) string {
	if n, ok := im.names[path]; ok {
		return n
	}
	n := name
	for i := 2; im.used[n]; i++ {
		n = fmt.Sprintf("%s%d", name, i)
	}
	im.used[n] = true
	im.names[path], im.real[path] = n, name
	return n
}

// view returns an identifier of package view.
func (im *importer) view(name string) string { return im.of(viewPath, "view") + "." + name }

func (im *importer) qualifier(p *types.Package) string {
	if p.Path() == im.pkg.Path() {
		return ""
	}
	return im.of(p.Path(), p.Name())
}

// typ returns t as Go source.
func (im *importer) typ(t types.Type) string { return types.TypeString(t, im.qualifier) }

// lines returns the imports, the standard library's first.
func (im *importer) lines() []importLine {
	var out []importLine
	for path, n := range im.names {
		line := importLine{Path: path}
		if n != im.real[path] || !strings.HasSuffix("/"+path, "/"+n) {
			line.Alias = n
		}
		out = append(out, line)
	}
	slices.SortFunc(out, func(a, b importLine) int { return strings.Compare(a.order(), b.order()) })
	return out
}

func (l importLine) order() string {
	if l.Standard() {
		return "0" + l.Path
	}
	return "1" + l.Path
}

// Standard reports whether it is of the standard library.
func (l importLine) Standard() bool {
	first, _, _ := strings.Cut(l.Path, "/")
	return !strings.Contains(first, ".")
}

// paramsOf returns the type parameters of n as [K comparable, V any] and as [K, V].
func (im *importer) paramsOf(n *types.Named) (params, args string) {
	list := n.TypeParams()
	if list.Len() == 0 {
		return "", ""
	}
	var ps, as []string
	for p := range list.TypeParams() {
		ps = append(ps, p.Obj().Name()+" "+im.typ(p.Constraint()))
		as = append(as, p.Obj().Name())
	}
	return "[" + strings.Join(ps, ", ") + "]", "[" + strings.Join(as, ", ") + "]"
}

// canName reports whether source of package pkg can name t.
func canName(t types.Type, pkg *types.Package) bool {
	switch t := t.(type) {
	case *types.Alias:
		return visible(t.Obj(), pkg) && (t.TypeArgs() == nil || allNamed(t.TypeArgs(), pkg))
	case *types.Named:
		return visible(t.Obj(), pkg) && allNamed(t.TypeArgs(), pkg)
	case *types.Pointer:
		return canName(t.Elem(), pkg)
	case *types.Slice:
		return canName(t.Elem(), pkg)
	case *types.Array:
		return canName(t.Elem(), pkg)
	case *types.Chan:
		return canName(t.Elem(), pkg)
	case *types.Map:
		return canName(t.Key(), pkg) && canName(t.Elem(), pkg)
	case *types.Signature:
		return canNameTuple(t.Params(), pkg) && canNameTuple(t.Results(), pkg)
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() && f.Pkg() != pkg || !canName(f.Type(), pkg) {
				return false
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if !m.Exported() && m.Pkg() != pkg || !canName(m.Type(), pkg) {
				return false
			}
		}
	}
	return true
}

func canNameTuple(t *types.Tuple, pkg *types.Package) bool {
	for v := range t.Variables() {
		if !canName(v.Type(), pkg) {
			return false
		}
	}
	return true
}

func allNamed(l *types.TypeList, pkg *types.Package) bool {
	for t := range l.Types() {
		if !canName(t, pkg) {
			return false
		}
	}
	return true
}

// visible reports whether pkg can name o, also by the rule for internal packages.
func visible(o *types.TypeName, pkg *types.Package) bool {
	if o.Pkg() == nil || o.Pkg() == pkg || o.Pkg().Path() == pkg.Path() {
		return true
	}
	if !o.Exported() || o.Parent() != nil && o.Parent() != o.Pkg().Scope() {
		return false
	}
	root, _, internal := strings.Cut("/"+o.Pkg().Path()+"/", "/internal/")
	return !internal || root != "" && strings.HasPrefix("/"+pkg.Path()+"/", root+"/")
}
