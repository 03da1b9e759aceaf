package snapshottest_test

import (
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
	. "github.com/cowstore/cowstore/snapshot/snapshottest"
)

// inMap is a map of pointers, and one of anything, with pointers or the values
// themselves in it.
func inMap[V any]() []Place {
	return []Place{
		place(snapshot.New[string](snapshot.Options[*V]{}), Place{Type: reflect.TypeFor[V]()},
			func(v reflect.Value) *V { return v.Interface().(*V) },
			func(v *V) reflect.Value { return reflect.ValueOf(v) }),
		place(snapshot.New[string](snapshot.Options[any]{}), Place{Type: reflect.TypeFor[V]()},
			reflect.Value.Interface,
			func(v any) reflect.Value { return reflect.ValueOf(v) }),
		place(snapshot.New[string](snapshot.Options[any]{}), Place{Type: reflect.TypeFor[V](), Inside: true},
			func(v reflect.Value) any { return v.Elem().Interface() },
			func(v any) reflect.Value {
				p := reflect.New(reflect.TypeFor[V]())
				p.Elem().Set(reflect.ValueOf(v))
				return p
			}),
	}
}

// byValue is a map of the values themselves. Each is one to compile.
func byValue[V any]() Place {
	return place(snapshot.New[string](snapshot.Options[V]{}), Place{Type: reflect.TypeFor[V](), Inside: true},
		func(v reflect.Value) V { return *v.Interface().(*V) },
		func(v V) reflect.Value { return reflect.ValueOf(&v) })
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

// family returns the places for the types with a parameter.
func family[T any]() []Place {
	return slices.Concat(
		inMap[Node[T]](), inMap[Ring[T]](), inMap[Arena[T]](), inMap[Pair[T]](), inMap[Both[T]](), inMap[Optional[T]](),
		inMap[Table[T]](), inMap[Heap[T]](), inMap[Bag[T]](), inMap[Deep[T]](), inMap[Box[T]](), inMap[Network[T]](),
		inMap[Vertex[T]](), inMap[Array[T]](), inMap[Window[T]](), inMap[Keyed[T]](), inMap[Trie[T]](), inMap[Linked[T]](),
		inMap[Single[T]](), inMap[Twin[T]](),
	)
}

func allPlaces() []Place {
	return slices.Concat(
		inMap[Count](), inMap[Flags](), inMap[Bytes](), inMap[Names](), inMap[Index](), inMap[Set](), inMap[Tree](),
		inMap[Nested](), inMap[Chain](), inMap[Anys](), inMap[Object](), inMap[Leaf](), inMap[Base](), inMap[Entity](),
		inMap[Leaf2](), inMap[Buffer](), inMap[Matrix](), inMap[Queue](), inMap[Waiter](), inMap[Doc](), inMap[Std](),
		inMap[Failure](), inMap[Own](), inMap[Knot](), inMap[Tied](), inMap[Grid](),
		family[int](), family[string](), family[Leaf](), family[*Leaf](), family[any](), family[Bytes](), family[Names](),
		family[Object](), family[Base](), family[*Entity](), family[[2]int32](), family[error](),
		[]Place{
			byValue[Node[any]](), byValue[Ring[Leaf]](), byValue[Arena[string]](), byValue[Both[Names]](), byValue[Table[int]](),
			byValue[Deep[Base]](), byValue[Window[*Leaf]](), byValue[Heap[any]](), byValue[Bag[Bytes]](), byValue[Array[Names]](),
			byValue[Entity](), byValue[Buffer](), byValue[Matrix](), byValue[Queue](), byValue[Doc](), byValue[Std](),
		},
	)
}

func TestGraphsKeepTheirShape(t *testing.T) {
	n := 60_000 // and 40,000 in the stores and tables of package cowtest
	if testing.Short() || raceEnabled {
		n = 5_000
	}
	places := allPlaces()
	types := map[string]bool{}
	for _, p := range places {
		types[p.Type.String()] = true
	}
	require.GreaterOrEqual(t, len(types), 200)
	for _, typ := range Types() {
		require.True(t, types[typ.String()], typ)
	}
	Run(t, places, n)
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
