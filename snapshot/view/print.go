package view

import (
	"encoding/json"
	"fmt"
)

// StringOf returns what r points to as fmt shows it, with the names of fields, and
// "<nil>" if r is not Valid. It is for generated code.
func StringOf[T any](r Ref[T]) string {
	if r.p == nil {
		return "<nil>"
	}
	return fmt.Sprintf("%+v", *r.p)
}

// JSONOf returns the JSON of what r points to, and null if r is not Valid. It is for
// generated code.
func JSONOf[T any](r Ref[T]) ([]byte, error) {
	if r.p == nil {
		return []byte("null"), nil
	}
	return json.Marshal(*r.p)
}
