// Package view has what generated views are made of: read-only slices, maps and
// pointers, and the Ref that a view of a struct holds.
//
// A view shows a value that somebody else owns, such as one that is stored in a
// snapshot, and has no way to write to it. What is immutable (numbers, strings, structs
// of these) it returns as it is; all else it returns as a view, to any depth. A view
// costs no more than a pointer: nothing is cloned, and nothing is allocated.
//
// Three things are up to the program, as they are with Shared. Methods that package json
// calls to encode a value, such as its own MarshalJSON, are called on the value itself and
// must not write to it. A Slice, Map or Pointer is for elements that hold nothing that can
// be modified, and returns others as they are: generated views never do so, and package cow
// refuses those that would. Package reflect finds the bytes of a slice behind any pointer,
// by its Value.Bytes, and must not be used so.
//
// All types here are values, to be copied freely, and safe for concurrent use for as long
// as nobody writes to what they show, which holds for everything in a snapshot. They keep
// it alive. The zero value of each shows nothing: it is empty, or not Valid. Indices out
// of range panic as those of slices do.
package view

import (
	"fmt"
	"reflect"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// shownAs is a field of a view whose elements are shown as W. It makes the view a type
// that no other can be converted to or from: types of the same fields can, and a Slice
// would return as they are the elements of a SliceViews. For the same reason, the fields
// of Ref, Pointer and Cloned have different names.
type shownAs[W any] [0]*W

// A Ref points to a value that must not be written to. The zero Ref points nowhere.
type Ref[T any] struct{ p *T }

// To returns a Ref to what p points to. A view made of it is only as constant as
// that is.
func To[T any](p *T) Ref[T] { return Ref[T]{p} }

// Valid reports whether r points to a value.
func (r Ref[T]) Valid() bool { return r.p != nil }

// value returns what r points to, and the zero T if it points nowhere.
func (r Ref[T]) value() (v T) {
	if r.p != nil {
		v = *r.p
	}
	return v
}

// Shared returns the pointer that r holds, nil if it is not Valid. What it points to,
// and all that can be reached through it, must not be modified: it belongs to every
// reader there is. It is for generated code; everybody else has no need of it.
func Shared[T any](r Ref[T]) *T { return r.p }

// A Viewer is a type W of views of a T. Its method ViewOf makes a view of a Ref, whatever
// its receiver is. Generated views have it.
type Viewer[T, W any] interface {
	ViewOf(Ref[T]) W
}

// Of returns the view of what r points to.
func Of[W Viewer[T, W], T any](r Ref[T]) W {
	var w W
	return w.ViewOf(r)
}

// cloned returns a deep copy of v.
func cloned[T any](v T) T {
	if c := clone.Of[T](); c != nil {
		return c(v)
	}
	return v
}

// CloneOf returns a deep copy of v, as [clone.Of] makes it. It is for generated
// code.
func CloneOf[T any](v T) T { return cloned(v) }

// Check returns an error if views of the type W, or those that they lead to, hand out as
// they are elements that can be modified: a Slice, Map or Pointer of such elements, which
// no generated view has. It is for package cow.
func Check[W any]() error {
	var w W
	if c, ok := any(w).(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}

// immutable returns an error if a T can be modified.
func immutable[T any](where string) error {
	if clone.Of[T]() == nil {
		return nil
	}
	return fmt.Errorf("a view.%s hands out a %v as it is, which can be modified: use a view of views, or of pointers",
		where, reflect.TypeFor[T]())
}

func either(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
