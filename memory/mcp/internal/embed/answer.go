package embed

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const maxDim = 1 << 14

// An answer is what is used of one.
type answer struct {
	Data []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
}

// parse returns the n vectors of an answer. Its error wraps ErrAnswer.
func parse(b []byte, n int) ([][]float32, error) {
	wrong := func(format string, args ...any) ([][]float32, error) {
		return nil, fmt.Errorf("%w: %s", ErrAnswer, fmt.Sprintf(format, args...))
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		return wrong("it is not of OpenAI's form: %v", err)
	}
	if len(a.Data) != n {
		return wrong("%d vectors for %d texts", len(a.Data), n)
	}
	vectors, dim := make([][]float32, n), 0
	for _, d := range a.Data {
		if d.Index == nil {
			return wrong("a vector without an index")
		}
		i, v := *d.Index, []float32(nil)
		if bytes.Contains(d.Embedding, []byte("null")) { // which would be read as 0
			return wrong("vector %d has a null", i)
		}
		if err := json.Unmarshal(d.Embedding, &v); err != nil { // as it is for a number that is too large
			return wrong("vector %d is not one: %v", i, err)
		}
		if dim == 0 {
			dim = len(v)
		}
		switch {
		case i < 0 || i >= n:
			return wrong("index %d of %d", i, n)
		case vectors[i] != nil:
			return wrong("index %d twice", i)
		case len(v) == 0 || len(v) > maxDim:
			return wrong("a vector of %d numbers", len(v))
		case len(v) != dim:
			return wrong("vectors of %d and %d numbers", dim, len(v))
		case zero(v):
			return wrong("vector %d is zero", i)
		}
		vectors[i] = v
	}
	return vectors, nil
}

func zero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
