package snapshot

import (
	"reflect"
	"unsafe"
)

// size is Builder.Size.
func (r Row[K, V]) size() int {
	n := int(unsafe.Sizeof(*r.e))
	key := r.Key()
	n += int(unsafe.Sizeof(key))
	if r.cfg.inline {
		n += len(*(*string)(unsafe.Pointer(&key)))
	}
	if !r.cfg.noscan {
		s := sizer{left: 1000, handle: r.cfg.handle}
		s.value(reflect.ValueOf(&r.e.value).Elem())
		n += s.bytes
	}
	return n
}

// Exclusive returns how many rows m has that other does not share, and about how
// many bytes they keep alive. The time is proportional to them, as for Diff.
func (m *Map[K, V]) Exclusive(other *Map[K, V]) (rows, bytes int) {
	for c := range other.Diff(m) {
		if c.old != nil {
			rows++
			bytes += c.cfg.row(c.old).size()
		}
	}
	return rows, bytes
}

// A sizer adds up what values refer to. It takes what is referred to twice for
// two; left bounds how many objects it looks at, and how deep it goes.
type sizer struct {
	bytes, left int
	handle      bool // nothing that is referred to may be read
}

// value adds what v refers to, not v itself.
func (s *sizer) value(v reflect.Value) {
	if s.left <= 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		switch pl := planOf(v.Type()); {
		case pl.class == classSentinel || pl.class == classFlat && (v.Kind() == reflect.Pointer || isConstant(pl.typ)):
			return
		case pl.class == classMethod && !s.handle:
			// It may share what it holds, locks and all.
			s.handle = true
			defer func() { s.handle = false }()
		}
	}
	switch v.Kind() {
	case reflect.String:
		s.bytes += v.Len()
	case reflect.Slice:
		s.left--
		s.bytes += v.Cap() * int(v.Type().Elem().Size())
		if !s.handle {
			s.elements(v)
		}
	case reflect.Array:
		s.elements(v)
	case reflect.Struct:
		for i := range v.NumField() {
			s.value(v.Field(i))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.left--
			s.bytes += int(v.Elem().Type().Size())
			// What is in an interface nobody can modify.
			if !s.handle || v.Kind() == reflect.Interface {
				s.value(v.Elem())
			}
		}
	case reflect.Map:
		s.left--
		if s.handle {
			return
		}
		t := v.Type()
		s.bytes += v.Len() * int(t.Key().Size()+t.Elem().Size())
		if !hasPointers(t.Key()) && !hasPointers(t.Elem()) {
			return
		}
		for i := v.MapRange(); s.left > 0 && i.Next(); {
			s.left--
			s.value(i.Key())
			s.value(i.Value())
		}
	}
}

func (s *sizer) elements(v reflect.Value) {
	if !hasPointers(v.Type().Elem()) {
		return
	}
	for i := 0; i < v.Len() && s.left > 0; i++ {
		s.left--
		s.value(v.Index(i))
	}
}

// structure is Builder.Structure.
func (m *Map[K, V]) structure() int {
	n := m.Len() * structurePerRow
	if x, to := m.attached(); to == m {
		if x, ok := x.(interface{ Structure() int }); ok {
			n += x.Structure()
		}
	}
	return n
}

// structurePerRow is how many bytes of pages and directories a row takes: 64 a
// bucket of seven, of which about two thirds are in use.
const structurePerRow = 16
