package snapshottest_test

import (
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/clone"
	. "github.com/cowstore/cowstore/snapshot/snapshottest"
)

// inMap is a Map of pointers. Each is one to compile.
func inMap[V any]() Place {
	return place(snapshot.New[string](snapshot.Options[*V]{}), Place{Type: reflect.TypeFor[V]()},
		func(v reflect.Value) *V { return v.Interface().(*V) },
		func(v *V) reflect.Value { return reflect.ValueOf(v) })
}

// inAny are Maps of anything: of pointers, and of the values themselves.
func inAny(typ reflect.Type) []Place {
	return []Place{
		place(snapshot.New[string](snapshot.Options[any]{}), Place{Type: typ}, reflect.Value.Interface, reflect.ValueOf),
		place(snapshot.New[string](snapshot.Options[any]{}), Place{Type: typ, Inside: true},
			func(v reflect.Value) any { return v.Elem().Interface() },
			func(v any) reflect.Value {
				p := reflect.New(typ)
				p.Elem().Set(reflect.ValueOf(v))
				return p
			}),
	}
}

// byValue clones the values themselves on the way in and out, as a Map does.
func byValue[V any]() Place {
	clone, stored := clone.OfWhole[V](), *new(V)
	return Place{
		Type: reflect.TypeFor[V](), Inside: true,
		Put: func(v reflect.Value) error { stored = clone(*v.Interface().(*V)); return nil },
		Get: func() reflect.Value { v := clone(stored); return reflect.ValueOf(&v) },
	}
}

// place completes p, which is in m.
func place[V any](m *snapshot.Map[string, V], p Place, in func(reflect.Value) V, out func(V) reflect.Value) Place {
	p.Put = func(v reflect.Value) error {
		e := m.Edit()
		e.Set("k", in(v))
		m = e.Seal()
		return nil
	}
	p.Get = func() reflect.Value {
		v, _ := m.Get("k")
		return out(v)
	}
	return p
}

// allPlaces are those of all types in an any, and of some by type.
func allPlaces() []Place {
	all := []Place{
		place(snapshot.New[string](snapshot.Options[Buffer]{}), Place{Type: reflect.TypeFor[Buffer](), Inside: true},
			func(v reflect.Value) Buffer { return *v.Interface().(*Buffer) },
			func(v Buffer) reflect.Value { return reflect.ValueOf(&v) }),
		inMap[Count](), inMap[Flags](), inMap[Bytes](), inMap[Names](), inMap[Index](), inMap[Set](), inMap[Tree](),
		inMap[Nested](), inMap[Chain](), inMap[Anys](), inMap[Object](), inMap[Leaf](), inMap[Base](), inMap[Entity](),
		inMap[Leaf2](), inMap[Buffer](), inMap[Matrix](), inMap[Queue](), inMap[Waiter](), inMap[Doc](), inMap[Std](),
		inMap[Failure](), inMap[Own](), inMap[Knot](), inMap[Tied](), inMap[Grid](),
		inMap[Node[any]](), inMap[Ring[any]](), inMap[Arena[any]](), inMap[Pair[any]](), inMap[Both[any]](),
		inMap[Optional[any]](), inMap[Table[any]](), inMap[Heap[any]](), inMap[Bag[any]](), inMap[Deep[any]](),
		inMap[Box[any]](), inMap[Network[any]](), inMap[Vertex[any]](), inMap[Array[any]](), inMap[Window[any]](),
		inMap[Keyed[any]](), inMap[Trie[any]](), inMap[Linked[any]](), inMap[Single[any]](), inMap[Twin[any]](),
		byValue[Node[any]](), byValue[Ring[Leaf]](), byValue[Arena[string]](), byValue[Both[Names]](), byValue[Table[int]](),
		byValue[Deep[Base]](), byValue[Window[*Leaf]](), byValue[Heap[any]](), byValue[Bag[Bytes]](), byValue[Array[Names]](),
		byValue[Entity](), byValue[Matrix](), byValue[Queue](), byValue[Doc](), byValue[Std](),
	}
	for _, typ := range Types() {
		all = append(all, inAny(typ)...)
	}
	return all
}

func TestGraphsKeepTheirShape(t *testing.T) {
	n := 60_000 // and 40,000 in the stores and tables of package cowtest
	if testing.Short() || raceEnabled {
		n = 5_000
	}
	require.GreaterOrEqual(t, len(Types()), 200)
	Run(t, allPlaces(), n)
}

// raceEnabled says that the race detector is on.
var raceEnabled = func() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}()
