package memory

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// How rows are stored. It must not change but with a new format.

// entryFormat is what an encoded entry begins with.
const entryFormat = 1

var errEntry = errors.New("not an encoded entry")

type entryCodec struct{}

// Schema is what is recorded of the codec in a file: see cow.ErrSchema.
func (entryCodec) Schema() string { return fmt.Sprintf("memory entry %d", entryFormat) }

func (entryCodec) Append(b []byte, e *entry) ([]byte, error) {
	b = append(b, entryFormat)
	for _, t := range []int64{e.created, e.updated, e.expires} {
		b = binary.AppendVarint(b, t)
	}
	b, err := value.Append(b, e.value)
	if err == nil {
		b, err = value.Append(b, e.metadata)
	}
	if err != nil {
		return nil, err
	}
	for _, x := range e.vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b, nil
}

func (entryCodec) Decode(b []byte) (*entry, error) {
	if len(b) == 0 || b[0] != entryFormat {
		return nil, fmt.Errorf("%w of format %d", errEntry, entryFormat)
	}
	b = b[1:]
	e := new(entry)
	for _, t := range []*int64{&e.created, &e.updated, &e.expires} {
		x, n := binary.Varint(b)
		if n <= 0 {
			return nil, errEntry
		}
		*t, b = x, b[n:]
	}
	var err error
	if e.value, b, err = value.Decode(b); err != nil {
		return nil, err
	}
	if e.metadata, b, err = value.Decode(b); err != nil {
		return nil, err
	}
	if len(b)%4 != 0 {
		return nil, errEntry
	}
	if len(b) > 0 {
		e.vector = make([]float32, len(b)/4)
		for i := range e.vector {
			e.vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		if err := vector.Check(e.vector); err != nil {
			return nil, err
		}
	}
	if !e.value.Exists() && e.vector == nil || e.metadata.Exists() && e.metadata.Kind() != Map {
		return nil, errEntry
	}
	e.measure()
	return e, nil
}

// A jsonCodec stores what is small and rare.
type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(b []byte, v *T) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (jsonCodec[T]) Decode(b []byte) (*T, error) {
	v := new(T)
	return v, json.Unmarshal(b, v)
}

// A nameText is the name of an entry, which need not be UTF-8, in JSON.
type nameText string

func (n nameText) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(n)), nil
}

func (n *nameText) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.DecodeString(string(text))
	*n = nameText(b)
	return err
}
