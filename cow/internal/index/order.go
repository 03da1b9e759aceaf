package index

import (
	"bytes"
	"cmp"
	"net/netip"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// A natural is the order that a type has of its own, or is given: of that nothing but the
// functions is known.
type natural[T any] struct {
	fields  []func(a, b T) int // one for each field of a struct; none: it has no such order
	byBytes bool               // the last field is a text and nothing else, in the order of its bytes
	exact   bool               // keys that are equal by it do not differ
	plain   bool               // of numbers and booleans alone
	equals  bool               // it agrees with ==, but for what is not equal to itself
	kind    reflect.Kind       // of integers and strings, for findKey; 0 of others
}

// orderOf returns the order of T: of a type with a method Compare(T) int that method, of
// numbers, strings and booleans theirs, of []byte that of bytes.Compare, and of arrays and
// structs of these that of their first element or field that differs.
func orderOf[T any]() natural[T] {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer {
		if m, ok := t.MethodByName("Compare"); ok {
			if compare, ok := m.Func.Interface().(func(a, b T) int); ok {
				return natural[T]{fields: []func(a, b T) int{compare}}
			}
		}
	}
	if t.Kind() != reflect.Struct {
		ps, ok := partsOf(nil, t, 0)
		if !ok {
			return natural[T]{}
		}
		n := natural[T]{fields: []func(a, b T) int{comparePlaces[T](ps)}, exact: exact(ps), plain: plain(ps), equals: equals(ps)}
		n.byBytes = isText(t)
		if k := t.Kind(); k == reflect.String || reflect.Int <= k && k <= reflect.Uintptr {
			n.kind = k
		}
		return n
	}
	n := natural[T]{exact: true, plain: true, equals: true}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue // which does not count for equality
		}
		ps, ok := partsOf(nil, f.Type, f.Offset)
		if !ok {
			return natural[T]{}
		}
		n.fields, n.byBytes = append(n.fields, comparePlaces[T](ps)), isText(f.Type)
		n.exact, n.plain, n.equals = n.exact && exact(ps), n.plain && plain(ps), n.equals && equals(ps)
	}
	if len(n.fields) == 0 {
		n.fields = append(n.fields, func(a, b T) int { return 0 })
	}
	return n
}

