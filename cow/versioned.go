package cow

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// A Versioned is a Codec that puts a version before each value. So the type can change while a file
// still has values of another version, or another program writes them. The zero Versioned is
// version 0 of JSON. It must not be modified once it is in use, may be copied, and is safe for
// concurrent use if its parts are.
//
// To change a type whose values are in a file, raise Version, and have Other read the older values.
// If programs share a store and are replaced one by one, release the change in two steps. The first
// program still writes the old version, and reads the next one through Other and Newest. When it
// runs everywhere, release one that writes the next version.
type Versioned[V any] struct {
	// Of encodes the values of this version; nil means encoding/json. Like it, Of must
	// return a value equal to the one it was given: JSON drops unexported fields, and
	// makes an empty slice of some types a nil one. Of a value that has more than 10,000
	// levels, which JSON does not read, or contains itself, Append returns ErrTooDeep.
	Of Codec[V]

	// Version is the version of the values that are written. Change it when the type, or
	// Of, changes so that the bytes of before no longer decode to what they meant.
	Version byte

	// Other, if not nil, decodes a value of another version, from the bytes that its codec
	// wrote, which it must not keep. It must be pure. What is stored stays as it is until
	// somebody writes the row.
	Other func(version byte, b []byte) (V, error)

	// Newest is the newest version that Other decodes, if that is newer than Version. Of
	// any that is newer still, which a newer program has written, Decode returns an error.
	Newest byte
}

// Append appends the version and the encoded v to b.
func (c Versioned[V]) Append(b []byte, v V) ([]byte, error) {
	b = append(b, c.Version)
	if c.Of != nil {
		return c.Of.Append(b, v)
	}
	if err := depth.JSON.Check(v); err != nil {
		return nil, fmt.Errorf("cow: JSON of %T: %w", v, err)
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = depth.CheckText(text, depth.Limit)
	}
	if err == nil && (bytes.Contains(text, []byte("\ufffd")) || bytes.Contains(text, []byte(`\ufffd`))) && !isText(reflect.ValueOf(&v)) {
		err = fmt.Errorf("cow: JSON of %T: a string is not valid UTF-8, and JSON would replace what is not", v)
	}
	return append(b, text...), err
}

var marshalerType, textMarshalerType = reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()

// isText reports whether all strings in v that encoding/json writes itself are UTF-8. V has
// been encoded: it has an end.
func isText(v reflect.Value) bool {
	if !v.IsValid() || v.Type().Implements(marshalerType) || v.Type().Implements(textMarshalerType) {
		return true
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return isText(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			if !isText(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if !isText(key) || !isText(value) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && !isText(v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// Decode decodes a value of this version, or, through Other, of another one up to Newest.
func (c Versioned[V]) Decode(b []byte) (v V, err error) {
	switch {
	case len(b) == 0:
		return v, errors.New("cow: a value without its version")
	case b[0] > max(c.Version, c.Newest):
		return v, fmt.Errorf("cow: a value of version %d was written by a newer program: the codec reads up to version %d", b[0], max(c.Version, c.Newest))
	case b[0] != c.Version && c.Other != nil:
		return c.Other(b[0], b[1:])
	case b[0] != c.Version:
		return v, fmt.Errorf("cow: a value of version %d, where the codec is of version %d and has no Other to read it", b[0], c.Version)
	case c.Of != nil:
		return c.Of.Decode(b[1:])
	}
	err = json.Unmarshal(b[1:], &v)
	return v, err
}

// Schema returns the version, and the schema of the values of that version: see [Codec].
func (c Versioned[V]) Schema() string {
	if c.Of != nil {
		return c.describe() + layout.CodecSchema[V](c.Of)
	}
	return c.describe() + "JSON of " + layout.JSON.Shape(reflect.TypeFor[V]())
}

// describe returns what the Schema begins with.
func (c Versioned[V]) describe() string { return fmt.Sprintf("%s%d, ", versionMark, c.Version) }

const versionMark = "version "

// A versioned is a Versioned of any type.
type versioned interface {
	reads(version byte) bool
	describe() string
	newer(version byte) bool
}

func (c Versioned[V]) reads(version byte) bool {
	return c.Other != nil && version <= max(c.Version, c.Newest)
}

func (c Versioned[V]) newer(version byte) bool { return version > c.Version }
