package snapshot

import (
	"reflect"
	"unsafe"
)

// eface is the memory of an interface value without methods. That of one with
// methods has another first word and the same second.
type eface struct {
	word, data unsafe.Pointer
}

// iface is an interface with methods. To read another one as this and convert it
// to any is what package reflect does: the conversion looks at no method.
type iface interface{ m() }

func typeWord(t reflect.Type) unsafe.Pointer {
	zero := reflect.Zero(t).Interface()
	return (*eface)(unsafe.Pointer(&zero)).word
}

// box returns the interface with that type word and that data word.
func box(word, data unsafe.Pointer) any {
	e := eface{word, data}
	return *(*any)(unsafe.Pointer(&e))
}

// at returns the value at p, settable and without the mark of an unexported field.
func (pl *plan) at(p unsafe.Pointer) reflect.Value {
	return reflect.ValueOf(box(pl.ptrWord, p)).Elem()
}

// copyOf returns a new object with a shallow copy of the one at src.
func (pl *plan) copyOf(src unsafe.Pointer) unsafe.Pointer {
	dst := reflect.New(pl.typ).UnsafePointer()
	if pl.noscan {
		copy(unsafe.Slice((*byte)(dst), pl.size), unsafe.Slice((*byte)(src), pl.size))
	} else {
		pl.at(dst).Set(pl.at(src))
	}
	return dst
}

// array returns the memory of n zeroes.
func (pl *plan) array(n int) unsafe.Pointer {
	if n == 1 {
		return reflect.New(pl.typ).UnsafePointer()
	}
	return reflect.MakeSlice(reflect.SliceOf(pl.typ), n, n).UnsafePointer()
}

// copyArray copies n values.
func (pl *plan) copyArray(dst, src unsafe.Pointer, n int) {
	reflect.Copy(reflect.SliceAt(pl.typ, dst, n), reflect.SliceAt(pl.typ, src, n))
}
