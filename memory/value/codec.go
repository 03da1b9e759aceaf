package value

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// ErrCorrupt is the error of [Decode] for bytes that [Append] has not made.
var ErrCorrupt = errors.New("value: corrupt encoding")

// What an encoded value begins with. They must not change: values are stored.
const (
	codeAbsent = iota
	codeNull
	codeFalse
	codeTrue
	codeInt     // a reflect.Kind, and a varint
	codeUint    // a reflect.Kind, and a uvarint
	codeFloat   // 8 bytes, little endian
	codeFloat32 // 4 bytes
	codeNumber  // its text
	codeString
	codeBytes
	codeTime // as MarshalBinary has it
	codeList
	codeMap
)

// Append appends v to b in a binary form that [Decode] reads. What Decode returns is [Equal] to v.
// Numbers, Bytes and Times keep their kinds; all else has the Go types of [Parse], and what JSON
// does not show is lost. The error wraps [ErrUnsupported] if there is a Handle in v.
func Append(b []byte, v Value) ([]byte, error) {
	if text, ok := v.text(); ok {
		return appendBytes(append(b, codeNumber), text), nil
	}
	switch v.Kind() {
	case Absent:
		return append(b, codeAbsent), nil
	case Null:
		return append(b, codeNull), nil
	case Bool:
		if v.Bool() {
			return append(b, codeTrue), nil
		}
		return append(b, codeFalse), nil
	case Int:
		return binary.AppendVarint(append(b, codeInt, v.integer()), int64(v.n.bits)), nil
	case Uint:
		return binary.AppendUvarint(append(b, codeUint, v.integer()), v.n.bits), nil
	case Float:
		if behind(v.n.from.typ).Kind() == reflect.Float32 {
			return binary.LittleEndian.AppendUint32(append(b, codeFloat32), math.Float32bits(float32(v.Float()))), nil
		}
		return binary.LittleEndian.AppendUint64(append(b, codeFloat), v.n.bits), nil
	case String:
		return appendBytes(append(b, codeString), v.String()), nil
	case Bytes:
		return appendBytes(append(b, codeBytes), v.bytes()), nil
	case Time:
		text, err := v.Time().MarshalBinary()
		return appendBytes(append(b, codeTime), text), err
	case List:
		var err error
		b = binary.AppendUvarint(append(b, codeList), uint64(v.Len()))
		for i, e := range v.Values() {
			if b, err = Append(b, e); err != nil {
				return nil, inside(err, strconv.Itoa(i))
			}
		}
		return b, nil
	case Map:
		var err error
		b = binary.AppendUvarint(append(b, codeMap), uint64(v.Len()))
		for k, e := range v.All() {
			if b, err = Append(appendBytes(b, k), e); err != nil {
				return nil, inside(err, k)
			}
		}
		return b, nil
	}
	return nil, &Error{Type: v.n.from.typ.String(), Err: ErrUnsupported}
}

// integer returns the kind of Go integer that v came in as, 0 for what is not one.
func (v Value) integer() byte {
	if k := behind(v.n.from.typ).Kind(); integers[k] != nil {
		return byte(k)
	}
	return 0
}

// text returns the text of a number that came in as text.
func (v Value) text() (string, bool) {
	if v.n == nil {
		return "", false
	}
	return v.n.literal()
}

func appendBytes[S string | []byte](b []byte, s S) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Decode returns the value that b begins with, and the rest of b. It keeps nothing of b. The error
// wraps [ErrCorrupt] for bytes that [Append] has not made, or is one of [Freeze].
func Decode(b []byte) (v Value, rest []byte, err error) {
	d := reader{b}
	x, err := d.value(0)
	if err != nil {
		return Value{}, nil, err
	}
	if x == absent {
		return Value{}, d.b, nil
	}
	v, err = Freeze(x)
	return v, d.b, err
}

// absent stands for Absent.
var absent any = new(struct{ _ byte })

// A reader reads what Append has made.
type reader struct{ b []byte }

func (d *reader) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)) {
		return nil, fmt.Errorf("%w: %d bytes are missing", ErrCorrupt, n-uint64(len(d.b)))
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken, nil
}

