package view

import "github.com/cowstore/cowstore/snapshot/clone"

// Cloned stands for a value that cannot be shown, such as an interface: it hands out
// clones of it.
type Cloned[T any] struct{ of *T }

// ViewOf returns a Cloned of what r points to.
func (Cloned[T]) ViewOf(r Ref[T]) Cloned[T] { return Cloned[T]{of: r.p} }

// Get returns a deep copy that belongs to the caller, of the zero Cloned the zero value.
func (v Cloned[T]) Get() (e T) {
	if v.of == nil {
		return e
	}
	return CloneOf(*v.of)
}

// String returns the type of the value.
func (v Cloned[T]) String() string { return typeName[T]() }

// MarshalJSON returns the JSON of the value.
func (v Cloned[T]) MarshalJSON() ([]byte, error) { return marshal(v.of) }

// CloneOf returns a deep copy of v, as [clone.Of] makes it. It is for generated
// code.
func CloneOf[T any](v T) T { return cloned(v) }

// cloned returns a deep copy of v.
func cloned[T any](v T) T {
	if c := clone.Of[T](); c != nil {
		return c(v)
	}
	return v
}
