package clone

import (
	"reflect"
	"unsafe"
)

// fixRef is the fixer of types that are one pointer.
func fixRef(s *state, pl *plan, p unsafe.Pointer) {
	slot := (*unsafe.Pointer)(p)
	if *slot != nil {
		*slot = pl.ref(s, pl, *slot)
	}
}

func refPointer(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
	elem := pl.elem
	if n := s.seen(elem.id, w); n != nil {
		return n
	}
	if !s.enter(w, elem.size) {
		return w
	}
	n := elem.copyOf(s, w)
	s.note(elem.id, w, n)
	switch {
	case elem.fix == nil:
	case s == nil:
		elem.fix(nil, elem, n)
	case s.depth == maxDepth:
		s.queue = append(s.queue, task{fillMany, elem, n, nil, 1})
	default:
		s.depth++
		elem.fix(s, elem, n)
		s.depth--
	}
	return n
}

// refNamed is the refFixer of types of which some values are named.
func refNamed(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
	if _, ok := pl.named[w]; ok {
		return w
	}
	return pl.follow(s, pl, w)
}

// refWrap is the refFixer of an error that wraps one error and gives it out: it stays
// itself if what it wraps does.
func refWrap(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
	if pl.stays(w) {
		return w
	}
	return refPointer(s, pl, w)
}

func fixStruct(s *state, pl *plan, p unsafe.Pointer) {
	for i := range pl.steps {
		st := &pl.steps[i]
		at := unsafe.Add(p, st.off)
		if st.pl.ref == nil {
			st.pl.fix(s, st.pl, at)
		} else if slot := (*unsafe.Pointer)(at); *slot != nil {
			*slot = st.pl.ref(s, st.pl, *slot)
		}
	}
}

func fixArray(s *state, pl *plan, p unsafe.Pointer) {
	fillMany(s, pl.elem, p, nil, pl.typ.Len())
}

// sliceFixer returns the fixer of slices of elem. For the common layouts of an
// element it allocates and copies as a slice of another type that has pointers at
// the same places; for the rest reflection does.
func sliceFixer(elem *plan) fixer {
	switch {
	case elem.size == 0:
		return fixSlice(nil) // never needed
	case elem.noscan:
		switch elem.typ.Align() {
		case 1:
			return fixSlice(copyFlat[uint8])
		case 2:
			return fixSlice(copyFlat[uint16])
		case 4:
			return fixSlice(copyFlat[uint32])
		case 8:
			return fixSlice(copyFlat[uint64])
		}
	}
	switch elem.typ.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
		return fixSlice(copyAs[unsafe.Pointer])
	case reflect.String:
		return fixSlice(copyAs[string])
	case reflect.Slice:
		return fixSlice(copyAs[header])
	case reflect.Interface:
		return fixSlice(copyAs[any])
	}
	return fixSlice(copyReflect)
}

// fixSlice returns the fixer of slices whose memory dup copies.
func fixSlice(dup func(s *state, pl *plan, h header) unsafe.Pointer) fixer {
	return func(s *state, pl *plan, p unsafe.Pointer) {
		slot := (*header)(p)
		h := *slot
		if h.ptr == nil {
			return
		}
		c, ok := s.slice(pl.id, h, pl.elem.size)
		if ok {
			*slot = c
			return
		}
		n := dup(s, pl, h)
		*slot = header{n, h.len, h.len}
		s.note(sliceKind(pl.id, h.len), h.ptr, n)
		if pl.elem.fix != nil {
			s.fill(fillMany, pl.elem, n, nil, h.len)
		}
	}
}

// copyAs copies the array of h as one of T. The size of T divides that of an
// element.
func copyAs[T any](_ *state, pl *plan, h header) unsafe.Pointer {
	var t T
	n := h.len * int(pl.elem.size/unsafe.Sizeof(t))
	dst := make([]T, n)
	copy(dst, unsafe.Slice((*T)(h.ptr), n))
	return unsafe.Pointer(unsafe.SliceData(dst))
}

// copyFlat is copyAs for a T without pointers.
func copyFlat[T any](s *state, pl *plan, h header) unsafe.Pointer {
	if n := uintptr(h.len) * pl.elem.size; s != nil && n <= maxPiece {
		if p := s.piece(n); p != nil {
			copy(unsafe.Slice((*byte)(p), n), unsafe.Slice((*byte)(h.ptr), n))
			return p
		}
	}
	return copyAs[T](s, pl, h)
}

