package main

import (
	"go/types"
	"strings"
)

// A clonePlan says how a type is cloned.
type clonePlan struct {
	own     bool     // it has a method or field Clone
	deep    bool     // by the library's clone
	compare []string // conditions under which it must be, if not always
}

func (a *analysis) planOf(n *types.Named) (p clonePlan) {
	if o, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, a.pkg, "Clone"); o != nil && declares(n, o) {
		p.own = true
		return p
	}
	if isImmutable(n) {
		return p
	}
	groups, ok := meetings(piecesOf(n))
	if !ok || hasHidden(n.Underlying().(*types.Struct), a.pkg) {
		p.deep = true
		return p
	}
	for _, g := range groups {
		p.compare = append(p.compare, a.meet(g))
	}
	return p
}

// declares reports whether o is a field or method of n itself, not one promoted to it.
func declares(n *types.Named, o types.Object) bool {
	for m := range n.Methods() {
		if m.Name() == o.Name() {
			return true
		}
	}
	for f := range n.Underlying().(*types.Struct).Fields() {
		if f.Name() == o.Name() {
			return true
		}
	}
	return false
}

// meetings returns groups of pieces that may meet. It is false if that cannot be found
// out by comparing a few fields.
func meetings(pieces []piece) (groups [][]piece, ok bool) {
	group := make([]int, len(pieces))
	for i, a := range pieces {
		group[i] = i
		if a.many || a.kind == unknown {
			return nil, false
		}
		for j, b := range pieces[:i] {
			if !mayMeet(a, b) {
				continue
			}
			if a.path == "" || b.path == "" {
				return nil, false
			}
			was, now := group[i], group[j]
			for k := range group[:i+1] {
				if group[k] == was {
					group[k] = now
				}
			}
		}
	}
	for i := range pieces {
		var g []piece
		for j, p := range pieces {
			if group[j] == i {
				g = append(g, p)
			}
		}
		if len(g) > 1 {
			groups = append(groups, g)
		}
	}
	return groups, true
}

// hasHidden reports whether a field of s that pkg cannot select can be modified.
func hasHidden(s *types.Struct, pkg *types.Package) bool {
	for f := range s.Fields() {
		if !isImmutable(f.Type()) && !canSelect(f, pkg) {
			return true
		}
	}
	return false
}

// hasHiddenPart reports whether a struct or array has such fields, or parts that have.
func hasHiddenPart(u types.Type, pkg *types.Package) bool {
	switch u := u.(type) {
	case *types.Struct:
		if hasHidden(u, pkg) {
			return true
		}
		for f := range u.Fields() {
			if isPart(f.Type()) && hasHiddenPart(f.Type().Underlying(), pkg) {
				return true
			}
		}
	case *types.Array:
		return isPart(u.Elem()) && hasHiddenPart(u.Elem().Underlying(), pkg)
	}
	return false
}

// isPart reports whether a clone has to look into t itself.
func isPart(t types.Type) bool { return !isParam(t) && !isImmutable(t) && !hasClone(t) }

// meet returns the condition that pieces meet.
func (a *analysis) meet(g []piece) string {
	var spans []string
	for _, p := range g {
		maker := "PointerSpan"
		switch p.kind {
		case array:
			maker = "SliceSpan"
		case mapping:
			maker = "MapSpan"
		}
		spans = append(spans, a.im.view(maker)+"("+p.path+")")
	}
	return a.im.view("Meet") + "(" + strings.Join(spans, ", ") + ")"
}

// decide fills in how s, the model of n, is cloned.
func (a *analysis) decide(n *types.Named, s *structModel) {
	p := a.planOf(n)
	shared := a.im.view("Shared") + "(v.ref)"
	s.CloneExpr = a.im.view("CloneOf") + "(*" + shared + ")"
	switch {
	case p.own && hasClone(n):
		s.CloneExpr = shared + ".Clone()"
	case p.own && hasClone(types.NewPointer(n)):
		s.CloneExpr = "*" + shared + ".Clone()"
		if s.Locked = hasLockedPart(n); s.Locked {
			s.CloneExpr = shared + ".Clone()"
		}
	case p.own:
	case isImmutable(n):
		s.CloneExpr = "*" + shared
	default:
		s.CloneExpr = shared + ".Clone()"
		s.Clone = a.clone(n, p)
	}
}

func (a *analysis) clone(n *types.Named, p clonePlan) []string {
	whole := "return " + a.im.view("CloneOf") + "(p)"
	if p.deep {
		return []string{whole}
	}
	w := cloneWriter{analysis: a}
	if p.compare != nil {
		w.lines = []string{"if " + strings.Join(p.compare, " ||\n") + " {", whole + " // keeps the shape", "}"}
	}
	w.parts(n.Underlying(), "p", 0)
	return append(w.lines, "return p")
}
