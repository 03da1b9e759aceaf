package main

import (
	"fmt"
	"go/types"
)

// How a field is handed out.
type showKind int

const (
	asValue showKind = iota // it holds nothing that can be modified
	asView
	asCopy  // a clone, as everybody expects of the type
	asClone // a clone, for want of a view
)

// A shape says how a value of some type is handed out.
type shape struct {
	kind showKind
	typ  string
	expr func(loc string) string // of the place of the value, which is addressable
	why  string                  // of asClone
}

// doc returns the comment of the accessor.
func (s shape) doc(name string) []string {
	switch s.kind {
	case asView:
		return []string{" returns a view of the field " + name + "."}
	case asCopy:
		return []string{" returns a copy of the field " + name + "."}
	case asClone:
		return []string{" returns an isolated clone of the field " + name + ": " + s.why + "."}
	}
	return []string{" returns the field " + name + "."}
}

// show decides how a field of type t is handed out.
func (a *analysis) show(t types.Type, at place) shape {
	if p, ok := types.Unalias(t).(*types.Pointer); ok && a.isLocal(p.Elem()) && !isConstant(t) {
		// Even what is immutable or an error of the package's own: Valid is kept apart.
		if w, ok := a.structView(p.Elem(), at); ok {
			return shape{asView, w, func(loc string) string { return a.viewOf(w, loc) }, ""}
		}
	}
	if isImmutable(t) {
		return shape{asValue, a.im.typ(t), func(loc string) string { return loc }, ""}
	}
	if w, ok := a.structView(t, at); ok {
		return shape{asView, w, func(loc string) string { return a.viewOf(w, "&"+loc) }, ""}
	}
	if isCopied(t) {
		return a.cloned(t, asCopy)
	}
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		if w, ok := a.structView(p.Elem(), at); ok {
			return shape{asView, w, func(loc string) string { return a.viewOf(w, a.convert(t, loc)) }, ""}
		}
	}
	if arr, ok := u.(*types.Array); ok {
		w := a.viewer(arr.Elem(), at.at("[]"))
		return shape{asView, a.generic("SliceViews", a.im.typ(arr.Elem()), w), func(loc string) string {
			return a.generic("SliceViewsOf", w) + "(" + loc + "[:])"
		}, ""}
	}
	if typ, maker, ok := a.composite(u, at); ok && !isParam(t) {
		return shape{asView, typ, func(loc string) string { return maker + "(" + a.convert(t, loc) + ")" }, ""}
	}
	s := a.cloned(t, asClone)
	a.note(at, "handed out as a clone: %s", s.why)
	return s
}

func (a *analysis) cloned(t types.Type, kind showKind) shape {
	return shape{kind, a.im.typ(t), func(loc string) string { return a.im.view("CloneOf") + "(" + loc + ")" }, blameOf(t)}
}

// viewOf returns the view w of what pointer points to.
func (a *analysis) viewOf(w, pointer string) string {
	return fmt.Sprintf("%s{}.ViewOf(%s(%s))", w, a.im.view("To"), pointer)
}

// convert returns loc as a value of the unnamed type under t.
func (a *analysis) convert(t types.Type, loc string) string {
	if _, ok := types.Unalias(t).(*types.Named); !ok {
		return loc
	}
	u := a.im.typ(t.Underlying())
	if _, ok := t.Underlying().(*types.Pointer); ok {
		u = "(" + u + ")"
	}
	return u + "(" + loc + ")"
}

// generic returns a type or function of package view with type arguments.
func (a *analysis) generic(name string, args ...string) string {
	s := a.im.view(name) + "["
	for i, arg := range args {
		if i > 0 {
			s += ", "
		}
		s += arg
	}
	return s + "]"
}

// composite returns the view of a slice, map or pointer of the unnamed type u, and the
// function that makes it, and whether there is one.
func (a *analysis) composite(u types.Type, at place) (typ, maker string, ok bool) {
	switch u := u.(type) {
	case *types.Slice:
		typ, maker = a.slice(u, at.at("[]"))
		return typ, maker, true
	case *types.Map:
		if !isImmutable(u.Key()) {
			return "", "", false
		}
		typ, maker = a.mapping(u, at.at("[]"))
		return typ, maker, true
	case *types.Pointer:
		if w, ok := a.structView(u.Elem(), at); ok {
			return a.generic("PointerViews", a.im.typ(u.Elem()), w), a.generic("PointerViewsOf", w), true
		}
		if isImmutable(u.Elem()) {
			return a.generic("Pointer", a.im.typ(u.Elem())), a.im.view("PointerOf"), true
		}
		switch u.Elem().Underlying().(type) {
		case *types.Slice, *types.Map, *types.Pointer:
			if w := a.viewer(u.Elem(), at); w != a.clonedType(u.Elem()) {
				return a.generic("PointerViews", a.im.typ(u.Elem()), w), a.generic("PointerViewsOf", w), true
			}
		}
	}
	return "", "", false
}

func (a *analysis) slice(u *types.Slice, at place) (typ, maker string) {
	e := u.Elem()
	if w, ok := a.pointerView(e, at); ok {
		x := a.im.typ(types.Unalias(e).(*types.Pointer).Elem())
		return a.generic("SlicePointers", x, w), a.generic("SlicePointersOf", w)
	}
	if types.Identical(e, types.Typ[types.Byte]) {
		return a.im.view("Bytes"), a.im.view("BytesOf")
	}
	if isImmutable(e) {
		return a.generic("Slice", a.im.typ(e)), a.im.view("SliceOf")
	}
	w := a.viewer(e, at)
	return a.generic("SliceViews", a.im.typ(e), w), a.generic("SliceViewsOf", w)
}

func (a *analysis) mapping(u *types.Map, at place) (typ, maker string) {
	k, e := a.im.typ(u.Key()), u.Elem()
	if w, ok := a.pointerView(e, at); ok {
		x := a.im.typ(types.Unalias(e).(*types.Pointer).Elem())
		return a.generic("MapPointers", k, x, w), a.generic("MapPointersOf", w)
	}
	if isImmutable(e) {
		return a.generic("Map", k, a.im.typ(e)), a.im.view("MapOf")
	}
	w := a.viewer(e, at)
	return a.generic("MapViews", k, a.im.typ(e), w), a.generic("MapViewsOf", w)
}

// pointerView returns the view of what a pointer e points to, if e is one of no name to
// a struct that has a view.
func (a *analysis) pointerView(e types.Type, at place) (string, bool) {
	p, ok := types.Unalias(e).(*types.Pointer)
	if !ok || isConstant(e) || isImmutable(e) && !a.isLocal(p.Elem()) {
		return "", false
	}
	return a.structView(p.Elem(), at)
}

func (a *analysis) clonedType(t types.Type) string { return a.generic("Cloned", a.im.typ(t)) }

// viewer returns the type of views of an element of type t, which is mutable: it has a
// method ViewOf(view.Ref[t]).
func (a *analysis) viewer(t types.Type, at place) string {
	if w, ok := a.structView(t, at); ok {
		return w
	}
	if isCopied(t) {
		return a.clonedType(t)
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if w, ok := a.adapter(n, at); ok {
			return w
		}
	} else if typ, _, ok := a.composite(types.Unalias(t), at); ok {
		return typ
	}
	a.note(at, "handed out as a clone: %s", blameOf(t))
	return a.clonedType(t)
}
