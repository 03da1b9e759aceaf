// Package names has fields whose names are taken by methods of views, by what
// generated code has of its own, or by Go.
package names

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Methods,Values,Containers,Short,Predeclared,CloneField,ViewField,Foo,FooView2

// Methods has slices that are named like methods.
type Methods struct {
	Valid       []int
	Equal       []string
	String      []int
	LogValue    []string
	MarshalJSON []int
	ViewOf      []string
	Ref         []int
	GoString    []string
	Format      []int
}

// Values has numbers that are named like methods.
type Values struct {
	Valid  bool
	Equal  int
	String string
	ViewOf float64
}

// Containers has fields that are named like methods of containers and functions of
// package view.
type Containers struct {
	Len, At, All, Values, Keys []int
	IsNil, Get, Has            *int
	Shared, To, Of, Viewer     map[string]int
}

// Short has names that generated code could want for itself.
type Short struct {
	r, p, v, w, x []int
	ref, ptr, val *int
	view, json    map[string]int
	t, c, k, e, i []string
	ok, err, n    []int
	out, dst, src [][]int
	p2, valid     []int
}

// Predeclared has names of what Go has predeclared.
type Predeclared struct {
	len, cap, append, copy []int
	any, nil, true, error  []string
	string, int, bool      map[string]int
	make, new, iota, byte  *int
}

// CloneField has a field with the name of the method that the type would get.
type CloneField struct {
	Clone []string
	Other []int
}

// ViewField has a field named View.
type ViewField struct {
	View  []string
	Views map[string]int
}

// Foo has a neighbour that is named like a view.
type Foo struct{ A []int }

// FooView2 is not a view.
type FooView2 struct{ B []int }
