package value

import (
	"iter"
	"unicode/utf8"
)

// Texts returns an iterator over every String in v, but not the keys of Maps.
func (v Value) Texts() iter.Seq[string] {
	return func(yield func(string) bool) { v.eachText(yield) }
}

func (v Value) eachText(yield func(string) bool) bool {
	switch v.Kind() {
	case String:
		return yield(v.String())
	case List:
		for _, e := range v.Values() {
			if !e.eachText(yield) {
				return false
			}
		}
	case Map:
		for _, e := range v.All() {
			if !e.eachText(yield) {
				return false
			}
		}
	}
	return true
}

// ValidUTF8 reports whether all strings of v, keys too, are UTF-8.
func (v Value) ValidUTF8() bool {
	for s := range v.Texts() {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return v.validKeys()
}

func (v Value) validKeys() bool {
	switch v.Kind() {
	case List:
		for _, e := range v.Values() {
			if !e.validKeys() {
				return false
			}
		}
	case Map:
		for k, e := range v.All() {
			if !utf8.ValidString(k) || !e.validKeys() {
				return false
			}
		}
	}
	return true
}
