package value

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/jsontext"
)

// decode returns the value of a JSON text: a whole number as an int, or as an int64 or a
// uint64 where it does not fit, others as a float64, those with more digits as a
// json.Number, objects and lists as a map[string]any and a []any. The value shares
// nothing with the text.
func decode(text []byte) (Value, error) {
	if err := jsontext.Valid(text); err != nil {
		return Value{}, err
	}
	o, err := newOutline(text)
	if err != nil {
		return Value{}, err
	}
	return decodeOutlined(text, o)
}

// decodeOutlined is decode for a text that is JSON and of which there is an outline.
func decodeOutlined(text []byte, o outline) (Value, error) {
	d := decoder{text: text, lengths: o.lengths}
	n := new(node)
	if err := d.value(n); err != nil {
		return Value{}, err
	}
	return d.done(n), nil
}

// An outline is how long the lists and objects of a JSON text are, in the order in
// which they begin. So each gets as much memory as it needs, at once.
type outline struct {
	lengths []uint32
	nodes   int // in all
}

func newOutline(text []byte) (outline, error) {
	containers, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = jsontext.SkipString(text, i) - 1
		case '[', '{':
			containers++
			if depth++; depth > maxDepth {
				return outline{}, &Error{Type: listOrigin.typ.String(), Err: ErrTooDeep}
			}
		case ']', '}':
			depth--
		}
	}
	o := outline{make([]uint32, 0, containers), 1}
	var open [maxDepth]int32 // which are open
	depth = 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = jsontext.SkipString(text, i) - 1
		case '[', '{':
			open[depth] = int32(len(o.lengths))
			depth++
			length := uint32(1)
			if next := text[jsontext.SkipSpace(text, i+1)]; next == ']' || next == '}' {
				length = 0
			}
			o.lengths = append(o.lengths, length)
			if text[i] == '{' && length > 0 {
				o.nodes++ // the head
			}
			o.nodes += int(length)
		case ']', '}':
			depth--
		case ',':
			o.lengths[open[depth-1]]++
			o.nodes++
		}
	}
	return o, nil
}

// A decoder makes nodes of a JSON text, which is valid.
type decoder struct {
	builder
	text    []byte
	at      int
	lengths []uint32 // of the lists and objects to come
}

// length returns how long the list or object is that begins here, and goes in.
func (d *decoder) length() int {
	n := d.lengths[0]
	d.lengths = d.lengths[1:]
	d.at++
	return int(n)
}

// skip goes on to what is not a space.
func (d *decoder) skip() { d.at = jsontext.SkipSpace(d.text, d.at) }

// value decodes the value that comes next into n.
func (d *decoder) value(n *node) error {
	d.skip()
	switch c := d.text[d.at]; c {
	case 'n':
		d.at += len("null")
		n.from = nilOrigin
	case 't':
		d.at += len("true")
		n.from, n.bits = boolOrigin, 1
	case 'f':
		d.at += len("false")
		n.from = boolOrigin
	case '"':
		n.from = stringOrigin
		n.string(strings.Clone(d.string()))
	case '[':
		n.from = listOrigin
		err := n.list(d.length(), func(_ int, e *node) error {
			err := d.value(e)
			d.skip()
			d.at++ // the comma, or the end
			return err
		})
		d.end(n)
		return err
	case '{':
		n.from = mapOrigin
		return d.object(n)
	default:
		begin := d.at
		for d.at < len(d.text) && strings.IndexByte("+-.eE0123456789", d.text[d.at]) >= 0 {
			d.at++
		}
		return n.decodedNumber(unsafe.String(&d.text[begin], d.at-begin))
	}
	return nil
}

// end goes behind an empty list or object.
func (d *decoder) end(n *node) {
	if n.count() == 0 {
		d.skip()
		d.at++
	}
}

