package memory

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot"
)

// A span is memory that a reference leads to.
type span struct {
	from, to uintptr
	of       int // the original in which the reference is; 0: none, the nodes tell of it
}

// refer notes what a reference leads to, unless that is nothing.
func (f *freezer) refer(p unsafe.Pointer, size uintptr) {
	if size > 0 && !f.kept {
		f.spans = append(f.spans, span{uintptr(p), uintptr(p) + size, 0})
	}
}

// tangled reports whether two references lead to the same memory, but for those of
// one original, whose clone has the shape of it.
func (f *freezer) tangled() bool {
	if len(f.spans) < 2 {
		return false
	}
	slices.SortFunc(f.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	last := f.spans[0]
	for _, s := range f.spans[1:] {
		if s.from < last.to && (s.of != last.of || s.of == 0) {
			return true
		}
		if s.to > last.to {
			last = s
		}
	}
	return false
}

// survey notes what all references in v lead to, those that JSON does not show too:
// v gets an original.
func (f *freezer) survey(v reflect.Value) {
	if traitsOf(v.Type()).leaf {
		return
	}
	f.originals++
	s := survey{spans: f.spans, of: f.originals}
	s.follow(v)
	f.spans = s.spans
}

// originalSize returns about how many bytes an original takes.
func originalSize(v reflect.Value) int64 {
	s := survey{bytes: int64(v.Type().Size())}
	s.follow(v)
	return s.bytes
}

// A survey follows all references in a value but those that nobody may look into:
// what is constant, and what a Clone of its own copies, which may share it with
// others.
type survey struct {
	spans []span
	of    int
	bytes int64
	seen  map[visit]bool
	todo  []reflect.Value
}

func (s *survey) follow(v reflect.Value) {
	for s.look(v); len(s.todo) > 0; {
		last := len(s.todo) - 1
		v, s.todo[last] = s.todo[last], reflect.Value{}
		s.todo = s.todo[:last]
		s.look(v)
	}
}

// look notes v, and what there is to look at in it.
func (s *survey) look(v reflect.Value) {
	t := v.Type()
	if t.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
		t = v.Type()
		s.bytes += int64(t.Size())
	}
	tr := traitsOf(t)
	if tr.leaf || tr.opaque || tr.sentinel && snapshot.IsConstant(v) {
		return
	}
	switch t.Kind() {
	case reflect.String:
		s.bytes += int64(v.Len())
	case reflect.Pointer:
		if s.first(v, 0, t.Elem().Size()) {
			s.todo = append(s.todo, v.Elem())
		}
	case reflect.Slice:
		if s.first(v, v.Len(), t.Elem().Size()*uintptr(v.Cap())) {
			s.elements(v)
		}
	case reflect.Array:
		s.elements(v)
	case reflect.Struct:
		for i := range t.NumField() {
			s.todo = append(s.todo, v.Field(i))
		}
	case reflect.Map:
		if !s.first(v, 0, 1) {
			return
		}
		s.bytes += int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())
		for it := v.MapRange(); it.Next(); {
			s.todo = append(s.todo, it.Key(), it.Value())
		}
	}
}

func (s *survey) elements(v reflect.Value) {
	if e := v.Type().Elem(); e.Kind() != reflect.Interface && traitsOf(e).leaf {
		return
	}
	for i := range v.Len() {
		s.todo = append(s.todo, v.Index(i))
	}
}

// first notes that a reference leads to so many bytes, and reports whether it does
// so for the first time.
func (s *survey) first(v reflect.Value, length int, size uintptr) bool {
	p := v.UnsafePointer()
	at := visit{p, length, v.Type()}
	if p == nil || size == 0 || s.seen[at] {
		return false
	}
	if s.seen == nil {
		s.seen = make(map[visit]bool)
	}
	s.seen[at] = true
	s.bytes += int64(size)
	if s.of > 0 {
		s.spans = append(s.spans, span{uintptr(p), uintptr(p) + size, s.of})
	}
	return true
}
