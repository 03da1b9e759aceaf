package view

import (
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
)

// How a struct looks in a log: its fields, each as short as it goes, strings by their
// beginning, slices and maps by their lengths. Nothing here follows a pointer, so that
// no cycle matters, and of all methods only those of the standard library's types are
// called.

// StringOf returns what r points to as text, such as Profile{Name: "ada", Tags: [2]},
// and "<nil>" if r is not Valid. It is for generated code.
func StringOf[T any](r Ref[T]) string {
	if r.p == nil {
		return "<nil>"
	}
	v := reflect.ValueOf(r.p).Elem()
	if v.Kind() != reflect.Struct {
		return brief(v)
	}
	var b strings.Builder
	b.WriteString(v.Type().Name())
	b.WriteByte('{')
	for i := range v.NumField() {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 2*long {
			b.WriteString("…")
			break
		}
		fmt.Fprintf(&b, "%s: %s", v.Type().Field(i).Name, brief(v.Field(i)))
	}
	b.WriteByte('}')
	return b.String()
}

// LogOf returns what r points to as a group of its fields, as StringOf shows them. It
// is for generated code.
func LogOf[T any](r Ref[T]) slog.Value {
	if r.p == nil {
		return slog.Value{}
	}
	v := reflect.ValueOf(r.p).Elem()
	if v.Kind() != reflect.Struct {
		return slog.StringValue(brief(v))
	}
	attrs := make([]slog.Attr, v.NumField())
	for i := range attrs {
		attrs[i] = slog.Attr{Key: v.Type().Field(i).Name, Value: logged(v.Field(i))}
	}
	return slog.GroupValue(attrs...)
}

// logged returns numbers and bools as they are, and all else as text.
func logged(v reflect.Value) slog.Value {
	switch {
	case isStandard(v):
	case v.CanInt():
		return slog.Int64Value(v.Int())
	case v.CanUint():
		return slog.Uint64Value(v.Uint())
	case v.CanFloat():
		return slog.Float64Value(v.Float())
	case v.Kind() == reflect.Bool:
		return slog.BoolValue(v.Bool())
	case v.Kind() == reflect.String:
		return slog.StringValue(short(v.String()))
	}
	return slog.StringValue(brief(v))
}

// isStandard reports whether v is a value of a type of the standard library that has a
// text of its own, such as a time.
func isStandard(v reflect.Value) bool {
	path, _, _ := strings.Cut(v.Type().PkgPath(), "/")
	if path == "" || strings.Contains(path, ".") || !v.CanInterface() || v.Kind() == reflect.Interface {
		return false
	}
	if path == "log" && v.Kind() == reflect.Struct {
		return false // slog.Value and Attr: they show whatever is in them, with all its methods
	}
	_, ok := v.Interface().(fmt.Stringer)
	return ok
}

// brief returns a text for v that does not depend on how large it is.
func brief(v reflect.Value) string {
	if isStandard(v) {
		return short(fmt.Sprint(v.Interface()))
	}
	switch v.Kind() {
	case reflect.String:
		return short(strconv.Quote(short(v.String())))
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		return fmt.Sprintf("[%d]", v.Len())
	case reflect.Map:
		if v.IsNil() {
			return "nil"
		}
		return fmt.Sprintf("{%d}", v.Len())
	case reflect.Array:
		return fmt.Sprintf("[%d]", v.Len())
	case reflect.Struct:
		return "{…}"
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		if v.IsNil() {
			return "nil"
		}
		if v.Kind() == reflect.Interface {
			return short(v.Elem().Type().String())
		}
		return short(v.Type().String())
	}
	return fmt.Sprint(v) // a bool or a number
}