// sliceScratch is where reflection finds a slice to copy from and one to copy to.
type sliceScratch struct {
	from, to   header
	vfrom, vto reflect.Value
}

func copyReflect(_ *state, pl *plan, h header) unsafe.Pointer {
	sc, ok := pl.scratch.Get().(*sliceScratch)
	if !ok {
		sc = new(sliceScratch)
		sc.vfrom = pl.at(unsafe.Pointer(&sc.from))
		sc.vto = pl.at(unsafe.Pointer(&sc.to))
	}
	sc.from = h
	sc.vto.Grow(h.len) // allocates the array and, other than MakeSlice, no header
	sc.vto.SetLen(h.len)
	reflect.Copy(sc.vto, sc.vfrom)
	n := sc.to.ptr
	sc.from, sc.to = header{}, header{}
	pl.scratch.Put(sc)
	return n
}

// mapSize is how many bytes of a map tell it from all others.
const mapSize = 8

// mapScratch is the room for one entry and an iterator.
type mapScratch struct {
	iter      reflect.MapIter
	key, elem reflect.Value
}

func refMap(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
	if n := s.seen(pl.id, w); n != nil {
		return n
	}
	if !s.enter(w, mapSize) {
		return w
	}
	n := reflect.MakeMapWithSize(pl.typ, reflect.ValueOf(box(pl.word, w)).Len()).UnsafePointer()
	s.note(pl.id, w, n)
	s.fill(fillMap, pl, n, w, 0)
	return n
}

func fillMap(s *state, pl *plan, dst, src unsafe.Pointer, _ int) {
	m := reflect.ValueOf(box(pl.word, dst))
	sc, ok := pl.scratch.Get().(*mapScratch)
	if !ok {
		sc = &mapScratch{key: reflect.New(pl.key.typ).Elem(), elem: reflect.New(pl.elem.typ).Elem()}
	}
	sc.iter.Reset(reflect.ValueOf(box(pl.word, src)))
	key, elem := sc.key.Addr().UnsafePointer(), sc.elem.Addr().UnsafePointer()
	for sc.iter.Next() {
		sc.key.SetIterKey(&sc.iter)
		sc.elem.SetIterValue(&sc.iter)
		boxed := false
		if f := pl.key.fix; f != nil {
			before := 0
			if s != nil {
				before = s.boxes
			}
			f(s, pl.key, key)
			boxed = s != nil && s.boxes != before
		}
		if f := pl.elem.fix; f != nil {
			f(s, pl.elem, elem)
		}
		if boxed {
			i := insertion{m, reflect.New(pl.key.typ).Elem(), reflect.New(pl.elem.typ).Elem()}
			i.key.Set(sc.key)
			i.elem.Set(sc.elem)
			s.late = append(s.late, i)
			continue
		}
		m.SetMapIndex(sc.key, sc.elem)
	}
	sc.iter.Reset(reflect.Value{})
	sc.key.SetZero()
	sc.elem.SetZero()
	pl.scratch.Put(sc)
}

// fixMethod replaces the value at p by what its method Clone returns.
func fixMethod(s *state, pl *plan, p unsafe.Pointer) {
	v := pl.at(p)
	switch v.Kind() {
	case reflect.Chan, reflect.Func:
		if v.IsNil() {
			return
		}
	case reflect.Slice:
		h := *(*header)(p)
		if h.ptr == nil {
			return
		}
		if n := s.seen(sliceKind(pl.id, h.len), h.ptr); n != nil {
			*(*header)(p) = header{n, h.len, h.len}
			return
		}
		if !s.enter(h.ptr, uintptr(h.cap)*pl.elem.size) {
			return
		}
	}
	v.Set(pl.method.Call([]reflect.Value{v})[0])
}

// refMethod is fixMethod for pointers and maps.
func refMethod(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
	if n := s.seen(pl.id, w); n != nil {
		return n
	}
	size := uintptr(mapSize)
	if pl.elem != nil {
		size = pl.elem.size
	}
	if !s.enter(w, size) {
		return w
	}
	n := pl.method.Call([]reflect.Value{reflect.ValueOf(box(pl.word, w))})[0].UnsafePointer()
	if n != nil {
		s.note(pl.id, w, n)
	}
	return n
}
