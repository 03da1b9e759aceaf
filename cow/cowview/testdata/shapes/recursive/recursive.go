// Package recursive has types that lead to themselves.
package recursive

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type List,Tree,Trie,Graph,Vertex,Person,Address,Holder,Menu

// A List is linked.
type List struct {
	Value []int
	Next  *List
}

// A Tree has its children in it.
type Tree struct {
	Name string
	Kids []Tree
	By   map[string]Tree
}

// A Trie branches by bytes.
type Trie struct {
	Kids map[byte]*Trie
	Leaf []string
	Up   *Trie
}

// A Graph has vertices that know each other.
type Graph struct {
	Vertices []*Vertex
	ByName   map[string]*Vertex
	Start    *Vertex
}

// A Vertex is in a Graph.
type Vertex struct {
	Name  string
	Out   []*Vertex
	Graph *Graph
}

// A Person has addresses.
type Person struct {
	Name string
	Home *Address
	All  []Address
}

// An Address has persons.
type Address struct {
	Street string
	People []*Person
	Owner  *Person
}

// Nested is a slice of itself.
type Nested []Nested

// Dirs is a map of itself.
type Dirs map[string]Dirs

// Chain is a pointer to itself.
type Chain *Chain

// A Holder has types that are not structs and lead to themselves.
type Holder struct {
	Nested Nested
	Dirs   Dirs
	Lists  map[string]Nested
	chain  Chain
}

// A Menu leads to itself through an anonymous struct and a slice of slices.
type Menu struct {
	Title string
	Rows  [][]Menu
	Extra struct{ Sub *Menu }
	Refs  map[string][]*Menu
}
