package value

import (
	"encoding"
	"encoding/json"
	"reflect"
)

// marshaled freezes a value that marshals itself, as what that is.
func (f *freezer) marshaled(n *node, v reflect.Value, tr *traits) error {
	t := v.Type()
	// Another clone is marshaled: whatever the method does with it is done to nobody's
	// value.
	clone, err := cloneOf(v)
	if err != nil {
		return err
	}
	marshaler := clone.Addr().Interface()
	if !tr.byJSON {
		text, err := marshaler.(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return unsupported(t, err)
		}
		n.from = originOf(t, String)
		n.string(string(text))
		return nil
	}
	text, err := marshaler.(json.Marshaler).MarshalJSON()
	if err != nil {
		return unsupported(t, err)
	}
	decoded, err := decode(text)
	if err != nil {
		return unsupported(t, err)
	}
	if err := f.frozen(n, decoded); err != nil {
		return err
	}
	n.from = originOf(t, n.from.kind)
	return nil
}
