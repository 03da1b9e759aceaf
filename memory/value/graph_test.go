package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// graphNode has what JSON shows and what it does not.
type graphNode struct {
	Name   string                `json:"name,omitempty"`
	Kids   []*graphNode          `json:"kids,omitempty"`
	ByName map[string]*graphNode `json:",omitzero"`
	N      *int                  `json:",string"`
	Any    any
	Err    error
	hidden *graphNode
	pair   [2]*int
	any    any
	graphPart
}

type graphPart struct {
	Bytes []byte
	Zone  *time.Location
	of    reflect.Type
	list  []any
}

// graphPlain has nothing that JSON does not show.
type graphPlain struct {
	A, B *int
	List []int
	Any  any
	Map  map[string]any
	Part *graphPlain
}

// graphs makes values that refer to what was made before: graphs without cycles.
type graphs struct {
	r      *rand.Rand
	ints   []*int
	lists  [][]int
	bytes  [][]byte
	nodes  []*graphNode
	plains []*graphPlain
	anys   []any
}

// of returns an old one of several, or none, or what makes a new one.
func of[T any](g *graphs, old *[]T, fresh func() T) T {
	var zero T
	switch n := g.r.IntN(10); {
	case n < 2:
		return zero
	case n < 6 && len(*old) > 0:
		return (*old)[g.r.IntN(len(*old))]
	}
	v := fresh()
	*old = append(*old, v)
	return v
}

func (g *graphs) int() *int {
	return of(g, &g.ints, func() *int { n := g.r.IntN(100); return &n })
}

func (g *graphs) list() []int {
	return of(g, &g.lists, func() []int { return make([]int, g.r.IntN(4)) })
}

func (g *graphs) some() []byte {
	return of(g, &g.bytes, func() []byte { return []byte(fmt.Sprint(g.r.IntN(1000))) })
}

func (g *graphs) node(depth int) *graphNode {
	if depth <= 0 {
		return nil
	}
	return of(g, &g.nodes, func() *graphNode {
		n := &graphNode{Name: fmt.Sprint(g.r.IntN(3)), N: g.int(), Any: g.any(depth - 1), any: g.any(depth - 2), hidden: g.node(depth - 2)}
		for range g.r.IntN(3) {
			n.Kids = append(n.Kids, g.node(depth-1))
		}
		if g.r.IntN(2) == 0 {
			n.ByName = map[string]*graphNode{"a": g.node(depth - 1), "b": g.node(depth - 2)}
		}
		n.pair = [2]*int{g.int(), g.int()}
		n.Bytes, n.list = g.some(), []any{g.any(depth - 2), 1}
		n.Err = []error{nil, io.EOF, errors.New("new"), fmt.Errorf("wrapped: %w", io.EOF)}[g.r.IntN(4)]
		n.Zone = []*time.Location{nil, time.UTC, time.Local, time.FixedZone("z", 60)}[g.r.IntN(4)]
		n.of = []reflect.Type{nil, reflect.TypeFor[graphNode](), reflect.TypeFor[int]()}[g.r.IntN(3)]
		return n
	})
}

func (g *graphs) plain(depth int) *graphPlain {
	if depth <= 0 {
		return nil
	}
	return of(g, &g.plains, func() *graphPlain {
		p := &graphPlain{A: g.int(), B: g.int(), List: g.list(), Any: g.any(depth - 1), Part: g.plain(depth - 1)}
		p.Map, _ = g.any(depth - 1).(map[string]any)
		return p
	})
}

func (g *graphs) any(depth int) any {
	if depth <= 0 {
		return g.r.IntN(10)
	}
	return of(g, &g.anys, func() any {
		switch g.r.IntN(12) {
		case 0:
			return map[string]any{"a": g.any(depth - 1), "b": g.any(depth - 1), "c": g.node(depth - 1)}
		case 1:
			return []any{g.any(depth - 1), g.any(depth - 1), g.some()}
		case 2:
			return g.node(depth)
		case 3:
			return g.plain(depth)
		case 4:
			return graphPlain{A: g.int(), Any: g.any(depth - 1), List: g.list()}
		case 5:
			return graphNode{Name: "by value", Any: g.any(depth - 1), hidden: g.node(depth - 1)}
		case 6:
			return map[int][]*int{1: {g.int(), g.int()}, 2: {g.int()}}
		case 7:
			return []*graphPlain{g.plain(depth - 1), g.plain(depth - 1)}
		case 8:
			a := g.any(depth - 1)
			return &a
		case 9:
			p := g.int()
			return &p
		case 10:
			return json.Number(fmt.Sprint(1+g.r.IntN(9), strings.Repeat("0", g.r.IntN(30))))
		default:
			return fmt.Sprint("text", g.r.IntN(5))
		}
	})
}

