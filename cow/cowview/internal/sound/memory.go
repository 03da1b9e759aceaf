package sound

import (
	"bytes"
	"reflect"
	"slices"
	"sort"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// memory is what a value consists of: the variables it leads to, and its maps. What is
// immutable by its type or is known by its address (strings, time zones, types,
// sentinel errors) is not part of it; nor are channels and functions, which are handles.
type memory struct {
	areas []area // sorted, and apart from each other
	maps  map[unsafe.Pointer]*table
	met   map[object]bool
}

// An area is some memory, and what was in it at first.
type area struct {
	p    unsafe.Pointer
	n    uintptr
	path string
	was  []byte
}

func (a area) end() uintptr { return uintptr(a.p) + a.n }

// A table is a map, and what was in it at first.
type table struct {
	m       reflect.Value
	path    string
	entries []entry
}

type entry struct{ key, elem reflect.Value }

// An object is what a reference leads to.
type object struct {
	t reflect.Type
	p unsafe.Pointer
	n int
}

// memoryOf returns the memory of what the pointer v leads to.
func memoryOf(v reflect.Value) *memory {
	m := &memory{maps: map[unsafe.Pointer]*table{}, met: map[object]bool{}}
	m.value(copyOf(v), "stored")
	m.merge()
	return m
}

// value adds what the variable v leads to, but not v.
func (m *memory) value(v reflect.Value, path string) {
	v = writable(v)
	t := v.Type()
	if isConstant(v) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for name, part := range clone.Parts(v) {
			m.value(part, path+"."+name)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.value(v.Index(i), path+"[]")
		}
	case reflect.Pointer:
		if m.add(object{t.Elem(), v.UnsafePointer(), 1}, path) {
			m.value(v.Elem(), path)
		}
	case reflect.Slice:
		if m.add(object{t.Elem(), v.UnsafePointer(), v.Cap()}, path) {
			v = v.Slice(0, v.Cap())
			for i := range v.Len() {
				m.value(v.Index(i), path+"[]")
			}
		}
	case reflect.Map:
		m.table(v, path)
	case reflect.Interface:
		m.value(copyOf(v.Elem()), path)
	}
}

// add adds an object, and reports whether it is a new one.
func (m *memory) add(o object, path string) bool {
	if m.met[o] {
		return false
	}
	m.met[o] = true
	if n := o.t.Size() * uintptr(o.n); n > 0 {
		m.areas = append(m.areas, area{p: o.p, n: n, path: path})
	}
	return true
}

func (m *memory) table(v reflect.Value, path string) {
	if m.maps[v.UnsafePointer()] != nil {
		return
	}
	t := &table{m: v, path: path}
	m.maps[v.UnsafePointer()] = t
	for i := v.MapRange(); i.Next(); {
		e := entry{copyOf(i.Key()), copyOf(i.Value())}
		t.entries = append(t.entries, e)
		m.value(e.key, path+"[key]")
		m.value(e.elem, path+"[]")
	}
}

// merge sorts the areas, makes one of those that overlap, and notes what is in them.
func (m *memory) merge() {
	slices.SortFunc(m.areas, func(a, b area) int {
		switch {
		case uintptr(a.p) < uintptr(b.p):
			return -1
		case uintptr(a.p) > uintptr(b.p):
			return 1
		}
		return int(b.n) - int(a.n)
	})
	apart := m.areas[:0]
	for _, a := range m.areas {
		if last := len(apart) - 1; last >= 0 && uintptr(a.p) < apart[last].end() {
			apart[last].n = max(apart[last].end(), a.end()) - uintptr(apart[last].p)
			continue
		}
		apart = append(apart, a)
	}
	m.areas = apart
	for i, a := range m.areas {
		m.areas[i].was = bytes.Clone(unsafe.Slice((*byte)(a.p), a.n))
	}
}

// at returns the path to an area with one of the n bytes at p, and whether there is one.
func (m *memory) at(p unsafe.Pointer, n uintptr) (path string, ok bool) {
	i := sort.Search(len(m.areas), func(i int) bool { return m.areas[i].end() > uintptr(p) })
	if n == 0 || i == len(m.areas) || uintptr(m.areas[i].p) >= uintptr(p)+n {
		return "", false
	}
	return m.areas[i].path, true
}

// changes returns the paths to what is not as it was.
func (m *memory) changes() []string {
	var paths []string
	for _, a := range m.areas {
		if !bytes.Equal(a.was, unsafe.Slice((*byte)(a.p), a.n)) {
			paths = append(paths, a.path)
		}
	}
	for _, t := range m.maps {
		if t.changed() {
			paths = append(paths, t.path)
		}
	}
	slices.Sort(paths)
	return paths
}

func (t *table) changed() bool {
	if t.m.Len() != len(t.entries) {
		return true
	}
	for _, e := range t.entries {
		if !e.key.Equal(e.key) {
			continue // a NaN, which nobody can find
		}
		if now := t.m.MapIndex(e.key); !now.IsValid() || !bytes.Equal(image(copyOf(now)), image(e.elem)) {
			return true
		}
	}
	return false
}

// image returns the bytes of the variable v.
func image(v reflect.Value) []byte {
	return unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size())
}

// isConstant reports whether nothing can be written to through v: it is nil, or
// constant by its type.
func isConstant(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			return true
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return clone.IsConstant(v)
	case reflect.Struct:
		return clone.NatureOf(v.Type()) == clone.Constant
	}
	return false
}
