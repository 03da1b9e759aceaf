package memory

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/cowstore/cowstore/snapshot"
)

// cloneAny is the deep clone of package snapshot.
var cloneAny = snapshot.Cloner(snapshot.Options[any]{})

var (
	valueType     = reflect.TypeFor[Value]()
	valuePointer  = reflect.TypeFor[*Value]()
	numberType    = reflect.TypeFor[json.Number]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// marshaled freezes a value that marshals itself, and reports whether it does.
func (f *freezer) marshaled(n *node, v reflect.Value) (bool, error) {
	t := v.Type()
	if t.Name() == "" && t.Kind() != reflect.Struct {
		return false, nil // it has no methods
	}
	byJSON := reflect.PointerTo(t).Implements(jsonMarshaler)
	byText := reflect.PointerTo(t).Implements(textMarshaler)
	if !byJSON && !byText {
		return false, nil
	}
	if err := n.keep(v); err != nil {
		return true, err
	}
	// The clone is marshaled, so that whatever the method does is done to
	// nobody's value.
	p := reflect.New(t)
	p.Elem().Set(reflect.ValueOf(cloneAny(*n.orig)))
	if !byJSON {
		text, err := p.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return true, &ValueError{Type: t.String(), Err: errors.Join(ErrUnsupported, err)}
		}
		n.from = originOf(t, String)
		n.string(string(text))
		return true, nil
	}
	text, err := p.Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return true, &ValueError{Type: t.String(), Err: errors.Join(ErrUnsupported, err)}
	}
	decoded, err := decode(text)
	if err != nil {
		return true, &ValueError{Type: t.String(), Err: errors.Join(ErrUnsupported, err)}
	}
	if err := f.any(n, decoded); err != nil {
		return true, err
	}
	n.from = originOf(t, n.from.kind)
	return true, nil
}

// number freezes a json.Number, as an Int or a Uint if it is one.
func (n *node) number(v reflect.Value) error {
	text := v.Interface().(json.Number)
	if i, err := text.Int64(); err == nil {
		n.from, n.bits = originOf(numberType, Int), uint64(i)
		return n.keep(v)
	}
	if u, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		n.from, n.bits = originOf(numberType, Uint), u
		return n.keep(v)
	}
	f, err := text.Float64()
	if err != nil {
		return &ValueError{Type: numberType.String(), Err: errors.Join(ErrUnsupported, err)}
	}
	n.from = originOf(numberType, Float)
	if err := n.float(f, numberType); err != nil {
		return err
	}
	return n.keep(v)
}

// keep keeps a clone of v with n, where n alone is not enough to restore it.
func (n *node) keep(v reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok {
				err = &ValueError{Type: v.Type().String(), Err: fmt.Errorf("%w: %w", ErrUnsupported, e)}
				return
			}
			panic(r)
		}
	}()
	if !v.CanInterface() {
		return &ValueError{Type: v.Type().String(), Err: ErrUnsupported}
	}
	clone := cloneAny(v.Interface())
	n.orig = &clone
	return nil
}
