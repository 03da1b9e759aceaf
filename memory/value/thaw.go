package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/structs"
)

// Any returns a deep copy of the value. It and its parts have the Go types that they came in
// as. Fields that JSON does not show are in it, and what several pointers led to is one
// object again. Absent is nil.
func (v Value) Any() any {
	if v.n == nil || v.n.from.typ == nil {
		return nil
	}
	switch {
	case v.n.orig != nil:
		return v.thaw().Interface()
	case v.n.from == stringOrigin:
		return v.String()
	case v.n.from == floatOrigin:
		return v.Float()
	case v.n.from == intOrigin:
		return int(v.n.bits)
	case v.n.from == boolOrigin:
		return v.Bool()
	case v.n.from == mapOrigin:
		m := make(map[string]any, v.Len())
		for k, e := range v.All() {
			m[k] = e.Any()
		}
		return m
	case v.n.from == listOrigin:
		l := make([]any, v.Len())
		for i, e := range v.Values() {
			l[i] = e.Any()
		}
		return l
	}
	x := reflect.New(v.n.from.typ).Elem()
	v.restore(x)
	return x.Interface()
}

// restore sets x to the value. X is of the type it came in as, or an interface
// that held it.
func (v Value) restore(x reflect.Value) {
	if x.Kind() == reflect.Interface {
		if a := v.Any(); a != nil {
			x.Set(reflect.ValueOf(a))
		}
		return
	}
	if x.Type() == valueType {
		x.Set(reflect.ValueOf(v))
		return
	}
	if v.n.orig != nil {
		x.Set(v.thaw())
		return
	}
	if v.Kind() == Null && x.Kind() != reflect.Pointer || v.n.from.kind == Null && v.n.from.typ == x.Type() {
		return // nil
	}
	switch x.Type() {
	case timeOrigin.typ:
		x.Set(reflect.ValueOf(v.Time()))
		return
	case numberType:
		text, _ := v.n.literal()
		x.SetString(text)
		return
	}
	switch x.Kind() {
	case reflect.Bool:
		x.SetBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x.SetInt(int64(v.n.bits))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		x.SetUint(v.n.bits)
	case reflect.Float32, reflect.Float64:
		x.SetFloat(math.Float64frombits(v.n.bits))
	case reflect.String:
		x.SetString(v.String())
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		x.Set(reflect.ValueOf(v.handle()))
	case reflect.Pointer:
		x.Set(reflect.New(x.Type().Elem()))
		v.restore(x.Elem())
	case reflect.Slice:
		if v.Kind() == Bytes {
			x.SetBytes(v.Bytes())
			return
		}
		x.Set(reflect.MakeSlice(x.Type(), v.Len(), v.Len()))
		fallthrough
	case reflect.Array:
		for i, e := range v.Values() {
			e.restore(x.Index(i))
		}
	case reflect.Struct:
		for _, f := range structs.Of(x.Type()).Fields {
			v.Key(f.Name).restore(x.FieldByIndex(f.Index))
		}
	case reflect.Map:
		x.Set(reflect.MakeMapWithSize(x.Type(), v.Len()))
		for k, e := range v.All() {
			elem := reflect.New(x.Type().Elem()).Elem()
			e.restore(elem)
			x.SetMapIndex(keyOf(x.Type().Key(), k), elem)
		}
	}
}

// keyOf returns the key of a map, a string or an integer, that has that text.
func keyOf(t reflect.Type, text string) reflect.Value {
	key := reflect.New(t).Elem()
	switch key.Kind() {
	case reflect.String:
		key.SetString(text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, _ := strconv.ParseInt(text, 10, 64)
		key.SetInt(i)
	default:
		u, _ := strconv.ParseUint(text, 10, 64)
		key.SetUint(u)
	}
	return key
}

// ErrAbsent is the error of [As] for a [Value] that is Absent.
var ErrAbsent = errors.New("value: absent")

// As returns a copy of v as a T. If v came in as a T, or T is an interface that it
// implements, that is what [Value.Any] returns. As also makes a *T of a T and a T of a *T,
// alone and as an element of a slice, an array or a map; a nil pointer becomes the zero T.
// Anything else goes through JSON: As returns what encoding/json makes of it, without the
// fields that JSON does not show.
//
// With an error As returns the zero T. The error is [ErrAbsent] for Absent, or wraps that
// of encoding/json where v does not fit.
func As[T any](v Value) (T, error) {
	var t T
	if !v.Exists() {
		return t, ErrAbsent
	}
	x := reflect.ValueOf(&t).Elem()
	if x.Kind() == reflect.Interface {
		if t, ok := v.Any().(T); ok {
			return t, nil
		}
	}
	if v.fits(x.Type()) {
		v.fill(x)
		return t, nil
	}
	text, err := v.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		var zero T
		return zero, fmt.Errorf("value: as %v: %w", reflect.TypeFor[T](), bare.Wrap(err))
	}
	return t, nil
}

// fits reports whether what came in is a t but for pointers that lead to it, or to
// what is in it.
func (v Value) fits(t reflect.Type) bool {
	from := v.n.from.typ
	if from == t {
		return true
	}
	switch {
	case t.Kind() == reflect.Interface:
		return false
	case from == nil: // nil is the zero value, where the type does not say otherwise
		return !reflect.PointerTo(t).Implements(unmarshaler)
	case v.Kind() == Null:
		return v.n.orig == nil && behind(from) == behind(t)
	}
	if from, t = behind(from), behind(t); from == t {
		return true
	}
	if from.Kind() != t.Kind() && !(v.Kind() == List && t.Kind() != reflect.Map) || reflect.PointerTo(t).Implements(unmarshaler) {
		return false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Kind() != List || t.Kind() == reflect.Array && t.Len() != v.Len() {
			return false
		}
		for _, e := range v.Values() {
			if !e.fits(t.Elem()) {
				return false
			}
		}
		return true
	case reflect.Map:
		if v.Kind() != Map || from.Key() != t.Key() || structs.MarshalsKeys(t.Key()) {
			return false
		}
		for _, e := range v.All() {
			if !e.fits(t.Elem()) {
				return false
			}
		}
		return true
	}
	return false
}

// fill sets x to a value that fits.
func (v Value) fill(x reflect.Value) {
	t := x.Type()
	if v.n.from.typ == t {
		v.restore(x)
		return
	}
	if v.Kind() == Null && v.n.orig == nil {
		return // the zero value
	}
	for x.Kind() == reflect.Pointer {
		x.Set(reflect.New(x.Type().Elem()))
		x = x.Elem()
	}
	if behind(v.n.from.typ) == x.Type() {
		came := reflect.ValueOf(v.Any())
		for came.Kind() == reflect.Pointer {
			came = came.Elem()
		}
		if came.IsValid() { // else a pointer to a nil pointer
			x.Set(came)
		}
		return
	}
	switch x.Kind() {
	case reflect.Slice:
		x.Set(reflect.MakeSlice(x.Type(), v.Len(), v.Len()))
		fallthrough
	case reflect.Array:
		for i, e := range v.Values() {
			e.fill(x.Index(i))
		}
	case reflect.Map:
		x.Set(reflect.MakeMapWithSize(x.Type(), v.Len()))
		for k, e := range v.All() {
			elem := reflect.New(x.Type().Elem()).Elem()
			e.fill(elem)
			x.SetMapIndex(keyOf(x.Type().Key(), k), elem)
		}
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// behind returns the type that pointers of t lead to.
func behind(t reflect.Type) reflect.Type {
	for seen := 0; t.Kind() == reflect.Pointer && seen < maxPointers; seen++ { // type P *P
		t = t.Elem()
	}
	return t
}
