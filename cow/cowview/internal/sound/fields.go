package sound

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cowstore/cowstore/snapshot/snapshottest"
)

// Fields fails the test unless each field of the struct that the pointer stored leads
// to has an accessor in v, its view, that shows what is in the field: the value itself,
// or a view with a method Clone or Get that returns it. Names maps fields to accessors of
// other names. The results of accessors of unexported fields are in hidden, by the names
// of the fields; they are not asked for if hidden is nil.
func Fields(t testing.TB, v any, stored reflect.Value, names map[string]string, hidden map[string]any) {
	t.Helper()
	for _, text := range Missing(v, stored, names, hidden) {
		t.Error(text)
	}
}

// Missing returns what Fields fails for.
func Missing(v any, stored reflect.Value, names map[string]string, hidden map[string]any) (wrong []string) {
	s := stored.Elem()
	for i := range s.NumField() {
		f := s.Type().Field(i)
		if f.Name == "_" || !f.IsExported() && hidden == nil {
			continue
		}
		got, ok := access(v, f, names, hidden)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s.%s has no accessor", s.Type(), f.Name))
			continue
		}
		if err := shows(got, writable(s.Field(i))); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s.%s: %v", s.Type(), f.Name, err))
		}
	}
	return wrong
}

// access returns what the accessor of the field f returns.
func access(v any, f reflect.StructField, names map[string]string, hidden map[string]any) (any, bool) {
	if !f.IsExported() {
		got, ok := hidden[f.Name]
		return got, ok
	}
	name := f.Name
	if names[name] != "" {
		name = names[name]
	}
	m := reflect.ValueOf(v).MethodByName(name)
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return nil, false
	}
	return m.Call(nil)[0].Interface(), true
}

// shows returns an error unless got is the value of the field, or a view of it.
func shows(got any, field reflect.Value) error {
	if got == nil {
		if k := field.Kind(); (k == reflect.Interface || k == reflect.Pointer) && field.IsNil() {
			return nil
		}
		return fmt.Errorf("%s shown as nil", field.Type())
	}
	g := copyOf(reflect.ValueOf(got))
	t := g.Type()
	if IsView(t) && t != field.Type() {
		if !isValid(g) {
			if field.Kind() == reflect.Pointer && field.IsNil() {
				return nil
			}
			return fmt.Errorf("%s shown by a %s that is not valid", field.Type(), t)
		}
		c, err := behind(g)
		if err != nil {
			return err
		}
		g = copyOf(c)
	}
	if t := g.Type(); field.Kind() == reflect.Interface && t != field.Type() {
		field = copyOf(field.Elem())
	}
	if field.Kind() == reflect.Pointer && g.Type() == field.Type().Elem() && !field.IsNil() {
		field = field.Elem()
	}
	if g.Kind() == reflect.Pointer && g.Type().Elem() == field.Type() && !g.IsNil() {
		g = g.Elem()
	}
	return same(g, field)
}

// behind returns what the view v says that it shows.
func behind(v reflect.Value) (reflect.Value, error) {
	for _, name := range []string{"Clone", "Get"} {
		if m := v.MethodByName(name); m.IsValid() && m.Type().NumIn() == 0 && m.Type().NumOut() > 0 {
			return m.Call(nil)[0], nil
		}
	}
	return v, fmt.Errorf("%s has neither Clone nor Get", v.Type())
}

// same returns an error unless the variables a and b hold the same, deeply.
func same(a, b reflect.Value) error {
	if b.Kind() == reflect.Array && a.Kind() == reflect.Slice {
		b = copyOf(b.Slice(0, b.Len()))
	}
	if a.Type() != b.Type() && a.Kind() == b.Kind() && b.Type().ConvertibleTo(a.Type()) {
		b = copyOf(b.Convert(a.Type())) // a named type, by its elements
	}
	if a.Type() != b.Type() {
		return fmt.Errorf("%s shown as %s", b.Type(), a.Type())
	}
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	// Functions are not equal to themselves.
	if a.Kind() == reflect.Func && a.UnsafePointer() == b.UnsafePointer() {
		return nil
	}
	_, err := snapshottest.Compare(b.Addr(), a.Addr())
	if err == nil {
		return nil
	}
	// A value that leads to the variable that it is in has copies that do not.
	p := reflect.New(b.Addr().Type())
	p.Elem().Set(b.Addr())
	if f, _ := snapshottest.Compare(p, p); f.Cycle {
		return nil
	}
	return fmt.Errorf("another value: %w", err)
}
