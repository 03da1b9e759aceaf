package bolt

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// CBOR returns a cow.Codec that encodes values as CBOR, with fxamacker/cbor: smaller and
// faster than JSON, and equally able to take a struct with more fields or fewer. Times
// keep their nanoseconds and offset, and strings bytes that are not UTF-8. Unexported
// fields are left out. A value of more than 10,000 levels, or one that contains itself, is
// [cow.ErrTooDeep]. It is an error if a value has a part of which nothing would be left, as a
// big.Rat or a big.Float, or a map of which two keys would be one, as int(1) and uint(1) of a
// map[any]string.
func CBOR[V any]() cow.Codec[V] { return cborCodec[V]{} }

type cborCodec[V any] struct{}

// maxNested is how many levels are decoded: a level of a value has two at most, itself and
// a tag, so that what Append takes Decode does too.
const maxNested = 2*depth.Limit + 2

// levels says what the encoder goes into.
var levels = &depth.Rule{
	Own:  []reflect.Type{reflect.TypeFor[cbor.Marshaler](), reflect.TypeFor[encoding.BinaryMarshaler]()},
	Tags: []string{"cbor", "json"},
	Keys: true,
}

func (cborCodec[V]) Schema() string { return "CBOR of " + layout.CBOR.Shape(reflect.TypeFor[V]()) }

var (
	cborEncode = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano, TimeTag: cbor.EncTagRequired}.UserBufferEncMode())
	cborDecode = decoder(cbor.DupMapKeyQuiet)       // so that what was stored once can be read
	cborUnique = decoder(cbor.DupMapKeyEnforcedAPF) // so that nothing is stored that has two keys in one
)

func decoder(keys cbor.DupMapKeyMode) cbor.DecMode {
	return must(cbor.DecOptions{DupMapKey: keys, MaxNestedLevels: maxNested, MaxArrayElements: 1<<31 - 1, MaxMapPairs: 1<<31 - 1, UTF8: cbor.UTF8DecodeInvalid}.DecMode())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (cborCodec[V]) Append(b []byte, v V) ([]byte, error) {
	if err := levels.Check(v); err != nil {
		return b, fmt.Errorf("bolt: CBOR of %T: %w", v, err)
	}
	var f faithful
	if err := f.look(reflect.ValueOf(v)); err != nil {
		return b, fmt.Errorf("bolt: CBOR of %T: %w", v, err)
	}
	to := bytes.NewBuffer(b)
	err := cborEncode.MarshalToBuffer(v, to)
	// Methods of the value may have added levels, of which each takes a byte.
	if n := to.Len() - len(b); err == nil && n > maxNested {
		err = cborDecode.Wellformed(to.Bytes()[len(b):])
		if _, ok := errors.AsType[*cbor.MaxNestedLevelError](err); ok {
			err = fmt.Errorf("bolt: CBOR of %T: %w: %w", v, cow.ErrTooDeep, err)
		}
	}
	if err == nil && f.merges {
		var back V
		err = cborUnique.Unmarshal(to.Bytes()[len(b):], &back)
		if dup, ok := errors.AsType[*cbor.DupMapKeyError](err); ok {
			err = fmt.Errorf("bolt: CBOR of %T: a map has two keys that are one in CBOR: %w", v, dup)
		}
	}
	return to.Bytes(), err
}

func (cborCodec[V]) Decode(b []byte) (v V, err error) {
	err = cborDecode.Unmarshal(b, &v)
	return v, err
}
