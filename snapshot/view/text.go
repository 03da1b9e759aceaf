package view

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// few is how many elements a text shows, and long how many bytes of all.
const (
	few  = 8
	long = 200
)

// text returns n elements as fmt shows a slice, the first of them if there are many.
func text(n int, at func(int) any) string {
	b := []byte{'['}
	shown := 0
	for ; shown < min(n, few) && len(b) < long; shown++ {
		if shown > 0 {
			b = append(b, ' ')
		}
		b = append(b, printed(at(shown))...)
	}
	if shown < n {
		b = fmt.Appendf(b, " … %d more", n-shown)
	}
	return string(append(b, ']'))
}

// short returns the beginning of a text that is long.
func short(s string) string {
	if len(s) <= long {
		return s
	}
	return strings.ToValidUTF8(s[:long], "") + "…"
}

// count returns a text such as [2 keys].
func count(n int, what string) string {
	if n == 1 {
		return "[1 " + what + "]"
	}
	return fmt.Sprintf("[%d %ss]", n, what)
}

// pointee returns the text of what a pointer points to.
func pointee(e any, ok bool) string {
	if !ok {
		return "<nil>"
	}
	return printed(e)
}

// printed returns the beginning of what fmt shows e as, or the type of an e that fmt, which
// recurses, must not be shown.
func printed(e any) string {
	if err := depth.Text.Check(e); err != nil {
		return fmt.Sprintf("%s (%v)", short(reflect.TypeOf(e).String()), err)
	}
	return short(fmt.Sprint(e))
}

func typeName[T any]() string { return "[" + reflect.TypeFor[T]().String() + "]" }
