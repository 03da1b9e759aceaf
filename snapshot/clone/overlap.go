package clone

import (
	"reflect"
	"slices"
)

// shares reports whether two references in a value of pl's type can lead to the
// same memory, or to parts of it, by the types of what they lead to: an object
// twice, an object and a field or an element of it, or two pieces of one array; or
// whether that is not known by type. Else a clone need not remember anything.
func shares(pl *plan) bool {
	var c sharing
	if c.visit(pl, 1) {
		return true
	}
	for i, a := range c.memory {
		for j, b := range c.memory {
			if i != j && holds(a, b) {
				return true
			}
		}
	}
	for i, a := range c.maps {
		for _, b := range c.maps[:i] {
			if alike(a, b) {
				return true
			}
		}
	}
	return false
}

// sharing is the types of memory that a value leads to, each in one place, and
// those of maps, into which nothing leads.
type sharing struct {
	memory, maps []reflect.Type
}

// visit adds what a value of pl, of which there are as many as times says, leads
// to. It reports whether some type is there twice, or may be.
func (c *sharing) visit(pl *plan, times int) bool {
	if pl.fix == nil {
		return false
	}
	switch pl.class {
	case classInterface, classGroup:
		return true
	case classStruct:
		for _, s := range pl.steps {
			if c.visit(s.pl, times) {
				return true
			}
		}
		return false
	case classArray:
		return c.visit(pl.elem, min(times*pl.typ.Len(), 2))
	case classPointer, classWrap:
		return c.add(&c.memory, pl.elem.typ, times) || c.visit(pl.elem, 1)
	case classSlice:
		return c.add(&c.memory, pl.elem.typ, times) || c.visit(pl.elem, 2)
	case classMap:
		return c.add(&c.maps, pl.typ, times) || c.visit(pl.key, 2) || c.visit(pl.elem, 2)
	case classMethod: // which answers for what is behind it
		switch pl.typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			return c.add(&c.memory, pl.elem.typ, times)
		case reflect.Map:
			return c.add(&c.maps, pl.typ, times)
		case reflect.Interface:
			return true
		}
	}
	return false
}

// add reports whether there are several of t.
func (c *sharing) add(to *[]reflect.Type, t reflect.Type, times int) bool {
	t, _ = flatten(t)
	if times > 1 || slices.Contains(*to, t) {
		return true
	}
	*to = append(*to, t)
	return false
}

// flatten returns what an array of arrays is made of, and how many of it: of
// another type the type itself.
func flatten(t reflect.Type) (elem reflect.Type, n int) {
	for n = 1; t.Kind() == reflect.Array; t = t.Elem() {
		n *= t.Len()
	}
	return t, n
}

// holds reports whether a b can lie in an a.
func holds(a, b reflect.Type) bool {
	if a, _ = flatten(a); alike(a, b) {
		return true
	}
	if a.Kind() == reflect.Struct && !isClosed(a) {
		for i := range a.NumField() {
			if holds(a.Field(i).Type, b) {
				return true
			}
		}
	}
	return false
}

// isClosed reports whether nobody can point into the struct t.
func isClosed(t reflect.Type) bool { return keptType(t) != "" || shared[nameOf(t)] != nil }

// alike reports whether memory of the type a may be used as of the type b, by a
// conversion of the pointer to it.
func alike(a, b reflect.Type) bool {
	switch {
	case a == b:
		return true
	case a.Kind() != b.Kind() || a.Size() != b.Size():
		return false
	case a.Kind() == reflect.Interface: // about whose methods reflect does not say
		return a.Implements(b) && b.Implements(a)
	}
	return reflect.PointerTo(a).ConvertibleTo(reflect.PointerTo(b))
}

// fits reports whether n values of t, one after the other, lie off bytes into a
// value of in.
func fits(in reflect.Type, off uintptr, t reflect.Type, n int) bool {
	for {
		elem, count := flatten(in)
		if elem.Size() == 0 {
			return false
		}
		if alike(elem, t) {
			return off%elem.Size() == 0 && off/elem.Size()+uintptr(n) <= uintptr(count)
		}
		off %= elem.Size()
		if elem.Kind() != reflect.Struct || isClosed(elem) {
			return false
		}
		in = nil
		for i := range elem.NumField() {
			if f := elem.Field(i); f.Offset <= off && off < f.Offset+f.Type.Size() {
				in, off = f.Type, off-f.Offset
				break
			}
		}
		if in == nil {
			return false
		}
	}
}

// noPointers reports whether there is no pointer in the memory from lo to hi of a
// value of t.
func noPointers(t reflect.Type, lo, hi uintptr) bool {
	if !hasPointers(t) || lo >= hi {
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if end := f.Offset + f.Type.Size(); f.Offset < hi && lo < end &&
				!noPointers(f.Type, max(lo, f.Offset)-f.Offset, min(hi, end)-f.Offset) {
				return false
			}
		}
		return true
	case reflect.Array:
		elem := t.Elem()
		if hi-lo >= elem.Size() {
			return false
		}
		at := lo / elem.Size() * elem.Size()
		return noPointers(elem, lo-at, min(hi-at, elem.Size())) &&
			(hi-at <= elem.Size() || noPointers(elem, 0, hi-at-elem.Size()))
	}
	return false
}
