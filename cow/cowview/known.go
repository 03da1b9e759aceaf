package main

import (
	"go/types"
	"slices"
)

// This file knows what package clone knows about particular types, in terms of
// go/types: see kept.go there.

// constants are the types whose values stay themselves.
var constants = map[string]bool{
	"time.Time":     true,
	"time.Location": true,
	"weak.Pointer":  true,
}

// constantPointees are the types of objects that are reached through pointers and stay
// themselves. What is reached through an interface, as a reflect.Type, a clone finds out.
var constantPointees = map[string]bool{
	"time.Location":            true,
	"encoding/base32.Encoding": true,
	"encoding/base64.Encoding": true,
	"go/types.Basic":           true,
	"strings.Replacer":         true,
}

// copies are types that everybody expects to be handed out as copies.
var copies = map[string]bool{
	"math/big.Int":   true,
	"math/big.Float": true,
	"math/big.Rat":   true,
	"net/url.URL":    true,
}

// nameOf returns the package path and the name of a defined type, without type
// arguments, and "" for others.
func nameOf(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}

// isCopied reports whether values of t, or what they point to, are known to be handed
// out as copies.
func isCopied(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return copies[nameOf(t)]
}

// isConstant reports whether values of t are immutable by their own contract.
func isConstant(t types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok { // of whatever name
		e := types.Unalias(p.Elem())
		return constantPointees[nameOf(e)] || isEmpty(e) && !holdsLock(e) && !hasClone(t)
	}
	return constants[nameOf(t)] || isUnique(t) && handleOf(t, nil)
}

func isUnique(t types.Type) bool { return nameOf(t) == "unique.Handle" }

// handleOf reports whether t, of package unique, is a handle of a type whose values need
// no clone. Handles that were met may be in what they are handles of.
func handleOf(t types.Type, met []types.Type) bool {
	args := types.Unalias(t).(*types.Named).TypeArgs()
	if args.Len() != 1 || slices.ContainsFunc(met, func(u types.Type) bool { return types.Identical(t, u) }) {
		return args.Len() == 1
	}
	return isFlat(args.At(0), append(met, t))
}

// isFlat reports whether values of t lead to nothing that can be modified, as far as that
// shows by its parts.
func isFlat(t types.Type, met []types.Type) bool {
	t = types.Unalias(t)
	switch {
	case isParam(t):
		return false
	case isUnique(t):
		return handleOf(t, met)
	case constants[nameOf(t)]:
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Chan, *types.Signature:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if !isFlat(f.Type(), met) {
				return false
			}
		}
		return true
	case *types.Array:
		return u.Len() == 0 || isFlat(u.Elem(), met)
	case *types.Pointer:
		return constantPointees[nameOf(u.Elem())]
	}
	return false
}

// isEmpty reports whether values of t have no size.
func isEmpty(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if isParam(f.Type()) || !isEmpty(f.Type()) {
				return false
			}
		}
		return true
	case *types.Array:
		return u.Len() == 0 || !isParam(u.Elem()) && isEmpty(u.Elem())
	}
	return false
}

func isParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// isLock reports whether a value of t must not be copied because of what t itself is.
func isLock(t types.Type) bool {
	t = types.Unalias(t)
	if isKnownLock(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return false
	case *types.Array:
		return u.Len() == 0 && holdsLock(u.Elem())
	case *types.Struct:
		if hasLockedPart(t) {
			return false // it is that field, perhaps promoted
		}
	}
	return isLocker(t)
}

// isKnownLock reports whether t is an unsafe.Pointer, or one of the standard library's
// types that must not be copied.
func isKnownLock(t types.Type) bool {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind() == types.UnsafePointer
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !isStruct(t) {
		return false
	}
	switch n.Obj().Pkg().Path() {
	case "sync", "sync/atomic", "internal/sync", "internal/poll":
		return true
	}
	switch nameOf(t) {
	case "reflect.Value", "time.Timer", "time.Ticker":
		return true
	case "unique.Handle": // of what can be modified, which it gives out
		return !isConstant(t)
	}
	return false
}

// isLocker reports whether t has Lock and Unlock on its pointer alone.
func isLocker(t types.Type) bool { return locks(types.NewPointer(t)) && !locks(t) }

// locks reports whether t has the methods Lock and Unlock.
func locks(t types.Type) bool {
	for _, name := range []string{"Lock", "Unlock"} {
		s := method(t, name)
		if s == nil || s.Params().Len() != 0 || s.Results().Len() != 0 {
			return false
		}
	}
	return true
}

// holdsLock reports whether a lock is in the memory of a t.
func holdsLock(t types.Type) bool {
	t = types.Unalias(t)
	if isParam(t) || isConstant(t) || hasClone(t) {
		return false
	}
	if isKnownLock(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return false
	case *types.Struct:
		return hasLockedPart(t) || isLocker(t)
	case *types.Array:
		return holdsLock(u.Elem())
	}
	return isLocker(t)
}

// hasLockedPart reports whether a lock is in the memory of a struct type, whatever
// methods that has.
func hasLockedPart(t types.Type) bool {
	for f := range t.Underlying().(*types.Struct).Fields() {
		if holdsLock(f.Type()) {
			return true
		}
	}
	return false
}

// hasClone reports whether t has a method Clone that returns a t, and that was written
// for it: not by cowview.
func hasClone(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok && nameOf(p.Elem()) == "net/url.URL" {
		return false // only since Go 1.27; the file is the same under all releases
	}
	if nameOf(t) == "log/slog.Record" {
		return false // it is no deep copy
	}
	s := method(t, "Clone")
	return s != nil && s.Params().Len() == 0 && s.Results().Len() == 1 &&
		types.Identical(s.Results().At(0).Type(), t) && !isGenerated(t)
}

// isGenerated reports whether another run has generated the Clone of t.
func isGenerated(t types.Type) bool {
	s := method(t, mark)
	return s != nil && s.Params().Len() == 1 && types.Identical(s.Params().At(0).Type(), t) && isStruct(t)
}

// mark is the method that generated Clones are known by; see isGenerated of package
// snapshot.
const mark = "ClonedByCowview"

// method returns the signature of the exported method of that name in the method set
// of t, or nil.
func method(t types.Type, name string) *types.Signature {
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	if f, ok := o.(*types.Func); ok {
		return f.Signature()
	}
	return nil
}
