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
	v := reflect.New(pl.typ)
	dst := v.UnsafePointer()
	if pl.words == nil {
		v.Elem().Set(pl.at(src))
		return dst
	}
	for i, pointer := range pl.words {
		off := uintptr(i) * wordSize
		if pointer {
			*(*unsafe.Pointer)(unsafe.Add(dst, off)) = *(*unsafe.Pointer)(unsafe.Add(src, off))
		} else {
			*(*uintptr)(unsafe.Add(dst, off)) = *(*uintptr)(unsafe.Add(src, off))
		}
	}
	return dst
}

const (
	wordSize = unsafe.Sizeof(uintptr(0))
	maxWords = 16 // a larger object is copied by reflection
)

// wordsOf returns which words of a t are pointers, or nil if t is large, or not of
// words.
func wordsOf(t reflect.Type) []bool {
	if t.Size()%wordSize != 0 || t.Size() > maxWords*wordSize {
		return nil
	}
	words := make([]bool, t.Size()/wordSize)
	markPointers(words, t, 0)
	return words
}

func markPointers(words []bool, t reflect.Type, off uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			markPointers(words, t.Field(i).Type, off+t.Field(i).Offset)
		}
	case reflect.Array:
		for i := range t.Len() {
			markPointers(words, t.Elem(), off+uintptr(i)*t.Elem().Size())
		}
	case reflect.Interface:
		// The first word is of a type or a table of methods, which the collector looks
		// at too.
		words[off/wordSize], words[off/wordSize+1] = true, true
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Slice, reflect.String, reflect.UnsafePointer:
		words[off/wordSize] = true
	}
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
