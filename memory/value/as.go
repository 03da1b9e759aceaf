package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/cowstore/cowstore/memory/internal/bare"
)

// ErrAbsent says that there is no value.
var ErrAbsent = errors.New("value: absent")

// As returns v as a T: what came in, as Any does, if that was a T, or T is an
// interface that it implements. A T is as good as a *T, alone and as the element of
// a slice, an array or a map, and a nil there is the zero T. Anything else is what
// encoding/json makes of its JSON, without the fields that JSON does not show. As
// returns an error if that does not fit, and the zero T with ErrAbsent for Absent.
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
		if v.Kind() != Map || from.Key() != t.Key() || marshalsKeys(t.Key()) {
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
