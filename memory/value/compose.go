package value

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// mapOf freezes a map of any type.
func (f *freezer) mapOf(n *node, v reflect.Value) error {
	type pair struct {
		key   string
		value reflect.Value
	}
	t := v.Type()
	pairs := make([]pair, 0, v.Len())
	var room reflect.Value
	if f.kept {
		// The values of a map are not addressable.
		room = reflect.MakeSlice(reflect.SliceOf(t.Elem()), v.Len(), v.Len())
	}
	for it := v.MapRange(); it.Next(); {
		key, err := keyText(it.Key())
		if err != nil {
			return err
		}
		value := it.Value()
		if f.kept {
			e := room.Index(len(pairs))
			e.Set(value)
			value = e
		}
		pairs = append(pairs, pair{key, value})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	fs := f.newFields(len(pairs))
	for i, p := range pairs {
		if i > 0 && p.key == pairs[i-1].key {
			return unsupported(t, fmt.Errorf("two keys are %q", p.key))
		}
		fs.keys = append(fs.keys, p.key)
		if err := f.value(&fs.values[i], p.value); err != nil {
			return inside(err, p.key)
		}
	}
	n.keyed(&fs)
	return nil
}

// keyText returns the key of a map as encoding/json names it.
func keyText(k reflect.Value) (string, error) {
	if t := k.Type(); marshalsKeys(t) {
		if t.Kind() == reflect.Pointer && k.IsNil() {
			return "", nil
		}
		clone, err := cloneOf(k) // as in marshaled
		if err != nil {
			return "", err
		}
		text, err := clone.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return "", unsupported(t, err)
		}
		return string(text), nil
	}
	switch k.Kind() {
	case reflect.String:
		return k.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(k.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", &Error{Type: k.Type().String(), Err: fmt.Errorf("%w: the key of a map", ErrUnsupported)}
}

// structOf freezes a struct.
func (f *freezer) structOf(n *node, v reflect.Value) error {
	shape := shapeOf(v.Type())
	fs := f.newFields(len(shape.fields))
	for _, field := range shape.fields {
		fv, err := v.FieldByIndexErr(field.index)
		if err != nil || field.omitEmpty && empty(fv) {
			continue // also what is embedded by a nil pointer
		}
		if field.omitZero {
			if omit, err := zero(fv); err != nil {
				return inside(err, field.name)
			} else if omit {
				continue
			}
		}
		fs.keys = append(fs.keys, field.name)
		e := &fs.values[len(fs.keys)-1]
		err = f.value(e, fv)
		if err == nil && field.quoted && e.from.kind != Null {
			err = f.quote(e, fv)
		}
		if err != nil {
			return inside(err, field.name)
		}
	}
	n.keyed(&fs)
	return nil
}

// quote makes n, which v was frozen into, a String with its JSON.
func (f *freezer) quote(n *node, v reflect.Value) error {
	text, err := Value{n}.append(nil)
	if err != nil {
		return err
	}
	n.from = originOf(v.Type(), String)
	n.string(string(text))
	return f.keep(n, v)
}
