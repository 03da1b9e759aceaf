package clone

import (
	"iter"
	"reflect"
	"slices"
	"unsafe"
)

// A slog.Value that is a group holds a pointer to the first of its attributes in an
// interface, and beside that their number. The type of the pointer is unexported: nothing
// else holds one, and nothing else knows how many there are.

// isGroup reports whether t is slog.Value, and looks as expected: a number, and last an
// interface. Else a group is found behind the interface, and refused.
func isGroup(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.PkgPath() != "log/slog" || t.Name() != "Value" {
		return false
	}
	_, ok := groupNumber(t)
	last := t.NumField() - 1
	return ok && t.Field(last).Type == reflect.TypeFor[any]()
}

func groupNumber(t reflect.Type) (reflect.StructField, bool) {
	f, ok := t.FieldByName("num")
	return f, ok && f.Type.Kind() == reflect.Uint64
}

func isGroupPointer(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.PkgPath() == "log/slog" && t.Name() == "groupptr"
}

// addGroup completes pl, the plan of t, a slog.Value.
func (c compiler) addGroup(pl *plan, t reflect.Type) {
	f, _ := groupNumber(t)
	last := t.Field(t.NumField() - 1)
	pl.num, pl.steps = f.Offset, []step{{last.Offset, c.plan(last.Type)}}
}

// addAttrs completes pl, the plan of the pointer of a group, if a slog.Value made of such a
// pointer and a number is the group that it should be.
func (c compiler) addAttrs(pl *plan, t reflect.Type) {
	attr := t.Elem()
	f, ok := attr.FieldByName("Value")
	if !ok || !isGroup(f.Type) {
		return
	}
	value := c.plan(f.Type)
	attrs, v := reflect.MakeSlice(reflect.SliceOf(attr), 2, 2), reflect.New(f.Type)
	at := v.UnsafePointer()
	*(*uint64)(unsafe.Add(at, value.num)) = 2
	*(*any)(unsafe.Add(at, value.steps[0].off)) = box(pl.word, attrs.UnsafePointer())
	if groupOf(v.Elem(), attrs) {
		pl.attrs = c.plan(attrs.Type())
	}
}

// groupOf reports whether the method Group of v returns attrs.
func groupOf(v, attrs reflect.Value) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	m := v.MethodByName("Group")
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || m.Type().Out(0) != attrs.Type() {
		return false
	}
	got := m.Call(nil)[0]
	return got.Len() == attrs.Len() && got.UnsafePointer() == attrs.UnsafePointer()
}

// group returns the attributes of the slog.Value at p, if it is a group, and their plan.
func (pl *plan) group(p unsafe.Pointer) (header, *plan) {
	v := *(*any)(unsafe.Add(p, pl.steps[0].off))
	if v == nil {
		return header{}, nil
	}
	attrs := planOf(reflect.TypeOf(v)).attrs
	n := int(*(*uint64)(unsafe.Add(p, pl.num)))
	return header{(*eface)(unsafe.Pointer(&v)).data, n, n}, attrs
}

// fixGroup is the fixer of a slog.Value.
func fixGroup(s *state, pl *plan, p unsafe.Pointer) {
	h, attrs := pl.group(p)
	at := unsafe.Add(p, pl.steps[0].off)
	switch {
	case attrs == nil:
		fixAny(s, nil, at)
	case h.ptr != nil:
		attrs.fix(s, attrs, unsafe.Pointer(&h))
		(*eface)(at).data = h.ptr
	}
}

// attrsOf returns the attributes of v, if it is a slog.Value that is a group.
func attrsOf(v reflect.Value) (reflect.Value, bool) {
	if planOf(v.Type()).class != classGroup {
		return reflect.Value{}, false
	}
	first := v.Field(v.NumField() - 1).Elem()
	if !first.IsValid() || first.Kind() != reflect.Pointer || first.IsNil() {
		return reflect.Value{}, false
	}
	attrs := planOf(first.Type()).attrs
	if attrs == nil {
		return reflect.Value{}, false
	}
	n := int(v.FieldByName("num").Uint())
	return attrs.at(unsafe.Pointer(&header{first.UnsafePointer(), n, n})), true
}

// Parts yields what a clone of the struct v looks into, by name: its fields, but for those
// that it shares with v, as the program of a regexp; of a slog.Value that is a group, the
// attributes, which its fields do not tell. It is for packages that walk values as a clone
// does.
func Parts(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		if attrs, ok := attrsOf(v); ok {
			yield("Group()", attrs)
			return
		}
		share := planOf(v.Type()).share
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !slices.Contains(share, name) && !yield(name, v.Field(i)) {
				return
			}
		}
	}
}
