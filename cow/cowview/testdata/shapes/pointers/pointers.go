// Package pointers has pointers to everything.
package pointers

import (
	"time"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Node,Scalars,Containers,Structs,Deep

// A Node is pointed to.
type Node struct {
	Name string
	Vals []int
}

// Scalars has pointers to what is immutable.
type Scalars struct {
	Int   *int
	Text  *string
	Flag  *bool
	At    *time.Time
	For   *time.Duration
	Point *lists.Point
	Pair  *[2]string
	None  *struct{}
}

// Containers has pointers to slices and maps.
type Containers struct {
	Ints  *[]int
	Map   *map[string]int
	Names *lists.Names
	Array *[2][]int
	Lists *[][]string
	Nodes *[]Node
	Refs  *[]*Node
	By    *map[string]*Node
	Bytes *[]byte
}

// Structs has pointers to structs.
type Structs struct {
	Node  *Node
	Other *lists.Item
	Anon  *struct {
		A int
		B []string
	}
}

// NodeRef is a named pointer.
type NodeRef *Node

// Deep has pointers to pointers.
type Deep struct {
	Int    **int
	Node   **Node
	Thrice ***Node
	Slice  **[]int
	Refs   *[]**Node
	Any    *any
	Err    *error
	Ref    NodeRef
	RefP   *NodeRef
	Refs2  []NodeRef
}
