package snapshottest

import "reflect"

// Types returns the types that Graph makes values of, each with a name of its own.
func Types() []reflect.Type {
	var all []reflect.Type
	for _, t := range [][]reflect.Type{
		plain, of[int](), of[string](), of[Leaf](), of[*Leaf](), of[any](), of[Bytes](), of[Names](), of[Object](), of[Base](),
		of[*Entity](), of[[2]int32](), of[error](),
	} {
		all = append(all, t...)
	}
	return all
}

var plain = []reflect.Type{
	typ[Count](), typ[Flags](), typ[Bytes](), typ[Names](), typ[Index](), typ[Set](), typ[Tree](), typ[Nested](),
	typ[Chain](), typ[Anys](), typ[Object](), typ[Leaf](), typ[Base](), typ[Entity](), typ[Leaf2](), typ[Buffer](),
	typ[Matrix](), typ[Queue](), typ[Waiter](), typ[Doc](), typ[Std](), typ[Failure](), typ[Own](), typ[Knot](), typ[Tied](), typ[Grid](),
}

func typ[T any]() reflect.Type { return reflect.TypeFor[T]() }

// of returns the types with a parameter, for one argument.
func of[T any]() []reflect.Type {
	return []reflect.Type{
		typ[Node[T]](), typ[Ring[T]](), typ[Arena[T]](), typ[Pair[T]](), typ[Both[T]](), typ[Optional[T]](), typ[Table[T]](),
		typ[Heap[T]](), typ[Bag[T]](), typ[Deep[T]](), typ[Box[T]](), typ[Network[T]](), typ[Vertex[T]](), typ[Array[T]](),
		typ[Window[T]](), typ[Keyed[T]](), typ[Trie[T]](), typ[Linked[T]](), typ[Single[T]](), typ[Twin[T]](),
	}
}
