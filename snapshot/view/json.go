package view

import "encoding/json"

// JSONOf returns the JSON of what r points to, and null if r is not Valid. It is for
// generated code.
func JSONOf[T any](r Ref[T]) ([]byte, error) {
	if r.p == nil {
		return []byte("null"), nil
	}
	return json.Marshal(*r.p)
}
