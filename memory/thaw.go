package memory

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Any returns the value as a deep copy with the dynamic type that it came in
// with, and those of its parts. Pointers are to copies of their own, also where
// several were the same. Absent is nil.
func (v Value) Any() any {
	if v.n == nil || v.n.from.typ == nil {
		return nil
	}
	switch {
	case v.n.orig != nil && (v.n.from.typ.Kind() != reflect.Pointer || v.Kind() == Null):
		return cloneAny(*v.n.orig)
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
	if v.n.orig != nil && (x.Kind() != reflect.Pointer || v.Kind() == Null) {
		x.Set(reflect.ValueOf(cloneAny(*v.n.orig)))
		return
	}
	if v.Kind() == Null && x.Kind() != reflect.Pointer || v.n.from.kind == Null && v.n.from.typ == x.Type() {
		return // nil
	}
	if x.Type() == timeOrigin.typ {
		x.Set(reflect.ValueOf(v.Time()))
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
			key, elem := reflect.New(x.Type().Key()).Elem(), reflect.New(x.Type().Elem()).Elem()
			switch key.Kind() {
			case reflect.String:
				key.SetString(k)
			case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				i, _ := strconv.ParseInt(k, 10, 64)
				key.SetInt(i)
			default:
				u, _ := strconv.ParseUint(k, 10, 64)
				key.SetUint(u)
			}
			e.restore(elem)
			x.SetMapIndex(key, elem)
		}
	}
}

// As returns v as a T: what came in, if that was a T or T is an interface that it
// implements, and otherwise what encoding/json makes of its JSON. It returns an error if that does not fit, and
// the zero T with ErrAbsent for Absent.
func As[T any](v Value) (T, error) {
	var t T
	if !v.Exists() {
		return t, ErrAbsent
	}
	if v.n.from.typ == reflect.TypeFor[T]() {
		t, _ = v.Any().(T)
		return t, nil
	}
	if reflect.TypeFor[T]().Kind() == reflect.Interface {
		if t, ok := v.Any().(T); ok {
			return t, nil
		}
	}
	text, err := v.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		var zero T
		return zero, fmt.Errorf("memory: as %v: %w", reflect.TypeFor[T](), err)
	}
	return t, nil
}

// ErrAbsent says that there is no value.
var ErrAbsent = errors.New("memory: value is absent")

// MarshalJSON returns the value as JSON: Bytes in base64, a Time as RFC 3339,
// Absent as null. A Handle has no JSON: an error that wraps ErrUnsupported.
func (v Value) MarshalJSON() ([]byte, error) { return v.append(nil) }

// append appends the value as JSON.
func (v Value) append(b []byte) ([]byte, error) {
	var err error
	switch v.Kind() {
	case Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case Int:
		return strconv.AppendInt(b, int64(v.n.bits), 10), nil
	case Uint:
		return strconv.AppendUint(b, v.n.bits, 10), nil
	case Float:
		if v.n.from.typ.Kind() == reflect.Float32 {
			return appendJSON(b, float32(v.Float()))
		}
		return appendJSON(b, v.Float())
	case String:
		return appendJSON(b, v.String())
	case Bytes:
		b = append(b, '"')
		return append(base64.StdEncoding.AppendEncode(b, v.bytes()), '"'), nil
	case Time:
		return appendJSON(b, v.Time().Format(time.RFC3339Nano))
	case List:
		b = append(b, '[')
		for i, e := range v.Values() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = e.append(b); err != nil {
				return nil, inside(err, strconv.Itoa(i))
			}
		}
		return append(b, ']'), nil
	case Map:
		b = append(b, '{')
		first := true
		for k, e := range v.All() {
			if !first {
				b = append(b, ',')
			}
			first = false
			if b, err = appendJSON(b, k); err != nil {
				return nil, err
			}
			b = append(b, ':')
			if b, err = e.append(b); err != nil {
				return nil, inside(err, k)
			}
		}
		return append(b, '}'), nil
	case Handle:
		return nil, &ValueError{Type: v.n.from.typ.String(), Err: ErrUnsupported}
	}
	return append(b, "null"...), nil
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}
