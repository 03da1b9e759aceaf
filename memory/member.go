package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unsafe"
)

// The members of a line, each a part of the text of it, which is valid JSON.

// eachMember calls yield with the name and the text of all members of an object, in
// order. Unlike encoding/json it tells upper and lower case apart.
func eachMember(text []byte, yield func(name string, text []byte) error) error {
	i := skipSpace(text, 0)
	if text[i] != '{' {
		return fmt.Errorf("%w: it is not an object", ErrMalformed)
	}
	for i = skipSpace(text, i+1); text[i] != '}'; i = skipSpace(text, i) {
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		end := skipString(text, i)
		name, _ := memberString(text[i:end])
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

// eachElement calls yield with the text of all elements of a list.
func eachElement(text []byte, yield func(text []byte) error) error {
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

func memberString(text []byte) (s string, err error) {
	if text[0] != '"' {
		return "", errors.New("it is not a string")
	}
	return s, json.Unmarshal(text, &s)
}

func memberSpace(text []byte) (string, error) {
	var path []byte
	err := eachElement(text, func(text []byte) error {
		s, err := memberString(text)
		path = appendElement(path, s)
		return err
	})
	return string(path), err
}

func memberVector(text []byte) ([]float32, error) {
	n := 0
	_ = eachElement(text, func([]byte) error { n++; return nil })
	v := make([]float32, 0, n)
	err := eachElement(text, func(text []byte) error {
		f, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 32)
		if err != nil {
			err = fmt.Errorf("%.40q is not a float32", text)
		}
		v = append(v, float32(f))
		return err
	})
	return v, err
}

// memberTime returns a time as ns since 1970.
func memberTime(text []byte) (int64, error) {
	var t time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return 0, err
	}
	ns := t.UnixNano()
	if ns == unset || !time.Unix(0, ns).Equal(t) {
		return 0, errors.New("it is out of range")
	}
	return ns, nil
}

// memberValue returns a value whose nodes take no more than max bytes.
func memberValue(text []byte, max int64) (Value, error) {
	o, err := newOutline(text)
	if err != nil {
		return Value{}, err
	}
	if size := int64(o.nodes) * int64(unsafe.Sizeof(node{})); size > max {
		return Value{}, fmt.Errorf("it takes %d bytes of memory, more than %d, which is %d times Options.MaxLine", size, max, maxGrowth)
	}
	return decodeOutlined(text, o)
}
