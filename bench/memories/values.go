package memories

import "fmt"

// foundIn returns what programs read of a value.
func foundIn(value any) Found {
	m, _ := value.(map[string]any)
	text, _ := m["text"].(string)
	stamp, _ := m["stamp"].(string)
	return Found{text, stamp}
}

// CopyOf returns a deep copy of a value, as encoding/json decodes it: the copy
// that those write by hand who do not want to share.
func CopyOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = CopyOf(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = CopyOf(e)
		}
		return c
	}
	return value
}

// appendStrings appends each string in a value, and a line break behind it.
func appendStrings(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return append(append(b, v...), '\n')
	case map[string]any:
		for _, e := range v {
			b = appendStrings(b, e)
		}
	case []any:
		for _, e := range v {
			b = appendStrings(b, e)
		}
	}
	return b
}

// pathName returns a string that no other path has, nor the beginning of what
// another has.
func pathName(path []string) string { return fmt.Sprintf("%q", path) }

// stored panics if something could not be stored or found.
func stored(err error) {
	if err != nil {
		panic("memories: " + err.Error())
	}
}
