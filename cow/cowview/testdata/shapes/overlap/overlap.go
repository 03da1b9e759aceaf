// Package overlap has types whose values can share memory with themselves.
package overlap

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Halves,Ring,Interior,Shared,Arena,Cell,Window

// Halves are slices of one array.
type Halves struct {
	All, Left, Right []int
}

// A Ring is a buffer with places in it.
type Ring struct {
	Buf        []Cell
	Head, Tail []Cell
	Cur        *Cell
}

// A Cell is in others.
type Cell struct {
	N    int
	Text []byte
	Up   *Cell
}

// Interior has pointers into itself.
type Interior struct {
	Arr   [4]int
	Cur   *int
	Rest  []int
	First *[2]int
	Cell  Cell
	At    *Cell
	Len   *int
}

// Shared has references to the same objects.
type Shared struct {
	A, B   *Cell
	Both   []*Cell
	By, Of map[string]*Cell
	M, N   map[string][]int
}

// An Arena hands out parts of its pages.
type Arena struct {
	Pages [][]byte
	Free  []byte
	Used  [][]byte
	Any   any
}

// A Window is slices of slices.
type Window struct {
	Data []float64
	Rows [][]float64
	Subs [2][][]float64
	Cell *float64
}
