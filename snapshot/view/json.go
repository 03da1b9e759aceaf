package view

import (
	"encoding/json"
	"errors"
)

// JSONOf returns the JSON of what r points to, and null if r is not Valid. It is for
// generated code.
func JSONOf[T any](r Ref[T]) ([]byte, error) {
	if r.p == nil {
		return []byte("null"), nil
	}
	return marshal(*r.p)
}

// marshal returns the JSON of v. An error of it does not lead to v: that of a cycle
// has a reflect.Value by which one could write.
func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return nil, errors.New(err.Error())
	}
	return text, err
}
