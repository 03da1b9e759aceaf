// Package memories keeps what agents know in cowstore and in what people use instead of
// it, behind one interface.
package memories

import (
	"fmt"
	"iter"
)

// A Memory keeps what agents know: JSON-like values in spaces, each perhaps with
// a vector. All methods of it and of its spaces may be called from any number of
// goroutines at once. What is promised beyond that, the Kind says.
//
// A Memory that is an io.Closer must be closed, or it stays in memory.
type Memory interface {
	// Space returns one space, known by its path: any strings. Programs make it once for
	// a session. Spaces of equal paths have the same notes.
	Space(path ...string) Space
}

// spaces is a Memory that has nothing to close.
type spaces func(path ...string) Space

func (s spaces) Space(path ...string) Space { return s(path...) }

// A Space is one space of a Memory. It may be a WholeSpace, a VectorSpace and a TextSpace
// too: what a memory cannot do it does not have the methods for.
type Space interface {
	// Get reads the value of key and returns what a program wants of it.
	Get(key string) (Found, bool)

	// Put stores all notes, each in place of what is under its key, as one commit
	// where the memory has such a thing. It panics if a note cannot be stored.
	Put(notes ...Note)
}

// A Note is what is put under a key.
type Note struct {
	Key    string
	Value  any       // as encoding/json decodes it
	Vector []float32 // of unit length; nil: none. Only a VectorSpace has a use for it
}

// A Found is what programs read of a value that is a map: two of its strings,
// which are empty where they are not there.
type Found struct{ Text, Stamp string }

// A WholeSpace can be read as a whole.
type WholeSpace interface {
	Space

	// All returns an iterator over all keys and what Get returns of them. Who iterates
	// must not use the memory meanwhile; others may.
	All() iter.Seq2[string, Found]
}

// A VectorSpace finds notes by their vectors, all of which have as many dimensions.
type VectorSpace interface {
	Space

	// Nearest returns the keys of the k notes whose vectors are most similar to v
	// by cosine, the most similar first, or of all: those that a look at each would
	// find. K must be positive, v not empty.
	Nearest(v []float32, k int) []string
}

// A TextSpace finds notes by the words in them.
type TextSpace interface {
	Space

	// Matching returns the keys of the k notes that match any words of query
	// best, the best first, or of all that match. K must be positive.
	Matching(query string, k int) []string
}

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
