// Package graphs has types whose clones keep a shape, or have none to keep.
package graphs

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type One,Two,Mixed,Interior,Grid,Tree,Lead,Solo,Any,AnyTwo,Named,Conv,Maps,Keys,Arrays,Gen,Deep,Parts,Bools,Lengths,Params

// One has pieces that cannot meet.
type One struct {
	Name   string
	Tags   []string
	Labels map[string]int
	Set    map[int]bool
}

// Two has pieces that may meet, in its own fields.
type Two struct {
	A, B []int
	M, N map[string]int
	P, Q *int
	S    []string
	T    struct{ C []int }
}

// Mixed has pieces of one memory by other types.
type Mixed struct {
	Bytes []byte
	Arr   *[4]byte
	Byte  *byte
	N     *int
}

// Point is flat.
type Point struct {
	X, Y int
	Name string
}

// Interior has pointers into a slice.
type Interior struct {
	S []Point
	P *Point
	X *int
	N *string
}

// Grid has slices in a slice.
type Grid struct{ Rows [][]int }

// Tree is recursive.
type Tree struct {
	Name string
	Kids []*Tree
	Up   *Tree
}

// Lead holds several of a type that alone would have no shape to keep.
type Lead struct {
	Lead    Member
	Members []Member
}

// Member is held by Lead.
type Member struct {
	Name string
	Tags []string
}

// Solo holds one of a type that is cloned by statements.
type Solo struct {
	Part Part
	N    *bool
}

// Part is held by Solo.
type Part struct {
	S []string
	P *float64
}

// Any holds anything, once.
type Any struct {
	Name  string
	Value any
}

// AnyTwo holds anything, and a slice.
type AnyTwo struct {
	Value any
	Tags  []string
}

// Tags is a defined type.
type Tags []string

// Named has two types of one array.
type Named struct {
	A Tags
	B []string
}

// Alpha can be known as a Beta.
type Alpha struct{ N int }

// Beta can be known as an Alpha.
type Beta Alpha

// Conv has two types of one object.
type Conv struct {
	A *Alpha
	B *Beta
}

// Maps has maps of what refers to memory.
type Maps struct {
	Lists  map[string][]int
	Points map[string]*Point
	Maps   map[string]map[string]int
}

// Keys has keys that refer to memory.
type Keys struct {
	M map[*Point]int
	P *Point
}

// Arrays has arrays of what refers to memory.
type Arrays struct {
	S [3][]int
	O [1][]string
	P [2]*Point
}

// Gen is generic.
type Gen[T any] struct {
	Items []T
	One   T
	P     *T
}

// Deep has pieces behind pieces.
type Deep struct {
	A *Middle
	B *[]int
	M *map[string]bool
}

// Middle is behind a pointer.
type Middle struct {
	S []string
	P *Point
}

// Parts has references in its parts, each of its own kind.
type Parts struct {
	Head struct {
		S []string
		N *uint
	}
	Arr  [1][]float64
	Map  map[string][2]int
	Deep *struct{ B []byte }
}

// Bools has two pointers that may be one.
type Bools struct{ A, B, C *bool }

// Lengths has pointers to arrays of two lengths, which may be of one slice.
type Lengths struct {
	A *struct{ All [4]int }
	B *[2]int
}

// Params has types that are the same if its parameters are.
type Params[T, U int | string] struct {
	A map[string]T
	B map[string]U
	C *chan T
	D *chan int
}
