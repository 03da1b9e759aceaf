package value

import (
	"math"
	"reflect"
	"strconv"
)

// Any returns the value as a deep copy with the dynamic type that it came in
// with, and those of its parts. Fields that JSON does not show are in it, and what
// several pointers led to is one object again. Absent is nil.
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
		for _, f := range shapeOf(x.Type()).fields {
			v.Key(f.name).restore(x.FieldByIndex(f.index))
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
