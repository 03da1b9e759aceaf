// Package decls makes up declarations of struct types, for tests of the generator.
package decls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Package is the source of a package, and the names of its struct types.
type Package struct {
	Types string // declarations
	Hooks string // func Shapes, for which there have to be views
	Names []string
}

// Make returns a package of that name with n struct types, always the same for one
// seed. Types lead to themselves and to each other; what is in them is up to three
// levels deep.
func Make(name string, seed uint64, n int) Package {
	m := &maker{r: rand.New(rand.NewPCG(seed, 2)), n: n}
	m.line("package %s\n", name)
	m.line("import (\n\t\"net/netip\"\n\t\"time\"\n)\n")
	m.line("var (\n\t_ time.Time\n\t_ netip.Addr\n)\n")
	m.line("type Box[T any] struct {\n\tVal T\n\tList []T\n\tP *T\n}\n")
	m.line("type Word string\n")
	var p Package
	var hooks strings.Builder
	for i := range n {
		m.i = i
		m.line("type Names%d %s\n", i, m.pick("[]string", "map[string]int", "[][]int", "map[Word][]string", "[]*int", "[2]int"))
		p.Names = append(p.Names, fmt.Sprintf("T%d", i))
		hidden := m.structure(i)
		fmt.Fprintf(&hooks, "\t\tshape.Of[T%dView](shape.Hidden(func(v T%dView) map[string]any {\n\t\t\treturn map[string]any{%s}\n\t\t})),\n",
			i, i, hidden)
	}
	p.Types = m.b.String()
	p.Hooks = "package " + name + "\n\nimport \"github.com/cowstore/cowstore/cow/cowview/internal/shape\"\n\n" +
		"// Shapes returns the types.\nfunc Shapes() []shape.Shape {\n\treturn []shape.Shape{\n" + hooks.String() + "\t}\n}\n"
	p.Names = append(p.Names, "Box")
	return p
}

// A maker writes declarations.
type maker struct {
	b strings.Builder
	r *rand.Rand
	n int // of types
	i int // the type that is written
}

func (m *maker) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *maker) pick(of ...string) string { return of[m.r.IntN(len(of))] }

// structure writes the struct Ti, and returns calls of its unexported accessors.
func (m *maker) structure(i int) (hidden string) {
	m.line("type T%d struct {", i)
	if i > 0 && m.r.IntN(4) == 0 {
		m.line("\t%sT%d", m.pick("", "*"), m.r.IntN(i))
	}
	for f := range 1 + m.r.IntN(5) {
		name := fmt.Sprintf("F%d", f)
		if m.r.IntN(5) == 0 {
			name = fmt.Sprintf("f%d", f)
			hidden += fmt.Sprintf("%q: v.%s(), ", name, name)
		}
		m.line("\t%s %s", name, m.typ(3, false))
	}
	m.line("}\n")
	return strings.TrimSuffix(hidden, ", ")
}

// typ returns a type. Behind a reference it may be one that is not complete yet.
func (m *maker) typ(depth int, behind bool) string {
	if depth == 0 || m.r.IntN(5) == 0 {
		return m.pick("int", "string", "bool", "float64", "byte", "Word", "time.Time", "time.Duration", "netip.Addr", "[]byte")
	}
	switch m.r.IntN(11) {
	case 0, 1:
		return "*" + m.typ(depth-1, true)
	case 2, 3:
		return "[]" + m.typ(depth-1, true)
	case 4:
		return "[2]" + m.typ(depth-1, behind)
	case 5, 6:
		return "map[" + m.pick("string", "int", "Word", "netip.Addr", "*int") + "]" + m.typ(depth-1, true)
	case 7:
		return m.pick("any", "error", "[]any")
	case 8:
		return "struct{ A " + m.typ(depth-1, behind) + "; B " + m.typ(depth-1, behind) + " }"
	case 9:
		return fmt.Sprintf("Names%d", m.r.IntN(m.i+1))
	}
	if behind {
		return fmt.Sprintf("T%d", m.r.IntN(m.n))
	}
	if m.i == 0 || m.r.IntN(3) == 0 {
		return "Box[" + m.pick("int", "string", "[]int", "*Word") + "]"
	}
	return fmt.Sprintf("T%d", m.r.IntN(m.i))
}
