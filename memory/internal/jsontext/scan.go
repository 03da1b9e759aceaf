// Package jsontext looks into valid JSON without decoding it.
package jsontext

import (
	"encoding/json"
	"errors"
)

// What a JSON text is made of, which is valid: parts of the text, in place.

// EachMember calls yield with the name and the text of all members of a text that is an object, in
// order. Unlike encoding/json it tells upper and lower case apart.
func EachMember(text []byte, yield func(name string, text []byte) error) error {
	for i := SkipSpace(text, SkipSpace(text, 0)+1); text[i] != '}'; i = SkipSpace(text, i) {
		if text[i] == ',' {
			i = SkipSpace(text, i+1)
		}
		end := SkipString(text, i)
		name, _ := ParseString(text[i:end])
		i = SkipSpace(text, SkipSpace(text, end)+1) // behind the colon
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
			i = SkipString(text, i)
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
	for i := SkipSpace(text, 1); text[i] != ']'; i = SkipSpace(text, i) {
		if text[i] == ',' {
			i = SkipSpace(text, i+1)
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

// Valid returns an error unless the text is JSON.
func Valid(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	return json.Unmarshal(text, new(json.RawMessage))
}

// SkipString returns where the string that begins at i ends.
func SkipString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func SkipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}
