package sound

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// How far a search goes. Values of tests are far smaller; the limits are for accessors
// that make new views for ever.
const (
	deepest   = 60
	mostViews = 20_000
)

// A search looks for memory in the results of accessors.
type search struct {
	Report
	mem   *memory
	leaks []string
	told  map[string]bool
	met   map[object]bool
	views map[viewKey]bool

	vars []reflect.Value // what can be written to
	maps []reflect.Value
}

func newSearch(m *memory) *search {
	return &search{
		Report: Report{Called: map[string]bool{}},
		mem:    m,
		told:   map[string]bool{},
		met:    map[object]bool{},
		views:  map[viewKey]bool{},
	}
}

// leak notes what is wrong, once.
func (s *search) leak(text string) {
	if !s.told[text] {
		s.told[text] = true
		s.leaks = append(s.leaks, text)
	}
}

// result looks at the variable v and all that it leads to. The depth is that of views.
func (s *search) result(v reflect.Value, path string, depth int) {
	v = writable(v)
	t := v.Type()
	if IsView(t) {
		s.view(v, path, depth)
		return
	}
	s.vars = append(s.vars, v)
	if isConstant(v) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for name, part := range clone.Parts(v) {
			s.result(part, path+"."+name, depth)
		}
	case reflect.Array:
		for i := range v.Len() {
			s.result(v.Index(i), path+"[]", depth)
		}
	case reflect.Pointer:
		if s.enter(object{t.Elem(), v.UnsafePointer(), 1}, path) {
			s.result(v.Elem(), path, depth)
		}
	case reflect.UnsafePointer:
		s.enter(object{reflect.TypeFor[byte](), v.UnsafePointer(), 1}, path)
	case reflect.Slice:
		s.slice(v, path, depth)
	case reflect.Map:
		s.table(v, path, depth)
	case reflect.Interface:
		s.result(copyOf(v.Elem()), path, depth)
	case reflect.Func:
		if isIterator(t) && !v.IsNil() {
			s.iterate(v, path, depth)
		}
	}
}

// enter notes an object, and reports whether it is to be looked at: it is new, and no
// leak.
func (s *search) enter(o object, path string) bool {
	if s.met[o] {
		return false
	}
	s.met[o] = true
	if to, ok := s.mem.at(o.p, o.t.Size()*uintptr(o.n)); ok {
		s.leak(fmt.Sprintf("%s leads into %s", path, to))
		return false
	}
	return true
}

func (s *search) slice(v reflect.Value, path string, depth int) {
	if !s.enter(object{v.Type().Elem(), v.UnsafePointer(), v.Cap()}, path) {
		return
	}
	v = v.Slice(0, v.Cap())
	for i := range v.Len() {
		s.result(v.Index(i), path+"[]", depth)
	}
}

func (s *search) table(v reflect.Value, path string, depth int) {
	if t := s.mem.maps[v.UnsafePointer()]; t != nil {
		s.leak(fmt.Sprintf("%s is the map %s", path, t.path))
		return
	}
	if o := (object{v.Type(), v.UnsafePointer(), -1}); s.met[o] {
		return
	} else {
		s.met[o] = true
	}
	s.maps = append(s.maps, v)
	for i := v.MapRange(); i.Next(); {
		s.result(copyOf(i.Key()), path+"[key]", depth)
		s.result(copyOf(i.Value()), path+"[]", depth)
	}
}

// spoil writes to all that can be written to in the results.
func (s *search) spoil() {
	for _, m := range s.maps {
		m.Clear()
		if k, e := m.Type().Key(), m.Type().Elem(); k.Kind() != reflect.Interface {
			m.SetMapIndex(reflect.Zero(k), reflect.Zero(e))
		}
	}
	for _, v := range s.vars {
		garbage(v)
	}
}

// garbage writes to the variable v.
func garbage(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(^v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(^v.Uint())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(v.Complex() + 1)
	case reflect.String:
		v.SetString(v.String() + "garbage")
	case reflect.Struct, reflect.Array: // by their parts
	default:
		v.SetZero()
	}
}

// A viewKey is all that there is to a view: those with one key show the same.
type viewKey struct {
	t     reflect.Type
	image string
}

func keyOf(v reflect.Value) viewKey {
	return viewKey{v.Type(), string(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size()))}
}
