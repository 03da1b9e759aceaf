// Package tuple puts the path of a space, and the key of an entry, into one string, which is in
// the order of the paths and keys.
package tuple

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory/value"
)

// A space is known by its path in one string, which is different for different
// paths, and ordered as the paths are, element by element, all that is below a
// path right after it. The encoding is that of the tuple layer of FoundationDB: an
// element is its bytes, with 0xff after each zero byte, between an opening byte
// and a zero byte. An entry has its key after that of its space.
const (
	OpensKey     = 0x01 // below opensElement: entries come before the spaces below
	opensElement = 0x02
	endsElement  = 0x00
	escapes      = 0xff // after a zero byte that ends nothing

	// AboveBelow, after a path, is above all that is below it. What begins with
	// both is another element, one with a zero byte.
	AboveBelow = "\xff"
)

// maxDepth is how many elements the path of a space with entries has at most: each write
// keeps a sum up to date for each.
const maxDepth = 128

// depth returns how many elements an encoded path has.
func depth(path string) (n int) {
	for ; path != ""; n++ {
		path = path[elementLen(path):]
	}
	return n
}

// CheckDepth returns an error for a path that is too deep.
func CheckDepth(path string) error {
	if n := depth(path); n > maxDepth {
		return fmt.Errorf("%w: a path of %d elements, and %d are allowed", value.ErrTooDeep, n, maxDepth)
	}
	return nil
}

// AppendElement appends one element of a path.
func AppendElement(b []byte, s string) []byte {
	b = append(b, opensElement)
	for {
		i := strings.IndexByte(s, 0)
		if i < 0 {
			b = append(b, s...)
			return append(b, endsElement)
		}
		b = append(append(b, s[:i+1]...), escapes)
		s = s[i+1:]
	}
}

// Encode returns a path in one string.
func Encode(path []string) string {
	if len(path) == 0 {
		return ""
	}
	var b []byte
	for _, s := range path {
		b = AppendElement(b, s)
	}
	return string(b)
}

// Decode returns the path that Encode made s of.
func Decode(s string) []string {
	path := []string{}
	for s != "" {
		n := elementLen(s)
		path = append(path, strings.ReplaceAll(s[1:n-1], "\x00\xff", "\x00"))
		s = s[n:]
	}
	return path
}

// elementLen returns how long the first element of an encoded path is, with what
// opens and ends it.
func elementLen(s string) int {
	for i := 1; ; i++ {
		i += strings.IndexByte(s[i:], endsElement)
		if i+1 == len(s) || s[i+1] != escapes {
			return i + 1
		}
	}
}

// Above returns an iterator over the paths above an encoded path, the nearest first and
// the root last.
func Above(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var room [16]int
		starts := room[:0] // of its elements
		for n := 0; n < len(path); n += elementLen(path[n:]) {
			starts = append(starts, n)
		}
		for _, n := range slices.Backward(starts) {
			if !yield(path[:n]) {
				return
			}
		}
	}
}

// CutBelow returns the path in a key that may have AboveBelow behind it, and whether it has.
func CutBelow(key string) (path string, below bool) { return strings.CutSuffix(key, AboveBelow) }

// Below returns what the names of all entries in spaces below a path begin with, and of nothing
// else.
func Below(path string) string { return path + string(rune(opensElement)) }

// Split takes the name of an entry apart: the encoded path of its space, and its
// key.
func Split(name string) (space, key string) {
	n := 0
	for name[n] == opensElement {
		n += elementLen(name[n:])
	}
	return name[:n], name[n+1:]
}

// Name returns the name of an entry: the encoded path of its space, then its key.
// With no key it is what the names of all entries of the space begin with, and of
// nothing else.
func Name(space, key string) string { return space + string(rune(OpensKey)) + key }
