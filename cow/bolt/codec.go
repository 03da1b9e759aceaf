package bolt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowstore/cowstore/cow"
)

// A Codec is a cow.Codec that puts a version before each value, so that the type can
// change while older values are in the file. The zero Codec is version 0 of JSON. It must
// not be modified once it is in use, may be copied, and is safe for concurrent use if its
// parts are.
type Codec[V any] struct {
	// Of encodes the values of this version; nil means encoding/json. Like it, Of must
	// return a value equal to the one it was given: JSON and CBOR drop unexported
	// fields, and make an empty slice of some types a nil one.
	Of cow.Codec[V]

	// Version is the version of the values that are written. Raise it when the type, or
	// Of, changes so that older bytes no longer decode to what they meant.
	Version byte

	// Upgrade, if not nil, decodes a value of an older version, from the bytes that Of
	// wrote then, which it must not keep. It must be pure. Older values stay as they
	// are in the file until somebody writes the row.
	Upgrade func(version byte, b []byte) (V, error)
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

// Decode decodes a value of this version, or upgrades an older one.
func (c Codec[V]) Decode(b []byte) (v V, err error) {
	switch {
	case len(b) == 0:
		return v, fmt.Errorf("bolt: a value without its version")
	case b[0] == c.Version && c.Of != nil:
		return c.Of.Decode(b[1:])
	case b[0] == c.Version:
		err = json.Unmarshal(b[1:], &v)
		return v, err
	case b[0] < c.Version && c.Upgrade != nil:
		return c.Upgrade(b[0], b[1:])
	case b[0] < c.Version:
		return v, fmt.Errorf("bolt: a value of version %d, and the codec of version %d has no Upgrade", b[0], c.Version)
	}
	return v, fmt.Errorf("bolt: a value of version %d was written by a newer program: the codec is of version %d", b[0], c.Version)
}

// CBOR returns a cow.Codec that encodes values as CBOR, with fxamacker/cbor: smaller and
// faster than JSON, and equally able to take a struct with more fields or fewer. Times
// keep their nanoseconds and offset.
func CBOR[V any]() cow.Codec[V] { return cborCodec[V]{} }

type cborCodec[V any] struct{}

var (
	cborEncode = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano, TimeTag: cbor.EncTagRequired}.UserBufferEncMode())
	cborDecode = must(cbor.DecOptions{MaxNestedLevels: 256, MaxArrayElements: 1<<31 - 1, MaxMapPairs: 1<<31 - 1}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (cborCodec[V]) Append(b []byte, v V) ([]byte, error) {
	to := bytes.NewBuffer(b)
	err := cborEncode.MarshalToBuffer(v, to)
	return to.Bytes(), err
}

func (cborCodec[V]) Decode(b []byte) (v V, err error) {
	err = cborDecode.Unmarshal(b, &v)
	return v, err
}
