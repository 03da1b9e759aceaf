package clone

import "reflect"

// Size returns about how many bytes v refers to, apart from itself, looking at the first
// thousand objects. If handle is true, others may write to what v refers to: Size does not
// read it.
func Size(v reflect.Value, handle bool) int {
	s := sizer{left: 1000, handle: handle}
	s.value(v)
	return s.bytes
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
		case pl.why != "" || pl.class == classFlat && v.Kind() == reflect.Pointer:
			return
		case v.Kind() == reflect.Pointer && pl.stays(v.UnsafePointer()):
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
		for _, part := range Parts(v) {
			s.value(part)
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
