// Package lists has slices of everything. Other packages of shapes use its types.
package lists

import "time"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Point,Item,Flat,Items,Nested,Pointers,Named,Loose

// A Point is immutable when it is copied.
type Point struct {
	X, Y int
	Name string
}

// An Item is not.
type Item struct {
	ID   int
	Tags []string
	Next *Item
}

// Flat has slices of what is immutable.
type Flat struct {
	Ints    []int
	Strings []string
	Points  []Point
	Arrays  [][2]int
	Times   []time.Time
	Empties []struct{}
}

// Items has slices of structs.
type Items struct {
	Values   []Item
	Pointers []*Item
	Points   []*Point
}

// Nested has slices of slices and maps.
type Nested struct {
	Lines  [][]string
	Cube   [][][]int
	Maps   []map[string]int
	Index  []map[string][]string
	Groups [][]Item
	Refs   [][]*Item
	ByID   []map[int]*Item
}

// Pointers has slices of pointers.
type Pointers struct {
	Ints    []*int
	Slices  []*[]int
	Strings []*string
	Twice   []**int
	Maps    []*map[string][]int
	Arrays  []*[2][]int
}

// Names is a named slice.
type Names []string

// ItemList is a named slice of structs.
type ItemList []Item

// RefList is a named slice of pointers.
type RefList []*Item

// Lines is a named slice of named slices.
type Lines []Names

// Named has named slices.
type Named struct {
	Names    Names
	Lines    []Names
	More     Lines
	Items    ItemList
	Refs     RefList
	Pointers []*Names
	Groups   []ItemList
}

// Loose has slices of what cannot be viewed.
type Loose struct {
	Any   []any
	Errs  []error
	Funcs []func()   `json:"-"`
	Chans []chan int `json:"-"`
	Deep  [][]any
}
