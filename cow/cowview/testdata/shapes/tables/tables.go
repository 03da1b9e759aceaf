// Package tables has maps of everything.
package tables

import (
	"net/netip"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Entry,Flat,Entries,Slices,Maps,Named,Pointers,Keys,AnyKeys

// Label is a named string.
type Label string

// An Entry is what can be modified in maps.
type Entry struct {
	Name string
	Tags []string
	By   map[string]int
}

// Flat has maps of what is immutable.
type Flat struct {
	Ints   map[string]int
	Texts  map[int]string
	Flags  map[Label]bool
	Set    map[string]struct{}
	Points map[string]lists.Point
	Pairs  map[string][2]int
}

// Entries has maps of structs.
type Entries struct {
	Values   map[string]Entry
	Pointers map[string]*Entry
	Points   map[string]*lists.Point
	Items    map[string]lists.Item
}

// Slices has maps of slices.
type Slices struct {
	Ints    map[string][]int
	Lines   map[string][][]string
	Entries map[string][]Entry
	Refs    map[string][]*Entry
	Ptrs    map[string][]*int
	Maps    map[string][]map[string]int
	Bytes   map[string][]byte
}

// Maps has maps of maps.
type Maps struct {
	Ints    map[string]map[string]int
	Entries map[string]map[int]Entry
	Refs    map[string]map[string]*Entry
	Deep    map[string]map[string]map[string][]*Entry
}

// Names is a named slice.
type Names []string

// Index is a named map.
type Index map[string]int

// Lookup is a named map of slices.
type Lookup map[Label][]string

// Registry is a named map of structs.
type Registry map[string]Entry

// Named has named maps, and maps of named types.
type Named struct {
	Index    Index
	Lookup   Lookup
	Registry Registry
	Names    map[string]Names
	Lists    map[string][]Names
	Items    map[string]lists.ItemList
	Indices  map[Label]Index
	More     []Index
	P        *Index
}

// Pointers has maps of pointers.
type Pointers struct {
	Ints   map[string]*int
	Slices map[string]*[]string
	Twice  map[string]**int
	Maps   map[string]*map[string]int
	Names  map[string]*Names
}

// A Key is a struct that is a key.
type Key struct {
	A string
	B int
}

// Keys has maps with keys of all sorts.
type Keys struct {
	Structs map[Key]int       `json:"-"`
	Arrays  map[[2]string]int `json:"-"`
	Addrs   map[netip.Addr]int
	Floats  map[float64]string `json:"-"`
	Bools   map[bool][]int     `json:"-"`
	Slices  map[Key][]string   `json:"-"`
}

// A Ref is a key with a pointer in it.
type Ref struct{ P *int }

// AnyKeys has maps with keys that lead to what can be modified.
type AnyKeys struct {
	Ints   map[*int]string     `json:"-"`
	Refs   map[*Entry]int      `json:"-"`
	Struct map[Ref]string      `json:"-"`
	Any    map[any]int         `json:"-"`
	Both   map[any]any         `json:"-"`
	Entry  map[*Entry]*Entry   `json:"-"`
	Array  map[[1]*int][]*int  `json:"-"`
	Chans  map[chan int]string `json:"-"`
}
