package main

import (
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A cloning decides how each struct is cloned. All of them are known by then.
type cloning struct {
	*analysis
	plans map[*types.TypeName]clonePlan
	bars  map[*types.TypeName]string // types that get no Clone → the type whose shape it would lose
}

// A clonePlan says how a type is cloned.
type clonePlan struct {
	own     bool     // it has a method or field Clone
	deep    bool     // by the library's clone
	compare []string // conditions under which it must be, if not always
}

const snapshotPath = "github.com/cowstore/cowstore/snapshot"

func newCloning(a *analysis) *cloning {
	c := &cloning{a, map[*types.TypeName]clonePlan{}, map[*types.TypeName]string{}}
	for _, n := range a.structs {
		p, via := c.planOf(n)
		c.plans[n.Obj()] = p
		if !p.deep && p.compare == nil {
			continue
		}
		for o := range via {
			// The library's clone would call that Clone, for each part alone.
			if name := n.Obj().Name(); c.bars[o] == "" || name < c.bars[o] {
				c.bars[o] = name
			}
		}
	}
	return c
}

func (c *cloning) planOf(n *types.Named) (p clonePlan, via map[*types.TypeName]bool) {
	if o, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, c.pkg, "Clone"); o != nil && declares(n, o) {
		p.own = true
		return p, nil
	}
	if isImmutable(n) {
		return p, nil
	}
	pieces, via := piecesOf(n)
	if slices.ContainsFunc(pieces, func(p piece) bool { return p.kind == unknown }) {
		// It may hold itself, in a cycle that only the library's clone ends.
		via[n.Obj()] = true
	}
	groups, ok := meetings(pieces)
	if !ok || hasHidden(n.Underlying().(*types.Struct), c.pkg) {
		p.deep = true
		return p, via
	}
	for _, g := range groups {
		p.compare = append(p.compare, c.meet(g))
	}
	return p, via
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

// needsPlain reports whether a struct or array has such fields, or parts that have.
func needsPlain(u types.Type, pkg *types.Package) bool {
	switch u := u.(type) {
	case *types.Struct:
		if hasHidden(u, pkg) {
			return true
		}
		for f := range u.Fields() {
			if isPart(f.Type()) && needsPlain(f.Type().Underlying(), pkg) {
				return true
			}
		}
	case *types.Array:
		return isPart(u.Elem()) && needsPlain(u.Elem().Underlying(), pkg)
	}
	return false
}

// isPart reports whether a clone has to look into t itself.
func isPart(t types.Type) bool { return !isParam(t) && !isImmutable(t) && !hasClone(t) }

// meet returns the condition that pieces meet.
func (c *cloning) meet(g []piece) string {
	var spans []string
	for _, p := range g {
		maker := "PointerSpan"
		switch p.kind {
		case array:
			maker = "SliceSpan"
		case mapping:
			maker = "MapSpan"
		}
		spans = append(spans, c.im.view(maker)+"("+p.path+")")
	}
	return c.im.view("Meet") + "(" + strings.Join(spans, ", ") + ")"
}

// decide fills in how s, the model of n, is cloned.
func (c *cloning) decide(n *types.Named, s *structModel) {
	p := c.plans[n.Obj()]
	shared := c.im.view("Shared") + "(v.ref)"
	s.CloneExpr = c.im.view("CloneOf") + "(*" + shared + ")"
	switch bar := c.bars[n.Obj()]; {
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
	case bar != "":
		c.notes = append(c.notes, s.Name+": no method Clone: "+why(s.Name, bar))
	default:
		s.CloneExpr = shared + ".Clone()"
		s.Clone = c.clone(n, s, p)
	}
}

// why says why a type has no Clone by which the library would clone it as a part of bar.
func why(name, bar string) string {
	if name == bar {
		return "a value may hold others of its type, and their shape is kept without"
	}
	return article(bar) + " " + bar + " may refer to memory of several, and its shape is kept without"
}

func (c *cloning) clone(n *types.Named, s *structModel, p clonePlan) *cloneModel {
	m := &cloneModel{Doc: []string{" Clone returns a deep copy of p, as package snapshot makes it."}}
	call := ""
	if p.deep || p.compare != nil {
		m.Plain, call = c.plain(n, s)
	}
	if p.deep {
		m.Doc = append(m.Doc, " It keeps the shape of what refers to the same memory.")
		m.Body = []string{"return " + call}
		return m
	}
	if p.compare != nil {
		m.Body = append(m.Body, "if "+strings.Join(p.compare, " ||\n")+" {", "return "+call+" // keeps the shape", "}")
	}
	w := cloneWriter{analysis: c.analysis}
	w.parts(n.Underlying(), "p", 0)
	m.Body = append(append(m.Body, w.lines...), "return p")
	return m
}

// plain returns a type without methods for n, and the clone of p by it.
func (c *cloning) plain(n *types.Named, s *structModel) (*plainModel, string) {
	name := lower(s.Name) + "Plain"
	m := &plainModel{Name: c.unused(name), Params: s.Params, Type: s.Type}
	clone := c.im.view("CloneOf")
	if s.Params == "" {
		m.Var = c.unused("clone" + upper(s.Name))
		m.Cloner = c.im.of(snapshotPath, "snapshot") + ".Cloner(" + c.im.of(snapshotPath, "snapshot") + ".Options[" + m.Name + "]{})"
		clone = m.Var
	}
	return m, s.Type + "(" + clone + "(" + m.Name + s.Args + "(p)))"
}

// unused returns name, or one like it that the package does not use.
func (c *cloning) unused(name string) string {
	for c.pkg.Scope().Lookup(name) != nil || slices.Contains(taken, name) {
		name += "2"
	}
	return name
}

func lower(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