// string returns the string that begins here, which may be a part of the text.
func (d *decoder) string() string {
	begin := d.at
	d.at = jsontext.SkipString(d.text, begin)
	if text := d.text[begin+1 : d.at-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	var s string
	_ = json.Unmarshal(d.text[begin:d.at], &s) // it is valid
	return s
}

// object decodes an object. Of several members with one name the last counts, as in
// encoding/json.
func (d *decoder) object(n *node) error {
	fs := d.newFields(d.length())
	sorted := true
	for i := range fs.values {
		d.skip()
		k := d.string()
		sorted = sorted && (i == 0 || fs.keys[i-1] < k)
		fs.keys = append(fs.keys, k)
		d.skip()
		d.at++ // the colon
		if err := d.value(&fs.values[i]); err != nil {
			return inside(err, strings.Clone(k))
		}
		d.skip()
		d.at++
	}
	if !sorted {
		fs.sort()
	}
	n.keyed(&fs)
	d.end(n)
	return nil
}

// Parse returns the value of a JSON text. The text must be valid, as [json.Valid] reports: Parse
// does not check it, and may panic. The value shares nothing with the text. Its Go types are
//
//   - int for whole numbers, or int64 or uint64 where an int is too small,
//   - float64 for other numbers, and json.Number for those with more digits,
//   - map[string]any for objects, and []any for lists.
//
// The error wraps [ErrTooLarge] if the nodes of the value take more than max bytes, or [ErrTooDeep]
// for more than a thousand levels. A number out of the range of a float64 is an error too.
func Parse(text []byte, max int64) (Value, error) {
	o, err := newOutline(text)
	if err != nil {
		return Value{}, err
	}
	if size := int64(o.nodes) * int64(unsafe.Sizeof(node{})); size > max {
		return Value{}, fmt.Errorf("%w: it takes %d bytes of memory, more than %d", ErrTooLarge, size, max)
	}
	return decodeOutlined(text, o)
}

// CheckJSON returns nil if JSON can hold the value: what [Value.MarshalJSON] returns has all of it,
// but for Go types. Otherwise it returns an *[Error] that wraps [ErrUnsupported] for a Handle, or
// [ErrUTF8] for a string that is not UTF-8, which JSON replaces by another.
func (v Value) CheckJSON() error {
	switch v.Kind() {
	case String:
		if !utf8.ValidString(v.String()) {
			return &Error{Type: v.n.from.typ.String(), Err: ErrUTF8}
		}
	case List:
		for i, e := range v.Values() {
			if err := e.CheckJSON(); err != nil {
				return inside(err, strconv.Itoa(i))
			}
		}
	case Map:
		for k, e := range v.All() {
			err := e.CheckJSON()
			if !utf8.ValidString(k) {
				err = &Error{Type: "key", Err: ErrUTF8}
			}
			if err != nil {
				return inside(err, k)
			}
		}
	case Handle:
		return &Error{Type: v.n.from.typ.String(), Err: ErrUnsupported}
	}
	return nil
}

// MarshalJSON returns the value as JSON: Bytes in base64, a Time as RFC 3339, Absent as null. A
// Handle has no JSON: the error wraps [ErrUnsupported].
func (v Value) MarshalJSON() ([]byte, error) { return v.append(nil) }

// append appends the value as JSON.
func (v Value) append(b []byte) ([]byte, error) {
	var err error
	switch v.Kind() {
	case Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case Int:
		if b, ok := v.n.appendLiteral(b); ok {
			return b, nil
		}
		return strconv.AppendInt(b, int64(v.n.bits), 10), nil
	case Uint:
		if b, ok := v.n.appendLiteral(b); ok {
			return b, nil
		}
		return strconv.AppendUint(b, v.n.bits, 10), nil
	case Float:
		if b, ok := v.n.appendLiteral(b); ok {
			return b, nil
		}
		if v.n.from.typ.Kind() == reflect.Float32 {
			return appendJSON(b, float32(v.Float()))
		}
		return appendJSON(b, v.Float())
	case String:
		return appendJSON(b, v.String())
	case Bytes:
		b = append(b, '"')
		return append(base64.StdEncoding.AppendEncode(b, v.bytes()), '"'), nil
	case Time:
		return appendJSON(b, v.Time().Format(time.RFC3339Nano))
	case List:
		b = append(b, '[')
		for i, e := range v.Values() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = e.append(b); err != nil {
				return nil, inside(err, strconv.Itoa(i))
			}
		}
		return append(b, ']'), nil
	case Map:
		b = append(b, '{')
		first := true
		for k, e := range v.All() {
			if !first {
				b = append(b, ',')
			}
			first = false
			if b, err = appendJSON(b, k); err != nil {
				return nil, err
			}
			b = append(b, ':')
			if b, err = e.append(b); err != nil {
				return nil, inside(err, k)
			}
		}
		return append(b, '}'), nil
	case Handle:
		return nil, &Error{Type: v.n.from.typ.String(), Err: ErrUnsupported}
	}
	return append(b, "null"...), nil
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}
