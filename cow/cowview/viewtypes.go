package main

import (
	"fmt"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isLocal reports whether t is a defined type of the package.
func (a *analysis) isLocal(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() == a.pkg
}

// structView returns the type of views of the struct type t, and whether there is one:
// one that this run prints, or one that is declared beside t.
func (a *analysis) structView(t types.Type, at place) (string, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || isConstant(t) {
		return "", false
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return "", false
	}
	args := a.typeArgs(n)
	name := n.Obj().Name() + "View"
	o := n.Obj().Pkg().Scope().Lookup(name)
	if o == nil {
		if !a.isLocal(n) {
			return "", false
		}
		a.plan(n)
		return name + args, true
	}
	if isViewOf(o, n) && (a.isLocal(n) || canName(o.Type(), a.pkg)) {
		return a.im.qualified(o) + args, true
	}
	if a.isLocal(n) {
		a.fail(at, "%s is declared at %s, and is no view of %s: it lacks a method ViewOf",
			name, a.position(o), n.Obj().Name())
	}
	return "", false
}

func (a *analysis) typeArgs(n *types.Named) string {
	if n.TypeArgs().Len() == 0 {
		return ""
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, a.im.typ(t))
	}
	return "[" + strings.Join(args, ", ") + "]"
}

// qualified returns the name of an object of a package.
func (im *importer) qualified(o types.Object) string {
	if q := im.qualifier(o.Pkg()); q != "" {
		return q + "." + o.Name()
	}
	return o.Name()
}

// isViewOf reports whether o is a type with a method ViewOf that takes a view.Ref of n.
func isViewOf(o types.Object, n *types.Named) bool {
	t, ok := o.(*types.TypeName)
	if !ok {
		return false
	}
	w, ok := t.Type().(*types.Named)
	if !ok || w.TypeParams().Len() != n.Origin().TypeParams().Len() {
		return false
	}
	s := method(w, "ViewOf")
	if s == nil || s.Params().Len() != 1 || s.Results().Len() != 1 || !isOf(s.Results().At(0).Type(), t) {
		return false
	}
	ref, ok := s.Params().At(0).Type().(*types.Named)
	if !ok || nameOf(ref) != viewPath+".Ref" {
		return false
	}
	return isOf(ref.TypeArgs().At(0), n.Origin().Obj())
}

// isOf reports whether t is the defined type o, or an instance of it.
func isOf(t types.Type, o types.Object) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj() == o
}

// adapter returns the type of views of an element of the defined slice or map type n,
// and whether there can be one. It is printed too.
func (a *analysis) adapter(n *types.Named, at place) (string, bool) {
	local := a.isLocal(n)
	if !local && n.TypeArgs().Len() > 0 || !canName(n, a.pkg) {
		return "", false
	}
	o := n.Origin()
	switch u := o.Underlying().(type) {
	case *types.Slice:
	case *types.Map:
		if !isImmutable(u.Key()) {
			return "", false
		}
	default:
		return "", false
	}
	if name, ok := a.adapted[o.Obj()]; ok {
		return name + a.typeArgs(n), true
	}
	name := n.Obj().Name() + "View"
	if !local {
		name = a.foreignName(n.Obj())
	}
	w := name + a.typeArgs(n)
	a.adapted[o.Obj()] = name
	if d := a.pkg.Scope().Lookup(name); d != nil {
		if !isViewOf(d, o) {
			a.fail(at, "%s is declared at %s, and is needed for views of %s", name, a.position(d), a.im.typ(o))
		}
		return w, true
	}
	params, args := a.im.paramsOf(o)
	base, maker, _ := a.composite(o.Underlying(), at)
	field, _, _ := strings.Cut(base[strings.Index(base, ".")+1:], "[")
	a.adapters = append(a.adapters, adapterModel{
		Pkg: a.im.of(viewPath, "view"), View: name, Params: params, ViewOf: name + args, Type: a.im.qualified(o.Obj()) + args, Base: base, Name: field,
		Expr: maker + "(" + a.im.typ(o.Underlying()) + "(*" + a.im.view("Shared") + "(r)))",
	})
	return w, true
}

// foreignName returns a name for the view of another package's type: HttpHeaderView. It
// is that of no other type's view.
func (a *analysis) foreignName(o *types.TypeName) string {
	name := upper(o.Pkg().Name()) + o.Name()
	for i := 2; a.pkg.Scope().Lookup(name) != nil || a.isAdapter(name+"View"); i++ {
		name = fmt.Sprintf("%s%s%d", upper(o.Pkg().Name()), o.Name(), i)
	}
	return name + "View"
}

func (a *analysis) isAdapter(name string) bool {
	for _, n := range a.adapted {
		if n == name {
			return true
		}
	}
	return false
}

func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
