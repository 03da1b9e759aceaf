package value

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// MarshalJSON returns the value as JSON: Bytes in base64, a Time as RFC 3339,
// Absent as null. A Handle has no JSON: an error that wraps ErrUnsupported.
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
