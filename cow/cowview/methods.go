package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

const readonlyMark = "//cowview:readonly"

// methods returns the methods of n that are marked as read-only.
func (a *analysis) methods(n *types.Named, used []string) []methodModel {
	marked := a.marked(n.Obj().Name())
	self := ownInstance(n)
	var out []methodModel
	for i := range n.NumMethods() {
		m := n.Method(i)
		doc, ok := marked[m.Name()]
		if !ok {
			continue
		}
		at := place{m, n.Obj().Name() + "." + m.Name()}
		if slices.Contains(used, m.Name()) {
			a.fail(at, "cannot be offered: the view has a method %s of its own", m.Name())
			continue
		}
		if mm, ok := a.method(m, self.Method(i).Signature(), doc, at); ok {
			out = append(out, mm)
		}
	}
	return out
}

// ownInstance returns n with its own type parameters as arguments, so that methods name
// them as the type does.
func ownInstance(n *types.Named) *types.Named {
	if n.TypeParams().Len() == 0 {
		return n
	}
	var args []types.Type
	for p := range n.TypeParams().TypeParams() {
		args = append(args, p)
	}
	t, err := types.Instantiate(types.NewContext(), n, args, false)
	if err != nil {
		panic(err) // parameters fit themselves
	}
	return t.(*types.Named)
}

// marked returns the marked methods of a type by name, with their comments.
func (a *analysis) marked(typeName string) map[string][]string {
	out := map[string][]string{}
	for _, f := range a.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Doc == nil || receiver(fn) != typeName {
				continue
			}
			if slices.ContainsFunc(fn.Doc.List, isMark) {
				out[fn.Name.Name] = docLines(fn.Doc.Text())
			}
		}
	}
	return out
}

func isMark(c *ast.Comment) bool { return strings.TrimSpace(c.Text) == readonlyMark }

func docLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != '\t' {
			line = " " + line
		}
		out = append(out, line)
	}
	return out
}

// receiver returns the name of the type of a method.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func (a *analysis) method(m *types.Func, sig *types.Signature, doc []string, at place) (methodModel, bool) {
	mm := methodModel{Name: m.Name(), Doc: doc}
	if len(doc) == 0 {
		mm.Doc = []string{fmt.Sprintf(" %s calls %s of the value.", m.Name(), m.Name())}
	}
	if strings.Contains(sig.String(), "invalid type") {
		a.fail(at, "a type of its signature is not declared")
		return mm, false
	}
	for v := range sig.Params().Variables() {
		if escapes(v.Type(), false, nil) {
			a.fail(at, "cannot be offered: it would pass what can be modified through %s", v.Name())
			return mm, false
		}
	}
	var args []string
	mm.Params, args = a.params(sig)
	call := a.im.view("Shared") + "(v.ref)." + m.Name() + "(" + strings.Join(args, ", ") + ")"
	ok := true
	for v := range sig.Results().Variables() {
		ok = a.checkResult(v.Type(), at) && ok
	}
	if !ok {
		return mm, false
	}
	mm.Results, mm.Body = a.results(sig.Results(), call, at)
	return mm, true
}

// params returns the parameters with names, and the arguments to pass them on.
func (a *analysis) params(sig *types.Signature) (list string, args []string) {
	var ps []string
	n := sig.Params().Len()
	for i := range n {
		v := sig.Params().At(i)
		name := v.Name()
		if name == "" || name == "_" || name == "v" || a.im.used[name] {
			name = fmt.Sprintf("a%d", i)
		}
		typ, arg := a.im.typ(v.Type()), name
		if sig.Variadic() && i == n-1 {
			if s, ok := v.Type().(*types.Slice); ok {
				typ = "..." + a.im.typ(s.Elem())
			}
			arg += "..."
		}
		ps = append(ps, name+" "+typ)
		args = append(args, arg)
	}
	return strings.Join(ps, ", "), args
}

// checkResult reports whether a result can be handed out, isolated if need be.
func (a *analysis) checkResult(t types.Type, at place) bool {
	if l := findLock(t, ""); l != nil {
		a.fail(at, "cannot be offered: its result holds %s, which must not be copied", typeText(l.typ))
		return false
	}
	if escapes(t, true, nil) {
		a.fail(at, "cannot be offered: what can be modified would get out through its result")
		return false
	}
	return true
}

// escapes reports whether what can be modified may get out by a function or channel in a
// t that a method hands out, or else takes. What the functions in it return and take may
// be such functions too.
func escapes(t types.Type, out bool, above []types.Type) bool {
	if slices.ContainsFunc(above, func(u types.Type) bool { return types.Identical(t, u) }) || isParam(t) || isConstant(t) {
		return false
	}
	above = append(above, t)
	passes := func(t types.Type, out bool) bool { return out && !isImmutable(t) || escapes(t, out, above) }
	switch u := t.Underlying().(type) {
	case *types.Signature:
		for v := range u.Results().Variables() {
			if passes(v.Type(), out) {
				return true
			}
		}
		for v := range u.Params().Variables() {
			if passes(v.Type(), !out) {
				return true
			}
		}
	case *types.Chan:
		return u.Dir() != types.SendOnly && passes(u.Elem(), out) || u.Dir() != types.RecvOnly && passes(u.Elem(), !out)
	case *types.Map:
		return escapes(u.Key(), out, above) || escapes(u.Elem(), out, above)
	case *types.Struct:
		n, _ := types.Unalias(t).(*types.Named)
		for f := range u.Fields() {
			// Callers cannot select the other fields of a defined type.
			if (n == nil || f.Exported()) && escapes(f.Type(), out, above) {
				return true
			}
		}
	case interface{ Elem() types.Type }:
		return escapes(u.Elem(), out, above)
	}
	return false
}

// results returns the results of a method, and its body.
func (a *analysis) results(rs *types.Tuple, call string, at place) (list string, body []string) {
	var typs, names, outs []string
	cloned := false
	for i := range rs.Len() {
		t := rs.At(i).Type()
		name := fmt.Sprintf("r%d", i)
		out := name
		if !isImmutable(t) {
			cloned = true
			out = a.im.view("CloneOf") + "(" + name + ")"
			a.note(at, "its result %d is handed out as a clone", i+1)
		}
		typs, names, outs = append(typs, a.im.typ(t)), append(names, name), append(outs, out)
	}
	list = strings.Join(typs, ", ")
	switch {
	case len(typs) == 0:
		return "", []string{call}
	case len(typs) == 1 && cloned:
		return list, []string{"return " + a.im.view("CloneOf") + "(" + call + ")"}
	case len(typs) > 1:
		list = "(" + list + ")"
	}
	if !cloned {
		return list, []string{"return " + call}
	}
	return list, []string{strings.Join(names, ", ") + " := " + call, "return " + strings.Join(outs, ", ")}
}
