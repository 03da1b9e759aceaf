package data

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

// entryFormat is what an encoded entry begins with that has more than those of plainFormat,
// which was the only one before.
const (
	plainFormat = 1
	entryFormat = 2
)

var errEntry = errors.New("not an encoded entry")

// An EntryCodec stores entries.
type EntryCodec struct{}

// Schema is what is recorded of the codec in a file: see cow.ErrSchema.
func (EntryCodec) Schema() string { return entrySchema(entryFormat) }

// Accepts are the differences from what a file has of older entries, which the codec reads: see
// cow.Options.
func (c EntryCodec) Accepts() []string {
	return []string{"value: " + entrySchema(plainFormat) + ", now " + c.Schema()}
}

func entrySchema(format int) string { return fmt.Sprint("memory entry ", format) }

func (EntryCodec) Append(b []byte, e *Entry) ([]byte, error) {
	x := e.has()
	if x.flags == 0 {
		b = append(b, plainFormat)
	} else {
		b = binary.AppendUvarint(append(b, entryFormat), uint64(1+len(x.by)))
		b = append(append(b, x.flags), x.by...)
	}
	for _, t := range []int64{e.Created, e.Updated, e.Expires} {
		b = binary.AppendVarint(b, t)
	}
	b, err := value.Append(b, e.Value)
	if err == nil {
		b, err = value.Append(b, e.Metadata)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range x.vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b, nil
}

func (EntryCodec) Decode(b []byte) (*Entry, error) {
	e, x := new(Entry), extra{}
	switch {
	case len(b) > 0 && b[0] == plainFormat:
		b = b[1:]
	case len(b) > 0 && b[0] == entryFormat:
		n, used := binary.Uvarint(b[1:])
		if used <= 0 || n == 0 || n > uint64(len(b)-1-used) {
			return nil, errEntry
		}
		b = b[1+used:]
		x.flags, x.by, b = b[0], string(b[1:n]), b[n:]
		if x.flags == 0 || x.flags&^flags != 0 || x.by != "" && !x.is(superseded) {
			return nil, errEntry
		}
	default:
		return nil, fmt.Errorf("%w of format %d or %d", errEntry, plainFormat, entryFormat)
	}
	for _, t := range []*int64{&e.Created, &e.Updated, &e.Expires} {
		ns, n := binary.Varint(b)
		if n <= 0 {
			return nil, errEntry
		}
		*t, b = ns, b[n:]
	}
	var err error
	if e.Value, b, err = value.Decode(b); err != nil {
		return nil, err
	}
	if e.Metadata, b, err = value.Decode(b); err != nil {
		return nil, err
	}
	if len(b)%4 != 0 {
		return nil, errEntry
	}
	if len(b) > 0 {
		x.vector = make([]float32, len(b)/4)
		for i := range x.vector {
			x.vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		if err := vector.Check(x.vector); err != nil {
			return nil, err
		}
	}
	if !e.Value.Exists() && (x.vector == nil || x.is(embedded|superseded)) || x.is(embedded) && x.vector == nil ||
		x.is(superseded) && x.vector != nil || e.Metadata.Exists() && e.Metadata.Kind() != value.Map {
		return nil, errEntry
	}
	e.give(x)
	e.Measure()
	return e, nil
}

// A JSONCodec stores what is small and rare. The zero JSONCodec must not be used: each table has
// one of its own.
type JSONCodec[T any] struct{ schema string }

// Schema is what is recorded in files: see cow.ErrSchema. It has the names of the types that it
// was recorded of first, wherever these are now.
func (c JSONCodec[T]) Schema() string { return c.schema }

// The codecs of tables.
var (
	ConfigCodec   = JSONCodec[Config]{of("SpaceOptions", `{"All":{"MaxBytes":"int64","MaxEntries":"int"},"Each":{"MaxBytes":"int64","MaxEntries":"int","TTL":"int64"},"MaxBytes":"int64","MaxEntries":"int","TTL":"int64"}`)}
	ClearingCodec = JSONCodec[Clearing]{of("clearing", `{"At":"uint64","Done":"bool","Hand":`+nameText+`}`)}
	HeadCodec     = JSONCodec[Head]{of("head", `{"At":"int64","Began":"int64","Cleared":["[]",{"At":"uint64","Key":`+nameText+`}],"Evicted":["[]",`+nameText+`]}`)}
	EpochCodec    = JSONCodec[Epoch]{of("epoch", `{}`)}
)

const nameText = `"github.com/cowstore/cowstore/memory.nameText"`

// of returns the schema of pointers to a type with those members.
func of(name, members string) string {
	const old = "github.com/cowstore/cowstore/memory."
	return old + "jsonCodec[" + old + name + `] of ["*",` + members + "]"
}

func (JSONCodec[T]) Append(b []byte, v *T) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (JSONCodec[T]) Decode(b []byte) (*T, error) {
	v := new(T)
	return v, json.Unmarshal(b, v)
}

// A NameText is the name of an entry, which need not be UTF-8, in JSON.
type NameText string

func (n NameText) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(n)), nil
}

func (n *NameText) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.DecodeString(string(text))
	*n = NameText(b)
	return err
}
