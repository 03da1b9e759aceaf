package view

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/snapshot/depth"
)

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
