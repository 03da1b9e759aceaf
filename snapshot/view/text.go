package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// few is how many elements a text shows, and long how many bytes of all.
const (
	few  = 8
	long = 200
)

// text returns n elements as fmt shows a slice, the first of them if there are many.
func text(n int, at func(int) any) string {
	b := []byte{'['}
	shown := 0
	for ; shown < min(n, few) && len(b) < long; shown++ {
		if shown > 0 {
			b = append(b, ' ')
		}
		b = append(b, printed(at(shown))...)
	}
	if shown < n {
		b = fmt.Appendf(b, " … %d more", n-shown)
	}
	return string(append(b, ']'))
}

// short returns the beginning of a text that is long.
func short(s string) string {
	if len(s) <= long {
		return s
	}
	return strings.ToValidUTF8(s[:long], "") + "…"
}

// count returns a text such as [2 keys].
func count(n int, what string) string {
	if n == 1 {
		return "[1 " + what + "]"
	}
	return fmt.Sprintf("[%d %ss]", n, what)
}

// pointee returns the text of what a pointer points to.
func pointee(e any, ok bool) string {
	if !ok {
		return "<nil>"
	}
	return printed(e)
}

// printed returns the beginning of what fmt shows e as, or the type of an e that fmt, which
// recurses, must not be shown.
func printed(e any) string {
	if err := depth.Text.Check(e); err != nil {
		return fmt.Sprintf("%s (%v)", short(reflect.TypeOf(e).String()), err)
	}
	return short(fmt.Sprint(e))
}

func typeName[T any]() string { return "[" + reflect.TypeFor[T]().String() + "]" }

// JSONOf returns the JSON of what r points to, and null if r is not Valid. It is for
// generated code.
func JSONOf[T any](r Ref[T]) ([]byte, error) {
	if r.p == nil {
		return []byte("null"), nil
	}
	return marshal(*r.p)
}

// marshal returns the JSON of v, and depth.ErrTooDeep for a v that is nested more than
// 10,000 levels or contains itself. An error of it does not lead to v: that of an
// unsupported value has a reflect.Value by which one could write.
func marshal(v any) ([]byte, error) {
	text, err := depth.Marshal(0, v)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return nil, errors.New(err.Error())
	}
	if errors.Is(err, depth.ErrTooDeep) {
		return nil, fmt.Errorf("view: %T: %w", v, err)
	}
	return text, err
}

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
