package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"
)

// What a JSON text is made of, which is valid: parts of the text, in place.

// EachMember calls yield with the name and the text of all members of a text that is an object, in
// order. Unlike encoding/json it tells upper and lower case apart.
func EachMember(text []byte, yield func(name string, text []byte) error) error {
	for i := skipSpace(text, skipSpace(text, 0)+1); text[i] != '}'; i = skipSpace(text, i) {
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		end := skipString(text, i)
		name, _ := ParseString(text[i:end])
		i = skipSpace(text, skipSpace(text, end)+1) // behind the colon
		end = skipValue(text, i)
		if err := yield(name, text[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// skipValue returns where the value that begins at i ends.
func skipValue(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '[', '{':
			depth++
			i++
			continue
		case ']', '}':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(text) && !isEnd(text[i]) {
				i++
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

func isEnd(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// EachElement calls yield with the text of all elements of a list.
func EachElement(text []byte, yield func(text []byte) error) error {
	if text[0] != '[' {
		return errors.New("it is not a list")
	}
	for i := skipSpace(text, 1); text[i] != ']'; i = skipSpace(text, i) {
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		end := skipValue(text, i)
		if err := yield(text[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// ParseString returns the string that a valid JSON text is.
func ParseString(text []byte) (s string, err error) {
	if text[0] != '"' {
		return "", errors.New("it is not a string")
	}
	return s, json.Unmarshal(text, &s)
}

// Parse returns the value of a valid JSON text: a whole number as an int, or as an int64
// or a uint64 where it does not fit, others as a float64, those with more digits as a
// json.Number, objects and lists as a map[string]any and a []any. It shares nothing with
// the text. A value whose nodes take more than max bytes is an error.
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

// Valid returns an error unless the text is JSON.
func Valid(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	return json.Unmarshal(text, new(json.RawMessage))
}
