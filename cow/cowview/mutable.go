package main

import "go/types"

// isImmutable reports whether nothing that can be modified is reached from a value of
// t: a copy of it is isolated. Functions and channels are handles.
func isImmutable(t types.Type) bool { return immutable(t, nil) }

func immutable(t types.Type, above []types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.TypeParam); ok {
		return immutableParam(p, above)
	}
	if isConstant(t) {
		return true
	}
	if isLock(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Chan, *types.Signature:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if !immutable(f.Type(), above) {
				return false
			}
		}
		return true
	case *types.Array:
		return u.Len() == 0 || immutable(u.Elem(), above)
	}
	return false
}

// immutableParam reports whether the constraint of p allows immutable types only.
func immutableParam(p *types.TypeParam, above []types.Type) bool {
	for _, t := range above {
		if t == p {
			return false
		}
	}
	return immutableSet(p.Constraint(), append(above, p))
}

// immutableSet reports whether an interface has a type set of immutable types only.
func immutableSet(t types.Type, above []types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return immutable(t, above)
	}
	for e := range i.EmbeddedTypes() {
		// One that is immutable is enough: a type set is an intersection.
		if u, ok := e.(*types.Union); ok {
			if immutableUnion(u, above) {
				return true
			}
		} else if immutableSet(e, above) {
			return true
		}
	}
	return false
}

func immutableUnion(u *types.Union, above []types.Type) bool {
	for term := range u.Terms() {
		if !immutableSet(term.Type(), above) {
			return false
		}
	}
	return true
}

// A lockPath leads to what must not be copied.
type lockPath struct {
	path string
	typ  types.Type
}

// findLock returns the way to a lock that is reached from a t by its type, or nil.
func findLock(t types.Type, path string) *lockPath {
	return lockFinder{}.find(t, path)
}

type lockFinder map[string]bool

func (seen lockFinder) find(t types.Type, path string) *lockPath {
	t = types.Unalias(t)
	key := types.TypeString(t, nil)
	if seen[key] || isParam(t) || isConstant(t) || hasClone(t) {
		return nil
	}
	seen[key] = true
	if isLock(t) {
		return &lockPath{path, t}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return seen.find(u.Elem(), path)
	case *types.Slice:
		return seen.find(u.Elem(), path+"[]")
	case *types.Array:
		if u.Len() > 0 {
			return seen.find(u.Elem(), path+"[]")
		}
	case *types.Map:
		if l := seen.find(u.Key(), path+"[key]"); l != nil {
			return l
		}
		return seen.find(u.Elem(), path+"[]")
	case *types.Struct:
		for f := range u.Fields() {
			if l := seen.find(f.Type(), path+"."+f.Name()); l != nil {
				return l
			}
		}
	}
	return nil
}

// blameOf says in a few words why a t is not shown, for messages and comments.
func blameOf(t types.Type) string {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return "its type is a type parameter"
	case *types.Struct:
		return "its type has no name"
	default:
		switch u.Underlying().(type) {
		case *types.Interface:
			return "it is an interface"
		case *types.Map:
			return "its keys reach what can be modified"
		case *types.Array:
			return "it is an array within something else"
		}
	}
	return "there is no view of its type " + typeText(t)
}

// typeText returns t as messages and comments show it.
func typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
