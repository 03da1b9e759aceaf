package view

import (
	"fmt"
	"iter"
	"reflect"
	"strings"

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

// few is how many elements a text shows, and long how many bytes of all.
const (
	few  = 8
	long = 200
)

// text returns n elements as fmt shows a slice, the first of them if there are many.
func text(n int, at func(int) any) string {
	b := []byte{'['}
	shown := 0
	for ; shown < min(n, few) && len(b) < long; shown++ {
		if shown > 0 {
			b = append(b, ' ')
		}
		b = append(b, short(fmt.Sprint(at(shown)))...)
	}
	if shown < n {
		b = fmt.Appendf(b, " … %d more", n-shown)
	}
	return string(append(b, ']'))
}

// short returns the beginning of a text that is long.
func short(s string) string {
	if len(s) <= long {
		return s
	}
	return strings.ToValidUTF8(s[:long], "") + "…"
}

// pointee returns the text of what a pointer points to.
func pointee(e any, ok bool) string {
	if !ok {
		return "<nil>"
	}
	return short(fmt.Sprint(e))
}

func typeName[T any]() string { return "[" + reflect.TypeFor[T]().String() + "]" }

func second[K, W any](seq iter.Seq2[K, W]) iter.Seq[W] {
	return func(yield func(W) bool) {
		seq(func(_ K, w W) bool { return yield(w) })
	}
}
