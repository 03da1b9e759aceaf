package bolt

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowstore/cowstore/cow"
)

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
