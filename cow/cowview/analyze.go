package main

import (
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// An analysis turns types into a model.
type analysis struct {
	*loaded
	im       *importer
	structs  []*types.Named // to be printed, in this order; the list grows
	planned  map[*types.TypeName]bool
	adapters []adapterModel
	adapted  map[*types.TypeName]string // their names
	notes    []string
	errs     []error
}

// analyze returns the model of the named types and of all struct types of the package
// that their views lead to, and what the user should know about it.
func analyze(l *loaded, names []string) (*model, []string, error) {
	a := &analysis{loaded: l, planned: map[*types.TypeName]bool{}, adapted: map[*types.TypeName]string{}}
	if o := hidden(l.pkg.Scope()); o != nil {
		return nil, nil, fmt.Errorf("%s: generated code needs the name %s for something else", l.position(o), o.Name())
	}
	var params []string
	for _, name := range names {
		n, err := l.typeNamed(name)
		if err != nil {
			return nil, nil, err
		}
		if o := l.pkg.Scope().Lookup(name + "View"); o != nil {
			return nil, nil, fmt.Errorf("%s: %sView is declared already; types that lead to each other must be in one -type",
				l.position(o), name)
		}
		a.plan(n)
		for p := range n.TypeParams().TypeParams() {
			params = append(params, p.Obj().Name())
		}
	}
	a.im = newImporter(l.pkg, params)
	m := &model{Package: l.pkg.Name()}
	for i := 0; i < len(a.structs); i++ {
		m.Structs = append(m.Structs, a.structModel(a.structs[i]))
	}
	if len(a.errs) > 0 {
		return nil, nil, errors.Join(a.errs...)
	}
	for i, n := range a.structs {
		a.decide(n, &m.Structs[i])
	}
	m.Adapters = a.adapters
	m.Imports = a.im.lines()
	return m, a.notes, nil
}

// plan adds a struct type of the package to those that are printed.
func (a *analysis) plan(n *types.Named) {
	if o := n.Origin().Obj(); !a.planned[o] {
		a.planned[o] = true
		a.structs = append(a.structs, n.Origin())
	}
}

// A place is a field, for messages.
type place struct {
	obj  types.Object // where it is declared
	path string       // Profile.Meta[]
}

func (p place) at(step string) place { return place{p.obj, p.path + step} }

func (a *analysis) note(p place, format string, args ...any) {
	a.notes = append(a.notes, p.path+": "+fmt.Sprintf(format, args...))
}

func (a *analysis) fail(p place, format string, args ...any) {
	a.errs = append(a.errs, fmt.Errorf("%s: %s: %s", a.position(p.obj), p.path, fmt.Sprintf(format, args...)))
}

func (a *analysis) structModel(n *types.Named) structModel {
	s := structModel{Name: n.Obj().Name()}
	for p := range n.TypeParams().TypeParams() {
		if p.Obj().Name() == "_" {
			a.fail(place{n.Obj(), s.Name}, "a type parameter has no name")
		}
	}
	s.View = s.Name + "View"
	s.Params, s.Args = a.im.paramsOf(n)
	s.Type, s.ViewOf = s.Name+s.Args, s.View+s.Args
	s.Pkg, s.Slog = a.im.of(viewPath, "view"), a.im.of("log/slog", "slog")
	if canName(n.Underlying(), a.pkg) {
		s.Literal = a.im.typ(untagged(n.Underlying().(*types.Struct)))
	}
	used := slices.Clone(reserved)
	for _, f := range fieldsOf(n, a.pkg) {
		if acc, ok := a.accessor(n, f); ok {
			acc.Name = free(acc.Name, used)
			used = append(used, acc.Name)
			s.Accessors = append(s.Accessors, acc)
		}
	}
	s.Methods = a.methods(n, used)
	return s
}

// reserved are the names that a view has for itself.
var reserved = []string{"Valid", "Clone", "Equal", "String", "LogValue", "MarshalJSON", "ViewOf", "ref"}

// free returns name, with Field behind it until it is not among used.
func free(name string, used []string) string {
	for slices.Contains(used, name) {
		name += "Field"
	}
	return name
}

// untagged returns s without tags, which conversions ignore.
func untagged(s *types.Struct) *types.Struct {
	return types.NewStruct(slices.Collect(s.Fields()), nil)
}

// accessor returns the accessor of a field, and whether there is one.
func (a *analysis) accessor(n *types.Named, f field) (acc accessor, ok bool) {
	at := place{f.v, n.Obj().Name() + "." + f.v.Name()}
	t := f.v.Type()
	if isInvalid(t) {
		a.fail(at, "its type cannot be known: %s", a.errorAt(f.v))
		return acc, false
	}
	if l := findLock(t, at.path); l != nil {
		switch {
		case f.promoted: // said of the embedded field
		case hasOwnClone(n):
			a.note(at, "no accessor: %s must not be copied", typeText(l.typ))
		default:
			a.fail(place{f.v, l.path}, "%s must not be copied; give %s a method Clone",
				typeText(l.typ), n.Obj().Name())
		}
		return acc, false
	}
	if !canName(t, a.pkg) {
		a.note(at, "no accessor: its type %s cannot be named here", typeText(t))
		return acc, false
	}
	s := a.show(t, at)
	loc := a.im.view("Shared") + "(v.ref)"
	if f.guard != "" {
		loc = "p"
	}
	return accessor{
		Name:   f.v.Name(),
		Doc:    s.doc(f.v.Name()),
		Result: s.typ,
		Guard:  f.guard,
		Expr:   s.expr(loc + "." + f.v.Name()),
	}, true
}

// hasOwnClone reports whether the package wrote a Clone of n or of *n.
func hasOwnClone(n *types.Named) bool { return hasClone(n) || hasClone(types.NewPointer(n)) }

func isInvalid(t types.Type) bool {
	return strings.Contains(types.TypeString(t, nil), "invalid type")
}

// A field is a field of a struct, or one that is promoted to it.
type field struct {
	v        *types.Var
	promoted bool
	guard    string // what must hold for p, or ""
}

// fieldsOf returns the fields of n, and then those that are promoted, breadth first,
// as far as code of pkg can select them.
func fieldsOf(n *types.Named, pkg *types.Package) []field {
	type level struct {
		s     *types.Struct
		path  string
		guard string
	}
	var out []field
	seen := map[types.Type]bool{}
	for queue := []level{{s: n.Underlying().(*types.Struct), path: "p"}}; len(queue) > 0; queue = queue[1:] {
		l := queue[0]
		for v := range l.s.Fields() {
			obj, _, _ := types.LookupFieldOrMethod(n, true, pkg, v.Name())
			if v.Name() == "_" || obj != v {
				continue
			}
			out = append(out, field{v, l.path != "p", l.guard})
			t := types.Unalias(v.Type())
			path, guard := l.path+"."+v.Name(), l.guard
			if p, ok := t.(*types.Pointer); ok {
				t, guard = types.Unalias(p.Elem()), strings.TrimPrefix(guard+" && "+path+" != nil", " && ")
			}
			if s, ok := t.Underlying().(*types.Struct); ok && v.Embedded() && !seen[t] && !isConstant(v.Type()) {
				if guard != l.guard && !canSelect(v, pkg) {
					continue
				}
				seen[t] = true
				queue = append(queue, level{s, path, guard})
			}
		}
	}
	return out
}
