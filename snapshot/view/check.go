package view

import (
	"fmt"
	"reflect"

	"github.com/cowstore/cowstore/snapshot/clone"
)

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

func (Slice[T]) check() error             { return immutable[T]("Slice") }
func (Map[K, V]) check() error            { return either(immutable[K]("Map"), immutable[V]("Map")) }
func (Pointer[T]) check() error           { return immutable[T]("Pointer") }
func (SliceViews[T, W]) check() error     { return Check[W]() }
func (SlicePointers[T, W]) check() error  { return Check[W]() }
func (MapViews[K, T, W]) check() error    { return either(immutable[K]("MapViews"), Check[W]()) }
func (MapPointers[K, T, W]) check() error { return either(immutable[K]("MapPointers"), Check[W]()) }
func (PointerViews[T, W]) check() error   { return Check[W]() }

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
