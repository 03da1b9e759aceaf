package view

import (
	"bytes"
	"iter"
	"slices"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// The elements of a slice.
type elements[T any] struct{ s []T }

// Len returns the number of elements.
func (e elements[T]) Len() int { return len(e.s) }

// IsNil reports whether the slice is nil, and not only empty.
func (e elements[T]) IsNil() bool { return e.s == nil }

// Clone returns a deep copy of the slice that belongs to the caller.
func (e elements[T]) Clone() []T { return cloned(e.s) }

// String returns how many elements there are.
func (e elements[T]) String() string { return count(len(e.s), "element") }

// MarshalJSON returns the JSON of the slice.
func (e elements[T]) MarshalJSON() ([]byte, error) { return marshal(e.s) }

// sub returns the elements from i up to but without j, which is at most Len.
func (e elements[T]) sub(i, j int) elements[T] {
	return elements[T]{slices.Clip(e.s)[i:j]}
}

// A Slice shows a slice whose elements hold nothing that can be modified.
type Slice[T any] struct{ elements[T] }

// SliceOf returns a view of s, which must not be written to.
func SliceOf[T any](s []T) Slice[T] { return Slice[T]{elements[T]{s}} }

func (Slice[T]) check() error { return immutable[T]("Slice") }

// ViewOf returns a view of the slice that r points to.
func (Slice[T]) ViewOf(r Ref[[]T]) Slice[T] { return Slice[T]{elements[T]{r.value()}} }

// At returns the element at i.
func (v Slice[T]) At(i int) T { return v.s[i] }

// Sub returns a view of the elements from i up to but without j.
func (v Slice[T]) Sub(i, j int) Slice[T] { return Slice[T]{v.sub(i, j)} }

// All returns an iterator over indices and elements.
func (v Slice[T]) All() iter.Seq2[int, T] { return slices.All(v.s) }

// Values returns an iterator over the elements.
func (v Slice[T]) Values() iter.Seq[T] { return slices.Values(v.s) }

// AppendTo appends the elements to s, and returns it.
func (v Slice[T]) AppendTo(s []T) []T { return append(s, v.s...) }

// String returns the elements as fmt does, a few of them if there are many.
func (v Slice[T]) String() string { return text(len(v.s), func(i int) any { return v.s[i] }) }

// Contains reports whether an element is equal to x.
func Contains[T comparable](v Slice[T], x T) bool {
	if depth.Key.Check(x) == nil {
		return slices.Contains(v.s, x)
	}
	// To == two that are nested so deeply takes stack without a bound.
	return slices.ContainsFunc(v.s, func(e T) bool { return (&comparer{same: true}).equal(&e, &x) })
}

// SliceViews shows a slice of what is shown by views. The zero SliceViews, as of a row that is not
// there, is empty.
type SliceViews[T any, W Viewer[T, W]] struct {
	_ shownAs[W]
	elements[T]
}

// SliceViewsOf returns a view of s, which must not be written to.
func SliceViewsOf[W Viewer[T, W], T any](s []T) SliceViews[T, W] {
	return SliceViews[T, W]{elements: elements[T]{s}}
}

func (SliceViews[T, W]) check() error { return Check[W]() }

// ViewOf returns a view of the slice that r points to.
func (SliceViews[T, W]) ViewOf(r Ref[[]T]) SliceViews[T, W] {
	return SliceViews[T, W]{elements: elements[T]{r.value()}}
}

// At returns a view of the element at i.
func (v SliceViews[T, W]) At(i int) W { return Of[W](Ref[T]{&v.s[i]}) }

// Sub returns a view of the elements from i up to but without j.
func (v SliceViews[T, W]) Sub(i, j int) SliceViews[T, W] {
	return SliceViews[T, W]{elements: v.sub(i, j)}
}

// All returns an iterator over indices and views of the elements.
func (v SliceViews[T, W]) All() iter.Seq2[int, W] { return all(v.Len(), v.At) }

// Values returns an iterator over views of the elements.
func (v SliceViews[T, W]) Values() iter.Seq[W] { return values(v.Len(), v.At) }

// AppendTo appends views of the elements to s, and returns it.
func (v SliceViews[T, W]) AppendTo(s []W) []W { return slices.AppendSeq(s, v.Values()) }

// SlicePointers shows a slice of pointers to what is shown by views.
type SlicePointers[T any, W Viewer[T, W]] struct {
	_ shownAs[W]
	elements[*T]
}

// SlicePointersOf returns a view of s, which must not be written to.
func SlicePointersOf[W Viewer[T, W], T any](s []*T) SlicePointers[T, W] {
	return SlicePointers[T, W]{elements: elements[*T]{s}}
}

func (SlicePointers[T, W]) check() error { return Check[W]() }

// ViewOf returns a view of the slice that r points to.
func (SlicePointers[T, W]) ViewOf(r Ref[[]*T]) SlicePointers[T, W] {
	return SlicePointers[T, W]{elements: elements[*T]{r.value()}}
}

// At returns a view of what the element at i points to, not Valid if it is nil.
func (v SlicePointers[T, W]) At(i int) W { return Of[W](Ref[T]{v.s[i]}) }

// Sub returns a view of the elements from i up to but without j.
func (v SlicePointers[T, W]) Sub(i, j int) SlicePointers[T, W] {
	return SlicePointers[T, W]{elements: v.sub(i, j)}
}

// All returns an iterator over indices and views of what the elements point to.
func (v SlicePointers[T, W]) All() iter.Seq2[int, W] { return all(v.Len(), v.At) }

// Values returns an iterator over views of what the elements point to.
func (v SlicePointers[T, W]) Values() iter.Seq[W] { return values(v.Len(), v.At) }

// AppendTo appends views of what the elements point to to s, and returns it.
func (v SlicePointers[T, W]) AppendTo(s []W) []W { return slices.AppendSeq(s, v.Values()) }

func all[W any](n int, at func(int) W) iter.Seq2[int, W] {
	return func(yield func(int, W) bool) {
		for i := range n {
			if !yield(i, at(i)) {
				return
			}
		}
	}
}

func values[W any](n int, at func(int) W) iter.Seq[W] {
	return func(yield func(W) bool) {
		for i := range n {
			if !yield(at(i)) {
				return
			}
		}
	}
}

// Bytes shows a slice of bytes.
type Bytes struct{ b []byte }

// BytesOf returns a view of b, which must not be written to.
func BytesOf(b []byte) Bytes { return Bytes{b} }

// ViewOf returns a view of the bytes that r points to.
func (Bytes) ViewOf(r Ref[[]byte]) Bytes { return Bytes{r.value()} }

// Len returns the number of bytes.
func (v Bytes) Len() int { return len(v.b) }

// IsNil reports whether the slice is nil, and not only empty.
func (v Bytes) IsNil() bool { return v.b == nil }

// At returns the byte at i.
func (v Bytes) At(i int) byte { return v.b[i] }

// Sub returns a view of the bytes from i up to but without j.
func (v Bytes) Sub(i, j int) Bytes { return Bytes{slices.Clip(v.b)[i:j]} }

// AppendTo appends the bytes to b, and returns it.
func (v Bytes) AppendTo(b []byte) []byte { return append(b, v.b...) }

// Clone returns a copy of the bytes that belongs to the caller.
func (v Bytes) Clone() []byte { return bytes.Clone(v.b) }

// Equal reports whether the bytes are those of b.
func (v Bytes) Equal(b []byte) bool { return bytes.Equal(v.b, b) }

// Text returns a copy of the bytes as a string.
func (v Bytes) Text() string { return string(v.b) }

// String returns how many bytes there are.
func (v Bytes) String() string { return count(len(v.b), "byte") }

// MarshalJSON returns the JSON of the slice, in base64.
func (v Bytes) MarshalJSON() ([]byte, error) { return marshal(v.b) }
