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
func (pl *plan) copyOf(s *state, src unsafe.Pointer) unsafe.Pointer {
	if pl.noscan {
		dst := s.bytes(pl.size, pl.typ)
		copy(unsafe.Slice((*byte)(dst), pl.size), unsafe.Slice((*byte)(src), pl.size))
		return dst
	}
	if pl.inline || pl.typ.Kind() == reflect.Interface {
		v := reflect.New(pl.typ)
		v.Elem().Set(pl.at(src))
		return v.UnsafePointer()
	}
	// To put a value into an interface allocates a copy of it, in one step.
	v := pl.at(src).Interface()
	return (*eface)(unsafe.Pointer(&v)).data
}

// bytes returns room for an object of n bytes without pointers. The small ones of
// a value that has many share allocations: they keep nothing else alive.
func (s *state) bytes(n uintptr, t reflect.Type) unsafe.Pointer {
	if s == nil || n > maxPiece {
		return reflect.New(t).UnsafePointer()
	}
	if p := s.piece(n); p != nil {
		return p
	}
	return reflect.New(t).UnsafePointer()
}

const (
	maxPiece   = 64
	chunkWords = 64 // of eight bytes
	fewPieces  = 4  // which are allocated one by one
)

// piece returns zeroed room for n bytes in a chunk, nil for the first few of a
// value.
func (s *state) piece(n uintptr) unsafe.Pointer {
	words := int(n+7) / 8
	if len(s.chunk) < words {
		if s.pieces++; s.pieces <= fewPieces {
			return nil
		}
		s.chunk = make([]uint64, min(chunkWords, 8<<min(s.pieces-fewPieces, 3)))
	}
	p := unsafe.Pointer(unsafe.SliceData(s.chunk))
	s.chunk = s.chunk[words:]
	return p
}

// onStack returns p, hiding from the compiler where it leads: a variable whose
// address goes to a function that is called through a pointer would be put on the
// heap. The function must keep it nowhere.
func onStack(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
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
