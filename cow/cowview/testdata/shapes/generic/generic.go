// Package generic has types with parameters.
package generic

import (
	"cmp"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type List,Pair,Number,Options,Node,Uses,Sorted,Aliased,Embeds

// A List has items of any type.
type List[T any] struct {
	Items []T
	First *T
	Last  T
}

// A Pair has a key.
type Pair[K comparable, V any] struct {
	Key  K
	Val  V
	More map[K]V
	Vals []V
	Deep map[K][]V
}

// A Count is a named number.
type Count int

// Numeric is a constraint of immutables.
type Numeric interface {
	~int | ~int64 | ~float64
}

// A Number has what is immutable.
type Number[T Numeric] struct {
	N    T
	P    *T
	List []T
	By   map[string]T
	Ptrs []*T
	Keys map[T]string
	Deep map[string][]T
	Raw  map[string]*T
}

// Sorted has a parameter that can be compared.
type Sorted[K cmp.Ordered] struct {
	Keys []K
	Min  K
}

// Options has slices whose elements are not of a parameter.
type Options[T any] struct {
	Tags []string
	None [0]T
	Size int
}

// A Node of a list leads to itself.
type Node[T any] struct {
	Val  T
	Next *Node[T]
	Kids []Node[T]
}

// Item is an instance with a name of its own.
type Item = List[lists.Item]

// Ints is a type of its own.
type Ints List[int]

// Uses has instances.
type Uses struct {
	Ints  List[int]
	Items List[lists.Item]
	Refs  *List[*lists.Item]
	Lists List[[]string]
	Pair  Pair[string, int]
	Pairs map[string]Pair[string, []int]
	N     Number[float64]
	Ns    []Number[int]
	Node  *Node[string]
	Nodes Node[map[string]int]
}

// Aliased has aliases of instances.
type Aliased struct {
	Item  Item
	Items []Item
	Own   Ints
}

// Embeds embeds instances.
type Embeds struct {
	List[int]
	*Pair[string, []string]
	Set Set[string]
}

// Set is a named map with a parameter.
type Set[K comparable] map[K]struct{}
