package main

import (
	"go/types"
	"iter"
	"reflect"
	"slices"
)

// A value is made of its own memory and of pieces that it refers to: what a pointer
// leads to, the array of a slice, a map. Whether pieces of one value may meet is
// decided by their types: if they may, a clone must look, to keep the shape.

type pieceKind int

const (
	pointee pieceKind = iota // of elem
	array                    // of elems, behind a slice
	mapping                  // the map of type elem
	unknown                  // behind an interface or a type parameter, or in a cycle
)

// A piece is memory that is referred to by a value, in one place or in many.
type piece struct {
	kind pieceKind
	elem types.Type
	many bool
	path string // the field that refers to it, of p; "" if a reference leads to the field
}

// A walk finds the pieces of a type.
type walk struct {
	pkg    *types.Package // whose code is to name fields
	pieces []piece
	met    map[string]bool // types of pieces → whether the walk is in one of them
}

// piecesOf returns the pieces of a value of the struct type n.
func piecesOf(n *types.Named) []piece {
	w := &walk{pkg: n.Obj().Pkg(), met: map[string]bool{}}
	w.parts(n.Underlying(), false, "p")
	return w.pieces
}

// walk adds what a value of t refers to. It lies at path, or behind a reference.
func (w *walk) walk(t types.Type, many bool, path string) {
	switch {
	case isParam(t):
		if !isImmutable(t) {
			w.pieces = append(w.pieces, piece{unknown, t, many, ""})
		}
	case isImmutable(t), hasClone(t):
	default:
		w.parts(t.Underlying(), many, path)
	}
}

func (w *walk) parts(u types.Type, many bool, path string) {
	switch u := u.(type) {
	case *types.Struct:
		for f := range u.Fields() {
			w.walk(f.Type(), many, w.step(path, f))
		}
	case *types.Array:
		w.walk(u.Elem(), many || u.Len() > 1, "")
	case *types.Pointer:
		w.piece(piece{pointee, u.Elem(), many, path}, many, u.Elem())
	case *types.Slice:
		w.piece(piece{array, u.Elem(), many, path}, true, u.Elem())
	case *types.Map:
		w.piece(piece{mapping, u, many, path}, true, u.Key(), u.Elem())
	case *types.Interface:
		w.pieces = append(w.pieces, piece{unknown, u, many, path})
	}
}

func (w *walk) step(path string, f *types.Var) string {
	if path == "" || !canSelect(f, w.pkg) {
		return ""
	}
	return path + "." + f.Name()
}

// canSelect reports whether code of pkg can select f.
func canSelect(f *types.Var, pkg *types.Package) bool {
	return f.Name() != "_" && (f.Exported() || f.Pkg() == pkg)
}

// piece adds a piece, and what its elements refer to.
func (w *walk) piece(p piece, many bool, elems ...types.Type) {
	w.pieces = append(w.pieces, p)
	key := types.TypeString(p.elem, nil)
	if p.kind == mapping {
		key = "a " + key // and not a pointer to one
	}
	switch open, met := w.met[key]; {
	case open:
		w.pieces = append(w.pieces, piece{unknown, p.elem, true, ""})
	case met && w.refers(elems):
		// Two may refer to the same memory. That of one was walked.
		w.pieces = append(w.pieces, piece{p.kind, p.elem, true, ""})
	case !met:
		w.met[key] = true
		for _, e := range elems {
			w.walk(e, many, "")
		}
		w.met[key] = false
	}
}

// refers reports whether values of the types refer to memory.
func (w *walk) refers(elems []types.Type) bool {
	for _, e := range elems {
		if isPart(e) || isParam(e) && !isImmutable(e) {
			return true
		}
	}
	return false
}

// mayMeet reports whether memory of a and of b, which are two places of a value, may
// be the same.
func mayMeet(a, b piece) bool {
	switch {
	case a.kind == unknown || b.kind == unknown:
		return true
	case a.kind == mapping || b.kind == mapping:
		return a.kind == b.kind && alike(a.elem, b.elem)
	}
	return contains(a.elem, b.elem) || contains(b.elem, a.elem)
}

// alike reports whether memory of type t may also be known as a u, by a conversion of
// references to it, or because type parameters stand for the same.
func alike(t, u types.Type) bool {
	t, u = t.Underlying(), u.Underlying()
	return types.IdenticalIgnoreTags(t, u) || (isGeneric(t) || isGeneric(u)) && reflect.TypeOf(t) == reflect.TypeOf(u)
}

// isGeneric reports whether a type parameter occurs in t, as it is written.
func isGeneric(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		return t.TypeArgs() != nil && slices.ContainsFunc(slices.Collect(t.TypeArgs().Types()), isGeneric)
	case *types.Map:
		return isGeneric(t.Key()) || isGeneric(t.Elem())
	case interface{ Elem() types.Type }:
		return isGeneric(t.Elem())
	case *types.Struct:
		return anyGeneric(t.Fields())
	case *types.Signature:
		return anyGeneric(t.Params().Variables()) || anyGeneric(t.Results().Variables())
	case *types.Interface:
		for m := range t.Methods() {
			if isGeneric(m.Signature()) {
				return true
			}
		}
	}
	return false
}

func anyGeneric(vars iter.Seq[*types.Var]) bool {
	for v := range vars {
		if isGeneric(v.Type()) {
			return true
		}
	}
	return false
}

// contains reports whether there may be a u, or a part of it if it is an array, in the
// memory of a t.
func contains(t, u types.Type) bool {
	if alike(t, u) || isParam(t) || isParam(u) {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for f := range t.Fields() {
			if contains(f.Type(), u) {
				return true
			}
		}
	case *types.Array:
		// A slice of one array can be converted to pointers to arrays of any length.
		part, ok := u.Underlying().(*types.Array)
		return ok && alike(t.Elem(), part.Elem()) || contains(t.Elem(), u)
	}
	return false
}
