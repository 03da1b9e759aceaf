package etcd

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// A Codec is a cow.Codec that puts a version before each value, so that the type can
// change while programs of two versions run. The zero Codec is version 0 of JSON. It must
// not be modified once it is in use, may be copied, and is safe for concurrent use if its
// parts are.
//
// To change a type while replicas run, first bring out a program that reads the next
// version, by Other, and writes the one that all read. When every replica runs it, bring
// out one that writes the next.
type Codec[V any] struct {
	// Of encodes the values of this version; nil means encoding/json. Like it, Of must
	// return a value equal to the one it was given: JSON drops unexported fields, and
	// makes an empty slice of some types a nil one.
	Of cow.Codec[V]

	// Version is the version of the values that are written.
	Version byte

	// Other, if not nil, decodes a value of another version, older or newer, from the
	// bytes that its codec wrote, which it must not keep. It must be pure.
	Other func(version byte, b []byte) (V, error)
}

// Append appends the version and v.
func (c Codec[V]) Append(b []byte, v V) ([]byte, error) {
	b = append(b, c.Version)
	if c.Of != nil {
		return c.Of.Append(b, v)
	}
	text, err := json.Marshal(v)
	return append(b, text...), err
}

// Decode decodes a value of this version, or of one that Other knows.
func (c Codec[V]) Decode(b []byte) (v V, err error) {
	switch {
	case len(b) == 0:
		return v, errors.New("etcd: a value without its version")
	case b[0] != c.Version && c.Other != nil:
		return c.Other(b[0], b[1:])
	case b[0] != c.Version:
		return v, fmt.Errorf("etcd: a value of version %d, and the codec of version %d has no Other: run a program that reads both first", b[0], c.Version)
	case c.Of != nil:
		return c.Of.Decode(b[1:])
	}
	err = json.Unmarshal(b[1:], &v)
	return v, err
}