// compare is the order as one function; nil if there is none.
func (n natural[T]) compare() func(a, b T) int {
	switch len(n.fields) {
	case 0:
		return nil
	case 1:
		return n.fields[0]
	}
	return func(a, b T) int {
		for _, compare := range n.fields {
			if c := compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

// A place is a piece of a key that is not made of others.
type place struct {
	offset uintptr
	kind   reflect.Kind // Array and Slice: of bytes; Struct: one of known
	size   uintptr
	known  int // which of them, counted from 1
}

// known are structs of the standard library in keys that are structs. Of others with a method
// Compare the order is not known: to call it would take reflection for each comparison.
var known = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[netip.Addr]()}

// maxPlaces bounds how long a plan for an array gets.
const maxPlaces = 1 << 10

// partsOf returns ps with the places of a type at an offset, and whether there is an order of
// them.
func partsOf(ps []place, t reflect.Type, offset uintptr) ([]place, bool) {
	p := place{offset: offset, kind: t.Kind(), size: t.Size()}
	for i, k := range known {
		if t == k {
			p.known = i + 1
			return append(ps, p), len(ps) < maxPlaces
		}
	}
	if _, ok := t.MethodByName("Compare"); ok {
		return nil, false
	}
	ok := true
	switch k := t.Kind(); {
	case t.Size() == 0 && (k == reflect.Struct || k == reflect.Array):
		return ps, true
	case k == reflect.Struct:
		for i := 0; ok && i < t.NumField(); i++ {
			if f := t.Field(i); f.Name != "_" {
				ps, ok = partsOf(ps, f.Type, offset+f.Offset)
			}
		}
		return ps, ok
	case k == reflect.Array && !isByte(t.Elem()):
		for i := 0; ok && i < t.Len(); i++ {
			ps, ok = partsOf(ps, t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
		return ps, ok
	case k == reflect.Array, k == reflect.Slice && isByte(t.Elem()),
		k == reflect.String, k == reflect.Bool, reflect.Int <= k && k <= reflect.Float64:
		return append(ps, p), len(ps) < maxPlaces
	}
	return nil, false
}

// isByte reports whether values of t are in the order of bytes.
func isByte(t reflect.Type) bool {
	_, ok := t.MethodByName("Compare")
	return t.Kind() == reflect.Uint8 && !ok
}

// isText reports whether t, which has an order, is a string or []byte.
func isText(t reflect.Type) bool { return t.Kind() == reflect.String || t.Kind() == reflect.Slice }

// comparePlaces returns a function that compares these places of two keys.
func comparePlaces[T any](ps []place) func(a, b T) int {
	return func(a, b T) int {
		for i := range ps {
			p := &ps[i]
			if c := p.compare(unsafe.Add(unsafe.Pointer(&a), p.offset), unsafe.Add(unsafe.Pointer(&b), p.offset)); c != 0 {
				return c
			}
		}
		return 0
	}
}

// compare compares two such pieces.
func (p *place) compare(a, b unsafe.Pointer) int {
	switch p.kind {
	case reflect.Struct:
		if p.known == 1 {
			return (*(*time.Time)(a)).Compare(*(*time.Time)(b))
		}
		return (*(*netip.Addr)(a)).Compare(*(*netip.Addr)(b))
	case reflect.String:
		return strings.Compare(*(*string)(a), *(*string)(b))
	case reflect.Slice:
		return bytes.Compare(*(*[]byte)(a), *(*[]byte)(b))
	case reflect.Array:
		return bytes.Compare(unsafe.Slice((*byte)(a), p.size), unsafe.Slice((*byte)(b), p.size))
	case reflect.Bool, reflect.Uint8:
		return cmp.Compare(*(*uint8)(a), *(*uint8)(b))
	case reflect.Int:
		return cmp.Compare(*(*int)(a), *(*int)(b))
	case reflect.Int8:
		return cmp.Compare(*(*int8)(a), *(*int8)(b))
	case reflect.Int16:
		return cmp.Compare(*(*int16)(a), *(*int16)(b))
	case reflect.Int32:
		return cmp.Compare(*(*int32)(a), *(*int32)(b))
	case reflect.Int64:
		return cmp.Compare(*(*int64)(a), *(*int64)(b))
	case reflect.Uint:
		return cmp.Compare(*(*uint)(a), *(*uint)(b))
	case reflect.Uint16:
		return cmp.Compare(*(*uint16)(a), *(*uint16)(b))
	case reflect.Uint32:
		return cmp.Compare(*(*uint32)(a), *(*uint32)(b))
	case reflect.Uint64:
		return cmp.Compare(*(*uint64)(a), *(*uint64)(b))
	case reflect.Uintptr:
		return cmp.Compare(*(*uintptr)(a), *(*uintptr)(b))
	case reflect.Float32:
		return cmp.Compare(*(*float32)(a), *(*float32)(b))
	default:
		return cmp.Compare(*(*float64)(a), *(*float64)(b))
	}
}

// findKey returns where keys equal to k begin and end, in n keys that are in the order of their
// kind, an integer or a string. It calls nobody for each comparison. Nothing here has a type
// parameter but findIn, so that there is one of it in a program and not one for each index.
func findKey(kind reflect.Kind, keys unsafe.Pointer, n int, k unsafe.Pointer) (from, to int) {
	switch kind {
	case reflect.String:
		return findIn[string](keys, n, k)
	case reflect.Int:
		return findIn[int](keys, n, k)
	case reflect.Int8:
		return findIn[int8](keys, n, k)
	case reflect.Int16:
		return findIn[int16](keys, n, k)
	case reflect.Int32:
		return findIn[int32](keys, n, k)
	case reflect.Int64:
		return findIn[int64](keys, n, k)
	case reflect.Uint:
		return findIn[uint](keys, n, k)
	case reflect.Uint8:
		return findIn[uint8](keys, n, k)
	case reflect.Uint16:
		return findIn[uint16](keys, n, k)
	case reflect.Uint32:
		return findIn[uint32](keys, n, k)
	case reflect.Uint64:
		return findIn[uint64](keys, n, k)
	default:
		return findIn[uintptr](keys, n, k)
	}
}

func findIn[T cmp.Ordered](at unsafe.Pointer, n int, key unsafe.Pointer) (from, to int) {
	keys, k := unsafe.Slice((*T)(at), n), *(*T)(key)
	from, to = 0, n
	for from < to {
		if mid := int(uint(from+to) / 2); keys[mid] < k {
			from = mid + 1
		} else {
			to = mid
		}
	}
	for to < n && keys[to] == k {
		to++
	}
	return from, to
}

// exact reports whether equal keys do not differ: 0 and -0, or one moment in two zones, do.
func exact(ps []place) bool {
	for _, p := range ps {
		if p.kind == reflect.Float32 || p.kind == reflect.Float64 || p.known == 1 {
			return false
		}
	}
	return true
}

// plain reports whether keys have numbers and booleans alone.
func plain(ps []place) bool {
	for _, p := range ps {
		if p.kind < reflect.Bool || p.kind > reflect.Float64 {
			return false
		}
	}
	return true
}

// equals reports whether keys are equal by == where they are in the order.
func equals(ps []place) bool {
	for _, p := range ps {
		if p.known == 1 {
			return false
		}
	}
	return true
}

// A text is the last field of index keys, where that is a string or []byte.
type text struct {
	offset  uintptr
	isBytes bool
	none    bool // there is no such field
}

func textOf(t reflect.Type) text {
	switch k := t.Kind(); {
	case k == reflect.String:
		return text{}
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return text{isBytes: true}
	case k == reflect.Struct:
		for i := t.NumField() - 1; i >= 0; i-- {
			if f := t.Field(i); f.Name != "_" {
				in := textOf(f.Type)
				in.offset += f.Offset
				return in
			}
		}
	}
	return text{none: true}
}

// in returns the text of i, which must be kept no longer than i.
func (t text) in(i unsafe.Pointer) string {
	if p := unsafe.Add(i, t.offset); t.isBytes {
		b := *(*[]byte)(p)
		return unsafe.String(unsafe.SliceData(b), len(b))
	} else {
		return *(*string)(p)
	}
}

// put makes s the text of i.
func (t text) put(i unsafe.Pointer, s string) {
	if p := unsafe.Add(i, t.offset); t.isBytes {
		*(*[]byte)(p) = unsafe.Slice(unsafe.StringData(s), len(s))
	} else {
		*(*string)(p) = s
	}
}