// A drawing is a text of a graph: equal for those of one shape.
type drawing struct {
	strings.Builder
	met map[visit]int
	at  map[unsafe.Pointer]bool // all that may be written to
}

func draw(v any) *drawing {
	d := &drawing{met: map[visit]int{}, at: map[unsafe.Pointer]bool{}}
	d.value(reflect.ValueOf(&v).Elem())
	return d
}

// first draws a reference, and reports whether what it leads to is to be drawn.
func (d *drawing) first(v reflect.Value, length int, size uintptr) bool {
	at := visit{v.UnsafePointer(), length, v.Type()}
	if size == 0 {
		return true
	}
	n, ok := d.met[at]
	if !ok {
		n = len(d.met)
		d.met[at] = n
	}
	fmt.Fprintf(d, "#%d", n)
	d.at[at.p] = true
	return !ok
}

func (d *drawing) value(v reflect.Value) {
	fmt.Fprintf(d, "%v", v.Type())
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			d.WriteString("(nil)")
			return
		}
	}
	switch v.Kind() {
	case reflect.Interface:
		d.value(v.Elem())
	case reflect.Pointer:
		switch v.Interface().(type) {
		case error, *time.Location, reflect.Type:
			fmt.Fprintf(d, "%p", v.UnsafePointer()) // is itself
			return
		}
		if d.first(v, 0, v.Type().Elem().Size()) {
			d.value(v.Elem())
		}
	case reflect.Slice:
		if d.first(v, v.Len(), v.Type().Elem().Size()*uintptr(v.Len())) {
			for i := range v.Len() {
				d.value(v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		if d.first(v, 0, 1) {
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			for _, k := range keys {
				fmt.Fprint(d, k)
				d.value(v.MapIndex(k))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if f.CanAddr() {
				f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
			} else {
				c := reflect.New(v.Type()).Elem()
				c.Set(v)
				f = reflect.NewAt(f.Type(), c.Field(i).Addr().UnsafePointer()).Elem()
			}
			d.WriteString(".")
			d.value(f)
		}
	default:
		fmt.Fprintf(d, "(%v)", v)
	}
}

// Values come back in the shape they came in, and so do all their parts.
func TestGraphsComeBack(t *testing.T) {
	tangled := 0
	rounds := 3000
	if testing.Short() {
		rounds = 150
	}
	for seed := range rounds {
		g := &graphs{r: rand.New(rand.NewPCG(uint64(seed), 1))}
		in := g.any(6)
		before := draw(in)
		v, err := Freeze(in)
		require.NoError(t, err, "seed %d", seed)
		if v.n.orig != nil {
			tangled++
		}
		for range 2 {
			after := draw(v.Any())
			require.Equal(t, before.String(), after.String(), "seed %d", seed)
			for p := range after.at {
				require.False(t, before.at[p], "seed %d: shares memory with its caller", seed)
			}
		}
		require.Positive(t, v.Size())
		text, err := v.MarshalJSON()
		require.NoError(t, err)
		want, err := json.Marshal(in)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text), "seed %d", seed)
		requireParts(t, seed, v, in)
	}
	require.Greater(t, tangled, rounds/4)
}

// requireParts compares the parts of v with those of what it was made of.
func requireParts(t *testing.T, seed int, v Value, in any) {
	t.Helper()
	same := func(v Value, in any) {
		t.Helper()
		require.Equal(t, draw(in).String(), draw(v.Any()).String(), "seed %d", seed)
		requireParts(t, seed, v, in)
	}
	switch in := in.(type) {
	case map[string]any:
		for k := range in {
			same(v.Key(k), in[k])
		}
	case []any:
		for i := range in {
			same(v.Index(i), in[i])
		}
	case *graphPlain:
		if in != nil {
			same(v.Key("Part"), in.Part)
			same(v.Key("Any"), in.Any)
			same(v.Key("Map"), in.Map)
		}
	case *graphNode:
		if in != nil {
			same(v.Key("Any"), in.Any)
			for i, k := range in.Kids {
				same(v.Key("kids").Index(i), k)
			}
		}
	}
}
