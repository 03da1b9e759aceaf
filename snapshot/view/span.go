package view

import (
	"reflect"
	"unsafe"
)

// A Span is the memory that a slice, pointer or map refers to. It is for generated code,
// which clones fields one by one if no two of them meet.
type Span struct {
	p    unsafe.Pointer // not a number: a stack may move
	size uintptr
}

// SliceSpan returns the memory that s can see or grow into.
func SliceSpan[S ~[]T, T any](s S) Span {
	var e T
	return Span{unsafe.Pointer(unsafe.SliceData(s)), uintptr(cap(s)) * unsafe.Sizeof(e)}
}

// PointerSpan returns the memory that p points to.
func PointerSpan[P ~*T, T any](p P) Span {
	var e T
	return Span{unsafe.Pointer((*T)(p)), unsafe.Sizeof(e)}
}

// MapSpan returns a Span that only the same map meets.
func MapSpan[M ~map[K]V, K comparable, V any](m M) Span {
	return Span{reflect.ValueOf(m).UnsafePointer(), 1}
}

// Meet reports whether two of the spans have memory in common.
func Meet(spans ...Span) bool {
	for i, a := range spans {
		for _, b := range spans[:i] {
			if a.meets(b) {
				return true
			}
		}
	}
	return false
}

func (a Span) meets(b Span) bool {
	if a.p == nil || b.p == nil {
		return false
	}
	x, y := uintptr(a.p), uintptr(b.p)
	return x < y+b.size && y < x+a.size
}
