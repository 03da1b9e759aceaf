// Package viewer has the sorts of fields that another generator of views is tested with.
package viewer

import (
	"fmt"
	"net/netip"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Flat,Refs,Maps,Slices,Embedding,Integer,Basic,Boxes,Aliased,Solo

// Flat holds nothing that can be modified.
type Flat struct {
	N   int
	Net netip.Prefix
}

// Refs holds pointers.
type Refs struct {
	Flat *Flat
	N    *int
	Kept *Flat
}

// String is of a pointer.
func (r *Refs) String() string { return fmt.Sprint(r.N) }

// Equal is not what equal views are.
func (r *Refs) Equal(o *Refs) bool { return r.Flat == o.Flat }

// Maps has maps of all that.
type Maps struct {
	Ints       map[string]int
	IntSlices  map[string][]int
	Refs       map[string]*Refs
	FlatRefs   map[string]*Flat
	Flats      map[string]Flat
	RefSlices  map[string][]*Refs
	FlatSlices map[string][]*Flat
	ByFlat     map[Flat]int `json:"-"`
	Values     map[string]Refs
	PtrSlices  map[string][]*int
	ByPtr      map[*string]int `json:"-"`
	ByRefs     map[Refs]int    `json:"-"`
}

// Slices has slices of all that.
type Slices struct {
	Flats    []Flat
	FlatRefs []*Flat
	Refs     []*Refs
	Texts    []string
	Nets     []netip.Prefix
	Data     []byte
	Values   []Refs
	Ints     []*int
}

// Solo has one field.
type Solo struct{ Please bool }

// Embedding embeds.
type Embedding struct {
	A *Refs
	Slices
}

// Whole is a constraint of numbers.
type Whole interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Integer has a parameter in every place.
type Integer[T Whole] struct {
	Val     T
	Ptr     *T
	List    []T
	By      map[string]T
	Ptrs    []*T
	ByPtr   map[*T]string `json:"-"`
	PtrBy   map[string]*T
	ListsBy map[string][]T
}

// Plain is a constraint of what is immutable.
type Plain interface {
	~bool | Whole | ~float32 | ~float64 | ~string
}

// Basic is like Integer.
type Basic[T Flat | netip.Prefix | Plain] struct {
	Val     T
	Ptr     *T
	List    []T
	By      map[string]T
	Ptrs    []*T
	ByPtr   map[*T]string `json:"-"`
	PtrBy   map[string]*T
	ListsBy map[string][]T
}

// A Box has an item, and clones itself.
type Box[T any] struct{ Item T }

// Clone returns a copy.
func (b *Box[T]) Clone() *Box[T] {
	if b == nil {
		return nil
	}
	c := &Box[T]{b.Item}
	if r, ok := any(b.Item).(*Refs); ok && r != nil {
		c.Item = any(copied(r)).(T)
	}
	return c
}

func copied(r *Refs) *Refs {
	c := &Refs{}
	if r.Flat != nil {
		c.Flat = new(*r.Flat)
	}
	if r.N != nil {
		c.N = new(*r.N)
	}
	if r.Kept != nil {
		c.Kept = new(*r.Kept)
	}
	return c
}

// Boxes has boxes.
type Boxes struct {
	Int   Box[int]
	Refs  Box[*Refs]
	Basic Box[Basic[int]]
	List  []*Box[*Refs]
}

// Aliases of the others.
type (
	RefsAlias = Refs
	FlatAlias = Flat
)

// Aliased has fields of aliases.
type Aliased struct {
	Refs  RefsAlias
	Flat  FlatAlias
	RefsP *RefsAlias
	FlatP *FlatAlias
	List  []*RefsAlias
	Flats []*FlatAlias
	By    map[string]*RefsAlias
	ByF   map[string]*FlatAlias
	Lists map[string][]*RefsAlias
	FLs   map[string][]*FlatAlias
}
