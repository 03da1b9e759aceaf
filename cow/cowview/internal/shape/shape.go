// Package shape describes the types that the tests of generated views are run with.
package shape

import (
	"reflect"

	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/view"
)

// A Shape is a struct type and its generated view.
type Shape struct {
	Type reflect.Type
	View reflect.Type

	// Names are the accessors that are not named like their fields.
	Names map[string]string

	// Tree says that values are filled without sharing: a method of the type clones
	// them, and does not keep it.
	Tree bool

	// Skipped are the methods of the view that no check can call.
	Skipped []string

	// Hidden returns what the unexported accessors of a view return, by the names of
	// the fields.
	Hidden func(v any) map[string]any

	of func(p reflect.Value) any
}

// Of returns the Shape of T, which V is the view of.
func Of[V view.Viewer[T, V], T any](with ...func(*Shape)) Shape {
	s := Shape{
		Type: reflect.TypeFor[T](),
		View: reflect.TypeFor[V](),
		of:   func(p reflect.Value) any { return view.Of[V](view.To(p.Interface().(*T))) },
	}
	for _, f := range with {
		f(&s)
	}
	return s
}

// Hidden says how to call the unexported accessors of a V.
func Hidden[V any](f func(v V) map[string]any) func(*Shape) {
	return func(s *Shape) { s.Hidden = func(v any) map[string]any { return f(v.(V)) } }
}

// Names says which accessors are not named like their fields: field, accessor, and so on.
func Names(pairs ...string) func(*Shape) {
	return func(s *Shape) {
		s.Names = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			s.Names[pairs[i]] = pairs[i+1]
		}
	}
}

// Skipped names methods that no check can call.
func Skipped(names ...string) func(*Shape) {
	return func(s *Shape) { s.Skipped = names }
}

// Tree says that values are filled without sharing.
func Tree(s *Shape) { s.Tree = true }

// Of returns the view of what the pointer p points to.
func (s Shape) Of(p reflect.Value) any { return s.of(p) }

// Example returns a pointer to a value, always alike for one seed. Nothing in the value
// leads to the variable that it is in, but perhaps to another of its type: a clone that
// is a value could not have that shape.
func (s Shape) Example(seed uint64) reflect.Value {
	p := reflect.New(s.Type)
	if s.Tree || seed%3 == 0 {
		p.Elem().Set(snapshottest.TreeOf(s.Type, seed).Elem())
	} else {
		p.Elem().Set(snapshottest.Graph(s.Type, seed).Elem())
	}
	return p
}
