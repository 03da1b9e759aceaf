package main

import (
	"fmt"
	"go/types"
)

// A cloneWriter writes statements that replace what a value refers to by copies.
type cloneWriter struct {
	*analysis
	lines []string
}

func (w *cloneWriter) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// value writes what makes the value of type t at loc, a place that can be assigned to,
// isolated.
func (w *cloneWriter) value(t types.Type, loc string, depth int) {
	switch {
	case isImmutable(t):
	case hasClone(t):
		w.call(t, loc)
	case isParam(t):
		w.library(loc)
	case isStruct(t) && hasHiddenPart(t.Underlying(), w.pkg):
		if isGenerated(t) {
			w.call(t, loc)
		} else {
			w.library(loc)
		}
	default:
		w.reference(t, loc, depth)
	}
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

func (w *cloneWriter) library(loc string) { w.line("%s = %s(%s)", loc, w.im.view("CloneOf"), loc) }

// call writes a call of the type's own Clone, nil excepted.
func (w *cloneWriter) call(t types.Type, loc string) {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Interface:
		w.line("if %s != nil {", loc)
		w.line("%s = %s.Clone()", loc, loc)
		w.line("}")
	default:
		w.line("%s = %s.Clone()", loc, loc)
	}
}

func (w *cloneWriter) reference(t types.Type, loc string, depth int) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		w.pointer(u, loc, depth)
	case *types.Slice:
		w.slice(t, u, loc, depth)
	case *types.Map:
		w.mapping(t, u, loc, depth)
	case *types.Struct, *types.Array:
		w.parts(u, loc, depth)
	default:
		w.library(loc)
	}
}

// parts writes the parts of a struct or array.
func (w *cloneWriter) parts(u types.Type, loc string, depth int) {
	switch u := u.(type) {
	case *types.Struct:
		for f := range u.Fields() {
			w.value(f.Type(), loc+"."+f.Name(), depth)
		}
	case *types.Array:
		i := numbered("i", depth)
		w.line("for %s := range %s {", i, loc)
		w.value(u.Elem(), loc+"["+i+"]", depth+1)
		w.line("}")
	}
}

func (w *cloneWriter) pointer(u *types.Pointer, loc string, depth int) {
	if e := u.Elem(); isPart(e) && isStruct(e) && !isGenerated(e) && hasHiddenPart(e.Underlying(), w.pkg) {
		w.library(loc)
		return
	}
	e := numbered("e", depth)
	w.line("if %s != nil {", loc)
	w.line("%s := *%s", e, loc)
	w.value(u.Elem(), e, depth+1)
	w.line("%s = &%s", loc, e)
	w.line("}")
}

func (w *cloneWriter) slice(t types.Type, u *types.Slice, loc string, depth int) {
	w.line("if %s != nil {", loc)
	w.line("%s = append(make(%s, 0, len(%s)), %s...)", loc, w.im.typ(t), loc, loc)
	if !isImmutable(u.Elem()) {
		i := numbered("i", depth)
		w.line("for %s := range %s {", i, loc)
		w.value(u.Elem(), loc+"["+i+"]", depth+1)
		w.line("}")
	}
	w.line("}")
}

func (w *cloneWriter) mapping(t types.Type, u *types.Map, loc string, depth int) {
	switch {
	case !isImmutable(u.Key()):
		w.library(loc)
	case isImmutable(u.Elem()):
		w.line("%s = %s(%s)", loc, w.im.of("maps", "maps")+".Clone", loc)
	default:
		m, k, e := numbered("m", depth), numbered("k", depth), numbered("e", depth)
		w.line("if %s != nil {", loc)
		w.line("%s := make(%s, len(%s))", m, w.im.typ(t), loc)
		w.line("for %s, %s := range %s {", k, e, loc)
		w.value(u.Elem(), e, depth+1)
		w.line("%s[%s] = %s", m, k, e)
		w.line("}")
		w.line("%s = %s", loc, m)
		w.line("}")
	}
}

// numbered returns a variable's name, another one at each depth.
func numbered(name string, depth int) string {
	if depth == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, depth+1)
}