func (d *reader) uvarint() (uint64, error) {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, fmt.Errorf("%w: a length", ErrCorrupt)
	}
	d.b = d.b[n:]
	return x, nil
}

// bytes reads bytes after their length.
func (d *reader) bytes() ([]byte, error) {
	n, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	return d.take(n)
}

// count reads how many there are of what takes least bytes each.
func (d *reader) count(least int) (int, error) {
	n, err := d.uvarint()
	if err == nil && n > uint64(len(d.b)/least) {
		err = fmt.Errorf("%w: %d parts in %d bytes", ErrCorrupt, n, len(d.b))
	}
	return int(n), err
}

// value reads a value that is in so many others.
func (d *reader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, ErrTooDeep)
	}
	code, err := d.take(1)
	if err != nil {
		return nil, err
	}
	switch code[0] {
	case codeAbsent:
		if depth > 0 {
			break
		}
		return absent, nil
	case codeNull:
		return nil, nil
	case codeFalse, codeTrue:
		return code[0] == codeTrue, nil
	case codeInt, codeUint:
		return d.number(code[0])
	case codeFloat:
		b, err := d.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	case codeFloat32:
		b, err := d.take(4)
		if err != nil {
			return nil, err
		}
		return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
	case codeNumber:
		b, err := d.bytes()
		if text := string(b); err == nil && text != "" && !isNumber(text) {
			return strconv.ParseFloat(text, 64) // earlier versions took what JSON has not, as 0x1p-2
		}
		return json.Number(b), err
	case codeString:
		b, err := d.bytes()
		return string(b), err
	case codeBytes:
		b, err := d.bytes()
		return b, err
	case codeTime:
		var t time.Time
		b, err := d.bytes()
		if err == nil {
			err = t.UnmarshalBinary(b)
		}
		return t, err
	case codeList:
		n, err := d.count(1)
		if err != nil {
			return nil, err
		}
		list := make([]any, n)
		for i := range list {
			if list[i], err = d.value(depth + 1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case codeMap:
		n, err := d.count(2)
		if err != nil {
			return nil, err
		}
		m := make(map[string]any, n)
		for range n {
			k, err := d.bytes()
			if err != nil {
				return nil, err
			}
			if m[string(k)], err = d.value(depth + 1); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, fmt.Errorf("%w: a value begins with %d", ErrCorrupt, code[0])
}

// number reads an integer, of the Go type of its kind, or of the widest one where that
// does not hold it here.
func (d *reader) number(code byte) (any, error) {
	kind, err := d.take(1)
	if err != nil {
		return nil, err
	}
	t, ok := integers[reflect.Kind(kind[0])]
	if code == codeInt {
		x, n := binary.Varint(d.b)
		if n <= 0 {
			return nil, fmt.Errorf("%w: a number", ErrCorrupt)
		}
		d.b = d.b[n:]
		if ok && reflect.Zero(t).CanInt() && !reflect.Zero(t).OverflowInt(x) {
			return reflect.ValueOf(x).Convert(t).Interface(), nil
		}
		return x, nil
	}
	x, err := d.uvarint()
	if ok && err == nil && reflect.Zero(t).CanUint() && !reflect.Zero(t).OverflowUint(x) {
		return reflect.ValueOf(x).Convert(t).Interface(), nil
	}
	return x, err
}

var integers = map[reflect.Kind]reflect.Type{
	reflect.Int: reflect.TypeFor[int](), reflect.Int8: reflect.TypeFor[int8](), reflect.Int16: reflect.TypeFor[int16](),
	reflect.Int32: reflect.TypeFor[int32](), reflect.Int64: reflect.TypeFor[int64](), reflect.Uint: reflect.TypeFor[uint](),
	reflect.Uint8: reflect.TypeFor[uint8](), reflect.Uint16: reflect.TypeFor[uint16](), reflect.Uint32: reflect.TypeFor[uint32](),
	reflect.Uint64: reflect.TypeFor[uint64](), reflect.Uintptr: reflect.TypeFor[uintptr](),
}
