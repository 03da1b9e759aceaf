// Package arrays has arrays of everything.
package arrays

import "github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Cell,Flat,Deep,Inside

// A Cell is in arrays.
type Cell struct {
	Tags []string
	At   *int
}

// Grid is a named array.
type Grid [2][2]int

// Slots is a named array of what can be modified.
type Slots [2][]string

// Flat has arrays of what is immutable.
type Flat struct {
	None   [0]int
	One    [1]string
	Grid   Grid
	Points [2]lists.Point
	P      *[4]int
	Q      *Grid
}

// Deep has arrays of what can be modified.
type Deep struct {
	Slices [2][]int
	Maps   [2]map[string]int
	Cells  [2]Cell
	Refs   [2]*Cell
	Ints   [2]*int
	Square [2][2][]string
	Slots  Slots
	Items  [2]lists.Item
	P      *[2][]int
	Any    [2]any
	None   [0][]int
}

// Inside has arrays within others.
type Inside struct {
	List  [][2][]int
	By    map[string][2][]int
	Refs  map[string][2]*Cell
	Cells [][2]Cell
	Slots []Slots
	Keys  map[[2]int]string
	Named map[string]Slots
}
