// Package dynamic has fields of interfaces.
package dynamic

import (
	"fmt"
	"io"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Any,Errors,Methods,Mixed

// Any has fields that can hold anything.
type Any struct {
	V    any
	List []any
	By   map[string]any
	P    *any
	Two  [2]any
	Deep map[string][]map[string]any
}

// Errors has errors.
type Errors struct {
	Err  error
	Errs []error
	By   map[string]error
	P    *error
}

// Figure is an interface of this package that only types in it have.
type Figure interface{ figure() }

// A Circle is a Figure.
type Circle struct{ R int }

func (Circle) figure() {}

// A Polygon is a Figure that can be modified.
type Polygon struct{ Points []int }

func (*Polygon) figure() {}

// Methods has interfaces with methods.
type Methods struct {
	S       fmt.Stringer
	R       io.Reader
	Figure  Figure
	Figures []Figure
	Cloner  interface{ Clone() any }
}

// Mixed has interfaces in structs.
type Mixed struct {
	Name string
	In   struct{ V any }
	Many []struct {
		V any
		E error
	}
	Any   Any
	AnyP  *Any
	Anys  []Any
	ByKey map[string]Any
}
