package view

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"

	"github.com/cowstore/cowstore/snapshot"
)

// clone returns a deep copy of v.
func clone[T any](v T) T {
	if c := snapshot.Cloner(snapshot.Options[T]{}); c != nil {
		return c(v)
	}
	return v
}

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

// few is how many elements a text shows, and long how many bytes.
const (
	few  = 8
	long = 200
)

// text returns n elements as fmt shows a slice, the first of them if there are many.
func text(n int, at func(int) any) string {
	b := []byte{'['}
	for i := range min(n, few) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = fmt.Append(b, at(i))
		if len(b) > long {
			return string(bytes.ToValidUTF8(b[:long], nil)) + "…" + more(n-i-1)
		}
	}
	return string(b) + more(n-min(n, few))
}

// more ends a text from which n elements are missing.
func more(n int) string {
	if n == 0 {
		return "]"
	}
	return fmt.Sprintf(" … %d more]", n)
}

// pointee returns the text of what a pointer points to.
func pointee(e any, ok bool) string {
	if !ok {
		return "<nil>"
	}
	return text(1, func(int) any { return e })
}

func typeName[T any]() string { return "[" + reflect.TypeFor[T]().String() + "]" }

func second[K, W any](seq iter.Seq2[K, W]) iter.Seq[W] {
	return func(yield func(W) bool) {
		seq(func(_ K, w W) bool { return yield(w) })
	}
}
