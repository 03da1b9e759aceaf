package value

import (
	"reflect"
	"unsafe"
)

// FreezeHandles returns v as [Freeze] does, but what Freeze refuses for its kind,
// channels, functions, unsafe pointers and complex numbers, becomes a Handle,
// alone or inside of v. Whatever stores a Value takes the result.
//
// A Handle is opaque: Any gives back the very channel or function, nil ones too,
// to be shared by all who ask, and it has no JSON, so that nothing that holds one
// can be exported. What a pointer to one points to is copied, as ever.
//
// The other errors are those of Freeze: a map by keys of such a kind, NaN and
// infinities wrap ErrUnsupported still.
func FreezeHandles(v any) (Value, error) { return freeze(v, true) }

// handle makes n hold v as it is.
func (n *node) handle(v reflect.Value) {
	x := v.Interface()
	n.from, n.ptr = originOf(v.Type(), Handle), unsafe.Pointer(&x)
}

// handle returns what a Handle holds.
func (v Value) handle() any { return *(*any)(v.n.ptr) }

// equalHandles reports whether two Handles hold the same. Functions cannot be
// compared: only what was frozen once is the same.
func equalHandles(a, b Value) bool {
	if a.n.ptr == b.n.ptr {
		return true
	}
	x, y := a.handle(), b.handle()
	return reflect.TypeOf(x).Comparable() && x == y
}
